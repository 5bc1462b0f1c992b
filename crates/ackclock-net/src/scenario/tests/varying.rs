//! Links that vary: what is refused, what traces are, and that simulation and gateway agree.

use std::net::SocketAddr;

use ackclock_tcp::{EventKind, Registry, Time};

use crate::scenario::{BuildOptions, Scenario};
use crate::{FlowId, Gateway, Headers, NodeId, Outcome, Place, Recorder};

fn error(more: &str) -> String {
    let text = format!(
        "duration = \"1s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\ndelay = \"1ms\"\nrate = \"1mbit\"\n\
         {more}"
    );
    Scenario::from_toml(&text, &Registry::default()).expect_err("this must be refused").to_string()
}

#[test]
fn changes_and_outages_that_make_no_sense_are_refused() {
    assert_eq!(
        error("[[link.change]]\nat = \"1s\"\n"),
        "7: link[0].change[0]: what changes? `rate`, `delay`, `loss` or `queue`"
    );
    assert_eq!(
        error("[[link.change]]\nat = \"1s\"\nevery = \"0s\"\ndelay = \"1s\"\n"),
        "9: link[0].change[0].every: a period is at least 1us"
    );
    assert_eq!(
        error("[[link.change]]\nat = \"1s\"\nrate = \"0bit\"\n"),
        "9: link[0].change[0].rate: a rate is at least 1bit"
    );
    assert_eq!(
        error("[[link.change]]\nat = \"1s\"\nrate = \"1bit\"\novertake = true\n"),
        "10: link[0].change[0].overtake: it says what a new `delay` does; this sets none"
    );
    assert_eq!(
        error("change = [{ at = \"1s\", loss = [{ drop = { segments = [1] } }] }]\n"),
        "7: link[0].change[0].loss[0]: a drop list names packets at any time; put it into the \
         link's own `loss`"
    );
    assert_eq!(
        error("change = [{ at = \"1s\", queue = { red = { limit = 5, min = 1, max = 3 } } }]\n"),
        "7: link[0].change[0].queue: only a drop-tail queue changes, and stays one: `queue = { \
         droptail = { packets = 20 } }`"
    );
    let twice = |every: &str| {
        format!(
            "[[link.change]]\nat = \"1s\"\nrate = \"1bit\"\ndelay = \"1s\"\n[[link.change]]\n\
             at = \"1000ms\"\n{every}loss = []\ndelay = \"2s\"\n"
        )
    };
    assert_eq!(
        error(&twice("")),
        "14: link[0].change[1].delay: change[0] sets it at the same time, 1s; leave one out"
    );
    // One that comes again is another thing, and one that sets something else.
    let sound = |more: &str| {
        let text = format!(
            "duration = \"1s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\ndelay = \"1ms\"\nrate = \
             \"1mbit\"\n{more}"
        );
        Scenario::from_toml(&text, &Registry::default()).is_ok()
    };
    assert!(sound(&twice("every = \"3s\"\n")));
    assert!(sound(&twice("").replace("delay = \"2s\"\n", "")));
    assert_eq!(
        error("[[link.outage]]\nfrom = \"1s\"\n"),
        "7: link[0].outage[0]: the key `for` is missing"
    );
    assert_eq!(
        error("[[link.outage]]\nfrom = \"1s\"\nfor = \"0s\"\n"),
        "9: link[0].outage[0].for: an outage lasts longer than 0s"
    );
    assert_eq!(
        error("[[link.outage]]\nfrom = \"1s\"\nfor = \"2s\"\nevery = \"2s\"\n"),
        "10: link[0].outage[0].every: this outage never ends; `every` is longer than `for`, 2s"
    );
    assert_eq!(
        error("[[link.outage]]\nfrom = \"1s\"\nfor = \"1ns\"\nevery = \"2ns\"\n"),
        "10: link[0].outage[0].every: a period is at least 1us"
    );
    let halves = "{ from = \"0s\", for = \"1s\", every = \"2s\" }";
    assert_eq!(
        error(&format!("outage = [{halves}, {halves}]\n")),
        "7: link[0].outage: together these never end; leave time between them"
    );
    assert_eq!(
        error("[link.outage]\nfrom = \"1s\"\nfor = \"1s\"\n"),
        "7: link[0].outage: there may be several of these; write `[[link.outage]]`"
    );
    assert_eq!(
        error("aggregate = { for = \"1ms\", packets = 0 }\n"),
        "7: link[0].aggregate.packets: a burst is at least 1 packet"
    );
    assert_eq!(error("trace = \"x\"\n"), "7: link[0].trace: either `rate` or `trace`, not both");
}

