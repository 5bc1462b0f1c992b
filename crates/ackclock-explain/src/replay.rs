//! What would have avoided it: the time around a timeout, again, under other strategies.
//!
//! An estimate. What it assumes: the path loses the same transmissions of the same segments
//! whatever is sent in between, and no others; the bottleneck has the rate that was seen and room
//! for everything; all of the flight leaves at once; ACKs are not lost; the window grows by Reno's
//! law from the flight that was seen, in slow start if nothing had been retransmitted before; and
//! the timer is the same in every strategy, Linux's with the timeout that was seen as the least
//! one, so that only recovery differs.

use ackclock_net::{
    Ends, FlowConfig, FlowId, Limit, LinkConfig, ListedLoss, Loss, LossModel, Network, Queue,
    Recorder, Source,
};
use ackclock_tcp::{
    DelayedAck, Event, EventKind, Receiver, ReceiverConfig, Registry, Sender, SenderConfig, Span,
    Time, TimeoutClass,
};
use ackclock_trace::{Episode, Timeout};
use serde::Serialize;

/// What one strategy would have made of an episode, by estimate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rescue {
    /// The strategy, as `ackclock strategies` names it.
    pub strategy: &'static str,
    /// What it has and the first one of the list has not.
    pub mechanism: &'static str,
    /// Whether it repairs the losses without a timeout.
    pub avoided: bool,
    /// Estimated seconds from the first transmission of the episode to the end of the repair.
    pub took_s: f64,
    /// Estimated seconds saved against what was observed; negative if it would have taken longer.
    pub saved_s: f64,
    /// What holds the seconds that it saves in nine of ten cases, from and to; `None` if it does
    /// not avoid the timeout.
    pub saved_90_s: Option<[f64; 2]>,
}

/// What the others are compared with, if SACK was in use: the standard without any addition.
const WITH_SACK: &[(&str, &str)] = &[
    ("sack", "RFC 6675"),
    ("sack+lt", "limited transmit"),
    ("sack+er-2", "early retransmit"),
    ("sack+smallwnd", "small-window optimisation"),
    ("sack+lrx-linux", "lost-retransmission recovery"),
    ("sack+tlp", "tail loss probe"),
    ("net-reno-sack", "Net Reno"),
    ("rack-tlp", "RACK-TLP"),
    ("linux", "RACK-TLP as in Linux"),
];

/// The same if it was not. The last three are what SACK at both ends would have brought.
const WITHOUT_SACK: &[(&str, &str)] = &[
    ("newreno", "NewReno"),
    ("newreno+lt", "limited transmit"),
    ("newreno+er-2", "early retransmit"),
    ("newreno+smallwnd", "small-window optimisation"),
    ("newreno+lrxt", "lost-retransmission recovery"),
    ("net-reno", "Net Reno"),
    ("sack", "SACK"),
    ("rack-tlp", "SACK and RACK-TLP"),
    ("linux", "SACK and RACK-TLP as in Linux"),
];

/// Rate of a bottleneck of which nothing is known, and of the way back: a segment takes no time.
const FAST: u64 = 100_000_000_000;
/// How long a receiver delays an ACK: Linux's shortest.
const DELAYED_ACK: Span = Span::from_millis(40);
/// After so long a strategy has not saved anything.
const PATIENCE: Span = Span::from_secs(300);
/// In one of twenty cases what is saved is less than said by more than so many times what the
/// timeout waited: the strategy times out, too. Measured, with [`MORE`], by `ackclock-score what-if
/// --seed 700001 --connections 12000`.
const LESS: f64 = 1.0;
/// In one of twenty cases it is more by more than so many round trips.
const MORE: f64 = 7.4;

