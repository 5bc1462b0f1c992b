//! The commands.

use ackclock_impair::ImpairArgs;
use clap::{Parser, Subcommand};

use crate::access_log::AccessLogArgs;
use crate::compare::CompareArgs;
use crate::exhaust::ExhaustArgs;
use crate::exit::{
    EXIT_CODES, EXPLAIN, LAB, MEASURES, PLAIN, SERVES, TRANSFERS, help, help_with_example,
};
use crate::explain::ExplainArgs;
use crate::generate::{CompletionsArgs, ManArgs};
use crate::lab::LabArgs;
use crate::papers::{ExperimentArgs, PapersVerb};
use crate::replay::ReplayArgs;
use crate::run::RunArgs;
use crate::schema::SchemaArgs;
use crate::strategies::StrategiesArgs;
use crate::trace::TraceArgs;
use crate::wire::{GatewayArgs, ProxyArgs, RecvArgs, SendArgs, ServeArgs};
use crate::worst::WorstArgs;

/// Compare TCP loss recovery strategies in simulation, on the wire and in packet captures.
#[derive(Debug, Parser)]
#[command(name = "ackclock", version, arg_required_else_help = true)]
#[command(after_help = help(&EXIT_CODES))]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List all presets and mechanisms with their sources, or show one.
    #[command(after_help = help_with_example(PLAIN, "ackclock strategies net-reno"))]
    Strategies(StrategiesArgs),
    /// Simulate a scenario from a TOML file.
    #[command(after_help = help_with_example(
        MEASURES,
        "ackclock run scenarios/first.toml --strategy newreno,sack --html first.html"
    ))]
    Run(RunArgs),
    /// Print the JSON Schema of scenario files, or of files of experiments or listeners.
    #[command(after_help = help_with_example(PLAIN, "ackclock schema > scenario.schema.json"))]
    Schema(SchemaArgs),
    /// Compare strategies on one simulated connection, without a scenario file.
    ///
    /// Two links lead from the sender over a router to the receiver. The first link has 8 Mbit/s
    /// and a delay of 0.1 ms. The second link is the bottleneck, which the options describe.
    #[command(after_help = help_with_example(
        MEASURES,
        "ackclock compare --strategy newreno,sack --drop 14,26,28 --html compare.html"
    ))]
    Compare(CompareArgs),
    /// Run strategies through every fate of a window of segments.
    ///
    /// A connection has sent 20 segments. Now it sends a window at once. Each segment of it
    /// arrives, or its original is lost, or its first retransmission too. The round trip takes 100
    /// ms, the least timeout is 1 s, and each segment draws an ACK.
    #[command(after_help = help_with_example(
        MEASURES,
        "ackclock exhaust --strategy net-reno,sack,linux --window 6"
    ))]
    Exhaust(ExhaustArgs),
    /// Search for the losses and delays that keep a strategy furthest from the oracle.
    ///
    /// A connection sends 60 segments. Up to six events befall it: a segment or its first
    /// retransmission is lost or late, an ACK is lost or late, or the path takes longer for a
    /// while. What hardly matters is left out in the end.
    #[command(after_help = help_with_example(
        MEASURES,
        "ackclock worst --strategy linux --seconds 60 --out worst.toml && ackclock run worst.toml"
    ))]
    Worst(WorstArgs),
    /// Run experiments from files of your own.
    ///
    /// An experiment runs strategies over a grid of scenarios with many seeds, and judges claims on
    /// what it measures. The guide describes the format. A claim that does not hold is a result,
    /// and no error.
    #[command(after_help = help_with_example(
        MEASURES,
        "ackclock experiment examples/experiment.toml --quick --html out/experiment"
    ))]
    Experiment(ExperimentArgs),
    /// Repeat the experiments of published papers, and check the claims of the papers.
    #[command(subcommand, after_help = help(MEASURES))]
    Papers(PapersVerb),
    /// Send data to a TCP peer with our own TCP stack, once for each strategy (root).
    ///
    /// Our stack runs behind a TUN device, as a host of its own. It reaches this machine directly.
    /// It reaches other machines if the kernel forwards packets and translates addresses. If the
    /// kernel forwards nothing, the command prints how to set up both. It does not check whether
    /// addresses are translated.
    #[command(after_help = help_with_example(
        TRANSFERS,
        "ackclock send 10.77.0.1:5001 --strategy newreno,linux --bytes 100mb"
    ))]
    Send(SendArgs),
    /// Receive data with our own TCP stack, and check it (root).
    #[command(after_help = help_with_example(TRANSFERS, "ackclock recv --listen 5001 --once"))]
    Recv(RecvArgs),
    /// Compare our senders with the kernel's on the wire, through an emulated network (root).
    ///
    /// Each run has network namespaces of its own. They vanish with the process, however it ends.
    /// A lab may also simulate the same scenario, and compare both results.
    #[command(after_help = help_with_example(
        LAB,
        "ackclock lab lin-kung-table3 --quick --html lab.html"
    ))]
    Lab(LabArgs),
    /// Serve the files of a directory over HTTP with our own TCP stack (root).
    #[command(after_help = help_with_example(
        SERVES,
        "ackclock serve public --addr 10.77.0.2/24 --strategy prr"
    ))]
    Serve(ServeArgs),
    /// Accept connections with our own TCP stack, and forward them to a backend (root).
    ///
    /// Put the proxy in front of a lossy path: its clients receive from our sender. The connection
    /// to the backend uses the kernel's TCP, and the backend needs no change.
    #[command(after_help = help_with_example(
        SERVES,
        "ackclock proxy --listen 10.77.0.2:80 --to 127.0.0.1:8080"
    ))]
    Proxy(ProxyArgs),
    /// Compare the strategies in access logs of `serve` and `proxy`.
    ///
    /// For each strategy there is the rate of retransmissions, the timeouts, the round trip, the
    /// rate while there was something to send, and the duration, with 95 % intervals, and the
    /// differences from the first strategy. Connections count as independent of each other.
    #[command(name = "access-log", after_help = help_with_example(
        PLAIN,
        "ackclock access-log /var/log/ackclock/proxy.jsonl"
    ))]
    AccessLog(AccessLogArgs),
    /// Connect network namespaces by the links of a scenario, in real time (root).
    ///
    /// The links treat real packets as they treat simulated ones: with the same rates, delays,
    /// queues and losses.
    #[command(after_help = help_with_example(
        SERVES,
        "ackclock gateway scenarios/gateway-lossy.toml \\\n    --attach left=10.80.0.1/16 --attach \
         right=10.80.1.1/16@right"
    ))]
    Gateway(GatewayArgs),
    /// Forward TCP connections over a simulated network: loss and delay without root.
    ///
    /// The bytes of each connection cross two of our TCP hosts, and the simulated network between
    /// them in real time. So they meet loss, delay and reordering packet by packet, and the seed
    /// decides which packets are lost. `ackclock-impair` is the same command by itself, for any
    /// system.
    #[command(after_help = help_with_example(
        SERVES,
        "ackclock impair --listen 127.0.0.1:8080 --to 127.0.0.1:80 --delay 20ms --loss 1%\n  \
         ackclock impair --api 8474"
    ))]
    Impair(ImpairArgs),
    /// Explain why TCP connections in captures stalled, and what would have avoided it.
    ///
    /// The results name the kind of each retransmission, the class of each timeout and the cause of
    /// each stall. What a capture cannot show is called unknown.
    #[command(after_help = help_with_example(
        EXPLAIN,
        "ackclock explain slow.pcapng\n  tcpdump -w - port 443 | ackclock explain - --format json\n  \
         ackclock explain --interface eth0 --metrics 127.0.0.1:9099"
    ))]
    Explain(ExplainArgs),
    /// Hold a strategy against recorded connections of a kernel, ACK by ACK.
    ///
    /// A vector says what went into a kernel's sender and what it sent after each input. The
    /// strategy gets the same inputs at the same times. One vector is shown whole, side by side; of
    /// several, the first differences and a score for each family.
    #[command(after_help = help_with_example(
        PLAIN,
        "ackclock replay crates/ackclock-replay/vectors/linux-6.18/tails.jsonl --strategy rack-tlp"
    ))]
    Replay(ReplayArgs),
    /// Make a trace of a link from a table of its throughput.
    ///
    /// The trace has Mahimahi's format: each line is a millisecond in which 1504 bytes may go. The
    /// key `trace` of a link names the file.
    #[command(after_help = help_with_example(
        PLAIN,
        "ackclock trace rates.csv > scenarios/mine.trace"
    ))]
    Trace(TraceArgs),
    /// Print a completion script for a shell.
    ///
    /// The shell has to load the script. Bash loads it from
    /// ~/.local/share/bash-completion/completions/ackclock, and fish from
    /// ~/.config/fish/completions/ackclock.fish. Zsh loads it as _ackclock from a directory in
    /// $fpath.
    #[command(after_help = help_with_example(
        PLAIN,
        "ackclock completions fish > ~/.config/fish/completions/ackclock.fish"
    ))]
    Completions(CompletionsArgs),
    /// Write the man pages into a directory.
    #[command(after_help = help_with_example(
        PLAIN,
        "ackclock man ~/.local/share/man/man1 && man ackclock-run"
    ))]
    Man(ManArgs),
}