/// The file is looked for beside the scenario. What is wrong with it is said with both places.
#[test]
fn a_trace_is_a_file_beside_the_scenario() {
    let folder = std::env::temp_dir().join(format!("ackclock-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("mine.toml").display().to_string();
    let text = "duration = \"1s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\ndelay = \"1ms\"\n\
                trace = \"t.trace\"\n";
    let read = || Scenario::with_traces(text, &file, &Registry::default());
    let wrong = |trace: &str| {
        std::fs::write(folder.join("t.trace"), trace).unwrap();
        read().expect_err("a wrong trace").to_string()
    };
    assert!(read().expect_err("no file").to_string().starts_with("6: link[0].trace: t.trace: "));
    assert_eq!(
        wrong("1\nx\n"),
        "6: link[0].trace: t.trace:2: `x` is no time; a line is a whole number of milliseconds, \
         such as `12`"
    );
    assert_eq!(
        wrong("0\n"),
        "6: link[0].trace: t.trace:1: this never delivers after time 0: the last time is how long \
         the trace lasts, so it is above 0"
    );
    std::fs::write(folder.join("t.trace"), "1\n").unwrap();
    let scenario = read().unwrap();
    assert!(Gateway::new(&scenario, 1).is_ok());
    std::fs::remove_dir_all(&folder).unwrap();
    // Without its file there is no run.
    let unread = Scenario::from_toml(text, &Registry::default()).unwrap();
    assert_eq!(
        Gateway::new(&unread, 1).err().map(|e| e.to_string()),
        Some(
            "link[0].trace: this trace has not been read; a trace is a file beside that of a \
             scenario, and is not read from elsewhere"
                .into()
        )
    );
}

/// A trace delivers at 3, 10, 13, 20 ... ms. With an outage every 4 ms from 1 ms on, the times
/// since it began are 2, 9, 12, 19, 22, 29 ... : modulo 4 those at 10 k are 1 and 3, those at
/// 10 k + 3 are 2 and 0. So only an outage that is on at all of 0 to 3 ms leaves nothing.
#[test]
fn an_outage_leaves_something_of_a_trace() {
    let run = |trace: &str, outage: &str| {
        let text = format!(
            "duration = \"1s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\ndelay = \"1ms\"\n\
             trace = \"t.trace\"\n[[link.outage]]\n{outage}"
        );
        let mut scenario = Scenario::from_toml(&text, &Registry::default()).unwrap();
        if let Some(file) = &mut scenario.links[0].trace {
            file.trace = Some(crate::Trace::parse(trace).unwrap());
        }
        Gateway::new(&scenario, 1).map(|_| ()).map_err(|e| e.to_string())
    };
    let never = "link[0].outage[0].every: the trace never delivers once this outage has begun: all \
                 its times fall into it; choose another `every`, or a shorter `for`";
    let outage = |lasts, every: Option<&str>| {
        let every = every.map_or(String::new(), |every| format!("every = \"{every}\"\n"));
        format!("from = \"1ms\"\nfor = \"{lasts}\"\n{every}")
    };
    assert_eq!(run("3\n10\n", &outage("3ms", Some("4ms"))), Ok(()));
    assert_eq!(run("3\n10\n", &outage("3001us", Some("4ms"))), Err(never.into()));
    // Every 10 ms: both times, 2 and 9 ms since it began, or one of them.
    assert_eq!(run("3\n10\n", &outage("9ms", Some("10ms"))), Ok(()));
    assert_eq!(run("3\n10\n", &outage("9001us", Some("10ms"))), Err(never.into()));
    // The period of the outage is twice that of the trace: every other opportunity is free.
    assert_eq!(run("1\n", &outage("1us", Some("2ms"))), Ok(()));
    assert_eq!(run("2\n", &outage("2ms", Some("4ms"))), Ok(()));
    assert_eq!(run("1\n", &outage("1us", Some("1ms"))), Err(never.into()));
    // One that comes once ends.
    assert_eq!(run("1\n", &outage("900ms", None)), Ok(()));
}

/// What a run shows of each transmission of a segment: when it was sent, and when it arrived or was
/// dropped, and why.
#[derive(Default)]
struct Log {
    sent: Vec<(u64, u64, u32)>,
    fates: Vec<(u64, &'static str)>,
}

impl Recorder for Log {
    fn wants_packets(&self) -> bool {
        true
    }
    fn wants_events(&self) -> bool {
        true
    }
    fn event(&mut self, _: FlowId, event: &ackclock_tcp::Event) {
        if let EventKind::Dropped { why, .. } = event.kind {
            self.fates.push((event.at.0, why));
        }
    }
    fn packet(&mut self, _: FlowId, place: Place, seen: &ackclock_tcp::Sighting) {
        match place {
            Place::Sender if seen.to_receiver => self.sent.push((seen.at.0, 0, seen.len)),
            Place::Receiver if seen.to_receiver => self.fates.push((seen.at.0, "")),
            _ => {}
        }
    }
}

/// A transfer over a link that varies in all ways. The same packets at the same times meet the same
/// fates in a gateway, to the nanosecond.
#[test]
fn the_same_packets_meet_the_same_fate_in_simulation_and_gateway() {
    let text = |rate: &str| {
        format!(
            "duration = \"8s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\ndelay = \"20ms\"\nduplex = \
             false\n{rate}\nqueue = {{ droptail = {{ packets = 20 }} }}\nloss = [{{ bernoulli = {{ \
             p = 0.01, direction = \"both\" }} }}]\njitter = \"1ms\"\n\
             aggregate = {{ for = \"3ms\", packets = 4 }}\n\
             change = [{{ at = \"1s\", every = \"2s\", delay = \"10ms\", overtake = true, loss = [] \
             }}, {{ at = \"2s\", every = \"2s\", delay = \"30ms\", queue = {{ droptail = {{ packets \
             = 5 }} }}, loss = [{{ bernoulli = {{ p = 0.03, direction = \"both\" }} }}] }}]\n\
             outage = [{{ from = \"500ms\", for = \"100ms\", every = \"3s\", queued = \"drop\" }}, \
             {{ from = \"1500ms\", for = \"80ms\", every = \"2s\" }}]\n\
             [[link]]\nfrom = \"b\"\nto = \"a\"\nrate = \"10mbit\"\ndelay = \"5ms\"\nduplex = false\n\
             [[flow]]\nfrom = \"a\"\nto = \"b\"\nstrategy = \"sack\"\n"
        )
    };
    for (rate, trace) in [("rate = \"4mbit\"", None), ("trace = \"t\"", Some("1\n2\n2\n9\n"))] {
        let mut scenario = Scenario::from_toml(&text(rate), &Registry::default()).unwrap();
        if let (Some(file), Some(trace)) = (&mut scenario.links[0].trace, trace) {
            file.trace = Some(crate::Trace::parse(trace).unwrap());
        }
        let registry = Registry::default();
        let mut built = scenario.build(&BuildOptions::new(&registry, 7)).unwrap();
        let mut log = Log::default();
        built.run(&mut log).unwrap();
        assert!(log.sent.len() > 500, "{}", log.sent.len());
        for why in ["", "outage", "queue", "bernoulli"] {
            assert!(log.fates.iter().any(|fate| fate.1 == why), "{rate} {why}");
        }

        let mut gateway = Gateway::new(&scenario, 7).unwrap();
        let end = |port| SocketAddr::from(([10, 0, 0, 1], port));
        let mut fates = Vec::new();
        let mut poll = |gateway: &mut Gateway, now: u64| {
            while let Some(exit) = gateway.poll(Time(now)) {
                let why = match exit.outcome {
                    Outcome::Delivered { .. } => "",
                    Outcome::Dropped { why, .. } => why,
                };
                fates.push((exit.at.0, why));
            }
        };
        for (token, &(at, _, len)) in (0..).zip(&log.sent) {
            poll(&mut gateway, at.saturating_sub(1));
            let headers = Headers {
                len: len + 40,
                from: end(1),
                to: end(2),
                protocol: 17,
                codepoint: Default::default(),
                tcp: None,
            };
            assert!(gateway.enter(Time(at), NodeId(0), NodeId(1), &headers, token));
        }
        poll(&mut gateway, 8_000_000_000);
        // At the same time, a drop at the entrance and an arrival may be told in either order.
        fates.sort_unstable();
        log.fates.sort_unstable();
        assert_eq!(fates, log.fates);
    }
}

/// A link that varies without being different at any time is the link that does not vary: every
/// segment is sent, dropped and acknowledged at the same time, also where packets of the plain link
/// move ahead of the clock.
#[test]
fn a_change_that_changes_nothing_changes_nothing() {
    let run = |more: &str, queue: &str| {
        let text = format!(
            "duration = \"20s\"\n[[link]]\nfrom = \"s{{}}\"\nto = \"r\"\nrate = \"10mbit\"\ndelay = \
             \"2ms\"\ndelay_to = \"9ms\"\ncount = 3\n[[link]]\nfrom = \"r\"\nto = \"d\"\nrate = \
             \"1.5mbit\"\ndelay = \"20ms\"\nqueue = {queue}\njitter = \"2ms\"\nloss = [{{ bernoulli \
             = {{ p = 0.01 }} }}]\n{more}\n[[flow]]\nfrom = \"s{{}}\"\nto = \"d\"\ncount = 3\n\
             strategy = \"sack\"\n"
        );
        let scenario = Scenario::from_toml(&text, &Registry::default()).unwrap();
        let registry = Registry::default();
        let mut built = scenario.build(&BuildOptions::new(&registry, 3)).unwrap();
        built.run(&mut ()).unwrap();
        let flows: Vec<_> =
            built.flows.iter().map(|flow| built.network.flow_report(flow.id).unwrap()).collect();
        let links: Vec<_> =
            built.links.iter().map(|link| built.network.link_report(link.id).unwrap()).collect();
        (flows, links)
    };
    let none =
        "[[link.change]]\nat = \"7ms\"\nevery = \"11ms\"\nrate = \"1.5mbit\"\ndelay = \"20ms\"";
    for queue in [
        "{ droptail = { packets = 12 } }",
        "{ droptail = { bytes = 9000 } }",
        "{ red = { limit = 30, min = 4, max = 12, weight = 0.02 } }",
        "{ fred = { limit = 30, min = 4, max = 12 } }",
    ] {
        let (plain, varying) = (run("", queue), run(none, queue));
        assert!(plain.0.iter().map(|flow| flow.drops).sum::<u64>() > 20, "{queue}");
        assert_eq!(plain, varying, "{queue}");
    }
}

/// Nothing could go before the run ends at 1 s. A gateway has no end.
#[test]
fn a_link_sends_something_before_the_run_ends() {
    let build = |rate: &str, outage: &str, trace: &str| {
        let text = format!(
            "duration = \"1s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\ndelay = \"1ms\"\n{rate}\n\
             outage = [{outage}]"
        );
        let mut scenario = Scenario::from_toml(&text, &Registry::default()).unwrap();
        if let Some(file) = &mut scenario.links[0].trace {
            file.trace = Some(crate::Trace::parse(trace).unwrap());
        }
        assert!(Gateway::new(&scenario, 1).is_ok());
        let built = scenario.build(&BuildOptions::new(&Registry::default(), 1));
        built.map(|_| ()).map_err(|error| error.to_string())
    };
    let trace = |text| build("trace = \"t.trace\"", "", text);
    assert_eq!(trace("1000\n"), Ok(()));
    let late = "link[0].trace: the trace delivers nothing before the run ends, at 1s: its first time \
                is 1.001s";
    assert_eq!(trace("1001\n"), Err(late.into()));
    let outage = |outage| build("rate = \"1mbit\"", outage, "");
    assert_eq!(outage("{ from = \"1ns\", for = \"9s\" }"), Ok(()));
    assert_eq!(outage("{ from = \"0s\", for = \"999ms\" }"), Ok(()));
    let silent = "link[0].outage[0].for: nothing goes over this link before the run ends, at 1s; a \
                  shorter `for`, or a later `from`";
    assert_eq!(outage("{ from = \"0s\", for = \"1s\" }"), Err(silent.into()));
}