/// Each strategy that may have saved a timeout, the standard first; empty if the episode is not
/// known, or nothing was lost in it, so that it cannot be replayed.
pub fn replay(timeout: &Timeout) -> Vec<Rescue> {
    let Some(episode) = timeout.episode.as_ref().filter(|e| e.repaired > 0) else {
        return Vec::new();
    };
    // A timer that was backed off says less about the one before.
    let waited = (timeout.class != TimeoutClass::BackedOff).then_some(timeout.waited);
    let strategies = if episode.sack { WITH_SACK } else { WITHOUT_SACK };
    let rescue = |(strategy, mechanism): &(&'static str, &'static str)| {
        let repair = repair(episode, waited, strategy)?;
        let saved = episode.took.0 as i64 - repair.took.0 as i64;
        let seconds = |nanos: i64| nanos as f64 / 1e9;
        let (avoided, saved) = (repair.timeouts == 0, seconds(saved));
        let less = LESS * timeout.waited.secs_f64();
        let more = MORE * episode.rtt.secs_f64();
        Some(Rescue {
            strategy,
            mechanism,
            avoided,
            took_s: seconds(repair.took.0 as i64),
            saved_s: saved,
            saved_90_s: avoided.then_some([saved - less, saved + more]),
        })
    };
    strategies.iter().filter_map(rescue).collect()
}

/// How a strategy repairs an episode.
#[derive(Debug)]
struct Repair {
    /// The stream position that ends it.
    end: u64,
    took: Span,
    timeouts: u32,
    done: bool,
}

impl Recorder for Repair {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, _: FlowId, event: &Event) {
        if self.done {
            return;
        }
        self.timeouts += u32::from(matches!(event.kind, EventKind::TimedOut { .. }));
        if event.snd_una >= self.end {
            (self.done, self.took) = (true, event.at.since(Time::ZERO));
        }
    }
}

/// `None` if it does not come to an end.
fn repair(episode: &Episode, waited: Option<Span>, strategy: &str) -> Option<Repair> {
    let mss = episode.mss.max(1);
    let end = episode.repaired;
    let bytes = episode.bytes.min(end + Episode::ahead(episode.cwnd) * u64::from(mss));

    // Linux has one timer for three ends, so that no probe goes out in a recovery.
    let timer = if strategy == "linux" { "" } else { "+linux-timer-alone" };
    let strategy = Registry::default().parse(&format!("{strategy}{timer}")).ok()?.build();
    let mut network = Network::new(1);
    let (a, b) = (network.node("sender"), network.node("receiver"));
    let rate = episode.rate_bps.map_or(FAST, |bps| (bps as u64).clamp(1, FAST));
    let path = |from, to, rate| {
        LinkConfig::new(
            from,
            to,
            rate,
            Span(episode.rtt.0 / 2),
            Queue::DropTail(Limit::Packets(u32::MAX)),
        )
    };
    let mut lossy = path(a, b, rate);
    lossy.loss.push(losses(episode));
    network.link(lossy);
    network.link(path(b, a, FAST));
    let window = u64::from(episode.cwnd.max(1)) * u64::from(mss);
    let sender = SenderConfig {
        mss,
        initial_window: Some(episode.cwnd),
        initial_ssthresh: (!episode.slow_start).then_some(window),
        initial_rwnd: episode.rwnd.max(window),
        sack: strategy.uses_sack,
        timestamps: episode.timestamps,
        handshake_rtt: Some(episode.rtt),
        // Linux's minimum is of what it adds to SRTT (`tcp_set_rto`).
        min_rto: waited.map(|rto| Span(rto.0.saturating_sub(episode.rtt.0))),
        events: true,
        ..SenderConfig::default()
    };
    let receiver = ReceiverConfig {
        mss,
        sack: strategy.uses_sack,
        delayed_ack: if episode.delayed_ack {
            DelayedAck::After(DELAYED_ACK)
        } else {
            DelayedAck::Off
        },
        ..ReceiverConfig::default()
    };
    let ends = Ends::Established {
        sender: Sender::new(sender, strategy),
        receiver: Receiver::new(receiver),
    };
    let mut flow = FlowConfig::new("episode", a, b, ends, mss);
    flow.source = Source::Fixed(bytes);
    network.flow(flow);
    let mut repair = Repair { end, took: PATIENCE, timeouts: 0, done: false };
    network.run(Time(PATIENCE.0), &mut repair).ok()?;
    repair.done.then_some(repair)
}

/// The transmissions that were lost.
fn losses(episode: &Episode) -> Loss {
    let each = episode.lost.iter().enumerate().flat_map(|(segment, times)| {
        (1..=u32::from(*times))
            .map(move |transmission| ListedLoss { segment: segment as u64, transmission })
    });
    Loss::new(LossModel::Listed(each.collect()))
}

#[cfg(test)]
mod tests;
