# Many connections through one RED bottleneck, run by ns-2 without any tracing:
#
#     S_i -- access, d_i -- R1 -- rate, delay -- R2 -- access, d_i -- K_i
#
# Flow i goes from S_i to K_i; with fewer hosts than flows, the hosts take turns.
#
# Usage: ns dumbbell.tcl key=value ...    (keys and defaults below; any other key is set on every TCP agent)
# Output: "key value" lines. "cpu" is the processor time of this process between the first event and the last, in
# seconds: neither building the network nor computing routes counts.

array set option {
    agent       Agent/TCP/Newreno
    sink        Agent/TCPSink
    flows       10
    hosts       {}
    segments    1073741824
    rate        100Mb
    delay       20ms
    access      1000Mb
    access_min  1
    access_max  20
    stagger     1.0
    limit       500
    min_th      50
    max_th      150
    w_q         0.002
    max_p       0.1
    gentle      true
    wait        true
    duration    60
    seed        1
}
set settings {}
foreach argument $argv {
    if {![regexp {^([^=]+)=(.*)$} $argument -> key value]} { error "not key=value: $argument" }
    if {[info exists option($key)]} { set option($key) $value } else { lappend settings $key $value }
}

# Nanoseconds on a processor so far (proc_pid_schedstat(5)).
proc cpu {} {
    set file [open /proc/self/schedstat]
    set seconds [expr {[lindex [read $file] 0] / 1e9}]
    close $file
    return $seconds
}

ns-random $option(seed)
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ 1000
Queue/RED set thresh_ $option(min_th)
Queue/RED set maxthresh_ $option(max_th)
Queue/RED set q_weight_ $option(w_q)
Queue/RED set linterm_ [expr {1.0 / $option(max_p)}]
Queue/RED set gentle_ $option(gentle)
Queue/RED set wait_ $option(wait)

set ns [new Simulator]
set r1 [$ns node]
set r2 [$ns node]
$ns duplex-link $r1 $r2 $option(rate) $option(delay) RED
$ns queue-limit $r1 $r2 $option(limit)
$ns queue-limit $r2 $r1 100000
# Counts drops; sees no packet that is not dropped.
set drops [new QueueMonitor]
set snoop [new SnoopQueue/Drop]
$snoop set-monitor $drops
$snoop target [new Agent/Null]
[[$ns link $r1 $r2] queue] drop-target $snoop

if {$option(hosts) eq ""} { set option(hosts) $option(flows) }
for {set i 0} {$i < $option(hosts)} {incr i} {
    set share [expr {$option(hosts) > 1 ? double($i) / ($option(hosts) - 1) : 0.0}]
    set d "[expr {$option(access_min) + $share * ($option(access_max) - $option(access_min))}]ms"
    set source($i) [set s [$ns node]]
    set target($i) [set k [$ns node]]
    $ns duplex-link $s $r1 $option(access) $d DropTail
    $ns duplex-link $k $r2 $option(access) $d DropTail
    foreach {a b} [list $s $r1 $r1 $s $k $r2 $r2 $k] { $ns queue-limit $a $b 100000 }
    # Each node gets the routes that its packets need, no more.
    $s add-route [$k id] [[$ns link $s $r1] head]
    $r1 add-route [$k id] [[$ns link $r1 $r2] head]
    $r2 add-route [$k id] [[$ns link $r2 $k] head]
    $k add-route [$s id] [[$ns link $k $r2] head]
    $r2 add-route [$s id] [[$ns link $r2 $r1] head]
    $r1 add-route [$s id] [[$ns link $r1 $s] head]
}
for {set i 0} {$i < $option(flows)} {incr i} {
    set host [expr {$i % $option(hosts)}]
    set tcp($i) [new $option(agent)]
    foreach {name value} $settings { $tcp($i) set $name $value }
    set sink($i) [new $option(sink)]
    $ns attach-agent $source($host) $tcp($i)
    $ns attach-agent $target($host) $sink($i)
    $ns connect $tcp($i) $sink($i)
    # 2^30 segments are without end for any run.
    $ns at [expr {$option(stagger) * $i / $option(flows)}] "$tcp($i) advanceby $option(segments)"
}

# With 1000 flows, routes between all pairs of nodes would take minutes to compute.
$ns rtproto Manual
$ns at 0.0 { set started [cpu] }
$ns at $option(duration) {
    set cpu [expr {[cpu] - $started}]
    set sent 0
    set delivered 0
    set timeouts 0
    for {set i 0} {$i < $option(flows)} {incr i} {
        incr sent [$tcp($i) set ndatapack_]
        incr timeouts [$tcp($i) set nrexmit_]
        incr delivered [expr {int([$sink($i) set bytes_])}]
    }
    set file [open /proc/self/status]
    regexp {VmHWM:\s+(\d+) kB} [read $file] -> peak
    close $file
    puts "cpu $cpu"
    puts "memory [expr {$peak * 1024}]"
    puts "packets $sent"
    puts "drops [$drops set pdrops_]"
    puts "timeouts $timeouts"
    puts "goodput_bps [expr {$delivered * 8.0 / $option(duration)}]"
    exit 0
}
$ns run
