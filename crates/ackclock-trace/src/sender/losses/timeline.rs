//! Losses and segments that arrived in one order, with the bytes that had arrived before each.

use ackclock_tcp::Time;

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
        let least = rtt.min.secs_f64();
        let steps = in_order(&record.passed, record.lost());
        let begin = steps.first()?.at;
        let mut again = all.iter().filter(|r| r.len > 0).peekable();
        // Bytes of retransmissions that arrived.
        let mut repaired = 0_u64;
        let mut losses = Losses::new(rtt.mean.secs_f64().max(least));
        let mut moments: Vec<Moment> = Vec::with_capacity(steps.len());
        for step in steps {
            while let Some(r) = again.next_if(|r| r.at <= step.at) {
                repaired += if r.lost == Some(true) { 0 } else { u64::from(r.len) };
            }
            let at = step.at.since(begin).secs_f64();
            let before =
                (step.position + repaired).saturating_sub(losses.bytes) as f64 * size / mss;
            let weight = moments.last().map_or(0.0, |m| (before - m.before).max(0.0));
            let begins = step.lost.is_some_and(|len| losses.add(at, step.position, len));
            moments.push(Moment {
                at,
                before,
                weight,
                flight: f64::from(step.flight),
                delay: step.trip.map(|us| (f64::from(us) / 1e6 - least).max(0.0)),
                lost: step.lost.is_some(),
                begins,
            });
        }
        let bytes = moments.last()?.before - moments.first()?.before;
        let lost_segments = losses.bytes as f64 / mss;
        Some(Timeline {
            moments,
            size,
            complete: terms.handshake_rtt.get().is_some(),
            segments: bytes / size + lost_segments,
            lost_segments,
            runs: losses.runs,
            most_at_once: losses.most_at_once as f64 / mss,
        })
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

/// One transmission of the record.
struct Step {
    at: Time,
    position: u64,
    flight: u32,
    /// Microseconds.
    trip: Option<u32>,
    /// The bytes that were lost with it, if it was.
    lost: Option<u32>,
}

/// What arrived and what was lost, as they went out. Of two at the same time what arrived is first.
fn in_order(passed: &[Passed], lost: &[Lost]) -> Vec<Step> {
    let passed = passed.iter().map(|p| Step {
        at: p.at,
        position: p.position,
        flight: p.flight,
        trip: Some(p.trip),
        lost: None,
    });
    let lost = lost.iter().map(|l| Step {
        at: l.at,
        position: l.position,
        flight: l.flight,
        trip: l.trip,
        lost: Some(l.len),
    });
    let mut steps: Vec<Step> = passed.chain(lost).collect();
    steps.sort_by_key(|step| step.at);
    steps
}

/// What was lost until now, in runs and episodes.
struct Losses {
    /// An episode ends after this time, in seconds.
    trip: f64,
    /// When the last episode began, in seconds, and the bytes that it lost.
    episode: Option<(f64, u64)>,
    end_of_run: Option<u64>,
    bytes: u64,
    runs: u32,
    /// Bytes of the episode that lost most.
    most_at_once: u64,
}

impl Losses {
    fn new(trip: f64) -> Losses {
        Losses { trip, episode: None, end_of_run: None, bytes: 0, runs: 0, most_at_once: 0 }
    }

    /// Returns whether an episode begins with the loss of so many bytes `at` a time in seconds.
    fn add(&mut self, at: f64, position: u64, len: u32) -> bool {
        let begins = self.episode.is_none_or(|(began, _)| at - began >= self.trip);
        let episode = self.episode.get_or_insert((at, 0));
        if begins {
            *episode = (at, 0);
        }
        episode.1 += u64::from(len);
        self.most_at_once = self.most_at_once.max(episode.1);
        self.runs += u32::from(self.end_of_run != Some(position));
        self.end_of_run = Some(position + u64::from(len));
        self.bytes += u64::from(len);
        begins
    }
}
