//! What was retransmitted, and what became of it: whether a retransmission was lost itself, and
//! whether it was spurious.
//!
//! The first report that a segment has arrived (by an ACK or a SACK block) is ascribed to one of
//! its transmissions: to the one whose timestamp is echoed, or, without that, to the last one that
//! went out a round trip before. Retransmissions before that one were lost; those after it were
//! spurious. A D-SACK (RFC 2883) says afterwards that one more of them arrived.

use std::ops::Range;

use ackclock_tcp::{Span, Time, Timestamps};

use crate::connection::{Kind, Retransmission, Spurious};
use crate::sender::input::{Acked, Dsack, Sent, Terms};
use crate::sender::stream::outstanding::Outstanding;
use crate::sender::stream::segment::{Replaced, Segment};
use crate::sender::stream::timers::Timers;

/// How far back a D-SACK may reach, in retransmissions.
const REACH: usize = 1024;

/// How many segments behind the head an ACK is compared with by their timestamps.
const MOST_ECHOED: usize = 63;

/// How many copies of one segment are followed: no timer sends as many.
const MOST_COPIES: usize = 64;

/// Which segment's timestamp an ACK echoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Echo {
    /// That of the segment at hand, as it arrived.
    Own,
    /// That of the head, behind which the segment had waited. So it arrived before, but nothing
    /// says by which transmission.
    Head,
    /// It says nothing of this one.
    Nothing,
}

/// What is remembered of a retransmission until its fate is known.
#[derive(Clone, Copy, Debug, Default)]
struct Note {
    tsval: Option<u32>,
    /// Number of the retransmission before it of the same bytes; 0 if there was none.
    previous: u32,
    /// Position after its last byte.
    end: u64,
    /// Which of the recoveries it belongs to, counted from 1; 0 for none.
    recovery: u32,
    /// It is known which transmission of the segment was the first to arrive.
    reported: bool,
    /// A timestamp says that it was this one.
    echoed: bool,
}

/// All retransmissions of a sender. Their numbers count from 1, so that 0 is none.
#[derive(Debug, Default)]
pub(crate) struct Retransmissions {
    found: Vec<Retransmission>,
    /// By the same index.
    notes: Vec<Note>,
    dsacks: u64,
    /// Timestamp of the first SYN.
    syn: Option<u32>,
}

impl Retransmission {
    /// `sent` is one, of which nothing says whether it was needed.
    pub(crate) fn of(
        sent: &Sent,
        kind: Kind,
        transmission: u32,
        lost: Option<bool>,
    ) -> Retransmission {
        Retransmission {
            frame: sent.frame,
            at: sent.at,
            seq: sent.seq,
            position: sent.position,
            len: sent.payload(),
            syn: false,
            kind,
            probability: None,
            spurious: None,
            known: false,
            lost,
            transmission,
            sacked: 0,
            too_big: false,
            all_seen: sent.all_seen,
        }
    }
}

/// Data that was retransmitted.
pub(crate) struct Again<'a> {
    pub sent: &'a Sent,
    pub kind: Kind,
    pub replaced: &'a Replaced,
    /// It was the first outstanding segment.
    pub is_head: bool,
    /// The capture shows that the receiver had it already.
    pub had_arrived: bool,
    /// It may have.
    pub in_doubt: bool,
    /// It carries what was too long for a link ([`Retransmission::too_big`]).
    pub too_big: bool,
}

impl Retransmissions {
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Number of the last one.
    pub fn last_number(&self) -> u32 {
        self.found.len() as u32
    }

    pub fn get(&self, index: usize) -> Option<&Retransmission> {
        self.found.get(index)
    }

    pub fn last(&self) -> Option<&Retransmission> {
        self.found.last()
    }

    /// When the last one went out; zero if none has.
    pub fn last_at(&self) -> Time {
        self.found.last().map_or(Time::ZERO, |r| r.at)
    }

