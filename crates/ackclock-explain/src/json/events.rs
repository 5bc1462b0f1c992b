//! What happened: retransmissions, timeouts, stalls, recoveries.

use ackclock_tcp::Seq;
use ackclock_trace::{Episode, Flow, Recovery, Retransmission, Spurious, Stall, Timeout};
use serde::Serialize;

use super::{Epoch, seconds};
use crate::explained::{End, sent_by, spurious};
use crate::names;

#[derive(Serialize)]
pub(super) struct RetransmissionJson {
    t: Epoch,
    seq: u32,
    len: u32,
    kind: &'static str,
    probability: Option<f64>,
    spurious: Option<bool>,
    lost: Option<bool>,
    spurious_by: Option<&'static str>,
    from: &'static str,
    frame: u64,
    transmission: u32,
    too_big: bool,
}

impl RetransmissionJson {
    pub(super) fn of(from: End, r: &Retransmission) -> Self {
        let Seq(seq) = r.seq;
        RetransmissionJson {
            t: Epoch(r.at),
            seq,
            len: r.len,
            kind: r.kind.name(),
            probability: r.probability,
            spurious: spurious(r),
            lost: r.lost,
            spurious_by: r.spurious.map(names::spurious),
            from: from.name(),
            frame: r.frame,
            transmission: r.transmission,
            too_big: r.too_big,
        }
    }
}

#[derive(Serialize)]
pub(super) struct TimeoutJson<'a> {
    t: Epoch,
    seq: u32,
    class: &'static str,
    state: &'static str,
    flight: u64,
    cwnd: u64,
    spurious: Option<bool>,
    spurious_by: Option<&'static str>,
    from: &'static str,
    waited_s: f64,
    episode: Option<EpisodeJson<'a>>,
}

impl<'a> TimeoutJson<'a> {
    pub(super) fn of(from: End, t: &'a Timeout, flow: &Flow) -> Self {
        let by: Option<Spurious> = t.spurious;
        let known = by.map(|_| true).or_else(|| sent_by(flow, t).and_then(spurious));
        TimeoutJson {
            t: Epoch(t.at),
            seq: t.seq.0,
            class: t.class.name(),
            state: t.state.name(),
            flight: t.flight,
            cwnd: t.cwnd,
            spurious: known,
            spurious_by: by.map(names::spurious),
            from: from.name(),
            waited_s: seconds(t.waited),
            episode: t.episode.as_ref().map(EpisodeJson::of),
        }
    }
}

/// What a replay assumes of the time around a timeout, as it was reconstructed.
#[derive(Serialize)]
struct EpisodeJson<'a> {
    rtt_s: f64,
    rate_bps: Option<f64>,
    cwnd_segments: u32,
    rwnd: u64,
    bytes: u64,
    repaired: u64,
    lost: &'a [u8],
    slow_start: bool,
    delayed_ack: bool,
    took_s: f64,
}

impl<'a> EpisodeJson<'a> {
    fn of(e: &'a Episode) -> Self {
        EpisodeJson {
            rtt_s: seconds(e.rtt),
            rate_bps: e.rate_bps,
            cwnd_segments: e.cwnd,
            rwnd: e.rwnd,
            bytes: e.bytes,
            repaired: e.repaired,
            lost: &e.lost,
            slow_start: e.slow_start,
            delayed_ack: e.delayed_ack,
            took_s: seconds(e.took),
        }
    }
}

#[derive(Serialize)]
pub(super) struct StallJson {
    t: Epoch,
    duration_s: f64,
    cause: &'static str,
    class: Option<&'static str>,
    from: &'static str,
    frame: Option<u64>,
}

impl StallJson {
    pub(super) fn of(from: End, s: &Stall) -> Self {
        StallJson {
            t: Epoch(s.start),
            duration_s: seconds(s.end.since(s.start)),
            cause: names::cause(s.cause),
            class: names::cause_class(s.cause),
            from: from.name(),
            frame: Some(s.frame).filter(|frame| *frame > 0),
        }
    }
}

#[derive(Serialize)]
pub(super) struct RecoveryJson {
    t: Epoch,
    duration_s: Option<f64>,
    exit: &'static str,
    flight: u64,
    retransmissions: u32,
    spurious: bool,
    from: &'static str,
}

impl RecoveryJson {
    pub(super) fn of(from: End, r: &Recovery) -> Self {
        RecoveryJson {
            t: Epoch(r.start),
            duration_s: r.end.map(|end| seconds(end.since(r.start))),
            exit: match (r.end, r.by_timeout) {
                (None, _) => "open",
                (_, true) => "timeout",
                (_, false) => "ack",
            },
            flight: r.flight,
            retransmissions: r.retransmissions,
            spurious: r.spurious,
            from: from.name(),
        }
    }
}

#[cfg(test)]
mod tests;
