//! Checks what types cannot: ranges, names, and keys that exclude each other.

use std::collections::HashMap;

use ackclock_tcp::Span;
use ackclock_tcp::strategy::{Composition, MECHANISMS, PRESETS};

use super::error::{ScenarioError, Step, nearest, steps};
use super::model::{Arrivals, Cbr, Flow, Link, Loss, Queue, Scenario, Source, Tcp};
use super::names::{expand, numbered};
use super::units::{Amount, Duration, Rate, Size};
use super::values::DelayedAck;

/// The most nodes, links, flows and runs. Far above any use, and low enough that a typing error does not fill memory.
const MOST: u64 = 100_000;

/// The names of a scenario with every `count` unfolded.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Nodes in the order of their numbers.
    pub nodes: Vec<String>,
    node_numbers: HashMap<String, u32>,
    /// Flows, then CBR streams, in the order of their numbers.
    pub flows: Vec<String>,
    flow_numbers: HashMap<String, u32>,
}

impl Names {
    pub fn node(&self, name: &str) -> Option<u32> {
        self.node_numbers.get(name).copied()
    }

    pub fn flow(&self, name: &str) -> Option<u32> {
        self.flow_numbers.get(name).copied()
    }

    fn add_node(&mut self, name: String) -> bool {
        let number = self.nodes.len() as u32;
        if self.node_numbers.contains_key(&name) {
            return false;
        }
        self.node_numbers.insert(name.clone(), number);
        self.nodes.push(name);
        true
    }

    fn add_flow(&mut self, name: String) -> bool {
        let number = self.flows.len() as u32;
        self.flows.push(name.clone());
        self.flow_numbers.insert(name, number).is_none()
    }
}

pub(super) type Checked = Result<(), ScenarioError>;

pub(super) fn fail(path: &[Step], message: impl Into<String>) -> Checked {
    Err(ScenarioError::at(path, message))
}

/// `path` and one more step.
pub(super) fn sub(path: &[Step], step: &str) -> Vec<Step> {
    let mut path = path.to_vec();
    path.push(step.into());
    path
}

/// Checks a scenario and unfolds its names.
pub(crate) fn check(scenario: &Scenario) -> Result<Names, ScenarioError> {
    if scenario.duration.0 == Span::ZERO {
        fail(&steps!["duration"], "a run must last longer than 0s")?;
    }
    count(scenario.runs, 1, &steps!["runs"])?;
    check_tcp(&scenario.tcp, &steps!["tcp"])?;
    let mut names = Names::default();
    check_nodes(scenario, &mut names)?;
    name_flows(scenario, &mut names)?;
    for (i, link) in scenario.links.iter().enumerate() {
        check_link(link, &names, &steps!["link", i])?;
    }
    for (i, flow) in scenario.flows.iter().enumerate() {
        let at = steps!["flow", i];
        check_flow(flow, &names, &at)?;
        if let Tcp { ack_every: Some(_), delayed_ack: Some(DelayedAck::Off), .. } = flow.tcp.or(&scenario.tcp) {
            let message = "with `delayed_ack = \"off\"` every segment is acknowledged; write a delay such as \"1ms\"";
            fail(&[&at, &steps!["tcp", "ack_every"][..]].concat(), message)?;
        }
        if let Tcp { handshake: Some(true), mss: Some(Size(..LEAST_MSS)), .. } = flow.tcp.or(&scenario.tcp) {
            let message = format!("a connection opens with an MSS of {LEAST_MSS} bytes at least; raise `mss`");
            fail(&[&at, &steps!["tcp", "handshake"][..]].concat(), message)?;
        }
    }
    for (i, cbr) in scenario.cbrs.iter().enumerate() {
        check_cbr(cbr, &names, &steps!["cbr", i])?;
    }
    Ok(names)
}

fn count(n: u32, least: u32, path: &[Step]) -> Checked {
    if n < least || u64::from(n) > MOST {
        return fail(path, format!("{n} is out of range: {least} to {MOST}"));
    }
    Ok(())
}

