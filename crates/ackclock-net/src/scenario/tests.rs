mod distribution;
mod ecn;
mod fates;
mod first_rtt;
mod processor;
mod standing;
mod varying;

use super::*;
use ackclock_tcp::Registry;

/// Two nodes and a flow; `{}` is replaced by further lines, which begin on line 12.
const BASE: &str = "\
duration = \"10s\"

[[link]]
from = \"a\"
to = \"b\"
rate = \"1mbit\"
delay = \"10ms\"

[[flow]]
from = \"a\"
to = \"b\"
";

fn base(more: &str) -> String {
    format!("{BASE}{more}")
}

fn error(text: &str) -> String {
    Scenario::from_toml(text, &Registry::default()).expect_err("this must be refused").to_string()
}

#[test]
fn the_least_scenario() {
    let scenario = Scenario::from_toml(BASE, &Registry::default()).unwrap();
    assert_eq!((scenario.seed, scenario.runs), (1, 1));
    let names = check::check(&scenario).unwrap();
    assert_eq!(names.nodes, ["a", "b"]);
    assert_eq!(names.flows, ["flow0"]);
}

#[test]
fn a_value_of_another_type_is_answered_with_an_example() {
    assert_eq!(
        error(&format!("seed = 99999999999999999999\n{BASE}")),
        "1: seed: 99999999999999999999 is too large; at most 9223372036854775807"
    );
    let loss = BASE.replacen("[[link]]\n", "[[link]]\nloss = [{ bernoulli = 0.01 }]\n", 1);
    let text = error(&loss);
    assert!(text.ends_with("expected a table; for example `{ p = \"1%\" }`"), "{text}");
    let acks = error(&format!("{BASE}[tcp]\ndelayed_ack = false\n"));
    assert!(acks.ends_with("expected a string; for example `\"off\"`"), "{acks}");
}