    /// The last two are of the same segment.
    pub fn repeats(&self) -> bool {
        matches!(self.found.as_slice(), [.., before, last] if before.position == last.position)
    }

    /// D-SACKs so far.
    pub fn dsacks(&self) -> u64 {
        self.dsacks
    }

    /// When `segment` was last sent.
    pub fn last_sent(&self, segment: &Segment) -> Time {
        let last = segment.again.checked_sub(1).and_then(|i| self.found.get(i as usize));
        last.map_or(segment.first_at, |r| r.at)
    }

    /// Whether the receiver held what is behind the head when that arrived, so that the ACK echoes
    /// the head alone.
    pub fn echoes_head_alone(&self, a: &Acked, outstanding: &Outstanding) -> bool {
        let (Some(head), Some(last)) = (outstanding.head(), outstanding.ending_at(a.ack)) else {
            return false;
        };
        // Data that went out before what was retransmitted.
        if head.again > 0
            && last.position > head.position
            && self.last_sent(last) < self.last_sent(head)
        {
            return true;
        }
        // A delayed ACK stands for two arrivals (RFC 5681 section 4.2). A third one with a
        // timestamp of its own was there before.
        let Some(echo) = a.tsecr else { return false };
        let mut second = None;
        for segment in outstanding.behind_head(a.ack).take(MOST_ECHOED) {
            let note = segment.again.checked_sub(1).and_then(|i| self.notes.get(i as usize));
            let later =
                note.and_then(|n| n.tsval).filter(|tsval| Timestamps::is_older(echo, *tsval));
            match (second, later) {
                (Some(second), Some(third)) if second != third => return true,
                (None, Some(_)) => second = later,
                _ => {}
            }
        }
        false
    }

    /// Data was retransmitted, in the recovery with this number. `lost`: what the place of the
    /// capture says of its loss.
    pub fn push(&mut self, again: &Again, recovery: u32, lost: Option<bool>) {
        let &Again { sent, kind, replaced, had_arrived, in_doubt, too_big, .. } = again;
        let spurious = had_arrived.then_some(Spurious::Arrival);
        let transmission = u32::from(replaced.transmissions) + 1;
        self.found.push(Retransmission {
            spurious,
            known: spurious.is_some() || lost.is_some() && !in_doubt,
            sacked: replaced.sacked.min(sent.payload()),
            too_big,
            ..Retransmission::of(sent, kind, transmission, lost)
        });
        let (tsval, previous) = (sent.tsval, replaced.previous);
        let end = sent.end();
        self.notes.push(Note { tsval, previous, end, recovery, ..Note::default() });
    }

    /// The segment of the last one ends there, behind data that was lost before the capture: it was
    /// needed, whatever says that the other part had arrived.
    pub fn reaches(&mut self, end: u64) {
        if let (Some(r), Some(note)) = (self.found.last_mut(), self.notes.last_mut()) {
            (r.spurious, r.known, note.end) = (None, true, end);
        }
    }

    /// A SYN or SYN/ACK went out once more, for the how-manieth time `transmission` says.
    pub fn push_syn(&mut self, sent: &Sent, kind: Kind, lost: Option<bool>, transmission: u32) {
        let of = Retransmission::of(sent, kind, transmission, lost);
        self.found.push(Retransmission { syn: true, ..of });
        self.notes.push(Note::default());
    }

    /// The timestamps of the first SYN and of the last one, which was [pushed](Self::push_syn).
    pub fn stamp_syn(&mut self, stamps: Option<[u32; 2]>) {
        if let (Some([first, last]), Some(note)) = (stamps, self.notes.last_mut()) {
            (self.syn, note.tsval) = (Some(first), Some(last));
        }
    }

