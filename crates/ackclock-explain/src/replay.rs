//! What would have avoided it: the time around a timeout, again, under other strategies.
//!
//! An estimate. What it assumes: the path loses the same transmissions of the same segments
//! whatever is sent in between, and no others; the bottleneck has the rate that was seen and room
//! for everything; all of the flight leaves at once, and takes as long as the shortest round trip
//! before, what follows as long as the first retransmission that arrived; ACKs are not lost; the
//! window grows by Reno's law from the flight that was seen, in slow start if nothing had been
//! retransmitted before; and the timer is the same in every strategy, Linux's with the timeout that
//! was seen as the least one, so that only recovery differs.
//!
//! The sender is replayed, too, with each strategy that it may have by what was seen of it. Where
//! none of them times out and takes about as long as the sender did, the replay leaves out what
//! mattered, and nothing is said. Nor is a strategy said to avoid a timeout that the sender itself
//! may have, nor anything of one with which the shortest round trip so far decides otherwise.
//! Time is saved against the replay of the sender.
//!
//! How little it may be instead follows from what is not known. The other strategy may come to the
//! loss with a window that is smaller by a segment, its retransmissions may take as long as the
//! longest round trips did, and what follows a tail may not be there yet: all of that is replayed,
//! and the slowest replay counts. The replay of the sender may have taken longer than the sender.
//! Of the two the larger one counts; after a tail, where all hangs on one probe, both do; and at
//! least the ticks of timers. At the most all is repaired in two round trips: the first reports the
//! loss, the second the retransmission.

use ackclock_net::{
    Ends, FlowConfig, FlowId, Limit, LinkConfig, ListedLoss, Loss, LossModel, Network, NodeId,
    Queue, Recorder, Source, Spike,
};
use ackclock_tcp::{
    self as tcp, DelayedAck, Event, EventKind, Receiver, ReceiverConfig, Registry, SenderConfig,
    Span, Time, TimeoutClass,
};
use ackclock_trace::ways::Evidence;
use ackclock_trace::{Episode, State, Timeout};
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
    /// Estimated seconds saved against the sender as it is; negative if it would have taken longer.
    pub saved_s: f64,
    /// What holds the seconds that it saves in nine of ten cases, from and to; `None` if it does
    /// not avoid the timeout.
    pub saved_90_s: Option<[f64; 2]>,
}

impl Rescue {
    /// Whether it saves time in all but one of twenty cases.
    pub(crate) fn saves(&self) -> bool {
        self.avoided && self.saved_90_s.is_some_and(|[least, _]| least > 0.0)
    }
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

/// What a sender with SACK may be, by whether it sends tail loss probes: senders with RACK do, and
/// others mostly do not.
const PROBING: &[&str] = &["rack-tlp", "linux"];
const SILENT: &[&str] = &["sack", "linux-2.6"];

/// What a sender without SACK may be.
const WITHOUT: &[&str] = &["newreno", "reno"];

/// Rate of a bottleneck of which nothing is known, and of the way back: a segment takes no time.
const FAST: u64 = 100_000_000_000;
/// How long a receiver delays an ACK: Linux's shortest.
const DELAYED_ACK: Span = Span::from_millis(40);
/// After so long a strategy has not saved anything.
const PATIENCE: Span = Span::from_secs(300);
/// Timers are this late: two ticks of the slowest clock that Linux is built with (100 Hz).
const TICKS: Span = Span::from_millis(20);
/// A replay of the sender takes no more than this part longer than the sender did, nor less.
const ALIKE: f64 = 0.25;

/// What is known of a sender's ways from all of its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sender {
    /// Tail loss probes. One that was seen proves them: that there was none may have another
    /// reason.
    pub probes: Evidence,
}

impl Sender {
    /// Another connection of the same host, whose stack has one setting for all of them.
    pub(crate) fn add(&mut self, other: Evidence) {
        self.probes.used += other.used;
        self.probes.unused += other.unused;
    }

    fn sends_probes(self) -> Option<bool> {
        match (self.probes.used, self.probes.unused) {
            (1.., _) => Some(true),
            (0, 1..) => Some(false),
            (0, 0) => None,
        }
    }

    /// The strategies that it may have.
    fn may_be(self, sack: bool) -> Vec<&'static str> {
        match self.sends_probes() {
            _ if !sack => WITHOUT.to_vec(),
            Some(true) => PROBING.to_vec(),
            Some(false) => SILENT.to_vec(),
            None => [PROBING, SILENT].concat(),
        }
    }
}

