//! Black holes: paths that drop what is too big and tell nobody (RFC 2923 section 2.1).
//!
//! Linux (`tcp_mtu_probing`) and RFC 4821 section 7.7 make the segments of a connection small after
//! some timeouts in a row. But an outage looks the same, and a mobile path has many of them. So
//! here only the first unacknowledged segment is cut at first, and goes out as a smaller one: a
//! *trial*. If that is acknowledged, and soon after the next large segment times out as often,
//! large segments are lost and small ones are not: the path takes no more than the trial had. What
//! acknowledges the large segment, which may only have been late, is no such evidence.
//!
//! Routes change. Ten minutes after a path was found narrow, by a trial, by ICMP or by an earlier
//! connection ([`ConnectionConfig::wide_path_mss`]), one segment of the old size goes out, a
//! *probe* (RFC 4821 section 7; Linux's `tcp_mtu_probe`). If it is acknowledged, segments are large
//! again. If what was sent after it arrives before it, it is lost for its size: it goes again in
//! pieces, and cwnd stays (`tcp_mtup_probe_failed`). Only SACK tells in time which one is missing,
//! so without SACK there is no probe. Sizes between are not tried.

use super::{Connection, ConnectionConfig};
use crate::segment::Segment;
use crate::sender::Transmit;
use crate::seq::Seq;
use crate::time::{Span, Time};

/// Timeouts in a row until a trial (Linux's `tcp_retries1`; R1 of RFC 9293 section 3.8.3).
const PATIENCE: u32 = 3;

/// What a trial has, IP and TCP headers not counted, where that is more than every path takes: as
/// Linux's `tcp_base_mss`.
const BASE_MSS: u16 = 1024;

/// A trial counts until so many full segments after it are acknowledged.
const SOON: u64 = 10;

/// From a path that was found narrow, or a probe that was lost, to the next probe (Linux's
/// `tcp_probe_interval`, RFC 8899 section 5.1.1, RFC 8201 section 4).
const PROBE_INTERVAL: Span = Span::from_secs(600);

/// What is known of a black hole.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlackHole {
    /// What was acknowledged at the last timeout, and how many there were in a row.
    at: u64,
    timeouts: u32,
    trial: Option<Trial>,
    /// What the path may take, as a trial that was acknowledged had it, and the end of the segment
    /// that was cut for it.
    passed: Option<(u16, u64)>,
    /// What the path takes, as the black hole that was found on it has shown.
    pub found: Option<u16>,
    /// What the path was taken for before it was found narrow, and when to probe for it.
    wide: u16,
    probe_at: Option<Time>,
    /// Where the probe that is out begins and ends.
    probe: Option<(u64, u64)>,
}

impl BlackHole {
    /// One that others may have found.
    pub fn new(config: &ConnectionConfig) -> BlackHole {
        match config.wide_path_mss {
            Some((wide, at)) => BlackHole { wide, probe_at: Some(at), ..BlackHole::default() },
            None => BlackHole::default(),
        }
    }
}

/// A trial that nothing has been heard of.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// What the path may take.
    path_mss: u16,
    /// The end of the segment that is cut for it.
    end: u64,
    /// When it was sent, once it was: a closed window may hold it back.
    sent: Option<Time>,
}

/// The path takes no more than this. What is outstanding in larger segments goes again.
pub(super) fn narrow(c: &mut Connection, now: Time, path_mss: u16) {
    let hole = &mut c.black_hole;
    hole.wide = hole.wide.max(c.config.path_mss);
    (hole.probe_at, hole.probe) = (Some(now + PROBE_INTERVAL), None);
    c.config.path_mss = path_mss;
    if c.is_synchronized() {
        c.sender.set_mss(now, c.smss());
    }
}

/// The probe, once it is due and there is data for one; an inner `None` where it waits for room in
/// the windows, and everything else with it.
pub(super) fn poll_probe(c: &mut Connection, now: Time) -> Option<Option<Transmit>> {
    c.black_hole.probe_at.filter(|&at| at <= now && c.black_hole.probe.is_none())?;
    let probe = c.sender.poll_probe(now, c.negotiated.smss(c.black_hole.wide))?;
    c.black_hole.probe = probe.map(|t| (t.position, t.position + u64::from(t.segment.len)));
    Some(probe)
}

