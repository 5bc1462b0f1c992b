# One connection over the classic network of loss-recovery papers (Fall & Floyd, "Simulation-based Comparisons of Tahoe,
# Reno, and SACK TCP", 1996), run by ns-2:
#
#     S1 -- 8 Mb/s, 0.1 ms -- R1 -- 0.8 Mb/s, 100 ms, drop-tail -- K1
#
# Usage: ns network.tcl key=value ...     (keys and defaults below; any other key is set on the TCP agent or the sink)
# Output: ns-2's trace of the link S1-R1, and at the end "done TIME" when the ACK of the last packet arrives.

array set option {
    agent     Agent/TCP/Newreno
    sink      Agent/TCPSink
    segments  100
    rate      0.8Mb
    delay     100ms
    access    8Mb
    queue     1000
    stop      600
    drop      {}
}
set agent_settings {}
set sink_settings {}
foreach argument $argv {
    if {![regexp {^([^=]+)=(.*)$} $argument -> key value]} { error "not key=value: $argument" }
    if {[info exists option($key)]} {
        set option($key) $value
    } elseif {[regexp {^sink\.(.+)$} $key -> name]} {
        lappend sink_settings $name $value
    } else {
        lappend agent_settings $key $value
    }
}

set ns [new Simulator]
set s1 [$ns node]
set r1 [$ns node]
set k1 [$ns node]
$ns duplex-link $s1 $r1 $option(access) 0.1ms DropTail
$ns duplex-link $r1 $k1 $option(rate) $option(delay) DropTail
# A DropTail of limit L holds L packets, the one in transmission included.
$ns queue-limit $s1 $r1 100000
$ns queue-limit $r1 $s1 100000
$ns queue-limit $k1 $r1 100000
$ns queue-limit $r1 $k1 $option(queue)

# `drop` lists the packets to lose as PACKET:TRANSMISSION, 1 being the first. The model stands before
# the queue of R1. What leaves the link to R1 calls `arrives` on its way to the model.
set loss [new ErrorModel]
$loss set rate_ 0
$loss unit pkt
$ns lossmodel $loss $r1 $k1
foreach drop [split $option(drop) ,] { set lost($drop) 1 }
proc arrives line {
    global loss lost count
    if {[lindex $line 0] ne "r" || [lindex $line 4] ne "tcp"} { return }
    set packet [lindex $line 10]
    $loss set rate_ [info exists lost($packet:[incr count($packet)])]
}

set tcp [new $option(agent)]
foreach {name value} $agent_settings { $tcp set $name $value }
set sink [new $option(sink)]
foreach {name value} $sink_settings { $sink set $name $value }
$ns attach-agent $s1 $tcp
$ns attach-agent $k1 $sink
$ns connect $tcp $sink

# What arrives at the queue of S1's link, in ns-2's trace format:
# "+ time from to type size flags flow source destination packet id".
$ns trace-queue $s1 $r1 stdout
set last [[$ns link $s1 $r1] set rcvT_]
$last set callback_ 1
$last proc handle line { arrives $line }

Agent/TCP instproc done {} {
    global ns
    puts "done [$ns now]"
    exit 0
}
$ns at 0.0 "$tcp advanceby $option(segments)"
$ns at $option(stop) { puts "unfinished"; exit 0 }
$ns run