/// Each strategy that may have saved a timeout, the standard first, but for those of which that
/// cannot be told. Empty if the episode is not known, or nothing was lost in it, so that it cannot
/// be replayed, or if no replay of the sender does as the sender did. `longest` is what round trips
/// of the connection hardly exceed.
pub fn replay(timeout: &Timeout, sender: Sender, longest: Option<Span>) -> Vec<Rescue> {
    let Some(episode) = timeout.episode.as_ref().filter(|e| e.repaired > 0) else {
        return Vec::new();
    };
    // A timer that was backed off says less about the one before.
    let waited = (timeout.class != TimeoutClass::BackedOff).then_some(timeout.waited);
    let may_be = sender.may_be(episode.sack);
    let Some((like, as_it_is)) = as_it_is(episode, waited, &may_be) else { return Vec::new() };
    let strategies = if episode.sack { WITH_SACK } else { WITHOUT_SACK };
    let probes = sender.sends_probes() != Some(false);
    // Reno is what a sender is that does as Reno and not as NewReno (RFC 6582).
    let may_be = if like == "reno" { &[like][..] } else { &may_be };
    let has = |strategy| may_be.contains(&strategy) || strategy == "sack+tlp" && probes;
    // What avoids it without an addition is not avoided by the addition.
    let first = strategies.first().map_or("", |(first, _)| *first);
    let enough = repair(episode, waited, first).is_some_and(|repair| repair.timeouts == 0);
    let adds = |strategy: &str| strategy.strip_prefix(first).is_some_and(|s| s.starts_with('+'));
    let least = episode.rtt_least;
    let sooner = episode.rtt_after.is_none_or(|after| after > least);
    let sooner = sooner.then(|| Episode { rtt_after: Some(least), ..episode.clone() });
    let tail = timeout.state == State::Open;
    let worse = worse(episode, longest, tail);
    let rescue = |(strategy, mechanism): &(&'static str, &'static str)| {
        if enough && adds(strategy) {
            return None;
        }
        let repair = repair(episode, waited, strategy)?;
        let avoided = repair.timeouts == 0;
        // A probe may come back as soon as anything did so far.
        let soonest = sooner.as_ref().map_or(Some(avoided), |sooner| {
            Some(self::repair(sooner, waited, strategy)?.timeouts == 0)
        })?;
        if avoided != soonest || avoided && has(strategy) {
            return None;
        }
        let against = |was: Span, took: Span| (was.0 as i64 - took.0 as i64) as f64 / 1e9;
        let saved_s = against(as_it_is.took, repair.took);
        let between = || {
            let took = |e| self::repair(e, waited, strategy).map_or(PATIENCE, |repair| repair.took);
            let slowest = worse.iter().map(took).fold(repair.took, Span::max);
            let (slower, quicker) = (slowest - repair.took, as_it_is.took - episode.took);
            let less = if tail { slower + quicker } else { slower.max(quicker) };
            let least = against(as_it_is.took, repair.took + less.max(TICKS));
            [least, against(episode.took, episode.rtt.times(2)).max(saved_s)]
        };
        Some(Rescue {
            strategy,
            mechanism,
            avoided,
            took_s: repair.took.secs_f64(),
            saved_s,
            saved_90_s: avoided.then(between),
        })
    };
    strategies.iter().filter_map(rescue).collect()
}