fn check_nodes(scenario: &Scenario, names: &mut Names) -> Checked {
    for (i, node) in scenario.nodes.iter().enumerate() {
        let at = steps!["node", i];
        count(node.count, 1, &sub(&at, "count"))?;
        if node.name.is_empty() {
            fail(&sub(&at, "name"), "a node needs a name")?;
        }
        for copy in 0..node.count {
            let name = expand(&node.name, copy);
            if !names.add_node(name.clone()) {
                fail(
                    &sub(&at, "name"),
                    format!("there already is a node `{name}`; `{{}}` in a name numbers the copies"),
                )?;
            }
        }
        total(names.nodes.len(), "nodes", &at)?;
    }
    let declared = !scenario.nodes.is_empty();
    let mut links = 0;
    for (i, link) in scenario.links.iter().enumerate() {
        let at = steps!["link", i];
        count(link.count, 1, &sub(&at, "count"))?;
        links += link.count as usize;
        total(links, "links", &at)?;
        if link.count > 1 && !numbered(&link.from) && !numbered(&link.to) {
            fail(
                &sub(&at, "count"),
                "copies of a link need `{}` in `from` or `to`, so that they join different nodes",
            )?;
        }
        for copy in 0..link.count {
            let ends = [("from", expand(&link.from, copy)), ("to", expand(&link.to, copy))];
            if ends[0].1 == ends[1].1 {
                fail(&at, format!("this link joins `{}` to itself", ends[0].1))?;
            }
            for (key, end) in ends {
                if declared {
                    known_node(names, &end, &sub(&at, key))?;
                } else if end.is_empty() {
                    fail(&sub(&at, key), "a node needs a name")?;
                } else {
                    names.add_node(end);
                }
            }
        }
    }
    Ok(())
}

fn total(n: usize, what: &str, path: &[Step]) -> Checked {
    if n as u64 > MOST { fail(path, format!("more than {MOST} {what}")) } else { Ok(()) }
}

fn known_node(names: &Names, name: &str, path: &[Step]) -> Checked {
    if names.node(name).is_some() {
        return Ok(());
    }
    // A list of thousands helps nobody.
    let some: Vec<&String> = names.nodes.iter().take(1000).collect();
    let hint = match nearest(name, &some) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.nodes.is_empty() => "there are no links".into(),
        None => {
            let shown = names.nodes.iter().take(8).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
            format!("there are {shown}{}", if names.nodes.len() > 8 { ", ..." } else { "" })
        }
    };
    fail(path, format!("there is no node `{name}`; {hint}"))
}

/// The name of copy `copy` of a flow that is number `number` of its kind.
fn flow_name(name: Option<&str>, kind: &str, number: usize, copies: u32, copy: u32) -> String {
    match name {
        None => format!("{kind}{number}"),
        Some(name) if numbered(name) => expand(name, copy),
        Some(name) if copies > 1 => format!("{name}{copy}"),
        Some(name) => name.to_string(),
    }
}

fn name_flows(scenario: &Scenario, names: &mut Names) -> Checked {
    let flows = scenario.flows.iter().enumerate().map(|(i, f)| ("flow", i, f.name.as_deref(), f.count));
    let cbrs = scenario.cbrs.iter().enumerate().map(|(i, c)| ("cbr", i, c.name.as_deref(), c.count));
    let mut numbers = HashMap::from([("flow", 0), ("cbr", 0)]);
    for (kind, i, name, copies) in flows.chain(cbrs) {
        let at = steps![kind, i];
        count(copies, 1, &sub(&at, "count"))?;
        for copy in 0..copies {
            let number = numbers.entry(kind).or_default();
            let name = flow_name(name, kind, *number, copies, copy);
            *number += 1;
            if !names.add_flow(name.clone()) {
                fail(&sub(&at, "name"), format!("there already is a flow `{name}`"))?;
            }
        }
        total(names.flows.len(), "flows", &at)?;
    }
    Ok(())
}

