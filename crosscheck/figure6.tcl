# The network of figure 6 of Lin & Kung, "TCP Fast Recovery Strategies: Analysis and Improvements" (INFOCOM 1998),
# section 7.1, run by ns-2 without any tracing:
#
#     C1..C4 -- 103.3 Mb/s, 1 ms --\
#                                    gateway -- RED, 51.7 Mb/s, 2 ms -- receiver
#     C5 ------- 31.0 Mb/s, 16 ms --/
#
# Usage: ns figure6.tcl key=value ...     (keys and defaults below; any other key is set on every TCP agent)
# Output: "timeouts N" and "drops N", of all five connections.

array set option {
    agent     Agent/TCP/Newreno
    sink      Agent/TCPSink/DelAck
    wait      true
    duration  30
    seed      1
}
set settings {}
foreach argument $argv {
    if {![regexp {^([^=]+)=(.*)$} $argument -> key value]} { error "not key=value: $argument" }
    if {[info exists option($key)]} { set option($key) $value } else { lappend settings $key $value }
}

ns-random $option(seed)
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ 552
Queue/RED set thresh_ 4
Queue/RED set maxthresh_ 8
Queue/RED set q_weight_ 0.002
Queue/RED set linterm_ 50
Queue/RED set gentle_ false
Queue/RED set wait_ $option(wait)
Agent/TCPSink set RFC2581_immediate_ack_ 1
Agent/TCPSink set SYN_immediate_ack_ 0
Agent/TCPSink/DelAck set interval_ 200ms
Agent/TCPSink/Sack1/DelAck set interval_ 200ms

set ns [new Simulator]
set gateway [$ns node]
set receiver [$ns node]
$ns simplex-link $gateway $receiver 51.7Mb 2ms RED
$ns queue-limit $gateway $receiver 16
# The way back takes ACKs alone and is never full.
$ns simplex-link $receiver $gateway 51.7Mb 2ms DropTail
$ns queue-limit $receiver $gateway 100000
set drops [new QueueMonitor]
set snoop [new SnoopQueue/Drop]
$snoop set-monitor $drops
$snoop target [new Agent/Null]
[[$ns link $gateway $receiver] queue] drop-target $snoop

set start [new RandomVariable/Uniform]
$start set min_ 0
$start set max_ 1
for {set i 1} {$i <= 5} {incr i} {
    set client [$ns node]
    set access [expr {$i < 5 ? "103.3Mb 1ms" : "31.0Mb 16ms"}]
    $ns duplex-link $client $gateway {*}$access DropTail
    $ns queue-limit $client $gateway 100000
    $ns queue-limit $gateway $client 100000
    set tcp($i) [new $option(agent)]
    foreach {name value} $settings { $tcp($i) set $name $value }
    set sink [new $option(sink)]
    $ns attach-agent $client $tcp($i)
    $ns attach-agent $receiver $sink
    $ns connect $tcp($i) $sink
    # Without end for any run: 2^30 packets.
    $ns at [$start value] "$tcp($i) advanceby 1073741824"
}

$ns at $option(duration) {
    set timeouts 0
    for {set i 1} {$i <= 5} {incr i} { incr timeouts [$tcp($i) set nrexmit_] }
    puts "timeouts $timeouts"
    puts "drops [$drops set pdrops_]"
    exit 0
}
$ns run
