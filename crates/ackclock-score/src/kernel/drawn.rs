//! Captures that nobody has thought of: each seed draws a path, what goes wrong on it, what the
//! kernels are set to, and what is sent.

use ackclock_net::Rng;
use toml::Value;

use super::plan::{Planned, Settings, Work};
use crate::population::Draw;

/// Settings that are off in some captures, and in how many of them.
const OFF: [(&str, f64); 6] = [
    ("tcp_sack", 0.15),
    ("tcp_dsack", 0.1),
    ("tcp_timestamps", 0.25),
    ("tcp_recovery", 0.1),
    ("tcp_early_retrans", 0.15),
    ("tcp_frto", 0.15),
];

impl Planned {
    /// The capture of a seed.
    ///
    /// # Errors
    /// What is wrong with the link that was drawn.
    pub fn drawn(seed: u64) -> Result<Planned, toml::de::Error> {
        let mut draw = Draw(Rng::new(seed, "score/kernel"));
        let mbit = draw.one(&[1, 2, 4, 7, 12, 25, 50]);
        let delay = draw.one(&["1ms", "4ms", "9ms", "17ms", "33ms", "60ms", "110ms"]);
        let mut link = format!("rate = \"{mbit}mbit\"\ndelay = \"{delay}\"\n");
        let mut sysctl = settings(&mut draw);
        if draw.chance(0.6) {
            let packets = draw.one(&[4, 8, 15, 30, 60, 150]);
            link += &format!("queue = {{ droptail = {{ packets = {packets} }} }}\n");
        } else if draw.chance(0.2) {
            sysctl.insert("tcp_ecn".into(), Value::Integer(1));
            link += "queue = { codel = { ecn = true } }\n";
        }
        let count = draw.one(&[0, 1, 1, 1, 2]);
        let mut mishaps: Vec<_> = (0..count).map(|_| mishap(&mut draw, mbit)).collect();
        mishaps.sort();
        mishaps.dedup_by_key(|(key, _)| *key);
        mishaps.iter().for_each(|(key, value)| link += &format!("{key} = {value}\n"));
        Ok(Planned {
            name: format!("drawn-{seed}"),
            link: toml::from_str(&link)?,
            sysctl,
            congestion: draw.one(&["cubic", "cubic", "cubic", "reno", "bbr"]).into(),
            work: work(&mut draw, mbit),
            ipv6: draw.chance(0.2),
            super_segments: draw.chance(0.2),
            seed,
        })
    }
}

fn settings(draw: &mut Draw) -> Settings {
    let mut all = Settings::new();
    for (key, share) in OFF {
        if draw.chance(share) {
            all.insert(key.into(), Value::Integer(0));
        }
    }
    if draw.chance(0.15) {
        let most = draw.one(&["16384", "65536", "131072"]);
        all.insert("tcp_rmem".into(), Value::String(format!("4096 {most} {most}")));
    }
    if draw.chance(0.1) {
        let least = draw.one(&[20_000, 50_000, 1_000_000]);
        all.insert("tcp_rto_min_us".into(), Value::Integer(least));
    }
    all
}

/// One thing that goes wrong, as a key of a link. `mbit`: the link's rate.
fn mishap(draw: &mut Draw, mbit: u64) -> (&'static str, String) {
    let direction = draw.one(&["data", "data", "data", "ack", "both"]);
    let (key, value) = match draw.below(9) {
        0..3 => {
            let p = draw.one(&["0.2%", "0.7%", "2%", "4%", "8%", "20%"]);
            ("loss", format!("bernoulli = {{ p = {p:?}, direction = {direction:?} }}"))
        }
        3 | 4 => {
            let (p, r) = (draw.one(&["0.2%", "0.5%", "1%"]), draw.one(&["4%", "10%", "30%"]));
            let model = format!("p = {p:?}, r = {r:?}, direction = {direction:?}");
            ("loss", format!("gilbert_elliott = {{ {model} }}"))
        }
        5 => {
            let rate = (mbit * 1000 * draw.one(&[2, 5, 8])) / 10;
            let burst = draw.one(&["8kb", "30kb", "100kb"]);
            ("loss", format!("policer = {{ rate = \"{rate}kbit\", burst = {burst:?} }}"))
        }
        6 => {
            let p = draw.one(&["0.3%", "1%", "5%"]);
            let delay = draw.one(&["2ms", "7ms", "25ms", "90ms"]);
            ("reorder", format!("p = {p:?}, delay = {delay:?}"))
        }
        7 => return ("duplicate", format!("{:?}", draw.one(&["0.3%", "2%"]))),
        _ => {
            let (mut at, mut all) = (0, Vec::new());
            for _ in 0..draw.one(&[1, 2, 4]) {
                at += draw.one(&[200, 500, 900, 1700]);
                let (lasts, delay) = (draw.one(&[20, 60, 200]), draw.one(&[150, 280, 450, 900]));
                all.push(format!(
                    "{{ at = \"{at}ms\", for = \"{lasts}ms\", delay = \"{delay}ms\" }}"
                ));
            }
            return ("spikes", format!("[{}]", all.join(", ")));
        }
    };
    let one = format!("{{ {value} }}");
    (key, if key == "loss" { format!("[{one}]") } else { one })
}

/// What the link carries in some seconds, at most.
fn work(draw: &mut Draw, mbit: u64) -> Work {
    let second = mbit * 125_000;
    match draw.below(8) {
        0..4 => Work::Bulk { bytes: second * draw.one(&[1, 4, 12, 30]) / 10 },
        4..6 => Work::Responses {
            count: draw.one(&[3, 10, 30]),
            bytes: draw.one(&[400, 2500, 11_000, 40_000, 130_000]).min(second / 4),
            pause_ms: draw.one(&[0, 12, 60, 350]),
            reconnect: draw.chance(0.3),
        },
        _ => {
            let pause_ms = draw.one(&[4, 18, 70, 250]);
            let share = draw.one(&[5, 30, 80, 200]);
            Work::Writes {
                count: (2500 / pause_ms) as u32,
                bytes: (second * pause_ms * share / 100_000).max(100),
                pause_ms,
                reader_sleeps_ms: draw.one(&[0, 0, 0, 700, 2200]),
            }
        }
    }
}

#[cfg(test)]
mod tests;
