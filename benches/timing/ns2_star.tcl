# The speed workload in ns-2: a star of senders, one transfer each, NewReno without SACK.
# usage: ns ns2_star.tcl SENDERS BYTES BUFFER_PACKETS WINDOW_SEGMENTS
# Prints packet-hops, and seconds of processor time in the event loop (of the clock where the system
# does not tell processor time). A packet that the port drops makes one hop.
proc spent {} {
  if {[catch {open /proc/self/schedstat} file]} { return [expr {[clock microseconds] / 1e6}] }
  set nanoseconds [lindex [read $file] 0]
  close $file
  return [expr {$nanoseconds / 1e9}]
}
lassign $argv senders bytes buffer window
set mss 1460
set segments [expr {int(ceil($bytes / double($mss)))}]
Agent/TCP set packetSize_ $mss
Agent/TCP set window_ $window
Agent/TCP set windowInit_ 10
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 1e-5
Agent/TCP set slow_start_restart_ 0
set sim [new Simulator]
set switch [$sim node]
set client [$sim node]
$sim duplex-link $switch $client 1Gb 25us DropTail
$sim queue-limit $switch $client $buffer
$sim queue-limit $client $switch 100000
set gap [new RandomVariable/Uniform]
$gap set min_ 0
$gap set max_ 20e-6
for {set i 0} {$i < $senders} {incr i} {
  set server [$sim node]
  $sim duplex-link $server $switch 1Gb 25us DropTail
  $sim queue-limit $server $switch 100000
  $sim queue-limit $switch $server 100000
  set sender($i) [new Agent/TCP/Newreno]
  set sink [new Agent/TCPSink]
  $sim attach-agent $server $sender($i)
  $sim attach-agent $client $sink
  $sim connect $sender($i) $sink
}
set unfinished $senders
Agent/TCP instproc done {} {
  global sim unfinished
  if {[incr unfinished -1] == 0} { $sim at [$sim now] report }
}
proc report {} {
  global sender senders started
  set seconds [expr {[spent] - $started}]
  set sent 0
  set acked 0
  for {set i 0} {$i < $senders} {incr i} {
    incr sent [$sender($i) set ndatapack_]
    incr acked [$sender($i) set nackpack_]
  }
  # Every packet crosses its server's link. Packets that are not dropped cross the client's link, and
  # their ACKs cross two links.
  puts "[expr {$sent + 3 * $acked}] $seconds"
  exit 0
}
set start 0.0
for {set i 0} {$i < $senders} {incr i} {
  $sim at $start "$sender($i) advanceby $segments"
  set start [expr {$start + [$gap value]}]
}
set started [spent]
$sim run