/// The replay with one of these strategies that times out as the sender did and takes most nearly
/// as long, and that strategy; `None` where none does.
fn as_it_is(
    episode: &Episode,
    waited: Option<Span>,
    strategies: &[&'static str],
) -> Option<(&'static str, Repair)> {
    let off = |repair: &Repair| repair.took.0.abs_diff(episode.took.0);
    let alike = |repair: &Repair| off(repair) as f64 <= ALIKE * episode.took.0 as f64;
    let replays = strategies.iter().filter_map(|s| Some((*s, repair(episode, waited, s)?)));
    replays
        .filter(|(_, repair)| repair.timeouts > 0 && alike(repair))
        .min_by_key(|(_, repair)| off(repair))
}

/// The episode as it may be with a strategy that comes to it another way: with a smaller window,
/// and with longer round trips after the loss. Behind a tail nothing may be there to be sent.
fn worse(episode: &Episode, longest: Option<Span>, tail: bool) -> Vec<Episode> {
    let smaller = Episode { cwnd: episode.cwnd.saturating_sub(1).max(1), ..episode.clone() };
    let after = episode.rtt_after.unwrap_or(episode.rtt);
    let longer = longest.unwrap_or(after).max(after);
    let longer = Episode { rtt_after: Some(longer), ..episode.clone() };
    let alone = Episode { bytes: episode.bytes.min(episode.repaired), ..episode.clone() };
    let alone = (tail && alone.bytes < episode.bytes).then_some(alone);
    [smaller, longer].into_iter().chain(alone).collect()
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
    // Linux has one timer for three ends, so that no probe goes out in a recovery.
    let timer = if strategy == "linux" { "" } else { "+linux-timer-alone" };
    let strategy = Registry::default().parse(&format!("{strategy}{timer}")).ok()?.build();
    let mut network = Network::new(1);
    let (a, b) = (network.node("sender"), network.node("receiver"));
    let [there, back] = links(episode, a, b);
    network.link(there);
    network.link(back);
    let receiver = receiver(episode, strategy.uses_sack);
    let sender = sender(episode, waited, strategy.uses_sack);
    let ends = Ends::Established {
        sender: tcp::Sender::new(sender, strategy),
        receiver: Receiver::new(receiver),
    };
    let (mss, end) = (mss(episode), episode.repaired);
    let bytes = episode.bytes.min(end + Episode::ahead(episode.cwnd) * u64::from(mss));
    let mut flow = FlowConfig::new("episode", a, b, ends, mss);
    flow.source = Source::Fixed(bytes);
    network.flow(flow);
    let mut repair = Repair { end, took: PATIENCE, timeouts: 0, done: false };
    network.run(Time(PATIENCE.0), &mut repair).ok()?;
    repair.done.then_some(repair)
}

fn mss(episode: &Episode) -> u32 {
    episode.mss.max(1)
}

/// The path from `a` to `b`, and back.
fn links(episode: &Episode, a: NodeId, b: NodeId) -> [LinkConfig; 2] {
    let rate = episode.rate_bps.map_or(FAST, |bps| (bps as u64).clamp(1, FAST));
    let (before, after) = (episode.rtt_before, episode.rtt_after.unwrap_or(episode.rtt));
    // Round trips are those of full segments. A short one, as the last often is, takes less, so
    // that RACK may take the SACK of its probe for that of the original (RFC 8985 section 6.2 step
    // 2).
    let full = Span((u128::from(mss(episode)) * 8_000_000_000 / u128::from(rate)) as u64);
    let delay = Span(after.0.saturating_sub(full.0).div_ceil(2));
    let path = |from, to, rate| {
        LinkConfig::new(from, to, rate, delay, Queue::DropTail(Limit::Packets(u32::MAX)))
    };
    let mut lossy = path(a, b, rate);
    lossy.loss.push(losses(episode));
    if before > after {
        // Of the flight, which has left before the first ACK.
        let (at, lasts) = (Time::ZERO, Span(after.0 / 2));
        lossy.spikes.push(Spike { at, lasts, delay: before - after });
    }
    [lossy, path(b, a, FAST)]
}

fn sender(episode: &Episode, waited: Option<Span>, sack: bool) -> SenderConfig {
    let window = u64::from(episode.cwnd.max(1)) * u64::from(mss(episode));
    let before = episode.rtt_before;
    SenderConfig {
        mss: mss(episode),
        initial_window: Some(episode.cwnd),
        initial_ssthresh: (!episode.slow_start).then_some(window),
        initial_rwnd: episode.rwnd.max(window),
        sack,
        timestamps: episode.timestamps,
        handshake_rtt: Some(before),
        // Linux's minimum is of what it adds to SRTT (`tcp_set_rto`).
        min_rto: waited.map(|rto| Span(rto.0.saturating_sub(before.0))),
        events: true,
        ..SenderConfig::default()
    }
}

fn receiver(episode: &Episode, sack: bool) -> ReceiverConfig {
    let delayed_ack =
        if episode.delayed_ack { DelayedAck::After(DELAYED_ACK) } else { DelayedAck::Off };
    ReceiverConfig { mss: mss(episode), sack, delayed_ack, ..ReceiverConfig::default() }
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