    /// The first ACK echoes the timestamp of a SYN: that one has arrived, and those sent after it
    /// were not needed (RFC 3522 section 3.2). Returns when it was sent, if it was `first` or one
    /// of the others.
    pub fn syn_answered(&mut self, echo: u32, first: Time) -> Option<Time> {
        let all = || self.notes.iter().take_while(|note| note.end == 0);
        let again = self.found.iter().zip(all()).find(|(_, note)| note.tsval == Some(echo));
        let sent = match self.syn {
            Some(syn) if syn == echo => first,
            _ => again?.0.at,
        };
        let is_later = |stamp: u32| Timestamps::is_older(echo, stamp);
        for (r, note) in self.found.iter_mut().zip(all()) {
            if note.tsval.is_some_and(is_later) {
                (r.spurious, r.known) = (Some(Spurious::Timestamp), true);
            }
        }
        Some(sent)
    }

    /// Now it is known which timer sent this one.
    pub fn decide(&mut self, index: usize, kind: Kind) {
        if let Some(r) = self.found.get_mut(index) {
            r.kind = kind;
        }
    }

    /// Those with these numbers, in order, have begun a recovery each. Returns to which one each of
    /// them was thought to belong, counted from 1.
    pub fn began_recoveries(&mut self, numbers: impl Iterator<Item = u32>) -> Vec<u32> {
        let (mut numbers, mut of) = (numbers.peekable(), Vec::new());
        for ((number, r), note) in (1..).zip(&mut self.found).zip(&mut self.notes) {
            if numbers.next_if_eq(&number).is_some() {
                r.kind = Kind::FastRetransmit;
                of.push(note.recovery);
            }
            if note.recovery > 0 {
                note.recovery += of.len() as u32;
            }
        }
        of
    }

    /// Those of a recovery from `first` on were sent in slow start.
    pub fn were_slow_start(&mut self, first: usize) {
        for r in self.found.iter_mut().skip(first).filter(|r| r.kind == Kind::Recovery) {
            r.kind = Kind::SlowStart;
        }
    }

    /// `segment` is reported for the first time. Returns when the transmission that arrived was
    /// sent.
    pub fn arrived(
        &mut self,
        segment: &Segment,
        a: &Acked,
        echo: Echo,
        timers: &Timers,
        terms: &Terms,
    ) -> Time {
        if segment.again == 0 {
            return segment.first_at;
        }
        // A delayed ACK may echo the segment before this one (RFC 7323 section 4.3), but none is
        // sooner than the shortest round trip, of which a 64th is allowed for.
        let cumulative = a.ack >= segment.end() && terms.at_sender();
        let min_rtt = Span(timers.min_rtt().0 / 64 * 63);
        let trip = timers.least_trip();
        // Away from the sender the times are estimates. And only a SYN is sure to meet an empty
        // queue: of data alone, the shortest round trip may be too long.
        let exact = terms.at_sender() && timers.has_handshake();
        let mut number = segment.again;
        // Those that went out too late to be what arrived.
        while let Some((r, note)) = self.by_number(number) {
            let echoed = a
                .tsecr
                .filter(|_| echo != Echo::Nothing || cumulative && a.at.since(r.at) < min_rtt);
            let proved = match (echoed, note.tsval) {
                (Some(echo), Some(tsval)) => Some(Timestamps::is_older(echo, tsval)),
                _ => None,
            };
            if !proved.unwrap_or(a.at.since(r.at) < trip) {
                break;
            }
            let proof = if proved == Some(true) {
                Some(Spurious::Timestamp)
            } else {
                exact.then_some(Spurious::RoundTrip)
            };
            r.spurious = r.spurious.or(proof);
            r.known |= proof.is_some();
            number = note.previous;
        }
        let Some((r, note)) = self.by_number(number) else { return segment.first_at };
        let sent = r.at;
        note.reported = true;
        r.lost = Some(false);
        note.echoed |= echo == Echo::Own && a.tsecr.is_some();
        if r.spurious == Some(Spurious::Dsack) {
            // One before it was the first to arrive, and nothing says which.
            return sent;
        }
        number = note.previous;
        // Without D-SACKs and timestamps nothing tells which one arrived of what a sender repeats
        // that goes back to the first segment after a timeout: what was late, or any of them. Nor
        // does one tell that the one before it was lost whose answer it had not waited for; where
        // both arrive, a D-SACK comes later, if at all.
        let tells = terms.sack || a.tsecr.is_some();
        let mut next = sent;
        while let Some((r, note)) = self.by_number(number) {
            note.reported = true;
            let waited = a.tsecr.is_some() || next.since(r.at) >= trip;
            if r.lost.is_none() && waited && (tells || r.kind != Kind::SlowStart) {
                r.lost = Some(true);
                r.known = true;
            }
            (next, number) = (r.at, note.previous);
        }
        sent
    }

