//! Connections whose losses have a cause that is known: each seed draws one cause, or two, and a
//! path, a sender and how much it sends.

use ackclock_net::Rng;
use ackclock_tcp::Registry;

use crate::population::{Draw, presets};

/// What happens to packets.
#[derive(Default)]
struct Network {
    /// Keys of the link with the losses, and of its queue.
    loss: Vec<String>,
    queue: Option<String>,
    /// What the bottleneck has room for, beside the rate of a policer.
    faster: bool,
    others: u32,
}

/// What is known of a scenario beyond its text.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The scenario.
    pub text: String,
    /// Rate of its policer in bits a second, and burst in bytes.
    pub policer: Option<[f64; 2]>,
    /// How long its queue delays a packet that is the last to find room, in seconds.
    pub full: Option<f64>,
}

const RATES: [f64; 6] = [1e6, 2e6, 5e6, 10e6, 20e6, 50e6];

/// The scenario of a seed: `sender`, `router`, `receiver`; the first flow is the one to explain.
pub fn drawn(seed: u64) -> Drawn {
    let mut draw = Draw(Rng::new(seed, "score/loss-causes"));
    let rate = draw.one(&RATES);
    let mut drawn = Drawn { text: String::new(), policer: None, full: None };
    let mut network = Network::default();
    match draw.below(20) {
        0..5 => drop_tail(&mut draw, rate, &mut network, &mut drawn),
        5..10 => policer(&mut draw, rate, &mut network, &mut drawn),
        10..13 => random(&mut draw, &mut network),
        13..15 => bursts(&mut draw, &mut network),
        15 => network.queue = Some(managed(&mut draw)),
        16 => {
            drop_tail(&mut draw, rate, &mut network, &mut drawn);
            random(&mut draw, &mut network);
        }
        17 => {
            policer(&mut draw, rate, &mut network, &mut drawn);
            random(&mut draw, &mut network);
        }
        18 => {
            drop_tail(&mut draw, rate, &mut network, &mut drawn);
            network.others = draw.one(&[1, 3, 10]);
        }
        _ => {
            match draw.below(2) {
                0 => policer(&mut draw, rate, &mut network, &mut drawn),
                _ => random(&mut draw, &mut network),
            }
            network.others = draw.one(&[1, 3]);
        }
    }
    let (text, size) = text(&mut draw, rate, &network);
    (drawn.text, drawn.full) = (text, drawn.full.map(|full| full * size));
    drawn
}

fn drop_tail(draw: &mut Draw, rate: f64, network: &mut Network, drawn: &mut Drawn) {
    let packets = draw.one(&[8, 15, 30, 60, 120, 300]);
    network.queue = Some(format!("droptail = {{ packets = {packets} }}"));
    drawn.full = Some(f64::from(packets - 1) * 8.0 / rate);
}

fn policer(draw: &mut Draw, rate: f64, network: &mut Network, drawn: &mut Drawn) {
    let burst = draw.one(&[8_000, 16_000, 64_000, 200_000, 500_000]);
    network.loss.push(format!("{{ policer = {{ rate = \"{rate}bit\", burst = {burst} }} }}"));
    network.faster = true;
    drawn.policer = Some([rate, f64::from(burst)]);
}

fn random(draw: &mut Draw, network: &mut Network) {
    let percent = draw.one(&[0.3, 0.5, 1.0, 2.0, 3.0, 5.0]);
    network.loss.push(format!("{{ bernoulli = {{ p = \"{percent}%\" }} }}"));
}

fn bursts(draw: &mut Draw, network: &mut Network) {
    let (p, r) = (draw.one(&["0.2%", "0.5%", "1%"]), draw.one(&["20%", "40%", "70%"]));
    network.loss.push(format!("{{ gilbert_elliott = {{ p = \"{p}\", r = \"{r}\" }} }}"));
}

fn managed(draw: &mut Draw) -> String {
    let queues =
        ["red = { limit = 100, min = 10, max = 40 }", "codel = {}", "pie = {}", "fq_codel = {}"];
    draw.one(&queues).into()
}

/// The scenario, and how large a full packet is in it.
fn text(draw: &mut Draw, rate: f64, network: &Network) -> (String, f64) {
    let mut out = String::from("duration = \"60s\"\n[tcp]\nhandshake = true\n");
    let mss = draw.one(&[1448, 1448, 1460, 1000]);
    let timestamps = draw.one(&[true, true, false]);
    for (key, value) in [
        ("mss", &*mss.to_string()),
        ("initial_window", draw.one(&["3", "10", "10"])),
        ("delayed_ack", draw.one(&["\"off\"", "\"40ms\"", "\"40ms\""])),
        ("timer", draw.one(&["\"linux\"", "\"rfc6298\""])),
        ("timestamps", if timestamps { "true" } else { "false" }),
        ("min_rto", "\"200ms\""),
        ("rwnd", draw.one(&["\"4mb\"", "\"4mb\"", "\"4mb\"", "\"256kb\""])),
    ] {
        out += &format!("{key} = {value}\n");
    }
    let one_way = draw.one(&[5.0, 10.0, 20.0, 40.0, 100.0]);
    let near = draw.one(&[0.05, 0.5, 0.9]);
    let bottleneck = draw.below(2);
    let lossy = draw.below(2);
    let wide = draw.one(&[2.0, 4.0, 10.0]);
    let jitter = draw.one(&[None, None, Some("0.1ms"), Some("1ms")]);
    for (link, (from, to)) in [("sender", "router"), ("router", "receiver")].into_iter().enumerate()
    {
        let delay = one_way * if link == 0 { near } else { 1.0 - near };
        out += &format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\ndelay = \"{delay:.3}ms\"\n");
        out += &match (link as u64 == bottleneck, &network.queue) {
            (false, _) => "rate = \"1gbit\"\n".into(),
            (true, Some(queue)) => format!("rate = \"{rate}bit\"\nqueue = {{ {queue} }}\n"),
            (true, None) if network.faster => {
                format!(
                    "rate = \"{}bit\"\nqueue = {{ droptail = {{ packets = 2000 }} }}\n",
                    rate * wide
                )
            }
            (true, None) => {
                format!("rate = \"{rate}bit\"\nqueue = {{ droptail = {{ packets = 2000 }} }}\n")
            }
        };
        if link as u64 == lossy && !network.loss.is_empty() {
            out += &format!("loss = [{}]\n", network.loss.join(", "));
        }
        if let Some(jitter) = jitter.filter(|_| link == 1) {
            out += &format!("jitter = \"{jitter}\"\n");
        }
    }
    let registry = Registry::default();
    let presets = presets(&registry);
    let strategy = match draw.below(2) {
        0 => draw.one(&["linux", "rack-tlp", "linux-2.6"]),
        _ => draw.one(&presets),
    };
    let segments = draw.one(&[200, 600, 2000, 6000]);
    out += &format!(
        "[[flow]]\nfrom = \"sender\"\nto = \"receiver\"\nstrategy = \"{strategy}\"\nsource = {{ \
         segments = {segments} }}\n"
    );
    if network.others > 0 {
        out += &format!(
            "[[flow]]\nfrom = \"sender\"\nto = \"receiver\"\nstrategy = \"linux\"\ncount = {}\n\
             start_spread = \"2s\"\n",
            network.others
        );
    }
    (out, f64::from(mss + if timestamps { 52 } else { 40 }))
}
