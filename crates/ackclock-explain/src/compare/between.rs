//! What happened to bytes between two captures.

use std::collections::BTreeSet;

use ackclock_report::percentile;
use ackclock_tcp::Time;

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
    /// SYNs that came past the first capture, and not past the second one.
    pub syns_lost: u64,
    /// Bytes that came past the second capture again: they were lost behind it, or not needed.
    pub again: u64,
    /// Bytes that the second capture has alone: the first one missed them, or they went by another
    /// path.
    pub unseen: u64,
    /// Bytes that one capture has, and the other one lacks because it had ended. They are in no
    /// other number.
    pub not_compared: u64,
    /// Segments of the second capture that came past both once.
    pub segments: u64,
    /// Of these, those that came after others that had been sent later.
    pub reordered: u64,
    /// How long after the first capture the second one saw each of them, in nanoseconds, by the
    /// clocks of both.
    delays: Vec<i64>,
    /// The shortest of them and of that of the SYN, if that was one.
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
    /// What both captures have of it; when each of them ended; by how much later the second one has
    /// the SYN, and whether that tells how long a packet takes.
    pub fn of(sent: [&[Segment]; 2], ends: [Time; 2], syn: i64, syn_tells: bool) -> Way {
        let [first, second] = sent;
        let mut edges = Vec::with_capacity(2 * (first.len() + second.len()));
        for (capture, segments) in sent.into_iter().enumerate() {
            for (segment, s) in segments.iter().enumerate() {
                let to = s.from + u64::from(s.len);
                edges.push(Edge { position: s.from, capture, begins: true, segment });
                edges.push(Edge { position: to, capture, begins: false, segment });
            }
        }
        edges.sort_unstable_by_key(|edge| edge.position);
        let mut way = Way::default();
        // Of each segment of the second capture, the one in the first that has its last byte.
        let mut origins: Vec<Option<usize>> = vec![None; second.len()];
        sweep(&edges, |_, [before, behind]| {
            if let (1, 1, Some(&origin), Some(&copy)) =
                (before.len(), behind.len(), before.first(), behind.first())
            {
                origins[copy] = Some(origin);
            }
        });
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
        let syn_delay = syn_tells.then_some(syn);
        way.shortest = way.delays.first().copied().into_iter().chain(syn_delay).min();
        // The SYN may have come again.
        let longest = way.delays.last().copied().or(syn_delay);
        way.count(&edges, sent, ends, [way.shortest, longest].map(|delay| delay.unwrap_or(syn)));
        way
    }

    /// Counts bytes. A packet takes so long from the first capture to the second, at least and at
    /// most.
    fn count(
        &mut self,
        edges: &[Edge],
        [first, second]: [&[Segment]; 2],
        [first_end, second_end]: [Time; 2],
        [shortest, longest]: [i64; 2],
    ) {
        let arrives = |s: &Segment| signed(s.at).saturating_add(longest) <= signed(second_end);
        let was_seen = |s: &Segment| signed(s.at).saturating_sub(shortest) <= signed(first_end);
        sweep(edges, |len, open| {
            let before = || open[0].iter().map(|&segment| &first[segment]);
            let behind = || open[1].iter().map(|&segment| &second[segment]);
            let [sent, came] = [before().count() as u64, behind().count() as u64];
            let missing = [sent.saturating_sub(came), came.saturating_sub(sent)];
            let mut not_compared = [0; 2];
            if missing[0] > 0 {
                let late = before().filter(|s| !arrives(s));
                let from = late.map(|s| signed(s.at).saturating_add(shortest)).collect();
                not_compared[0] = unmatched(from, behind().map(|s| signed(s.at)).collect());
            }
            if missing[1] > 0 {
                let early = behind().filter(|s| !was_seen(s));
                let until = early.map(|s| shortest.saturating_sub(signed(s.at))).collect();
                not_compared[1] = unmatched(until, before().map(|s| -signed(s.at)).collect());
            }
            let not_compared = [0, 1].map(|n: usize| missing[n].min(not_compared[n]));
            self.sent += len * (sent - not_compared[0]);
            self.lost += len * (missing[0] - not_compared[0]);
            self.unseen += len * (missing[1] - not_compared[1]);
            self.again += len * (came - not_compared[1]).saturating_sub(1);
            self.not_compared += len * (not_compared[0] + not_compared[1]);
        });
    }

    pub fn add(&mut self, other: &Way) {
        let Way {
            sent,
            lost,
            syns_lost,
            again,
            unseen,
            not_compared,
            segments,
            reordered,
            delays,
            shortest,
        } = other;
        self.sent += sent;
        self.lost += lost;
        self.syns_lost += syns_lost;
        self.again += again;
        self.unseen += unseen;
        self.not_compared += not_compared;
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
        Some(percentile(&self.delays, percent)?.saturating_sub(self.shortest?))
    }
}

/// Of segments that one capture has at its end, those that the other one does not have: it would
/// have each `from` such a time on, and has them at these times.
fn unmatched(mut from: Vec<i64>, mut times: Vec<i64>) -> u64 {
    from.sort_unstable();
    times.sort_unstable();
    let mut times = times.into_iter();
    from.into_iter().filter(|from| !times.any(|time| time >= *from)).count() as u64
}

/// Hands on runs of bytes: how long each is, and the segments of both captures that have it.
fn sweep(edges: &[Edge], mut run: impl FnMut(u64, &[BTreeSet<usize>; 2])) {
    let mut open = [BTreeSet::new(), BTreeSet::new()];
    let mut position = 0;
    for edge in edges {
        if edge.position > position {
            run(edge.position - position, &open);
        }
        position = edge.position;
        match edge.begins {
            true => open[edge.capture].insert(edge.segment),
            false => open[edge.capture].remove(&edge.segment),
        };
    }
}