    fn by_number(&mut self, number: u32) -> Option<(&mut Retransmission, &mut Note)> {
        let index = (number as usize).checked_sub(1)?;
        Some((self.found.get_mut(index)?, self.notes.get_mut(index)?))
    }

    /// A D-SACK: for each segment in its range the last retransmission that can have arrived by now
    /// was a duplicate. Returns how many that are. Of a copy that the path has made it proves
    /// nothing, but the sender counts it as any other.
    pub fn dsacked(&mut self, a: &Acked, trip: Span) -> u32 {
        self.dsacks += 1;
        let (left, right) = a.sack[0];
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for index in (0..self.notes.len()).rev().take(REACH) {
            let note = self.notes[index];
            let r = &mut self.found[index];
            // No D-SACK reports a SYN, which has no place in the stream.
            let inside = r.position < note.end && left <= r.position && note.end <= right;
            let inside = inside && a.at.since(r.at) >= trip;
            if !inside
                || r.spurious == Some(Spurious::Dsack)
                || taken.iter().any(|t| t.0 < note.end && r.position < t.1)
            {
                continue;
            }
            taken.push((r.position, note.end));
            if a.dsack == Dsack::Copied {
                continue;
            }
            (r.spurious, r.known, r.lost) = (Some(Spurious::Dsack), true, Some(false));
            // It was not the first to arrive: one before it was, and nothing says which.
            let mut number = note.previous;
            while let Some((before, note)) = self.by_number(number) {
                // Those before it are as they are since its own D-SACK.
                if before.spurious == Some(Spurious::Dsack) {
                    break;
                }
                if before.lost == Some(true) {
                    (before.lost, before.known, note.reported) = (None, false, false);
                }
                number = note.previous;
            }
        }
        taken.len() as u32
    }

    /// Whether a retransmission of these bytes went out after `sent`, by their timestamps.
    pub fn has_later(&self, sent: &Sent) -> bool {
        let is_later = |note: &Note| {
            let stamps = sent.tsval.zip(note.tsval);
            stamps.is_some_and(|(tsval, later)| Timestamps::is_older(tsval, later))
        };
        let mut all = self.found.iter().zip(&self.notes).rev().take(REACH);
        all.any(|(r, note)| r.position <= sent.position && sent.end() <= note.end && is_later(note))
    }

    /// The capture shows `sent`, an original, behind its retransmissions: none of them was needed.
    pub fn came_late(&mut self, sent: &Sent) {
        for (r, note) in self.found.iter_mut().zip(&self.notes).rev().take(REACH) {
            if sent.position <= r.position && note.end <= sent.end() && r.at <= sent.at {
                (r.spurious, r.known) = (r.spurious.or(Some(Spurious::Arrival)), true);
            }
        }
    }

    /// Those from number `first` on, all of the head by timers, were not needed: the original has
    /// arrived. Nor were those before them of the same bytes.
    pub fn were_not_needed(&mut self, first: u32) {
        let mut number = self.last_number();
        while let Some((r, note)) = self.by_number(number) {
            r.spurious = r.spurious.or(Some(Spurious::FRto));
            r.known = true;
            r.lost = r.lost.filter(|lost| !lost);
            number = if number > first { number - 1 } else { note.previous };
        }
    }

