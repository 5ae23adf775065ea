# A point of a figure's curve: reads or long flows of one of ns-2's one-way TCPs, through one switch
# or, with links between switches, along a number of paths.
# usage: ns figure.tcl KEY VALUE ...; the first lines below have the keys and their defaults.
# Prints a row of measurements, in the order of the last lines. measure.py calls this script.
array set P {
  agent TCP/Newreno servers 8 segment 1024 window 1000 iw 2 limited 1 restart 0
  rto_min 0.2 rto_initial 3 tick 1e-5 overhead 0
  server_rate 1e9 server_delay 5e-5 client_rate 1e9 client_delay 5e-5
  paths 1 in_turn 0 hops 0 core_rate 1e9 core_delay 0 buffer 32 bytes 0 room 1000000
  sru 256 gap 0 spread 0 offset 0 long 0 burst_rate 0 chunk 1 burst 0.5 idle 0.5
  cbr_hosts 0 cbr_rate 0 cbr_size 210
  watch 0 bin 0 trace {} seed 1 seconds 20 limit 2000
}
foreach {key value} $argv {
  if {![info exists P($key)]} { puts stderr "no such key: $key"; exit 2 }
  set P($key) $value
}
foreach class {Agent/TCP Agent/TCP/Linux} {
  $class set minrto_ $P(rto_min)
  $class set rtxcur_init_ $P(rto_initial)
  $class set windowInit_ $P(iw)
}
Agent/TCP set packetSize_ $P(segment)
Agent/TCP set window_ $P(window)
Agent/TCP set tcpTick_ $P(tick)
Agent/TCP set singledup_ $P(limited)
Agent/TCP set slow_start_restart_ $P(restart)
# A uniformly random delay before every packet, or no delay if the text has none.
Agent/TCP set overhead_ $P(overhead)
ns-random $P(seed)
set generator [new RNG]
$generator seed [expr {$P(seed) * 7919 + 13}]
set sim [new Simulator]
# Set routes by hand, because ns-2's computation takes the cube of the number of nodes.
$sim rtproto Manual
set ports {}
proc uniform {high} { return [$::generator uniform 0 $high] }

# Links. A switch's port counts waiting packets, or waiting bytes if P(bytes) is set.
proc wire {from to rate delay buffer} {
  global sim P
  $sim simplex-link $from $to $rate $delay DropTail
  $sim queue-limit $from $to $buffer
  if {$P(bytes) && $buffer == $P(buffer)} {
    set queue [[$sim link $from $to] queue]
    $queue set queue_in_bytes_ true
    $queue set mean_pktsize_ 1
  }
}
proc route {from args} { [$from get-module Manual] add-route-to-adj-node {*}$args }
# Leads from a path's first switch to a host and back.
proc host {p} {
  global sim P chain
  set node [$sim node]
  set at [lindex $chain($p) 0]
  wire $node $at $P(server_rate) $P(server_delay) $P(room)
  wire $at $node $P(server_rate) $P(server_delay) $P(room)
  route $node -default $at
  route $at $node
  foreach near $chain($p) far [lrange $chain($p) 1 end] {
    if {$far ne ""} {
      [$far get-module Manual] add-route [$node set address_] [[$sim link $far $near] head]
    }
  }
  return $node
}
proc port {from to} { lappend ::ports [$::sim monitor-queue $from $to ""] }
# A flow keeps to the path that is drawn for it. Paths share only the client's link, which is no
# bottleneck. So each path is a network of its own, with a client of its own.
for {set p 0} {$p < $P(paths)} {incr p} {
  set last [$sim node]
  set client($p) [$sim node]
  set chain($p) $last
  for {set i 0} {$i < $P(hops)} {incr i} {
    set next [$sim node]
    wire $last $next $P(core_rate) $P(core_delay) $P(buffer)
    wire $next $last $P(core_rate) $P(core_delay) $P(room)
    port $last $next
    route $last -default $next
    lappend chain($p) $next
    set last $next
  }
  # Links between switches are the bottleneck.
  wire $last $client($p) $P(client_rate) $P(client_delay) [expr {$P(hops) ? $P(room) : $P(buffer)}]
  wire $client($p) $last $P(client_rate) $P(client_delay) $P(room)
  route $last -default $client($p)
  route $client($p) -default $last
  if {!$P(hops)} { port $last $client($p) }
}