fn positive_rate(rate: Rate, path: &[Step]) -> Checked {
    if rate.0 == 0 { fail(path, "a rate is at least 1bit") } else { Ok(()) }
}

fn size_within(size: Option<Size>, least: u64, most: u64, path: &[Step]) -> Checked {
    match size {
        Some(Size(n)) if n < least || n > most => fail(path, format!("{n} is out of range: {least} to {most} bytes")),
        _ => Ok(()),
    }
}

fn check_link(link: &Link, names: &Names, at: &[Step]) -> Checked {
    positive_rate(link.rate, &sub(at, "rate"))?;
    if link.delay_to.is_some() && link.count == 1 {
        fail(&sub(at, "delay_to"), "it is the delay of the last of several copies; this link has no `count`")?;
    }
    if link.reorder.as_ref().is_some_and(|r| r.p.is_none() && r.segments.is_empty()) {
        fail(&sub(at, "reorder"), "which packets are late? `p = \"1%\"` or `segments = [14]`")?;
    }
    for (i, spike) in link.spikes.iter().enumerate() {
        for (key, duration) in [("for", spike.lasts), ("delay", spike.delay)] {
            if duration.0 == Span::ZERO {
                let at = [at, &steps!["spikes", i, key]].concat();
                fail(&at, "a spike lasts longer than 0s and adds a delay above 0s")?;
            }
        }
    }
    let queue = sub(at, "queue");
    match &link.queue {
        None => {}
        Some(Queue::Droptail(q)) => match (q.packets, q.bytes) {
            (Some(1..), None) | (None, Some(Size(1..))) => {}
            (Some(_), Some(_)) => fail(&sub(&queue, "droptail"), "either `packets` or `bytes`, not both")?,
            (None, None) => {
                fail(&sub(&queue, "droptail"), "how much does it hold? `packets = 20` or `bytes = \"64kb\"`")?
            }
            _ => fail(&sub(&queue, "droptail"), "a queue holds at least 1: the packet in transmission counts")?,
        },
        Some(Queue::Red(q)) => {
            let at = sub(&queue, "red");
            check_early_drop(q.limit, (q.min, 0), q.max, q.weight, q.mean_packet_size, &at)?;
        }
        Some(Queue::Fred(q)) => {
            let at = sub(&queue, "fred");
            check_early_drop(q.limit, (q.min, 1), q.max, q.weight, q.mean_packet_size, &at)?;
        }
    }
    for (i, loss) in link.loss.iter().enumerate() {
        let mut at = sub(at, "loss");
        at.push(i.into());
        check_loss(loss, names, &at)?;
    }
    Ok(())
}

/// What RED and FRED have in common; `min` comes with the least that it may be.
fn check_early_drop(
    limit: u32,
    (min, least): (f64, u32),
    max: f64,
    weight: Option<f64>,
    mean_packet_size: Option<Size>,
    at: &[Step],
) -> Checked {
    if limit == 0 {
        fail(&sub(at, "limit"), "a queue holds at least 1 packet")?;
    }
    if !(min.is_finite() && min >= f64::from(least)) {
        fail(&sub(at, "min"), format!("a threshold is a number of packets, {least} or more"))?;
    }
    if !(max.is_finite() && max > min) {
        fail(&sub(at, "max"), "`max` must be above `min`")?;
    }
    if !weight.is_none_or(|w| w > 0.0 && w <= 1.0) {
        fail(&sub(at, "weight"), "a weight is above 0 and at most 1")?;
    }
    size_within(mean_packet_size, 1, u64::from(u32::MAX), &sub(at, "mean_packet_size"))
}