    /// Numbers of those that were sent later, if `ack` covers all of them. One beyond it may be
    /// behind a hole, and is answered by an ACK that does not advance as well.
    pub fn sent_after(&self, at: Time, ack: u64) -> Range<u32> {
        let with_it = self.found.partition_point(|r| r.at < at);
        let index = self.found.partition_point(|r| r.at <= at);
        let beyond = self.notes[with_it..].iter().any(|note| note.end > ack);
        let end = if beyond { index } else { self.notes.len() };
        index as u32 + 1..end as u32 + 1
    }

    /// Number of the first one that was sent after this.
    pub fn first_since(&self, at: Time) -> u32 {
        self.found.partition_point(|r| r.at <= at) as u32 + 1
    }

    /// Each of these was answered by an ACK that did not advance.
    pub fn were_answered(&mut self, numbers: impl IntoIterator<Item = u32>) {
        for number in numbers {
            if let Some((r, _)) = self.by_number(number) {
                r.spurious = r.spurious.or(Some(Spurious::DuplicateAck));
                (r.known, r.lost) = (true, Some(false));
            }
        }
    }

    /// The number of the first retransmission of this segment, and how long after the original the
    /// last one went out. `None` if anything else went out again since, or more than any timer
    /// sends.
    pub fn copies_of(&self, segment: &Segment) -> Option<(u32, Span)> {
        let first = self.first_since(segment.first_at);
        let is_copy = |(r, note): (&Retransmission, &Note)| {
            r.position == segment.position && note.end == segment.end()
        };
        let since = first as usize - 1;
        let mut all = self.found[since..].iter().zip(&self.notes[since..]);
        let lasted = self.last()?.at.since(segment.first_at);
        (all.len() <= MOST_COPIES && all.all(is_copy)).then_some((first, lasted))
    }

    /// From number `first` on, all are of one segment, and so many copies of it have arrived behind
    /// the first. Which were lost is not known, if not all have arrived. But as many of the last
    /// ones were not needed: so few were lost that one before each of them has arrived.
    pub fn came_again(&mut self, first: u32, again: usize) {
        let Some(all) = self.found.get_mut(first as usize - 1..) else { return };
        let needed = all.len().saturating_sub(again);
        for (index, r) in all.iter_mut().enumerate() {
            r.lost = (needed == 0).then_some(false);
            if index >= needed {
                r.spurious = r.spurious.or(Some(Spurious::DuplicateAck));
            }
            r.known = r.spurious.is_some();
        }
    }

    /// At the end. A receiver that sends D-SACKs would have reported what was spurious, and a
    /// capture `at_receiver` would show it. Else an original may have come behind the
    /// retransmission that was echoed: nothing answers it but an ACK like any other, which may
    /// acknowledge new data as well. A path on which ACKs sent something in vain reorders by as
    /// much as that.
    pub fn settle(&mut self, sack: bool, at_receiver: bool) {
        let would_report = sack && self.dsacks > 0;
        let by_ack = |kind| matches!(kind, Kind::FastRetransmit | Kind::Recovery);
        let late = |r: &Retransmission| r.spurious.is_some() && by_ack(r.kind);
        let in_order = at_receiver || !self.found.iter().any(late);
        for (r, note) in self.found.iter_mut().zip(&self.notes) {
            r.known |= would_report && note.reported || in_order && note.echoed;
        }
    }

    /// For each one that belongs to a recovery: which, counted from 0, and whether it was spurious.
    pub fn of_recoveries(&self) -> impl Iterator<Item = (usize, bool)> {
        self.found.iter().zip(&self.notes).filter_map(|(r, note)| {
            let recovery = (note.recovery as usize).checked_sub(1)?;
            Some((recovery, r.spurious.is_some()))
        })
    }

    pub fn into_all(self) -> Vec<Retransmission> {
        self.found
    }
}