if {$P(trace) ne ""} { set log [open $P(trace) w] }
set linux [string match TCP/Linux:* $P(agent)]
set selective [expr {$linux || $P(agent) eq "TCP/Sack1"}]
for {set i 0} {$i < $P(servers)} {incr i} {
  set p [expr {$P(in_turn) ? $i % $P(paths) : $P(paths) > 1 ? int([uniform $P(paths)]) : 0}]
  set server [host $p]
  if {$linux} {
    set sender($i) [new Agent/TCP/Linux]
    $sender($i) select_ca [lindex [split $P(agent) :] 1]
  } else {
    set sender($i) [new Agent/$P(agent)]
  }
  set sink [new Agent/TCPSink[expr {$selective ? "/Sack1" : ""}]]
  $sim attach-agent $server $sender($i)
  $sim attach-agent $client($p) $sink
  $sim connect $sender($i) $sink
  if {$P(trace) ne ""} {
    foreach variable {ack_ dupacks_ nrexmit_} { $sender($i) trace $variable }
    $sender($i) attach $log
    puts $log "0 $i is [$server set address_]"
  }
}
for {set i 0} {$i < $P(cbr_hosts)} {incr i} {
  set node [host 0]
  set udp [new Agent/UDP]
  $sim attach-agent $node $udp
  set null [new Agent/Null]
  $sim attach-agent $client(0) $null
  $sim connect $udp $null
  set cbr [new Application/Traffic/CBR]
  $cbr set packetSize_ $P(cbr_size)
  $cbr set rate_ $P(cbr_rate)
  $cbr attach-agent $udp
  $sim at [uniform [expr {$P(cbr_size) * 8.0 / $P(cbr_rate)}]] "$cbr start"
}
set times {}
set ended 0.0
set before 0
set stalled 0
set most 0
proc total {counter} {
  global sender P
  set sum 0
  for {set i 0} {$i < $P(servers)} {incr i} { incr sum [$sender($i) set $counter] }
  return $sum
}
proc start {} {
  global sim sender P pending began times
  set began [$sim now]
  set pending $P(servers)
  set at [expr {$began + $P(offset)}]
  for {set i 0} {$i < $P(servers)} {incr i} {
    if {$i > 0 && $P(gap)} { set at [expr {$at + [uniform $P(gap)]}] }
    set when [expr {$P(spread) ? $at + [uniform $P(spread)] : $at}]
    # Packet 0 is the SYN and has no data.
    set segments [expr {$P(sru) + ([llength $times] == 0)}]
    $sim at $when "$sender($i) advanceby $segments"
    # What the first window of the block can hold.
    if {$P(trace) ne ""} {
      $sim at $when "puts $::log \"$when $i begins \[$sender($i) set cwnd_\]\""
    }
  }
}
proc flow {} {
  global sim sender P
  for {set i 0} {$i < $P(servers)} {incr i} {
    if {!$P(burst_rate)} {
      $sim at 0.0 "$sender($i) advanceby 1000000000"
      continue
    }
    set source [new Application/Traffic/Exponential]
    $source set packetSize_ [expr {$P(segment) * $P(chunk)}]
    $source set rate_ $P(burst_rate)
    $source set burst_time_ $P(burst)
    $source set idle_time_ $P(idle)
    $source attach-agent $sender($i)
    $sim at 0.0 "$source start"
  }
}
proc waiting {} {
  set most 0
  foreach port $::ports {
    if {[$port set pkts_] > $most} { set most [$port set pkts_] }
  }
  return $most
}
# Samples the waiting packets every P(watch) seconds; prints a line with the maximum of every P(bin).
proc look {} {
  global sim P most peak until
  set now [waiting]
  if {$now > $most} { set most $now }
  if {$P(bin)} {
    if {[$sim now] >= $until} {
      puts "at,[format %.4f [expr {$until - $P(bin)}]],$peak,[dropped]"
      set peak 0
      set until [expr {$until + $P(bin)}]
    }
    if {$now > $peak} { set peak $now }
  }
  $sim at [expr {[$sim now] + $P(watch)}] look
}
proc dropped {} {
  set sum 0
  foreach port $::ports { incr sum [$port set pdrops_] }
  return $sum
}
Agent/TCP instproc done {} {
  global sim pending times ended began before stalled P
  if {$P(long) || [incr pending -1] > 0} { return }
  # The last ACK takes as long as the request.
  set ended [expr {[$sim now] - $P(offset)}]
  lappend times [expr {$ended - $began}]
  set timeouts [total nrexmit_]
  if {$timeouts > $before} { incr stalled }
  set before $timeouts
  $sim at [$sim now] [expr {[llength $times] < $P(limit) ? "start" : "report"}]
}
proc report {} {
  if {$::P(trace) ne ""} { close $::log }
  global times ended stalled P most
  set blocks [llength $times]
  set mean [expr {$blocks ? [expr [join $times +]] / $blocks : 0}]
  set bytes [expr {double($blocks) * $P(servers) * $P(sru) * $P(segment)}]
  set span $ended
  if {$P(long)} {
    set span $P(seconds)
    set bytes [expr {double([total ack_]) * $P(segment)}]
  }
  set goodput [expr {$span > 0 ? $bytes * 8 / $span / 1e6 : 0}]
  set timeouts [total nrexmit_]
  puts [join [list $blocks [format %.6f $span] [format %.4f $goodput] $stalled $timeouts \
    [expr {[total ncwndcuts1_] - $timeouts}] [total ndatapack_] [dropped] \
    [format %.4f [expr {$mean * 1e3}]] $most] ,]
  exit 0
}
if {$P(watch)} {
  set peak 0
  set until $P(bin)
  $sim at 0.0 look
}
$sim at 0.0 [expr {$P(long) ? "flow" : "start"}]
$sim at $P(seconds) report
$sim run