fn check_loss(loss: &Loss, names: &Names, at: &[Step]) -> Checked {
    let (kind, flow) = match loss {
        Loss::Drop(l) => ("drop", &l.flow),
        Loss::Bernoulli(l) => ("bernoulli", &l.flow),
        Loss::GilbertElliott(l) => ("gilbert_elliott", &l.flow),
        Loss::ThreeState(l) => ("three_state", &l.flow),
        Loss::Policer(l) => ("policer", &l.flow),
    };
    let at = sub(at, kind);
    if let Loss::Policer(l) = loss {
        positive_rate(l.rate, &sub(&at, "rate"))?;
        size_within(Some(l.burst), 1, u64::from(u32::MAX), &sub(&at, "burst"))?;
    }
    if let Loss::Drop(l) = loss
        && l.segments.is_empty()
        && l.retransmissions.is_empty()
    {
        fail(&at, "what is dropped? `segments = [14, 26]` or `retransmissions = [\"14:1\"]`")?;
    }
    let Some(flow) = flow else { return Ok(()) };
    if names.flow(flow).is_some() {
        return Ok(());
    }
    let some: Vec<&String> = names.flows.iter().take(1000).collect();
    let hint = nearest(flow, &some).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    fail(&sub(&at, "flow"), format!("there is no flow `{flow}`{hint}"))
}

fn ends(from: &str, to: &str, copies: u32, names: &Names, at: &[Step]) -> Checked {
    for copy in 0..copies {
        let (from, to) = (expand(from, copy), expand(to, copy));
        known_node(names, &from, &sub(at, "from"))?;
        known_node(names, &to, &sub(at, "to"))?;
        if from == to {
            fail(at, format!("both ends are `{from}`"))?;
        }
    }
    Ok(())
}

fn stop_after(stop: Option<Duration>, start: Duration, at: &[Step]) -> Checked {
    match stop {
        Some(stop) if stop <= start => fail(&sub(at, "stop"), format!("{stop} is not after the start at {start}")),
        _ => Ok(()),
    }
}

fn check_flow(flow: &Flow, names: &Names, at: &[Step]) -> Checked {
    ends(&flow.from, &flow.to, flow.count, names, at)?;
    if let Some(strategy) = &flow.strategy {
        check_strategy(strategy).map_err(|message| ScenarioError::at(&sub(at, "strategy"), message))?;
    }
    stop_after(flow.stop, flow.start, at)?;
    if let Some(Arrivals::Poisson(mean)) = flow.arrivals {
        if mean.0 == Span::ZERO {
            fail(&sub(at, "arrivals.poisson"), "the mean distance of two arrivals is above 0s")?;
        }
        if flow.start_step.0 != Span::ZERO {
            fail(&sub(at, "start_step"), "either `start_step` or `arrivals`, not both")?;
        }
    }
    check_tcp(&flow.tcp, &sub(at, "tcp"))?;
    let source = sub(at, "source");
    match &flow.source {
        Source::Bulk => Ok(()),
        Source::Bytes(Size(0)) | Source::Segments(0) => fail(&source, "nothing to send"),
        Source::Bytes(_) => Ok(()),
        Source::Segments(n) if *n > u64::from(u32::MAX) => fail(&source, format!("at most {} segments", u32::MAX)),
        Source::Segments(_) => Ok(()),
        Source::Draw(distribution) => distribution.check(&sub(&source, "draw")),
        Source::OnOff(s) => {
            let at = sub(&source, "on_off");
            positive_rate(s.rate, &sub(&at, "rate"))?;
            match s.write {
                Some(Amount::Bytes(0) | Amount::Segments(0)) => {
                    fail(&sub(&at, "write"), "a write holds at least 1 byte")
                }
                Some(write) if write.bytes(u32::from(u16::MAX)) > u64::from(u32::MAX) => {
                    fail(&sub(&at, "write"), "a write is below 4gb")
                }
                _ if s.on.0 == Span::ZERO && s.off.0 == Span::ZERO => {
                    fail(&sub(&at, "off"), "`on` and `off` are both 0s")
                }
                _ => Ok(()),
            }
        }
        Source::Web(web) => {
            let at = sub(&source, "web");
            if !(1.0..=1e6).contains(&web.responses) {
                fail(&sub(&at, "responses"), "a mean number of responses is 1 to 1000000")?;
            }
            if web.exactly && web.responses.fract() != 0.0 {
                fail(&sub(&at, "responses"), "with `exactly` it is a whole number")?;
            }
            web.size.check(&sub(&at, "size"))
        }
        Source::Writes(writes) => {
            let at = sub(&source, "writes");
            if writes.is_empty() {
                fail(&at, "nothing to send")?;
            }
            for (i, write) in writes.iter().enumerate() {
                let mut at = at.clone();
                at.push(i.into());
                if i > 0 && write.at < writes[i - 1].at {
                    fail(&sub(&at, "at"), "writes are in the order of their times")?;
                }
                if matches!(write.amount, Amount::Bytes(0) | Amount::Segments(0)) {
                    fail(&sub(&at, "amount"), "a write holds at least 1 byte")?;
                }
            }
            Ok(())
        }
    }
}

