//! Losses and segments that arrived in one order, with the bytes that had arrived before each.

use super::{LossRecord, Lost, Passed};
use crate::connection::Retransmission;
use crate::sender::stream::Stream;

/// A segment at the moment at which it goes out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Seconds since the first one.
    pub at: f64,
    /// Bytes that arrived of those sent before it, headers included.
    pub before: f64,
    /// The same since the moment before: how much it stands for.
    pub weight: f64,
    /// Bytes in flight.
    pub flight: f64,
    /// Its round trip beyond the shortest, in seconds; of one that was lost, that of its
    /// neighbour.
    pub delay: Option<f64>,
    /// It was lost.
    pub lost: bool,
    /// It is the first loss of an episode.
    pub begins: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Timeline {
    pub moments: Vec<Moment>,
    /// Bytes of a full segment, headers included.
    pub size: f64,
    /// The first moment is the beginning of the connection: nothing was sent before.
    pub complete: bool,
    /// Segments sent from the first moment to the last, and runs of losses next to each other.
    pub segments: f64,
    pub lost_segments: f64,
    pub runs: u32,
    /// Segments lost in the episode that lost most.
    pub most_at_once: f64,
}

impl Timeline {
    /// `None` if there is nothing to compare.
    pub fn new(record: &LossRecord, stream: &Stream, all: &[Retransmission]) -> Option<Timeline> {
        let (first, last) = (record.passed.first()?, record.passed.last()?);
        if record.lost().is_empty() || last.at <= first.at {
            return None;
        }
        let rtt = stream.timers.round_trip()?;
        let terms = &stream.terms;
        let mss = f64::from(terms.mss.max(1));
        let size = mss + f64::from(terms.header);
        let scale = size / mss;
        let least = rtt.min.secs_f64();
        let begin = first.at.min(record.lost().first().map_or(first.at, |lost| lost.at));
        let trip = rtt.mean.secs_f64().max(least);
        let mut line = Timeline {
            moments: Vec::with_capacity(record.passed.len() + record.lost().len()),
            size,
            complete: terms.handshake_rtt.is_some(),
            segments: 0.0,
            lost_segments: 0.0,
            runs: 0,
            most_at_once: 0.0,
        };
        let mut passed = record.passed.iter().peekable();
        let mut lost = record.lost().iter().peekable();
        let mut again = all.iter().filter(|r| r.len > 0).peekable();
        // Bytes of first transmissions that were lost, and of retransmissions that arrived.
        let (mut gone, mut repaired) = (0_u64, 0_u64);
        let (mut episode, mut end_of_run) = (None::<f64>, None::<u64>);
        let mut at_once = 0.0;
        loop {
            let is_lost = match (passed.peek(), lost.peek()) {
                (None, None) => break,
                (Some(_), None) => false,
                (None, Some(_)) => true,
                (Some(passed), Some(lost)) => lost.at < passed.at,
            };
            let (at, position, flight, trip_us, len) = if is_lost {
                let Some(&Lost { at, position, flight, trip, len, .. }) = lost.next() else {
                    break;
                };
                (at, position, flight, trip, len)
            } else {
                let Some(&Passed { at, position, flight, trip }) = passed.next() else { break };
                (at, position, flight, Some(trip), 0)
            };
            while let Some(r) = again.next_if(|r| r.at <= at) {
                repaired += if r.lost == Some(true) { 0 } else { u64::from(r.len) };
            }
            let before = (position + repaired).saturating_sub(gone) as f64 * scale;
            let now = at.since(begin).secs_f64();
            let begins = is_lost && episode.is_none_or(|began| now - began >= trip);
            if begins {
                episode = Some(now);
                at_once = 0.0;
            }
            if is_lost {
                line.runs += u32::from(end_of_run != Some(position));
                end_of_run = Some(position + u64::from(len));
                line.lost_segments += f64::from(len) / mss;
                at_once += f64::from(len) / mss;
                line.most_at_once = line.most_at_once.max(at_once);
                gone += u64::from(len);
            }
            let weight = line.moments.last().map_or(0.0, |m: &Moment| (before - m.before).max(0.0));
            let delay = trip_us.map(|us| (f64::from(us) / 1e6 - least).max(0.0));
            let flight = f64::from(flight);
            line.moments.push(Moment {
                at: now,
                before,
                weight,
                flight,
                delay,
                lost: is_lost,
                begins,
            });
        }
        let bytes = line.moments.last()?.before - line.moments.first()?.before;
        line.segments = bytes / size + line.lost_segments;
        Some(line)
    }

    /// The moments in pieces, of which each ends with a loss; those after the last one are in none.
    pub fn runs_to_losses(&self) -> Vec<&[Moment]> {
        let runs = self.moments.chunk_by(|moment, _| !moment.lost);
        runs.filter(|run| run.last().is_some_and(|last| last.lost)).collect()
    }

    pub fn episodes(&self) -> usize {
        self.moments.iter().filter(|m| m.begins).count()
    }
}
