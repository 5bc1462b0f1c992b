//! What became of each retransmission: whether it was lost itself, and whether it was needless.
//!
//! The first report that a segment has arrived (by an ACK or a SACK block) is ascribed to one of its transmissions: to the one whose
//! timestamp is echoed, or, without that, to the last one that went out a round trip before. Retransmissions before that one were
//! lost; those after it were needless. A D-SACK (RFC 2883) says afterwards that one more of them arrived.

use ackclock_tcp::{Span, Time};

use super::outstanding::Segment;
use super::{Acked, SenderModel, Sight};
use crate::connection::Needless;

/// How far back a D-SACK may reach, in retransmissions.
const REACH: usize = 1024;

/// What only the decisions need to know of a retransmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub tsval: Option<u32>,
    /// Number of the retransmission before it of the same bytes; 0 if there was none.
    pub previous: u32,
    /// Position after its last byte.
    pub end: u64,
    /// Which of the recoveries it belongs to, counted from 1; 0 for none.
    pub recovery: u32,
    /// Its event, counted from 1; 0 if there is none.
    pub event: u32,
    /// It is known which transmission of the segment was the first to arrive.
    pub reported: bool,
}

impl SenderModel {
    /// The least time that a transmission takes to be reported. The path may have become a little shorter than it ever was, so
    /// that a quarter is allowed for.
    fn least_trip(&self) -> Span {
        Span(self.clock.min_rtt().0 / 4 * 3)
    }

    /// `segment` is reported for the first time; `echo` says that the ACK's timestamp is that of the transmission that arrived.
    /// Returns when the transmission that arrived was sent.
    pub(super) fn delivered(&mut self, segment: &Segment, a: &Acked, echo: bool) -> Time {
        if segment.again == 0 {
            return segment.first_at;
        }
        // A delayed ACK may echo the segment before this one (RFC 7323 section 4.3), but none is sooner than the shortest round trip,
        // of which a 64th is allowed for.
        let cumulative = a.ack >= segment.end() && self.terms.sight == Sight::Sent;
        let min_rtt = Span(self.clock.min_rtt().0 / 64 * 63);
        let trip = self.least_trip();
        // Elsewhere than at the sender its times are estimates; and data alone may never have met an empty queue, as a SYN does.
        let exact = self.terms.sight == Sight::Sent && self.clock.handshake.is_some();
        let mut number = segment.again;
        // Those that went out too late to be what arrived.
        while let Some((r, note)) = self.retransmission(number) {
            let echoed = a.tsecr.filter(|_| echo || cumulative && a.at.since(r.at) < min_rtt);
            let proved = match (echoed, note.tsval) {
                (Some(echo), Some(tsval)) => Some((echo.wrapping_sub(tsval) as i32) < 0),
                _ => None,
            };
            if !proved.unwrap_or(a.at.since(r.at) < trip) {
                break;
            }
            let proof =
                if proved == Some(true) { Some(Needless::Timestamp) } else { exact.then_some(Needless::RoundTrip) };
            r.needless = r.needless.or(proof);
            r.known |= proof.is_some();
            number = note.previous;
        }
        let Some((r, note)) = self.retransmission(number) else { return segment.first_at };
        let sent = r.at;
        note.reported = true;
        r.lost = Some(false);
        r.known |= echo && a.tsecr.is_some();
        number = note.previous;
        while let Some((r, note)) = self.retransmission(number) {
            note.reported = true;
            if r.lost.is_none() {
                r.lost = Some(true);
                r.known = true;
            }
            number = note.previous;
        }
        sent
    }

    fn retransmission(&mut self, number: u32) -> Option<(&mut crate::connection::Retransmission, &mut Note)> {
        let index = (number as usize).checked_sub(1)?;
        Some((self.found.retransmissions.get_mut(index)?, self.notes.get_mut(index)?))
    }

    /// A D-SACK: for each segment in its range the last retransmission that can have arrived by now was a duplicate.
    pub(super) fn duplicate_reported(&mut self, a: &Acked) {
        let (left, right) = a.sack[0];
        let trip = self.least_trip();
        let first = self.repair.first.saturating_sub(1) as usize;
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for index in (0..self.notes.len()).rev().take(REACH) {
            let note = self.notes[index];
            let r = &mut self.found.retransmissions[index];
            let inside = left <= r.position && note.end <= right && a.at.since(r.at) >= trip;
            if !inside
                || r.needless == Some(Needless::Dsack)
                || taken.iter().any(|t| t.0 < note.end && r.position < t.1)
            {
                continue;
            }
            taken.push((r.position, note.end));
            self.repair.dsacked += usize::from(index >= first);
            (r.needless, r.known, r.lost) = (Some(Needless::Dsack), true, Some(false));
            // It was not the first to arrive; the one before it was, then.
            if let Some((before, _)) = self.retransmission(note.previous)
                && before.lost == Some(true)
            {
                before.lost = Some(false);
            }
        }
        let all = self.repair.dsacked >= self.notes.len().saturating_sub(first);
        if !taken.is_empty() && !self.clock.foreign && self.repair.phase != super::Phase::Open && all {
            self.undo(a.at, "dsack");
        }
    }

    /// At the end: what follows from all.
    pub(super) fn settle_fates(&mut self) {
        // A receiver that sends D-SACKs would have sent one.
        let would_tell = self.terms.sack && self.found.dsacks > 0;
        for (r, note) in self.found.retransmissions.iter_mut().zip(&self.notes) {
            r.known |= would_tell && note.reported;
        }
        for timeout in &mut self.found.timeouts {
            timeout.needless = self.found.retransmissions.get(timeout.retransmission).and_then(|r| r.needless);
        }
        let mut counts = vec![(0, true); self.found.recoveries.len()];
        for (r, note) in self.found.retransmissions.iter().zip(&self.notes) {
            if let Some(count) = (note.recovery as usize).checked_sub(1).and_then(|i| counts.get_mut(i)) {
                count.0 += 1;
                count.1 &= r.needless.is_some();
            }
        }
        for (recovery, (retransmissions, needless)) in self.found.recoveries.iter_mut().zip(counts) {
            recovery.retransmissions = retransmissions;
            recovery.needless = needless && retransmissions > 0;
        }
    }
}