/// An ACK comes that the sender has not seen: it must not take the loss of a probe for one by
/// congestion.
pub(super) fn on_ack(c: &mut Connection, now: Time, ack: &Segment) {
    let Some((start, end)) = c.black_hole.probe else { return };
    let [start_seq, end_seq] = [start, end].map(|at| Seq::at(c.isn(), at));
    let blocks = ack.sack.as_slice();
    let beyond = blocks.iter().any(|block| block.left.ahead_of(end_seq) >= 0);
    let arrived = ack.ack.ahead_of(start_seq) > 0
        || blocks
            .iter()
            .any(|b| b.left.ahead_of(start_seq) <= 0 && b.right.ahead_of(start_seq) > 0)
        || c.sender.has_sacked(start);
    if beyond && !arrived {
        narrow(c, now, c.config.path_mss);
    }
}

/// A retransmission timeout has come.
pub(super) fn on_timeout(c: &mut Connection, now: Time) {
    // That says nothing of a probe, but it must not hold up what goes again
    // (`__tcp_retransmit_skb`: "Inconclusive MTU probe").
    if c.black_hole.probe.is_some() {
        narrow(c, now, c.config.path_mss);
    }
    let Some(least) = c.config.least_path_mss else { return };
    let (mss, una) = (c.sender.state().mss, c.sender.acked());
    let hole = &mut c.black_hole;
    if hole.at != una {
        *hole = BlackHole { at: una, timeouts: 0, trial: None, ..*hole };
    }
    hole.timeouts += 1;
    let small = if hole.timeouts > PATIENCE { least } else { BASE_MSS.max(least) };
    let soon = |end: u64| una <= end + SOON * mss;
    let passed = hole.passed.filter(|&(_, end)| soon(end)).map(|(passed, _)| passed);
    let path_mss = passed.unwrap_or(small);
    let most = c.negotiated.smss(path_mss);
    let s = c.sender.state();
    let head = s.board.head().filter(|head| head.len_without(s.joined_fin()) > most);
    let Some(end) = head.map(|head| head.end()).filter(|_| hole.timeouts >= PATIENCE) else {
        return;
    };
    if passed.is_some() {
        (hole.passed, hole.found) = (None, Some(path_mss));
        narrow(c, now, path_mss);
    } else {
        // A second trial cuts what the first has left.
        let end = hole.trial.map_or(end, |trial| trial.end);
        hole.trial = Some(Trial { path_mss, end, sent: None });
        c.sender.shorten_head(Some(most));
    }
}

/// A segment is sent.
pub(super) fn on_transmit(c: &mut Connection, now: Time, sent: &Transmit) {
    if let Some(trial) = &mut c.black_hole.trial
        && sent.position < trial.end
    {
        trial.sent.get_or_insert(now);
    }
}

/// Something was acknowledged.
pub(super) fn on_progress(c: &mut Connection, now: Time, ack: &Segment) {
    if c.black_hole.probe.is_some_and(|(_, end)| c.sender.acked() >= end) {
        c.config.path_mss = c.black_hole.wide;
        c.black_hole = BlackHole { at: c.black_hole.at, ..BlackHole::default() };
        c.sender.set_mss(now, c.smss());
    }
    let Some(Trial { path_mss, end, sent }) = c.black_hole.trial.take() else { return };
    // What was not sent is not cut any more, either.
    c.sender.shorten_head(None);
    let Some(sent) = sent else { return };
    let una = c.sender.acked();
    // Within the segment only the smaller one ends. Beyond it, the large one had arrived before. At
    // its end it may be either.
    if una < end || una == end && is_of(c, now, ack, sent) {
        c.black_hole.passed = Some((path_mss, end));
    }
}

/// Whether an ACK is of what was sent then, and not of an earlier copy (as Eifel decides: RFC 3522
/// section 3.2). RFC 2883: a D-SACK says that the earlier one had arrived, too.
fn is_of(c: &Connection, now: Time, ack: &Segment, sent: Time) -> bool {
    let twice = ack.sack.as_slice().first().is_some_and(|block| block.left.ahead_of(ack.ack) < 0);
    let later = match ack.timestamps {
        Some(timestamps) => timestamps.ecr.wrapping_sub(sent.timestamp()).cast_signed() >= 0,
        // An ACK takes a round trip.
        None => now.since(sent) >= c.sender.stats().rtt_least,
    };
    later && !twice
}