/// Whether `text` is a composition of mechanisms such as `sack+lt`.
///
/// # Errors
/// What is wrong with it, and which name is most like it.
pub fn check_strategy(text: &str) -> Result<(), String> {
    let Err(unknown) = Composition::parse(text) else { return Ok(()) };
    let names: Vec<&str> = PRESETS.iter().map(|p| p.name).chain(MECHANISMS.iter().map(|m| m.name)).collect();
    let hint = match nearest(&unknown.0, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`ackclock strategies` lists them".into(),
    };
    Err(format!("{unknown}; {hint}"))
}

fn check_cbr(cbr: &Cbr, names: &Names, at: &[Step]) -> Checked {
    ends(&cbr.from, &cbr.to, cbr.count, names, at)?;
    positive_rate(cbr.rate, &sub(at, "rate"))?;
    size_within(cbr.packet_size, 1, 65_535, &sub(at, "packet_size"))?;
    stop_after(cbr.stop, cbr.start, at)
}

/// Smallest MSS that a SYN can announce: every host takes IP packets of 68 bytes (RFC 791 section 3.2).
const LEAST_MSS: u64 = 28;

/// Largest receive buffer: what a window scaled by 14 can offer (RFC 7323 section 2.3).
const MOST_RWND: u64 = 1 << 30;

fn check_tcp(tcp: &Tcp, at: &[Step]) -> Checked {
    size_within(tcp.mss, 1, 65_495, &sub(at, "mss"))?;
    let out = |key: &str, n: u32, range: &str| fail(&sub(at, key), format!("{n} is out of range: {range}"));
    match tcp {
        Tcp { initial_window: Some(n), .. } if !(1..=10).contains(n) => out("initial_window", *n, "1 to 10 segments")?,
        Tcp { ack_every: Some(n), .. } if !(1..=1000).contains(n) => out("ack_every", *n, "1 to 1000 segments")?,
        Tcp { max_burst: Some(0), .. } => out("max_burst", 0, "1 segment or more")?,
        Tcp { window_scale: Some(n), .. } if *n > 14 => out("window_scale", (*n).into(), "0 to 14 (RFC 7323)")?,
        Tcp { header: Some(n), .. } if *n > 1000 => out("header", *n, "0 to 1000 bytes")?,
        Tcp { ack_size: Some(n), .. } if *n > 1000 => out("ack_size", *n, "0 to 1000 bytes")?,
        _ => {}
    }
    if tcp.max_rto.is_some_and(|max| max.0 < Span::from_secs(1)) {
        fail(&sub(at, "max_rto"), "at least 1s; RFC 6298 section 2.5 asks for 60s")?;
    }
    for (key, amount) in [("initial_ssthresh", tcp.initial_ssthresh), ("rwnd", tcp.rwnd), ("max_cwnd", tcp.max_cwnd)] {
        match amount {
            Some(Amount::Bytes(0) | Amount::Segments(0)) => fail(&sub(at, key), "at least 1 byte")?,
            Some(Amount::Bytes(n)) if n > MOST_RWND => fail(&sub(at, key), "at most 1gb")?,
            _ => {}
        }
    }
    Ok(())
}
