# A barrier-synchronised read on a star, or long flows, by one of ns-2's one-way TCPs.
# usage: ns read.tcl KEY VALUE ...; the first lines below have the keys and their defaults.
# Prints a row of measurements, in the order of the last lines.
array set P {
  agent TCP/Newreno servers 8 sru 256 segment 1024 rate 1000 client_rate 1000 delay 50
  buffer 32 bytes 0 jitter 8 rto_min 200 tick 10 window 1000 seed 1 seconds 20 limit 2000
  red "" long 0
}
foreach {key value} $argv {
  if {![info exists P($key)]} { puts stderr "no such key: $key"; exit 2 }
  set P($key) $value
}
Agent/TCP set packetSize_ $P(segment)
Agent/TCP set window_ $P(window)
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ [expr {$P(rto_min) * 1e-3}]
Agent/TCP set tcpTick_ [expr {$P(tick) * 1e-6}]
Agent/TCP set rtxcur_init_ 3.0
Agent/TCP set slow_start_restart_ 0
# A uniformly random delay before every packet prevents phase effects (Floyd and Jacobson).
Agent/TCP set overhead_ [expr {$P(jitter) * 1e-6}]
Agent/TCP/Linux set minrto_ [expr {$P(rto_min) * 1e-3}]
ns-random $P(seed)
set generator [new RNG]
$generator seed [expr {$P(seed) * 7919 + 13}]
set gap [new RandomVariable/Uniform]
$gap use-rng $generator
$gap set min_ 0
$gap set max_ 20e-6
set sim [new Simulator]
set switch [$sim node]
set client [$sim node]
set discipline DropTail
if {$P(red) ne ""} {
  # Lengths in packets; mean_pktsize_ is left at its default, 500, which counts idle time.
  set discipline RED
  lassign $P(red) min max p weight wait
  Queue/RED set bytes_ false
  Queue/RED set queue_in_bytes_ false
  Queue/RED set thresh_ $min
  Queue/RED set maxthresh_ $max
  Queue/RED set linterm_ [expr {1.0 / $p}]
  Queue/RED set q_weight_ $weight
  Queue/RED set wait_ $wait
  Queue/RED set gentle_ true
}
$sim simplex-link $switch $client [expr {$P(client_rate) * 1e6}] [expr {$P(delay) * 1e-6}] $discipline
$sim simplex-link $client $switch [expr {$P(client_rate) * 1e6}] [expr {$P(delay) * 1e-6}] DropTail
if {$P(bytes)} {
  set queue [[$sim link $switch $client] queue]
  $queue set queue_in_bytes_ true
  $queue set mean_pktsize_ 1
}
$sim queue-limit $switch $client $P(buffer)
$sim queue-limit $client $switch 100000
set port [$sim monitor-queue $switch $client ""]
set waiting [$port get-pkts-integrator]
set linux [string match TCP/Linux:* $P(agent)]
set selective [expr {$linux || $P(agent) eq "TCP/Sack1"}]
for {set i 0} {$i < $P(servers)} {incr i} {
  set server [$sim node]
  $sim duplex-link $server $switch [expr {$P(rate) * 1e6}] [expr {$P(delay) * 1e-6}] DropTail
  $sim queue-limit $server $switch 100000
  $sim queue-limit $switch $server 100000
  if {$linux} {
    set sender($i) [new Agent/TCP/Linux]
    $sender($i) select_ca [lindex [split $P(agent) :] 1]
  } else {
    set sender($i) [new Agent/$P(agent)]
  }
  set sink [new Agent/TCPSink[expr {$selective ? "/Sack1" : ""}]]
  $sim attach-agent $server $sender($i)
  $sim attach-agent $client $sink
  $sim connect $sender($i) $sink
}
set times {}
set ended 0.0
set before 0
set stalled 0
proc total {counter} {
  global sender P
  set sum 0
  for {set i 0} {$i < $P(servers)} {incr i} { incr sum [$sender($i) set $counter] }
  return $sum
}
proc start {} {
  global sim sender P gap pending began
  set began [$sim now]
  set pending $P(servers)
  set at $began
  set segments [expr {$P(long) ? 1000000000 : $P(sru)}]
  for {set i 0} {$i < $P(servers)} {incr i} {
    if {$i > 0} { set at [expr {$at + [$gap value]}] }
    $sim at $at "$sender($i) advanceby $segments"
  }
}
Agent/TCP instproc done {} {
  global sim pending times ended began before stalled P
  if {[incr pending -1] > 0} { return }
  set ended [$sim now]
  lappend times [expr {$ended - $began}]
  set timeouts [total nrexmit_]
  if {$timeouts > $before} { incr stalled }
  set before $timeouts
  $sim at $ended [expr {[llength $times] < $P(limit) ? "start" : "report"}]
}
proc report {} {
  global sim times ended stalled P port waiting
  set blocks [llength $times]
  set median [expr {$blocks ? [lindex [lsort -real $times] [expr {$blocks / 2}]] : 0}]
  $waiting newpoint [$sim now] [$port set pkts_]
  set span [expr {$P(long) ? $P(seconds) : max($ended, 1e-9)}]
  puts [join [list $blocks $ended $stalled [total nrexmit_] [$port set parrivals_] \
    [$port set pdrops_] [format %.6f [expr {$median * 1e3}]] \
    [format %.4f [expr {[$waiting set sum_] / $span}]]] ,]
  exit 0
}
$sim at 0.0 start
$sim at $P(seconds) report
$sim run
