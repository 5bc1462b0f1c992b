//! What happened to bytes between two captures.

use std::collections::BTreeSet;

use ackclock_report::percentile;

use super::conversations::Segment;
use super::signed;

/// What one end sent past two captures, the one nearer to it first. It is counted in bytes, since a
/// host captures segments before they are cut and after they were put together.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    /// Bytes past the first capture, each as often as it was sent.
    pub sent: u64,
    /// Of these, those that did not come past the second one.
    pub lost: u64,
    /// Bytes that came past the second capture again: they were lost behind it, or not needed.
    pub again: u64,
    /// Bytes that the second capture has alone: the first one missed them, or they went by another
    /// path.
    pub unseen: u64,
    /// Segments of the second capture that came past both once.
    pub segments: u64,
    /// Of these, those that came after others that had been sent later.
    pub reordered: u64,
    /// How long after the first capture the second one saw each of them, in nanoseconds, by the
    /// clocks of both.
    delays: Vec<i64>,
    /// The shortest of them and of that of the SYN.
    pub shortest: Option<i64>,
}

/// Where bytes begin or end to be in a segment.
struct Edge {
    position: u64,
    /// 0 of the first capture, 1 of the second one.
    capture: usize,
    begins: bool,
    segment: usize,
}

impl Way {
    /// Of what both captures have, and how long the SYN took.
    pub fn of(first: &[Segment], second: &[Segment], syn: i64) -> Way {
        let end = |segments: &[Segment]| {
            segments.iter().map(|s| s.from + u64::from(s.len)).max().unwrap_or(0)
        };
        // What comes after it, one of them did not see to its end.
        let end = end(first).min(end(second));
        let mut edges = Vec::with_capacity(2 * (first.len() + second.len()));
        for (capture, segments) in [first, second].into_iter().enumerate() {
            for (segment, s) in segments.iter().enumerate().filter(|(_, s)| s.from < end) {
                let to = (s.from + u64::from(s.len)).min(end);
                edges.push(Edge { position: s.from, capture, begins: true, segment });
                edges.push(Edge { position: to, capture, begins: false, segment });
            }
        }
        edges.sort_unstable_by_key(|edge| edge.position);
        let mut way = Way::default();
        // Of each segment of the second capture, the one in the first that has its last byte.
        let mut origins: Vec<Option<usize>> = vec![None; second.len()];
        let mut open = [BTreeSet::new(), BTreeSet::new()];
        let mut position = 0;
        for edge in edges {
            let len = edge.position - position;
            if len > 0 {
                let [before, behind] = [0, 1].map(|capture: usize| open[capture].len() as u64);
                way.sent += len * before;
                way.lost += len * before.saturating_sub(behind);
                way.unseen += len * behind.saturating_sub(before);
                way.again += len * behind.saturating_sub(1);
                if let ((1, Some(&origin)), (1, Some(&copy))) =
                    ((before, open[0].first()), (behind, open[1].first()))
                {
                    origins[copy] = Some(origin);
                }
            }
            position = edge.position;
            let open = &mut open[edge.capture];
            if edge.begins {
                open.insert(edge.segment)
            } else {
                open.remove(&edge.segment)
            };
        }
        let mut latest = None;
        for (segment, origin) in second.iter().zip(origins) {
            let Some(origin) = origin else { continue };
            let place = Some((origin, segment.from));
            way.segments += 1;
            way.reordered += u64::from(place < latest);
            latest = latest.max(place);
            way.delays.push(signed(segment.at) - signed(first[origin].at));
        }
        way.sort();
        way.shortest = way.delays.first().copied().into_iter().chain([syn]).min();
        way
    }

    pub fn add(&mut self, other: &Way) {
        let Way { sent, lost, again, unseen, segments, reordered, delays, shortest } = other;
        self.sent += sent;
        self.lost += lost;
        self.again += again;
        self.unseen += unseen;
        self.segments += segments;
        self.reordered += reordered;
        self.delays.extend(delays);
        self.shortest = [self.shortest, *shortest].into_iter().flatten().min();
    }

    /// After others were added.
    pub fn sort(&mut self) {
        self.delays.sort_unstable();
    }

    /// By how much the delay that so many percent do not exceed is above the shortest, in
    /// nanoseconds: the difference of the clocks is not in it.
    pub fn above_shortest(&self, percent: f64) -> Option<i64> {
        Some(percentile(&self.delays, percent)? - self.shortest?)
    }
}
