# A barrier-synchronised read on a star, by one of ns-2's one-way TCPs.
# usage: ns ns2_transports.tcl AGENT SERVERS BUFFER_PACKETS SRU_SEGMENTS SEED SECONDS BLOCKS
# Prints: blocks, seconds until the last block ended, blocks with a timeout, timeouts, fast
# retransmits, drops at the port to the client, the median block time in seconds, and the number of
# senders with a window of 0, which they never leave.
lassign $argv agent servers buffer segments seed seconds limit
set mss 1024
Agent/TCP set packetSize_ $mss
Agent/TCP set window_ 1000
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 1e-5
Agent/TCP set rtxcur_init_ 3.0
Agent/TCP set slow_start_restart_ 0
# A uniformly random delay before every packet prevents phase effects (Floyd and Jacobson).
Agent/TCP set overhead_ 8e-6
ns-random $seed
set generator [new RNG]
$generator seed [expr {$seed * 7919 + 13}]
set gap [new RandomVariable/Uniform]
$gap use-rng $generator
$gap set min_ 0
$gap set max_ 20e-6
set sim [new Simulator]
set switch [$sim node]
set client [$sim node]
$sim duplex-link $switch $client 1Gb 50us DropTail
$sim queue-limit $switch $client $buffer
$sim queue-limit $client $switch 100000
set port [$sim monitor-queue $switch $client ""]
for {set i 0} {$i < $servers} {incr i} {
  set server [$sim node]
  $sim duplex-link $server $switch 1Gb 50us DropTail
  $sim queue-limit $server $switch 100000
  $sim queue-limit $switch $server 100000
  set sender($i) [new Agent/$agent]
  set sink [new Agent/TCPSink[expr {$agent eq "TCP/Sack1" ? "/Sack1" : ""}]]
  $sim attach-agent $server $sender($i)
  $sim attach-agent $client $sink
  $sim connect $sender($i) $sink
}
set times {}
set ended 0.0
set before 0
set stalled 0
proc total {counter} {
  global sender servers
  set sum 0
  for {set i 0} {$i < $servers} {incr i} { incr sum [$sender($i) set $counter] }
  return $sum
}
proc start {} {
  global sim sender servers segments gap pending began
  set began [$sim now]
  set pending $servers
  set at $began
  for {set i 0} {$i < $servers} {incr i} {
    if {$i > 0} { set at [expr {$at + [$gap value]}] }
    $sim at $at "$sender($i) advanceby $segments"
  }
}
Agent/TCP instproc done {} {
  global sim pending times ended began before stalled limit
  if {[incr pending -1] > 0} { return }
  set ended [$sim now]
  lappend times [expr {$ended - $began}]
  set timeouts [total nrexmit_]
  if {$timeouts > $before} { incr stalled }
  set before $timeouts
  $sim at $ended [expr {[llength $times] < $limit ? "start" : "report"}]
}
proc report {} {
  global port times ended stalled
  set blocks [llength $times]
  set median [expr {$blocks ? [lindex [lsort -real $times] [expr {$blocks / 2}]] : 0}]
  set timeouts [total nrexmit_]
  set retransmits [expr {[total ncwndcuts1_] - $timeouts}]
  set hung 0
  for {set i 0} {$i < $::servers} {incr i} { incr hung [expr {[$::sender($i) set cwnd_] < 1}] }
  puts "$blocks $ended $stalled $timeouts $retransmits [$port set pdrops_] $median $hung"
  exit 0
}
$sim at 0.0 start
$sim at $seconds report
$sim run
