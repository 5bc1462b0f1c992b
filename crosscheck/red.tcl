# A link of 8 Mb/s with RED, run by ns-2 (`red.py`). Usage: ns red.tcl ARRIVALS key=value ...
#
# Each line of ARRIVALS has a time in seconds and the bytes of a packet that then comes. Each key is
# set on the queue; `limit` is its limit. Output: ns-2's trace of the link.

array set option { limit 50 }
foreach argument [lrange $argv 1 end] {
    if {![regexp {^([^=]+)=(.*)$} $argument -> key value]} { error "not key=value: $argument" }
    if {[info exists option($key)]} { set option($key) $value } else { Queue/RED set $key $value }
}

set ns [new Simulator]
set from [$ns node]
set to [$ns node]
$ns simplex-link $from $to 8Mb 15ms RED
$ns queue-limit $from $to $option(limit)
$ns trace-queue $from $to stdout

set udp [new Agent/UDP]
$udp set packetSize_ 10000
$ns attach-agent $from $udp
set null [new Agent/Null]
$ns attach-agent $to $null
$ns connect $udp $null

set file [open [lindex $argv 0]]
while {[gets $file line] >= 0} {
    lassign $line time size
    $ns at $time "$udp send $size"
}
$ns at [expr {$time + 10}] { exit 0 }
$ns run
