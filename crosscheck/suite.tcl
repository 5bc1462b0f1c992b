# Runs one test of ns-2's own test suites as it stands, and says what it was made of.
#
# Usage: ns suite.tcl FILE TEST REPORT
#
# REPORT gets, as the simulation begins, a line for each link, error model, agent and setting of an
# agent. Then come ns-2's trace of all links, and what applications do to the agents:
#
#     = link FROM TO RATE DELAY QUEUE LIMIT
#     = model CLASS
#     = agent NAME CLASS NODE PORT TO-NODE TO-PORT
#     = set NAME SETTING {VALUE}
#     = at TIME NAME COMMAND ARGUMENTS
#     + TIME FROM TO TYPE SIZE FLAGS FLOW SOURCE DESTINATION NUMBER UID

foreach {file test name} $argv break
set argv [list $test QUIET]
set argc 2
set report [open $name w]

# Every link is traced once, here, whatever the test asks for.
Simulator instproc simplex-link-as-is \
    [Simulator info instargs simplex-link] [Simulator info instbody simplex-link]
Simulator instproc simplex-link args {
    $self set traceAllFile_ $::report
    eval $self simplex-link-as-is $args
}
Simulator instproc trace-all args {}
Simulator instproc namtrace-all args {}
Simulator instproc trace-queue-as-is {n1 n2 {file ""}} [Simulator info instbody trace-queue]
Simulator instproc trace-queue {n1 n2 {file ""}} {
    if {![info exists ::traced([$n1 id]:[$n2 id])]} {
        set ::traced([$n1 id]:[$n2 id]) 1
        $self trace-queue-as-is $n1 $n2 $::report
    }
}

# All objects of a class and of those that inherit from it.
proc instances class {
    set all [$class info instances]
    foreach below [$class info subclass] { eval lappend all [instances $below] }
    return $all
}

# The names that a class, or one above it, has defaults for.
proc settings class {
    set all [$class info vars]
    foreach above [$class info superclass] {
        if {$above ne "Object" && $above ne "SplitObject"} { eval lappend all [settings $above] }
    }
    return [lsort -unique $all]
}

proc value {object name} {
    if {[catch {$object set $name} value]} { return "" }
    return $value
}

proc describe ns {
    foreach ends [$ns array names link_] {
        set link [$ns set link_($ends)]
        set queue [$link set queue_]
        puts $::report "= link [join [split $ends :]] [[$link link] set bandwidth_]\
            [[$link link] set delay_] [$queue info class] [$queue set limit_]"
        if {![catch {$link errormodule} module] && $module ne ""} {
            foreach model [instances ErrorModel] { puts $::report "= model [$model info class]" }
        }
    }
    # What can hold a link up counts as an error model too.
    foreach delayer [instances Delayer] { puts $::report "= model [$delayer info class]" }
    foreach agent [instances Agent] {
        # Without a node it takes no part.
        if {[catch {$agent set node_} node]} { continue }
        set class [$agent info class]
        puts $::report "= agent $agent $class [$node id] [value $agent agent_port_]\
            [value $agent dst_addr_] [value $agent dst_port_]"
        foreach name [settings $class] {
            puts $::report "= set $agent $name {[value $agent $name]}"
        }
    }
}

Simulator instproc run-as-is args [Simulator info instbody run]
Simulator instproc run args {
    describe $self
    # The test would draw what it traced.
    TestSuite instproc finish args { close $::report; exit 0 }
    eval $self run-as-is $args
}

foreach command {send advance advanceby close reset} {
    Agent/TCP instproc $command args "
        puts \$::report \"= at \[\[Simulator instance\] now\] \$self $command \$args\"
        eval \$self cmd $command \$args
    "
}

source $file