#[test]
fn a_name_that_has_nothing_in_common_with_another_is_not_meant() {
    let known = ["a", "b", "rtt"];
    for (name, meant) in
        [("rt", Some("rtt")), ("RTT", Some("rtt")), ("x", None), ("ab", Some("a")), ("xyz", None)]
    {
        assert_eq!(nearest(name, &known).as_deref(), meant, "{name}");
    }
    assert_eq!(nearest("x", &["a"]), None);
    assert_eq!(nearest("xy", &["z"]), None);
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_one() {
    assert_eq!(
        error(&base("strategi = \"sack\"\n")),
        "12: flow[0].strategi: there is no key `strategi` here; did you mean `strategy`? There are \
         `name`, `from`, \
         `to`, `strategy`, `count`, `start`, `start_step`, `arrivals`, `start_spread`, `stop`, \
         `source`, `tcp`"
    );
    assert_eq!(
        error(&base("[[flows]]\nfrom = \"a\"\n")),
        "12: flows: there is no key `flows` here; did you mean `flow`? There are `name`, \
         `description`, `duration`, \
         `seed`, `runs`, `tcp`, `node`, `link`, `flow`, `cbr`"
    );
    assert_eq!(
        error(
            &BASE.replace(
                "delay = \"10ms\"",
                "delay = \"10ms\"\nqueue = { blue = { packets = 20 } }"
            )
        ),
        "8: link[0].queue.blue: there is no `blue` here; there are `droptail`, `red`, `fred`, \
         `codel`, `fq_codel`, `pie`"
    );
    assert_eq!(
        error(&BASE.replace(
            "delay = \"10ms\"",
            "delay = \"10ms\"\nqueue = { droptail = { packet = 20 } }"
        )),
        "8: link[0].queue.droptail.packet: there is no key `packet` here; did you mean `packets`? \
         There are `packets`, \
         `bytes`"
    );
    assert!(error(&base("tcp.timer = \"rfc6289\"\n")).starts_with(
        "12: flow[0].tcp.timer: there is no `rfc6289` here; did you mean `rfc6298`? There are \
         `rfc6298`, `linux`"
    ));
}

#[test]
fn a_wrong_unit_is_named_with_its_line_and_the_right_ones() {
    assert_eq!(
        error(&BASE.replace("1mbit", "1mb/s")),
        "6: link[0].rate: `1mb/s` is not a rate: there is no unit `mb/s`; write for example \
         \"800kbit\" (units: bit, \
         kbit, mbit, gbit, tbit)"
    );
    assert_eq!(
        error(&BASE.replace("\"1mbit\"", "1000000")),
        "6: link[0].rate: `1000000` is not a rate: it has no unit; write for example \"800kbit\" \
         (units: bit, kbit, \
         mbit, gbit, tbit)"
    );
    assert_eq!(
        error(&BASE.replace("\"10ms\"", "10")),
        "7: link[0].delay: `10` is not a duration: it has no unit; write for example \"100ms\" \
         (units: ns, us, ms, s)"
    );
    assert_eq!(
        error(&BASE.replace("\"10ms\"", "-1")),
        "7: link[0].delay: `-1` is negative; expected a duration such as \"100ms\""
    );
    assert_eq!(
        error(&base("tcp = { delayed_ack = \"1s\" }\n")),
        "12: flow[0].tcp.delayed_ack: `1s`: an ACK may wait for at most 500ms (RFC 5681 section \
         4.2)"
    );
    assert_eq!(
        error(&base("tcp = { delayed_ack = \"BSD\" }\n")),
        "12: flow[0].tcp.delayed_ack: `BSD` is not a duration: it does not begin with a number; \
         write for example \
         \"100ms\" (units: ns, us, ms, s), or \"off\", \"bsd\", \"linux\" or \
         \"ns2:200ms\""
    );
    assert_eq!(
        error(&base("tcp = { delayed_ack = \"ns2:501ms\" }\n")),
        "12: flow[0].tcp.delayed_ack: `ns2:501ms`: an ACK may wait for at most 500ms (RFC 5681 \
         section 4.2)"
    );
    assert_eq!(
        error(&base("tcp = { delayed_ack = \"ns2:\" }\n")),
        "12: flow[0].tcp.delayed_ack: `` is not a duration: it does not begin with a number; \
         write for example \
         \"100ms\" (units: ns, us, ms, s), or \"off\", \"bsd\", \"linux\" or \"ns2:200ms\""
    );
    assert_eq!(
        error(&BASE.replace("delay = \"10ms\"", "delay = \"10ms\"\nduplicate = \"2\"")),
        "8: link[0].duplicate: `2` is not a probability: write a number from 0 to 1, or \"1%\""
    );
}

#[test]
fn a_missing_key_is_named_with_its_table() {
    assert_eq!(
        error(&BASE.replace("rate = \"1mbit\"\n", "")),
        "3: link[0]: the key `rate` is missing; or `trace`, a file with its opportunities"
    );
    assert_eq!(error("name = \"x\"\n"), "1: the key `duration` is missing");
    assert_eq!(
        error(&BASE.replace("delay = \"10ms\"", "delay = \"10ms\"\nloss = [{ drop = {} }]")),
        "8: link[0].loss[0].drop: what is dropped? `segments = [14, 26]` or `retransmissions = \
         [\"14:1\"]`"
    );
}

#[test]
fn for_a_value_of_the_wrong_type_the_error_says_what_would_be_right() {
    let queue = |q: &str| {
        error(&BASE.replace("delay = \"10ms\"", &format!("delay = \"10ms\"\nqueue = {q}")))
    };
    let kind = "8: link[0].queue: one kind with its settings is expected here; for example `{ \
        droptail = { packets = 20 } }`";
    for wrong in ["\"droptail\"", "20", "{}"] {
        assert_eq!(queue(wrong), kind, "{wrong}");
    }
    assert_eq!(
        queue("{ droptail = { packets = 1 }, red = { limit = 1, min = 1, max = 2 } }"),
        "8: link[0].queue: either `droptail` or `red`, not both; to change the kind, set all of it"
    );
    assert_eq!(
        error(&base("source = { segments = 10, bytes = 5 }\n")),
        "12: flow[0].source: either `bytes` or `segments`, not both; to change the kind, set all of \
         it"
    );
    assert_eq!(
        queue("{ droptail = 20 }"),
        "8: link[0].queue.droptail: invalid type: integer `20`, expected a table"
    );
    assert_eq!(
        error(&base("source = \"bytes\"\n")),
        "12: flow[0].source: one kind with its settings is expected here; for example `{ segments \
         = 100 }`"
    );
    assert_eq!(
        error(&base("[tcp]\nmss = true\n")),
        "13: tcp.mss: invalid type: boolean `true`, expected a size such as \"64kb\" or a number \
         of bytes"
    );
    assert_eq!(
        error(&BASE.replace("duration =", "seed = 1.5\nduration =")),
        "1: seed: invalid type: floating point `1.5`, expected a whole number, 0 or more"
    );
    assert_eq!(
        error(&base("[tcp]\nack_every = 5000000000\n")),
        "13: tcp.ack_every: invalid value: integer `5000000000`, expected a whole number, 0 to \
         4294967295"
    );
    assert_eq!(
        error(&BASE.replace("[[link]]", "[link]")),
        "3: link: there may be several of these; write `[[link]]`"
    );
}

#[test]
fn text_that_is_no_toml_has_its_line() {
    assert_eq!(error("duration = \n"), "1: string values must be quoted, expected literal string");
    let twice = "2: this key is set already; leave one of the two out";
    assert_eq!(error("a = 1\na = 2\n"), twice);
    let twice = "3: this key is set already; tables of which there may be several are written \
        `[[flow]]`";
    assert_eq!(error("[flow]\na = 1\n [flow]\n"), twice);
    assert_eq!(error("[flow]\na = 1\n[[flow]]\n"), twice);
    let twice = "3: this key is set already; leave one of the two out";
    assert_eq!(error("[tcp]\na = 1\n[tcp]\n"), twice);
}

#[test]
fn names_must_exist_and_be_unique() {
    assert_eq!(
        error(&BASE.replace("[[flow]]\nfrom = \"a\"", "[[flow]]\nfrom = \"aa\"")),
        "10: flow[0].from: there is no node `aa`; did you mean `a`?"
    );
    assert_eq!(
        error(&BASE.replace("[[flow]]\nfrom = \"a\"", "[[flow]]\nfrom = \"b\"")),
        "9: flow[0]: both ends are `b`"
    );
    assert_eq!(
        error(&base("[[flow]]\nname = \"flow0\"\nfrom = \"a\"\nto = \"b\"\n")),
        "13: flow[1].name: there already is a flow `flow0`"
    );
    assert_eq!(
        error(&format!("[[node]]\nname = \"a\"\n{BASE}").replace(
            "[[node]]\nname = \"a\"\nduration = \"10s\"\n",
            "duration = \"10s\"\n[[node]]\nname = \"a\"\n"
        )),
        "7: link[0].to: there is no node `b`; there are `a`"
    );
    assert_eq!(
        error(&base("strategy = \"newrno\"\n")),
        "12: flow[0].strategy: `newrno` is neither a preset nor a mechanism; did you mean \
         `newreno`?"
    );
    assert_eq!(
        error(&BASE.replace(
            "delay = \"10ms\"",
            "delay = \"10ms\"\nloss = [{ bernoulli = { p = 0.1, flow = \"flow1\" } }]"
        )),
        "8: link[0].loss[0].bernoulli.flow: there is no flow `flow1`; did you mean `flow0`?"
    );
}

#[test]
fn ranges_are_checked() {
    let cases = [
        ("tcp = { mss = 0 }\n", "12: flow[0].tcp.mss: 0 is out of range: 1 to 65495 bytes"),
        (
            "tcp = { mss = 65484 }\n[tcp]\ntimestamps = true\n",
            "12: flow[0].tcp.mss: 65484 is out of range: 1 to 65483 bytes with `timestamps = true`",
        ),
        (
            "tcp = { initial_window = 11 }\n",
            "12: flow[0].tcp.initial_window: 11 is out of range: 1 to 10 segments",
        ),
        (
            "tcp = { ack_every = 0 }\n",
            "12: flow[0].tcp.ack_every: 0 is out of range: 1 to 1000 segments",
        ),
        (
            "tcp = { ack_every = 8, delayed_ack = \"linux\" }\n",
            "12: flow[0].tcp.ack_every: with `delayed_ack = \"linux\"` it is two; write a delay such \
             as \"40ms\"",
        ),
        (
            "tcp = { ack_every = 8, delayed_ack = \"ns2:40ms\" }\n",
            "12: flow[0].tcp.ack_every: with `delayed_ack = \"ns2:...\"` it is two; write a delay \
             such as \"40ms\"",
        ),
        (
            "tcp = { ack_every = 8 }\n[tcp]\ndelayed_ack = \"off\"\n",
            "12: flow[0].tcp.ack_every: with `delayed_ack = \"off\"` every segment is \
             acknowledged; write a delay such \
             as \"1ms\"",
        ),
        (
            "tcp = { handshake = true, mss = 27 }\n",
            "12: flow[0].tcp.handshake: a connection opens with an MSS of 28 bytes at least; raise \
             `mss`",
        ),
        (
            "tcp = { first_rtt = \"none\" }\n[tcp]\nhandshake = true\n",
            "12: flow[0].tcp.first_rtt: a handshake measures the first round trip; leave out either \
             of the two",
        ),
        (
            "tcp = { first_rtt = \"100ms\" }\n",
            "12: flow[0].tcp.first_rtt: there is no `100ms` here; there are `path`, `none`",
        ),
        (
            "tcp = { window_scale = 15 }\n",
            "12: flow[0].tcp.window_scale: 15 is out of range: 0 to 14 (RFC 7323)",
        ),
        ("tcp = { rwnd = \"2gb\" }\n", "12: flow[0].tcp.rwnd: at most 1gb"),
        (
            "tcp = { max_rto = 0 }\n",
            "12: flow[0].tcp.max_rto: at least 1s; RFC 6298 section 2.5 asks for 60s",
        ),
        (
            "[tcp]\ndctcp_echo = true\n",
            "13: tcp.dctcp_echo: it echoes marks of ECN; add `ecn = true`",
        ),
        (
            "tcp = { min_rto = \"5s\" }\n[tcp]\nmax_rto = \"2s\"\n",
            "12: flow[0].tcp.min_rto: 5s is above `max_rto`, 2s; lower it, or raise `max_rto`",
        ),
        (
            "tcp = { min_rto = \"100s\" }\n",
            "12: flow[0].tcp.min_rto: 100s is above 60s; lower it, or give `max_rto`, too",
        ),
        (
            "tcp = { rwnd = \"8kb\" }\n[tcp]\nwindow_scale = 14\n",
            "14: tcp.window_scale: a buffer below 16kb is offered as 0; raise `rwnd`",
        ),
        ("count = 0\n", "12: flow[0].count: 0 is out of range: 1 to 1000000"),
        ("source = { segments = 0 }\n", "12: flow[0].source: nothing to send"),
        (
            "source = { web = { responses = 0.5, size = { fixed = 1 }, think = \"1s\" } }\n",
            "12: flow[0].source.web.responses: a mean number of responses is 1 to 1000000",
        ),
        (
            "source = { web = { responses = 2.5, exactly = true, size = { fixed = 1 }, think = \
             \"1s\" } }\n",
            "12: flow[0].source.web.responses: with `exactly` it is a whole number",
        ),
        (
            "source = { web = { responses = 2, size = { fixed = 0 }, think = \"1s\" } }\n",
            "12: flow[0].source.web.size.fixed: at least 1 byte",
        ),
        (
            "source = { web = { responses = 2, size = { fixed = 1 } } }\n",
            "12: flow[0].source.web: the key `think` is missing",
        ),
        ("stop = \"0\"\n", "12: flow[0].stop: 0s is not after the start at 0s"),
        (
            "source = { writes = [{ at = \"2s\", amount = 1 }, { at = \"1s\", amount = 1 }] }\n",
            "12: flow[0].source.writes[1].at: writes are in the order of their times",
        ),
        (
            "[[cbr]]\nfrom = \"a\"\nto = \"b\"\nrate = \"0bit\"\n",
            "15: cbr[0].rate: a rate is at least 1bit",
        ),
    ];
    for (more, expected) in cases {
        assert_eq!(error(&base(more)), expected);
    }
    let queue = |q: &str| {
        error(&BASE.replace("delay = \"10ms\"", &format!("delay = \"10ms\"\nqueue = {q}")))
    };
    assert_eq!(
        queue("{ droptail = {} }"),
        "8: link[0].queue.droptail: how much does it hold? `packets = 20` or `bytes = \"64kb\"`"
    );
    assert_eq!(
        queue("{ droptail = { packets = 2, bytes = 3 } }"),
        "8: link[0].queue.droptail: either `packets` or `bytes`, not both"
    );
    assert_eq!(
        queue("{ red = { limit = 9, min = 5, max = 5 } }"),
        "8: link[0].queue.red.max: `max` must be above `min`"
    );
    assert_eq!(
        queue("{ red = { limit = 9, min = -1, max = 5 } }"),
        "8: link[0].queue.red.min: a threshold is a number of packets, 0 or more"
    );
    let fred = |keys: &str| queue(&format!("{{ fred = {{ {keys} }} }}"));
    assert_eq!(
        fred("limit = 0, min = 4, max = 8"),
        "8: link[0].queue.fred.limit: a queue holds at least 1 packet"
    );
    assert_eq!(
        fred("limit = 16, min = 0.9, max = 8"),
        "8: link[0].queue.fred.min: a threshold is a number of packets, 1 or more"
    );
    assert_eq!(
        fred("limit = 16, min = 4, max = 4"),
        "8: link[0].queue.fred.max: `max` must be above `min`"
    );
    assert_eq!(
        fred("limit = 16, min = 4, max = 8, weight = 0"),
        "8: link[0].queue.fred.weight: a weight is above 0 and at most 1"
    );
    assert_eq!(
        fred("limit = 16, min = 4, max = 8, minq = 2, gentle = true"),
        "8: link[0].queue.fred.gentle: there is no key `gentle` here; there are `limit`, `min`, \
         `max`, \
         `weight`, `max_p`, `minq`, `many_flows`, `mean_packet_size`"
    );
    assert_eq!(
        queue("{ codel = { limit = 0 } }"),
        "8: link[0].queue.codel.limit: a queue holds at least 1 packet"
    );
    assert_eq!(
        queue("{ codel = { target = \"0s\" } }"),
        "8: link[0].queue.codel.target: a target is longer than 0s; RFC 8289 has 5ms"
    );
    assert_eq!(
        queue("{ codel = { target = \"101ms\" } }"),
        "8: link[0].queue.codel.interval: an interval is at least as long as `target`"
    );
    assert_eq!(
        queue("{ codel = { mtu = \"0b\" } }"),
        "8: link[0].queue.codel.mtu: 0 is out of range: 1 to 4294967295 bytes"
    );
    assert_eq!(
        queue("{ fq_codel = { flows = 0 } }"),
        "8: link[0].queue.fq_codel.flows: there are 1 to 65536 queues; RFC 8290 has 1024"
    );
    assert_eq!(
        queue("{ fq_codel = { quantum = \"0b\" } }"),
        "8: link[0].queue.fq_codel.quantum: 0 is out of range: 1 to 4294967295 bytes"
    );
    assert_eq!(
        queue("{ pie = { update = \"0s\" } }"),
        "8: link[0].queue.pie.update: it is longer than 0s; RFC 8033 has 15ms"
    );
    assert_eq!(
        queue("{ pie = { update = \"999ns\" } }"),
        "8: link[0].queue.pie.update: a period is at least 1us"
    );
    assert_eq!(
        queue("{ pie = { beta = -1 } }"),
        "8: link[0].queue.pie.beta: a weight is a number, 0 or more"
    );
    assert_eq!(
        error(&BASE.replace("delay = \"10ms\"", "delay = \"10ms\"\nreorder = { delay = \"5ms\" }")),
        "8: link[0].reorder: which packets are late? `p = \"1%\"` or `segments = [14]`"
    );
    let spikes = |spikes: &str| error(&BASE.replace("delay", &format!("spikes = {spikes}\ndelay")));
    assert_eq!(
        spikes("[{ at = \"1s\", for = \"0s\", delay = \"1s\" }]"),
        "7: link[0].spikes[0].for: a spike lasts longer than 0s and adds a delay above 0s"
    );
    assert_eq!(
        spikes("[{ at = 0, for = \"1s\", delay = 0 }]"),
        "7: link[0].spikes[0].delay: a spike lasts longer than 0s and adds a delay above 0s"
    );
    assert_eq!(
        spikes("[{ at = \"1s\", for = \"1s\" }]"),
        "7: link[0].spikes[0]: the key `delay` is missing"
    );
    assert_eq!(
        spikes("{ at = 0, for = \"1s\", delay = \"1s\" }"),
        "7: link[0].spikes: there may be several of these; write `[[link.spikes]]`"
    );
    let policer = |keys: &str| {
        error(&BASE.replace("delay", &format!("loss = [{{ policer = {{ {keys} }} }}]\ndelay")))
    };
    assert_eq!(
        policer("rate = \"0bit\", burst = 1"),
        "7: link[0].loss[0].policer.rate: a rate is at least 1bit"
    );
    assert_eq!(
        policer("rate = \"1mbit\", burst = 0"),
        "7: link[0].loss[0].policer.burst: 0 is out of range: 1 to 4294967295 bytes"
    );
    assert_eq!(
        policer("rate = \"1mbit\""),
        "7: link[0].loss[0].policer: the key `burst` is missing"
    );
    assert_eq!(
        policer("rate = \"1mbit\", burst = 1, flow = \"flow1\""),
        "7: link[0].loss[0].policer.flow: there is no flow `flow1`; did you mean `flow0`?"
    );
    assert_eq!(error(&BASE.replace("10s", "0s")), "1: duration: a run must last longer than 0s");
}

#[test]
fn count_makes_copies_with_names_from_0() {
    let text = "
duration = \"1s\"
[[link]]
from = \"s{}\"
to = \"r\"
count = 3
rate = \"1mbit\"
delay = \"1ms\"
delay_to = \"2ms\"
[[link]]
from = \"r\"
to = \"d\"
rate = \"1mbit\"
delay = \"1ms\"
duplex = false
[[flow]]
from = \"s{}\"
to = \"d\"
count = 3
start = \"1s\"
start_step = \"10ms\"
[[flow]]
name = \"last\"
from = \"s2\"
to = \"r\"
[[flow]]
name = \"pair\"
from = \"s0\"
to = \"r\"
count = 2
[[cbr]]
from = \"s1\"
to = \"d\"
rate = \"1kbit\"
";
    let scenario = Scenario::from_toml(text, &Registry::default()).unwrap();
    let names = check::check(&scenario).unwrap();
    assert_eq!(names.nodes, ["s0", "r", "s1", "s2", "d"]);
    assert_eq!(names.flows, ["flow0", "flow1", "flow2", "last", "pair0", "pair1", "cbr0"]);
    let built = scenario.build(&BuildOptions::new(&Registry::default(), 1)).unwrap();
    let links: Vec<_> = built.links.iter().map(|l| (l.id.0, l.entry, l.back)).collect();
    assert_eq!(
        links,
        [
            (0, 0, false),
            (1, 0, true),
            (2, 0, false),
            (3, 0, true),
            (4, 0, false),
            (5, 0, true),
            (6, 1, false)
        ]
    );
    let flows: Vec<_> = built.flows.iter().map(|f| (f.name.as_str(), f.start.nanos())).collect();
    let s = 1_000_000_000;
    assert_eq!(
        flows,
        [
            ("flow0", s),
            ("flow1", s + 10_000_000),
            ("flow2", s + 20_000_000),
            ("last", 0),
            ("pair0", 0),
            ("pair1", 0)
        ]
    );
    assert_eq!(
        error(&text.replace("from = \"s{}\"\nto = \"r\"", "from = \"s\"\nto = \"r\"")),
        "6: link[0].count: copies of a link need `{}` in `from` or `to`, so that they join \
         different nodes"
    );
    assert_eq!(
        error(&text.replacen("count = 3", "count = 1000001", 1)),
        "6: link[0].count: 1000001 is out of range: 1 to 1000000"
    );
}

#[test]
fn delays_of_copies_are_evenly_spaced() {
    let scenario = Scenario::from_toml(
        "duration = \"1s\"\n[[link]]\nfrom = \"s{}\"\nto = \"r\"\ncount = 4\nrate = \
         \"1mbit\"\ndelay = \"1ms\"\n\
         delay_to = \"20ms\"\n",
        &Registry::default(),
    )
    .unwrap();
    let delays: Vec<u64> =
        (0..4).map(|copy| network::delay(&scenario.links[0], copy).nanos()).collect();
    assert_eq!(delays, [1_000_000, 7_333_333, 13_666_666, 20_000_000]);
}

#[test]
fn a_flow_without_a_route_is_named_with_its_line() {
    let text = BASE.replace("delay = \"10ms\"", "delay = \"10ms\"\nduplex = false");
    let scenario = Scenario::from_toml(&text, &Registry::default()).unwrap();
    let mut built = scenario.build(&BuildOptions::new(&Registry::default(), 1)).unwrap();
    let error = built.run(&mut ()).expect_err("no way back");
    assert_eq!(
        scenario.explain(&error).located(&text).to_string(),
        "10: flow[0]: no route from b to a"
    );
}

#[test]
fn the_strategy_decides_on_sack_unless_the_scenario_does() {
    let sack = |more: &str, strategy| {
        let scenario = Scenario::from_toml(&base(more), &Registry::default()).unwrap();
        scenario
            .build(&BuildOptions::new(&Registry::default(), 1).strategy(strategy))
            .unwrap()
            .flows[0]
            .sack
    };
    assert!(!sack("", None));
    assert!(sack("strategy = \"sack\"\n", None));
    assert!(!sack("strategy = \"sack\"\n", Some("reno")));
    assert!(sack("", Some("sack+lt")));
    assert!(!sack("tcp = { sack = false }\n", Some("sack")));
    // A preset that has the name of a mechanism stays a preset beside the scenario's timer.
    assert!(sack("tcp = { timer = \"linux\" }\n", Some("prr")));
    assert!(sack("tcp = { sack = true }\n", None));
}

#[test]
fn the_window_scale_is_the_smallest_that_covers_the_buffer() {
    let wscale = |rwnd: &str| {
        let scenario = Scenario::from_toml(
            &base(&format!("tcp = {{ mss = 1000, rwnd = \"{rwnd}\" }}\n")),
            &Registry::default(),
        )
        .unwrap();
        scenario.build(&BuildOptions::new(&Registry::default(), 1)).unwrap().flows[0].wscale
    };
    assert_eq!(wscale("65535b"), 0);
    assert_eq!(wscale("64kb"), 1);
    assert_eq!(wscale("65seg"), 0);
    assert_eq!(wscale("66seg"), 1);
    assert_eq!(wscale("1mb"), 5);
    assert_eq!(wscale("1gb"), 14);
}

#[test]
fn random_starts_depend_on_the_seed_and_the_name_alone() {
    let starts = |more: &str, seed| {
        let scenario = Scenario::from_toml(&base(more), &Registry::default()).unwrap();
        let built = scenario.build(&BuildOptions::new(&Registry::default(), seed)).unwrap();
        built.flows.iter().map(|f| f.start.nanos()).collect::<Vec<_>>()
    };
    let one = starts("start_spread = \"1s\"\n", 1);
    assert!(one[0] <= 1_000_000_000);
    assert_eq!(starts("start_spread = \"1s\"\n", 1), one);
    assert_ne!(starts("start_spread = \"1s\"\n", 2), one);
    let three = starts("start_spread = \"1s\"\ncount = 3\nname = \"flow{}\"\n", 1);
    assert_eq!(three[0], one[0]);
    assert!(three[1] != three[0] && three[2] != three[1]);
}

/// Lin & Kung section 3: timers of 200 and 500 ms, no two of which go off at the same time.
#[test]
fn coarse_timers_have_a_phase_of_their_own_in_each_flow() {
    use crate::rng::Rng;
    use ackclock_tcp::Span;
    let completed = |loss: &str, more: &str, seed, count: u32| {
        let text = base(&format!(
            "source = {{ segments = 1 }}\ncount = {count}\nstart_step = \"1s\"\n{more}"
        ));
        let text = text.replace("delay = \"10ms\"", &format!("delay = \"10ms\"\nloss = {loss}"));
        let scenario = Scenario::from_toml(&text, &Registry::default()).unwrap();
        let mut built = scenario.build(&BuildOptions::new(&Registry::default(), seed)).unwrap();
        built.run(&mut ()).unwrap();
        let report =
            |flow: &BuiltFlow| built.network.flow_report(flow.id).unwrap().completed.unwrap();
        built.flows.iter().map(report).collect::<Vec<_>>()
    };
    let (fast, slow) = (Span::from_millis(200), Span::from_millis(500));
    let phase = |what: &str, seed, flow: u32, tick| {
        Rng::new(seed, &format!("scenario/{what}/flow{flow}")).up_to(tick).0
    };
    // At 1 Mb/s and 10 ms a segment takes 22 ms, and its ACK 10.32 ms.
    let (segment, ack) = (22_000_000, 10_320_000);
    for seed in [1, 2] {
        let acked = completed("[]", "tcp = { delayed_ack = \"bsd\" }\n", seed, 2);
        for flow in 0..2 {
            let arrival = u64::from(flow) * 1_000_000_000 + segment;
            let mut ticks = (0..).map(|k| phase("fast tick", seed, flow, fast) + k * fast.0);
            let tick = ticks.find(|&tick| tick > arrival).unwrap();
            assert_eq!(acked[flow as usize].nanos(), tick + ack);
        }
        // Without a sample the twelfth tick brings the timeout.
        let settings = "tcp = { delayed_ack = \"off\", timer = \"bsd\", first_rtt = \"none\" }\n";
        let lost = completed("[{ drop = { segments = [0] } }]", settings, seed, 1);
        assert_eq!(lost[0].nanos(), phase("tick", seed, 0, slow) + 11 * slow.0 + segment + ack);
    }
}

/// A round trip later, in which SYN and SYN/ACK take 8 us a byte: 40 and their options, MSS and
/// window scale, or SACK permitted and timestamps as well.
#[test]
fn a_handshake_takes_a_round_trip() {
    let completed = |more: &str| {
        let text = base(&format!("source = {{ segments = 20 }}\ntcp = {{ {more} }}\n"));
        let scenario = Scenario::from_toml(&text, &Registry::default()).unwrap();
        let mut built = scenario.build(&BuildOptions::new(&Registry::default(), 1)).unwrap();
        built.run(&mut ()).unwrap();
        built.network.flow_report(built.flows[0].id).unwrap().completed.unwrap().nanos()
    };
    let cases = [
        ("sack = false", 48),
        ("sack = true, timestamps = true", 60),
        ("sack = true, timestamps = true, count_options = false", 40),
        // Without the delay: the FIN draws the ACK of a last segment that would wait for it.
        (
            "sack = false, isn = 4294967000, mss = 536, initial_window = 1, delayed_ack = \"off\"",
            48,
        ),
    ];
    for (settings, bytes) in cases {
        let with = completed(&format!("{settings}, handshake = true"));
        assert_eq!(with, completed(settings) + 2 * (10_000_000 + bytes * 8_000), "{settings}");
    }
}

/// A sender that is notified of losses has to know them from the first one on.
#[test]
fn an_oracle_opens_no_connection() {
    let scenario = Scenario::from_toml(
        &base("strategy = \"oracle\"\ntcp = { handshake = true }\n"),
        &Registry::default(),
    )
    .unwrap();
    let error = scenario.build(&BuildOptions::new(&Registry::default(), 1)).err().unwrap();
    let text = "`oracle` needs to be notified of losses, which only established connections are; \
                leave out `handshake`";
    assert!(error.to_string().ends_with(text), "{error}");
}

/// Of 20 segments the 8th and the 16th are acknowledged at once, and the last one by the timer.
#[test]
fn stretch_acks_cover_so_many_segments() {
    let acks = |more: &str| {
        let text = base(&format!(
            "source = {{ segments = 20 }}\ntcp = {{ delayed_ack = \"200ms\"{more} }}\n"
        ));
        let scenario = Scenario::from_toml(&text, &Registry::default()).unwrap();
        let mut built = scenario.build(&BuildOptions::new(&Registry::default(), 1)).unwrap();
        built.run(&mut ()).unwrap();
        built.network.flow_report(built.flows[0].id).unwrap().stats.acks
    };
    assert_eq!((acks(""), acks(", ack_every = 8"), acks(", ack_every = 1")), (10, 3, 20));
}

/// Segment 20 is lost, and its fast retransmission; the timer's is not, nor is a second recovery's
/// of 280.
#[test]
fn the_three_state_model_knows_a_fast_retransmission() {
    let counts = |lose_fast_retransmission: bool| {
        let three_state = format!(
            "three_state = {{ second_at = \"0s\", second_for = \"1s\", second_loss = 0, third_for \
             = \"9s\", \
             third_loss = 0, lose_fast_retransmission = {lose_fast_retransmission} }}"
        );
        let loss = format!(
            "delay = \"10ms\"\nloss = [{{ drop = {{ segments = [20, 280] }} }}, {{ {three_state} \
             }}]"
        );
        let text = base("source = { segments = 300 }\ntcp = { min_rto = \"1s\" }\n")
            .replace("delay = \"10ms\"", &loss);
        let mut built = Scenario::from_toml(&text, &Registry::default())
            .unwrap()
            .build(&BuildOptions::new(&Registry::default(), 1))
            .unwrap();
        built.run(&mut ()).unwrap();
        let report = built.network.flow_report(built.flows[0].id).unwrap();
        (report.drops, report.stats.fast_retransmissions, report.stats.timeouts)
    };
    assert_eq!((counts(false), counts(true)), ((2, 2, 0), (3, 2, 1)));
}

#[test]
fn what_is_written_reads_back() {
    for text in shipped().into_iter().map(|(_, text)| text).chain([base(EVERY_KEY)]) {
        let scenario = Scenario::from_toml(&text, &Registry::default()).unwrap();
        let written = scenario.to_toml().unwrap();
        assert_eq!(Scenario::from_toml(&written, &Registry::default()), Ok(scenario), "{written}");
    }
}

/// Every key that [`BASE`] does not have.
const EVERY_KEY: &str = "
name = \"f{}\"
strategy = \"sack\"
count = 2
start = \"1s\"
start_step = \"1ms\"
start_spread = \"10us\"
stop = \"2s\"
source = { on_off = { on = \"1s\", off = \"2s\", rate = \"1mbit\", write = \"2seg\", exponential = \
true } }
[flow.tcp]
mss = 500
initial_window = 3
initial_ssthresh = \"10seg\"
rwnd = \"64kb\"
max_cwnd = \"32kb\"
delayed_ack = \"bsd\"
ack_every = 8
sack = true
dsack = false
timestamps = true
echo_out_of_order = true
nagle = true
max_burst = 4
timer = \"bsd\"
min_rto = \"200ms\"
max_rto = \"64s\"
idle_restart = false
handshake = false
first_rtt = \"none\"
isn = 4294967295
window_scale = 2
header = 0
ack_size = 40
count_options = false
[[flow]]
from = \"a\"
to = \"b\"
source = { writes = [{ at = \"0s\", amount = \"2seg\" }, { at = \"1.5s\", amount = 10 }] }
[[flow]]
from = \"a\"
to = \"b\"
source = { web = { responses = 3, exactly = true, size = { fixed = \"10kb\" }, think = \"1s\" } }
[[flow]]
from = \"a\"
to = \"b\"
count = 2
arrivals = { poisson = \"10ms\" }
source = { draw = { max = \"1mb\", mix = [{ share = \"50%\", fixed = 1 }, { share = \"25%\", \
exponential = { mean = 2 } }, { share = \"13%\", lognormal = { mean = 3, sigma = 0.5 } }, { share \
= \"12%\", pareto = { mean = 4, shape = 1.5 } }] } }
[[link]]
from = \"b\"
to = \"c\"
rate = \"1.5mbit\"
delay = \"0.1ms\"
duplex = false
jitter = \"1ms\"
reorder = { p = \"1%\", segments = [7], delay = \"5ms\" }
duplicate = \"0.1%\"
spikes = [{ at = \"3s\", for = \"500ms\", delay = \"800ms\" }]
queue = { red = { limit = 50, min = 5.5, max = 15, weight = 0.002, max_p = \"10%\", gentle = \
false, wait = false, queue_in_bytes = true, byte_mode = true, mean_packet_size = \"1kb\" } }
fate = [{ segment = 4, transmission = 2, flow = \"f1\", lose = true }, { ack = 3, late = \"2ms\" }]
loss = [
  { drop = { segments = [1, 2], retransmissions = [\"1:1\"], flow = \"f1\" } },
  { bernoulli = { p = 0.25, direction = \"both\" } },
  { gilbert_elliott = { p = \"1%\", r = \"30%\", loss_good = 0.001, loss_bad = \"50%\", direction \
  = \"ack\", flow = \"f0\" } },
  { policer = { rate = \"1mbit\", burst = \"20kb\", direction = \"both\", flow = \"f0\" } },
  { three_state = { second_at = \"5s\", second_for = \"1s\", second_loss = 1, third_for = \"1s\", \
  third_loss = \"50%\", lose_fast_retransmission = true } },
]
[[link]]
from = \"c\"
to = \"b\"
rate = \"1mbit\"
delay = \"1ms\"
duplex = false
queue = { fred = { limit = 16, min = 4, max = 8, weight = 0.01, max_p = \"5%\", minq = 4, \
many_flows = true, mean_packet_size = \"1kb\" } }
[[link]]
from = \"c\"
to = \"d\"
trace = \"d.trace\"
delay = \"1ms\"
aggregate = { for = \"2ms\", packets = 8 }
change = [{ at = \"1s\", every = \"2s\", delay = \"5ms\", overtake = true, loss = [], queue = { \
droptail = { packets = 5 } } }]
outage = [{ from = \"1s\", for = \"10ms\", every = \"2s\", queued = \"drop\" }]
[[cbr]]
name = \"c\"
from = \"a\"
to = \"b\"
rate = \"80kbit\"
packet_size = 100
dither = 1
start = \"1s\"
stop = \"3s\"
";

fn shipped() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    files
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .map(|p| (p.display().to_string(), std::fs::read_to_string(p).unwrap()))
        .collect()
}

#[test]
fn every_shipped_scenario_is_right() {
    let files = shipped();
    assert!(files.len() >= 12, "{}", files.len());
    for (name, text) in files {
        let mut scenario = Scenario::with_traces(&text, &name, &Registry::default())
            .map_err(|e| format!("{name}:{e}"))
            .unwrap();
        // The large ones take long, and a second tells as much about the file.
        scenario.duration = units::Duration(ackclock_tcp::Span::from_secs(1));
        let mut built = scenario
            .build(&BuildOptions::new(&Registry::default(), 1).strategy("sack+lt"))
            .unwrap();
        built.run(&mut ()).map_err(|e| format!("{name}: {e}")).unwrap();
    }
}

#[test]
fn the_schema_describes_every_key() {
    let schema = Scenario::json_schema();
    let keys = |at: &str| {
        let table = schema.pointer(at).unwrap();
        assert_eq!(table["additionalProperties"], false, "{at}");
        let properties = table["properties"].as_object().unwrap();
        for (key, value) in properties {
            let described = value.get("description").is_some() || value.get("$ref").is_some();
            assert!(described, "{at} {key}: {value}");
        }
        properties.len()
    };
    assert_eq!(keys(""), 10);
    assert_eq!(keys("/$defs/Link"), 19);
    assert_eq!(keys("/$defs/Change"), 7);
    assert_eq!(keys("/$defs/Outage"), 4);
    assert_eq!(keys("/$defs/Aggregate"), 2);
    assert_eq!(keys("/$defs/Fate"), 6);
    assert_eq!(keys("/$defs/Flow"), 12);
    assert_eq!(keys("/$defs/Distribution"), 8);
    assert_eq!(keys("/$defs/Tcp"), 26);
    assert_eq!(keys("/$defs/Red"), 11);
    assert_eq!(keys("/$defs/Fred"), 8);
    assert_eq!(keys("/$defs/Policer"), 4);
    assert_eq!(keys("/$defs/Spike"), 3);
    assert_eq!(keys("/$defs/Web"), 4);
}

#[test]
fn mutated_scenarios_never_panic() {
    let text = base(EVERY_KEY);
    let mut bytes = text.clone().into_bytes();
    // One wrong byte at each place, and each beginning of the text.
    for i in 0..bytes.len() {
        for wrong in [b'"', b'{', b'[', b'9', b'\n', b'-'] {
            let right = std::mem::replace(&mut bytes[i], wrong);
            if let Ok(text) = std::str::from_utf8(&bytes) {
                let _ = Scenario::from_toml(text, &Registry::default()).map_err(|e| e.to_string());
            }
            bytes[i] = right;
        }
        if let Some(part) = text.get(..i) {
            let _ = Scenario::from_toml(part, &Registry::default()).map_err(|e| e.to_string());
        }
    }
}

/// The bytes that each flow has had acknowledged, and when each began, in ms.
fn sizes_and_starts(text: &str, seed: u64, strategy: &str) -> (Vec<u64>, Vec<u64>) {
    let registry = Registry::default();
    let options = BuildOptions::new(&registry, seed).strategy(strategy);
    let mut simulation =
        Scenario::from_toml(text, &Registry::default()).unwrap().build(&options).unwrap();
    simulation.run(&mut ()).unwrap();
    let bytes =
        simulation.flows.iter().map(|f| simulation.network.flow_report(f.id).unwrap().bytes_acked);
    (bytes.collect(), simulation.flows.iter().map(|f| f.start.nanos() / 1_000_000).collect())
}

#[test]
fn each_copy_draws_its_size_from_seed_and_name_alone() {
    let draw = "source = { draw = { exponential = { mean = \"10kb\" } } }\n";
    let text = base(&format!("count = 3\nname = \"x{{}}\"\n{draw}"));
    let (sizes, _) = sizes_and_starts(&text, 5, "reno");
    assert_eq!(sizes, [11_691, 3553, 1323]);
    assert_eq!(sizes_and_starts(&text, 5, "sack+lt").0, sizes, "the strategy changes no size");
    assert_ne!(sizes_and_starts(&text, 6, "reno").0, sizes);
    let one = base(&format!("name = \"x1\"\n{draw}"));
    assert_eq!(sizes_and_starts(&one, 5, "reno").0, sizes[1..2], "another copy changes no size");
}

#[test]
fn arrivals_are_a_poisson_process_of_seed_and_name() {
    let text = |count: u32, more: &str| {
        base(&format!(
            "count = {count}\nstart = \"1s\"\nsource = {{ bytes = 1 }}\narrivals = {{ poisson = \
             \"100ms\" }}\n{more}"
        ))
    };
    let (_, starts) = sizes_and_starts(&text(4, ""), 5, "reno");
    assert_eq!(starts, [1288, 1288, 1392, 1412]);
    assert_eq!(
        sizes_and_starts(&text(2, ""), 5, "sack").1,
        starts[..2],
        "neither later copies nor strategies matter"
    );
    assert_ne!(sizes_and_starts(&text(4, ""), 6, "reno").1, starts);

    // Distances have the mean 100 ms and, as exponential ones do, a standard deviation as large:
    // four standard errors of their mean, and of their mean square (2 * 100^2, with a standard
    // deviation of sqrt(20) * 100^2).
    let n = 10_000;
    let (_, starts) = sizes_and_starts(&text(n, ""), 5, "reno");
    let distances: Vec<f64> = starts.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    let mean = distances.iter().sum::<f64>() / f64::from(n);
    let square = distances.iter().map(|d| d * d).sum::<f64>() / f64::from(n);
    assert!((mean - 100.0).abs() < 4.0, "{mean}");
    assert!((square - 20_000.0).abs() < 1789.0, "{square}");
}

#[test]
fn arrivals_that_make_no_sense_are_named_with_their_key() {
    for (keys, message) in [
        (
            "arrivals = { poisson = 0 }",
            "12: flow[0].arrivals.poisson: the mean distance of two arrivals is above 0s",
        ),
        (
            "arrivals = { poisson = \"1s\" }\nstart_step = \"1s\"",
            "13: flow[0].start_step: either `start_step` or `arrivals`, not both",
        ),
        (
            "arrivals = { uniform = \"1s\" }",
            "12: flow[0].arrivals.uniform: there is no `uniform` here; there are `poisson`",
        ),
    ] {
        assert_eq!(error(&base(keys)), message);
    }
}

#[test]
fn the_mean_of_a_mix_is_that_of_its_parts_by_their_shares() {
    let parts = "[{ share = 0.5, fixed = 1000 }, { share = 0.25, exponential = { mean = 2000 } }, \
                 { share = 0.125, lognormal = { mean = 3000, sigma = 0.5 } }, { share = 0.125, \
                 pareto = { mean = 5000, shape = 1.5 } }]";
    let mix: Distribution = toml::from_str(&format!("mix = {parts}\nmax = 9000")).unwrap();
    assert_eq!(mix.mean(), 500.0 + 500.0 + 375.0 + 625.0);
    // A fifth of 1,000 bytes, a half around 3,000, three tenths around 9,500.
    let cdf = "cdf = [[1000, 0.2], [5000, 0.7], [9000, 0.7], [10000, 1]]";
    let measured: Distribution = toml::from_str(cdf).unwrap();
    assert!((measured.mean() - (200.0 + 1500.0 + 2850.0)).abs() < 1e-9);
}

#[test]
fn drop_lists_take_ranges() {
    let read = |segments: &str| {
        let link = format!("delay = \"10ms\"\nloss = [{{ drop = {{ segments = {segments} }} }}]");
        let text = BASE.replacen("delay = \"10ms\"", &link, 1);
        Scenario::from_toml(&text, &Registry::default()).map_err(|error| error.to_string())
    };
    let scenario = read("[3, \"5-7\", \"9\"]").unwrap();
    let Loss::Drop(list) = &scenario.links[0].loss[0] else { panic!("no list") };
    assert_eq!(list.segments, [3, 5, 6, 7, 9]);
    for (segments, expected) in [
        ("[\"7-5\"]", "`7-5` is a range that ends before it begins"),
        ("[\"0-1000000\"]", "`0-1000000` has more than 1000000 segments"),
        ("[\"x-5\"]", "`x-5` is not a segment number, and no range such as `14-20`"),
        ("[-1]", "invalid value: integer `-1`, expected a whole number, 0 or more, or a range"),
    ] {
        let error = read(segments).unwrap_err();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}

/// Twenty segments of each of two flows over two copies of a link, both ways.
#[test]
fn entries_of_drop_lists_that_no_packet_met() {
    let text = "duration = \"10s\"\n[[link]]\nfrom = \"a{}\"\nto = \"b\"\ncount = 2\n\
        rate = \"1mbit\"\ndelay = \"10ms\"\n\
        loss = [{ bernoulli = { p = 0 } }, { drop = { segments = [3, 30] } }, \
        { drop = { segments = [4, 40], retransmissions = [\"3:1\", \"5:1\"], flow = \"x1\" } }]\n\
        [[link]]\nfrom = \"c\"\nto = \"d\"\nrate = \"1mbit\"\ndelay = \"10ms\"\n\
        loss = [{ drop = { segments = [7] } }]\n\
        [[flow]]\nname = \"x{}\"\nfrom = \"a{}\"\nto = \"b\"\ncount = 2\n\
        source = { segments = 20 }\nstrategy = \"sack\"\n";
    let registry = Registry::default();
    let scenario = Scenario::from_toml(text, &registry).unwrap();
    let mut simulation = scenario.build(&BuildOptions::new(&registry, 1)).unwrap();
    simulation.run(&mut ()).unwrap();
    let left = simulation.unmet_drops();
    let left: Vec<_> =
        left.iter().map(|d| (d.link, d.loss, d.entry.segment, d.entry.transmission)).collect();
    assert_eq!(left, [(0, 1, 30, 1), (0, 2, 5, 2), (0, 2, 40, 1), (1, 0, 7, 1)]);
}

/// Reports of TCP flows in the order of their numbers, and none of a CBR stream.
#[test]
fn a_simulation_ends_as_the_reports_of_its_tcp_flows() {
    let text = base(
        "count = 2\nstart_step = \"3s\"\n\
         [[cbr]]\nfrom = \"a\"\nto = \"b\"\nrate = \"100kbit\"\n",
    );
    let registry = Registry::default();
    let scenario = Scenario::from_toml(&text, &registry).unwrap();
    let mut simulation = scenario.build(&BuildOptions::new(&registry, 1)).unwrap();
    simulation.run(&mut ()).unwrap();
    let flows = simulation.flows.clone();
    let expected: Vec<_> = flows
        .into_iter()
        .map(|flow| (flow.id.0, simulation.network.flow_report(flow.id).unwrap()))
        .collect();
    let reports: Vec<_> = simulation.into_reports().map(|(f, report)| (f.id.0, report)).collect();
    assert_eq!(reports, expected);
    assert_eq!(reports.len(), 2);
    assert!(reports[0].1.bytes_acked > reports[1].1.bytes_acked);
}
