//! Connections to score: each seed draws a path, its losses, a sender and an application.
//!
//! Everything is drawn from lists, since powers and logarithms are not the same on every machine.

use std::fmt::Write;

use ackclock_net::Rng;
use ackclock_tcp::Registry;

/// Compositions beside the presets that send for other reasons.
const MORE: [&str; 4] = ["newreno+smallwnd+lrxt+b2b", "sack+prr+lt", "reno+lt", "sack+er"];

/// Lists of losses for each path of [`siblings`].
const LISTS: usize = 32;

pub(crate) struct Draw(pub Rng);

impl Draw {
    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.unit() < probability
    }

    pub fn below(&mut self, n: u64) -> u64 {
        (self.0.unit() * n as f64) as u64
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// What happens to packets on a link, as keys of a scenario.
#[derive(Default)]
struct Mishaps {
    losses: Vec<String>,
    queue: Option<String>,
    keys: Vec<String>,
    /// So many flows share the path.
    flows: u32,
}

/// The scenario of a seed: `sender`, `router`, `receiver`, and one flow, or several that compete.
/// `min_rto`, as `30ms`: the least retransmission timeout, in place of the one that is drawn.
pub fn scenario(seed: u64, min_rto: Option<&str>) -> String {
    let mut draw = Draw(Rng::new(seed, "score/population"));
    let segments = draw.one(&[1, 2, 3, 4, 6, 9, 14, 22, 35, 60, 100, 160, 300, 600, 1000]);
    let mut mishaps = Mishaps { flows: 1, ..Mishaps::default() };
    mishap(&mut draw, segments, &mut mishaps);
    if draw.chance(0.3) {
        mishap(&mut draw, segments, &mut mishaps);
    }
    let mut out = String::from("duration = \"200s\"\n");
    tcp(&mut draw, min_rto, &mut out);
    path(&mut draw, &mishaps, &mut out);
    flow(&mut draw, segments, mishaps.flows, &mut out);
    out
}

/// One flow over such a path, of an application that writes so much each few milliseconds for three
/// seconds: from a tenth of what the path carries to twice that, with jitter in some, of senders
/// that pace and others. Packets are lost in a quarter of them.
pub fn steady(seed: u64, min_rto: Option<&str>) -> String {
    let mut draw = Draw(Rng::new(seed, "score/steady"));
    let mut mishaps = Mishaps { flows: 1, ..Mishaps::default() };
    if draw.chance(0.25) {
        let p = draw.one(&["0.1%", "0.5%"]);
        mishaps.losses.push(format!("{{ bernoulli = {{ p = {p:?} }} }}"));
    }
    let mut out = String::from("duration = \"200s\"\n");
    tcp(&mut draw, min_rto, &mut out);
    let rate = path(&mut draw, &mishaps, &mut out);
    let rate = rate * draw.one(&[0.1, 0.25, 0.5, 0.75, 0.9, 1.25, 2.0]);
    let interval = draw.one(&[1, 2, 5, 10, 20, 50]) * 1_000_000;
    let bytes = ((rate / 8e9 * interval as f64) as u64).max(50);
    let jitter = draw.one(&[0.0, 0.0, 0.2, 1.0]);
    let writes: Vec<String> = (0..3_000_000_000 / interval)
        .map(|n| {
            let at = n * interval + (draw.0.unit() * jitter * interval as f64) as u64;
            format!("{{ at = \"{at}ns\", amount = \"{bytes}b\" }}")
        })
        .collect();
    let strategy = draw.one(&["linux", "linux", "bbr", "rack-tlp", "sack", "newreno"]);
    let _ = writeln!(
        out,
        "[[flow]]\nfrom = \"sender\"\nto = \"receiver\"\nstrategy = \"{strategy}\"\nsource = {{ \
         writes = [{}] }}",
        writes.join(", ")
    );
    out
}

/// Web users behind a shared bottleneck, as `scenarios/web.toml` has them, but fewer: persistent
/// connections of one server to near and far users, that open with a handshake and carry a few
/// responses with pauses between them. Losses come from the queue, and in some scenarios from the
/// path.
pub fn web(seed: u64) -> String {
    let mut draw = Draw(Rng::new(seed, "score/web"));
    let users = draw.one(&[12, 25, 50]);
    let rate = draw.one(&[2, 5, 10]);
    let mut out = String::from("duration = \"100s\"\n[tcp]\nmss = 1460\nrwnd = \"256kb\"\n");
    let _ = writeln!(
        out,
        "handshake = true\ninitial_window = {}\ndelayed_ack = \"{}\"\nmin_rto = \"{}\"\n\
         timestamps = {}\ntimer = \"{}\"",
        draw.one(&[3, 10, 10]),
        draw.one(&["off", "40ms"]),
        draw.one(&["200ms", "1s"]),
        draw.chance(0.5),
        draw.one(&["rfc6298", "linux"]),
    );
    let loss = draw.one(&["", "", "{ bernoulli = { p = \"1%\" } }"]);
    let _ = writeln!(
        out,
        "[[link]]\nfrom = \"sender\"\nto = \"router\"\nrate = \"{rate}mbit\"\ndelay = \"10ms\"\n\
         queue = {{ droptail = {{ packets = {} }} }}\nloss = [{loss}]",
        draw.one(&[10, 20, 50]),
    );
    let places = [("near", "5ms"), ("far", "60ms"), ("satellite", "250ms")];
    for (place, delay) in places {
        let _ = writeln!(
            out,
            "[[link]]\nfrom = \"router\"\nto = \"{place}\"\nrate = \"100mbit\"\ndelay = \"{delay}\""
        );
    }
    // A connection brings 0.19 Mb, as in `scenarios/web.toml`.
    let arrivals = users * 190 / rate;
    let strategy = strategy(&mut draw);
    for user in 0..users {
        let (place, _) = draw.one(&places);
        let start = draw.below(arrivals);
        let _ = writeln!(
            out,
            "[[flow]]\nname = \"user{user}\"\nfrom = \"sender\"\nto = \"{place}\"\n\
             strategy = \"{strategy}\"\nstart = \"{start}ms\"\n\
             source.web = {{ responses = 3.1, think = \"1s\", size = {{ max = \"1mb\", mix = [\
             {{ share = \"88%\", lognormal = {{ mean = \"7247b\", sigma = 1.0 }} }}, \
             {{ share = \"12%\", pareto = {{ mean = \"10558b\", shape = 1.2 }} }}] }} }}"
        );
    }
    out
}

/// Short transfers over one path that differ in what a capture away from the sender does not show
/// at once: the sender's strategy and timer, and what was lost.
pub(crate) fn siblings(seed: u64) -> Vec<String> {
    let mut draw = Draw(Rng::new(seed, "score/siblings"));
    let segments = draw.one(&[2, 3, 4, 6, 9, 14, 22]);
    let mut tcp = String::from("duration = \"200s\"\n[tcp]\nmss = 1448\nhandshake = true\n");
    let _ = writeln!(
        tcp,
        "initial_window = {}\ndelayed_ack = \"{}\"\ntimestamps = {}",
        draw.one(&[2, 3, 10]),
        draw.one(&["off", "40ms", "200ms"]),
        draw.chance(0.5),
    );
    let mut rest = String::new();
    for (from, to) in [("sender", "router"), ("router", "receiver")] {
        let delay = draw.one(&["1ms", "5ms", "20ms", "60ms"]);
        let _ = writeln!(
            rest,
            "[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\ndelay = \"{delay}\"\nrate = \"20mbit\""
        );
        if from == "sender" && draw.chance(0.5) {
            rest += "LOSS\n";
        }
    }
    if !rest.contains("LOSS") {
        rest += "LOSS\n";
    }
    let losses: Vec<String> = (0..LISTS)
        .map(|list| {
            let from = if list % 2 == 0 { 0 } else { segments - 1 - draw.below(segments.min(5)) };
            format!("loss = [{{ {} }}]", drops(&mut draw, segments, from))
        })
        .collect();
    let registry = Registry::default();
    let strategies = presets(&registry).into_iter().chain(MORE);
    let mut all = Vec::new();
    for strategy in strategies {
        for timer in ["rfc6298", "linux", "bsd"] {
            for min_rto in ["200ms", "1s"] {
                for loss in &losses {
                    let rest = rest.replace("LOSS", loss);
                    all.push(format!(
                        "{tcp}timer = \"{timer}\"\nmin_rto = \"{min_rto}\"\n{rest}[[flow]]\nfrom = \
                         \"sender\"\nto = \"receiver\"\nstrategy = \"{strategy}\"\nsource = {{ \
                         segments = {segments} }}\n"
                    ));
                }
            }
        }
    }
    all
}

pub(crate) fn presets(registry: &Registry) -> Vec<&str> {
    let names = registry.presets().iter().map(|p| &*p.name);
    names.filter(|name| !name.starts_with("oracle")).collect()
}

fn tcp(draw: &mut Draw, min_rto: Option<&str>, out: &mut String) {
    let mut set = |key: &str, value: &str| {
        let _ = writeln!(out, "{key} = {value}");
    };
    set("[tcp]\nmss", draw.one(&["536", "1000", "1448", "1460"]));
    set("initial_window", draw.one(&["1", "2", "3", "4", "10"]));
    set("delayed_ack", draw.one(&["\"off\"", "\"40ms\"", "\"200ms\"", "\"bsd\""]));
    let drawn = draw.one(&["200ms", "1s"]);
    set("min_rto", &format!("{:?}", min_rto.unwrap_or(drawn)));
    set("timer", draw.one(&["\"rfc6298\"", "\"linux\"", "\"bsd\""]));
    set("timestamps", if draw.chance(0.5) { "true" } else { "false" });
    set("handshake", if draw.chance(0.7) { "true" } else { "false" });
    set("isn", &draw.below(u32::MAX.into()).to_string());
    set("rwnd", draw.one(&["\"16seg\"", "\"44seg\"", "\"64kb\"", "\"1mb\""]));
    match draw.below(10) {
        0 => set("sack", "true"),
        1 => set("dsack", "false"),
        _ => {}
    }
}

/// Returns the rate of the bottleneck, in bits per second.
fn path(draw: &mut Draw, mishaps: &Mishaps, out: &mut String) -> f64 {
    let rates = [("500kbit", 5e5), ("1.5mbit", 1.5e6), ("5mbit", 5e6), ("20mbit", 2e7)];
    let (rate, bits_per_second) = draw.one(&rates);
    let queue = mishaps
        .queue
        .clone()
        .unwrap_or_else(|| format!("droptail = {{ packets = {} }}", draw.one(&[15, 40, 200])));
    let (bottleneck, mishap) = (draw.below(2), draw.below(2));
    for (link, ends) in (0..2).zip([("sender", "router"), ("router", "receiver")]) {
        let delay = draw.one(&["0.2ms", "1ms", "5ms", "20ms", "60ms"]);
        let _ = writeln!(
            out,
            "[[link]]\nfrom = \"{}\"\nto = \"{}\"\ndelay = \"{delay}\"",
            ends.0, ends.1
        );
        let _ = match link == bottleneck {
            true => writeln!(out, "rate = \"{rate}\"\nqueue = {{ {queue} }}"),
            false => writeln!(out, "rate = \"100mbit\""),
        };
        if link == mishap {
            let _ = writeln!(out, "loss = [{}]", mishaps.losses.join(", "));
            mishaps.keys.iter().for_each(|key| out.push_str(&format!("{key}\n")));
        }
    }
    bits_per_second
}

/// One thing that goes wrong.
fn mishap(draw: &mut Draw, segments: u64, mishaps: &mut Mishaps) {
    let direction = draw.one(&["data", "data", "both"]);
    match draw.below(14) {
        kind @ 0..10 => {
            let loss = loss(draw, kind, direction, segments);
            mishaps.losses.push(format!("{{ {loss} }}"));
        }
        // Others compete, over a queue that is short.
        10 => {
            mishaps.flows = 3;
            mishaps.queue = Some(match draw.chance(0.5) {
                true => "red = { limit = 25, min = 5, max = 15 }".into(),
                false => format!("droptail = {{ packets = {} }}", draw.one(&[4, 8])),
            });
        }
        11 => {
            let (p, delay) = (draw.one(&["0.5%", "3%"]), draw.one(&["2ms", "10ms", "80ms"]));
            mishaps.keys.retain(|key| !key.starts_with("reorder"));
            mishaps.keys.push(format!("reorder = {{ p = {p:?}, delay = \"{delay}\" }}"));
        }
        12 => {
            let (at, lasts) = (draw.one(&["0.3s", "1.5s"]), draw.one(&["0.1s", "1s"]));
            let delay = draw.one(&["0.3s", "1.2s", "4s"]);
            mishaps.keys.retain(|key| !key.starts_with("spikes"));
            mishaps.keys.push(format!(
                "spikes = [{{ at = \"{at}\", for = \"{lasts}\", delay = \"{delay}\" }}]"
            ));
        }
        _ => {
            mishaps.keys.retain(|key| !key.starts_with("duplicate") && !key.starts_with("jitter"));
            mishaps.keys.push(format!("duplicate = {:?}", draw.one(&["0.5%", "3%"])));
            mishaps.keys.push(format!("jitter = \"{}\"", draw.one(&["1ms", "5ms"])));
        }
    }
}

/// One model of losses; `kind` is below 10.
fn loss(draw: &mut Draw, kind: u64, direction: &str, segments: u64) -> String {
    match kind {
        0 | 1 => {
            let p = draw.one(&["0.5%", "2%", "5%", "12%"]);
            format!("bernoulli = {{ p = {p:?}, direction = {direction:?} }}")
        }
        2 | 3 => {
            let (p, r) = (draw.one(&["0.5%", "2%"]), draw.one(&["20%", "40%", "70%"]));
            format!("gilbert_elliott = {{ p = {p:?}, r = {r:?}, direction = {direction:?} }}")
        }
        4 => {
            let (at, first, then) = (
                draw.one(&["0.2s", "1s"]),
                draw.one(&["0.1s", "0.5s", "2s"]),
                draw.one(&["0.2s", "1s"]),
            );
            let again = draw.chance(0.5);
            format!(
                "three_state = {{ second_at = \"{at}\", second_for = \"{first}\", second_loss = \
                 \"60%\", third_for = \"{then}\", third_loss = \"10%\", lose_fast_retransmission = \
                 {again} }}"
            )
        }
        5 => drops(draw, segments, 0),
        // The end of the transfer, where no duplicate ACK shows it.
        6 | 7 => {
            let tail = draw.one(&[1, 2, 3, 5]);
            drops(draw, segments, segments.saturating_sub(tail))
        }
        8 => {
            let (rate, burst) = (draw.one(&["400kbit", "2mbit"]), draw.one(&["8kb", "30kb"]));
            format!("policer = {{ rate = \"{rate}\", burst = \"{burst}\" }}")
        }
        _ => {
            let p = draw.one(&["5%", "20%", "40%"]);
            format!("bernoulli = {{ p = {p:?}, direction = \"ack\" }}")
        }
    }
}

/// Up to six segments from `from` on, and perhaps retransmissions of them.
fn drops(draw: &mut Draw, segments: u64, from: u64) -> String {
    let count = 1 + draw.below(6);
    let mut lost: Vec<u64> =
        (0..count).map(|_| from + draw.below((segments - from).clamp(1, 40))).collect();
    lost.sort_unstable();
    lost.dedup();
    let mut again = Vec::new();
    for segment in &lost {
        let times = draw.one(&[0, 0, 1, 1, 2]);
        again.extend((1..=times).map(|n| format!("\"{segment}:{n}\"")));
    }
    format!("drop = {{ segments = {lost:?}, retransmissions = [{}] }}", again.join(", "))
}

fn strategy(draw: &mut Draw) -> String {
    let registry = Registry::default();
    let presets = presets(&registry);
    let strategy = match draw.below(10) {
        // What most senders are.
        0..3 => draw.one(&["linux", "rack-tlp", "linux-2.6"]),
        3 => draw.one(&MORE),
        _ => draw.one(&presets),
    };
    strategy.into()
}

fn flow(draw: &mut Draw, segments: u64, flows: u32, out: &mut String) {
    let strategy = strategy(draw);
    let source = match draw.below(10) {
        0 => format!("{{ writes = [{}] }}", writes(draw)),
        1 => "{ web = { responses = 6, size = { fixed = \"20kb\" }, think = \"300ms\" } }".into(),
        _ => format!("{{ segments = {segments} }}"),
    };
    let _ = writeln!(
        out,
        "[[flow]]\nfrom = \"sender\"\nto = \"receiver\"\nstrategy = \"{strategy}\"\nsource = \
         {source}\ncount = {flows}\n\
         start_step = \"0.3s\""
    );
}

/// An application that pauses.
fn writes(draw: &mut Draw) -> String {
    let amounts = (0..6).map(|i| (i * 700, draw.one(&[1, 3, 10, 30])));
    let writes: Vec<String> =
        amounts.map(|(at, n)| format!("{{ at = \"{at}ms\", amount = \"{n}seg\" }}")).collect();
    writes.join(", ")
}

#[cfg(test)]
mod tests;
