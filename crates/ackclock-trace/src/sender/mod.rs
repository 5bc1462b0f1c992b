//! What a sender did, reconstructed from what went out and what came back: the cause of each
//! retransmission, timeouts with class and state, recoveries, and what was spurious or lost.
//!
//! The input is in the *sender's* frame of time ([`input`]): ACKs are delayed by the round trip
//! between the capture and the sender, sequence numbers are positions, and super-segments are cut
//! into segments of SMSS. So one model serves every vantage. What it must not assume is that it
//! sees every transmission ([`Sight`]).
//!
//! [`SenderModel`] passes each segment and each ACK to one part after the other, and hands on what
//! they answer. A part is a file with fields of its own:
//!
//! | question | part |
//! | --- | --- |
//! | **What is on its way?** | [`stream`] |
//! | Which segments are outstanding? | [`stream::outstanding`] |
//! | What went out unseen, and is this the original that comes late? | [`stream::holes`] |
//! | When did the stream last move? | [`stream::moments`] |
//! | How large are the windows? | [`stream::windows`] |
//! | When do the sender's timers expire? | [`stream::timers`] |
//! | **Where does the sender stand in loss recovery?** | [`recovery`] |
//! | What do ACKs say of losses? | [`recovery::evidence`] |
//! | Which state is it, and was it undone? | [`recovery::phases`] |
//! | What was retransmitted, and what became of it? | [`recovery::retransmissions`] |
//! | **Why was a segment retransmitted?** | [`causes`] |
//! | Was it an ACK, a probe's timer or the retransmission timer? | [`causes::trigger`] |
//! | Was it a tail loss probe after all? | [`causes::probes`] |
//! | Does what followed tell? | [`causes::aftermath`] |
//! | What could have avoided a timeout? | [`causes::timeouts`] |
//! | **Why did nothing go on?** | [`stalls`] |
//! | **When did marks lower the window?** | [`marks`] |
//! | **What limited it, all the time?** | [`limits`] |
//! | **Why were packets lost?** | [`losses`] |
//! | **What does a replay of a timeout need?** | [`episodes`], [`rate`] |
//! | **Which ways does it have?** | [`ways`] |
//! | **What does a picture show?** | [`picture`] |

mod causes;
mod cells;
mod episodes;
mod input;
mod limits;
mod losses;
mod marks;
mod picture;
mod rate;
mod recovery;
mod stalls;
mod stream;
#[cfg(test)]
mod tests;
mod ways;

use std::sync::Arc;

use ackclock_tcp::{Event, Seq, Span, Time};

use self::causes::Causes;
use self::episodes::{Episodes, Facts};
pub(crate) use self::input::{Acked, Opening, Sent, Sight, Terms};
use self::limits::{Limits, SOON, follows_ack};
use self::losses::LossRecord;
use self::marks::Marks;
use self::picture::Picture;
pub(crate) use self::picture::expiry;
use self::rate::{Bottleneck, Trip};
use self::recovery::LossRecovery;
use self::recovery::retransmissions::Echo;
use self::stalls::{Now, Stalls};
use self::stream::Stream;
use self::stream::outstanding::{Departure, Segment};
use self::ways::{Sign, Watch};
use crate::connection::{Kind, Recovery, Retransmission, RoundTrip, Stall, Timeout};
use crate::lifetime::Lifetime;
use crate::loss::Losses;
use crate::path::Path;
use crate::ways::Ways;

/// What the model found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub retransmissions: Vec<Retransmission>,
    pub timeouts: Vec<Timeout>,
    pub recoveries: Vec<Recovery>,
    pub stalls: Vec<Stall>,
    pub lifetime: Lifetime,
    pub losses: Losses,
    pub probes_of_new_data: u64,
    pub ways: Ways,
    pub undecided: Vec<Timeout>,
    pub segments: u64,
    pub bytes: u64,
    /// When marks lowered the window.
    pub reductions: Vec<Time>,
    pub window: u64,
    pub full_window: u64,
    pub dsacks: u64,
    pub unseen: u64,
    pub rtt: Option<RoundTrip>,
    pub events: Vec<Event>,
    pub doubts: Vec<String>,
}

/// One sender, reconstructed.
pub(crate) struct SenderModel {
    stream: Stream,
    /// From the first sign of a loss on, which most connections never see.
    repair: Option<Box<Repair>>,
    stalls: Stalls,
    limits: Limits,
    losses: LossRecord,
    /// From the first mark on.
    marks: Option<Box<Marks>>,
    bottleneck: Bottleneck,
    episodes: Episodes,
    ways: Watch,
    picture: Picture,
    /// Room for what an ACK newly SACKs.
    newly: Vec<Segment>,
    /// As far as this is acknowledged by ACKs that are still on their way from the capture.
    passed: u64,
}

/// What only losses need.
#[derive(Debug, Default)]
struct Repair {
    recovery: LossRecovery,
    causes: Causes,
}

impl SenderModel {
    pub fn new(terms: Terms, path: Arc<Path>) -> SenderModel {
        SenderModel {
            stream: Stream::new(terms),
            repair: None,
            stalls: Stalls::default(),
            limits: Limits::new(terms.start, path),
            losses: LossRecord::default(),
            marks: None,
            bottleneck: Bottleneck::new(terms.mss, terms.handshake_rtt),
            episodes: Episodes::default(),
            ways: Watch::default(),
            picture: Picture::new(terms.events),
            newly: Vec::new(),
            passed: 0,
        }
    }

    /// The capture was taken here, other than was thought: it shows every transmission.
    pub fn is_here(&mut self) {
        self.stream.terms.sight = Sight::Sent;
    }

    // What goes out.

    /// A SYN or SYN/ACK goes out. Its retransmissions are timeouts like any other. One that answers
    /// a SYN that came again is no timeout, and does not start the timer anew. `stamps`: timestamps
    /// of the first one and of this one.
    pub fn syn(&mut self, frame: u64, at: Time, seq: Seq, answer: bool, stamps: Option<[u32; 2]>) {
        self.stream.count();
        if !self.stream.outstanding.has_started() {
            self.stream.outstanding.start(0);
            self.stream.moments.progressed(at);
            self.stalls.opening();
            self.limits.opening();
        } else if self.stream.outstanding.max() == 0 {
            let (position, len, fin, tsval, ip_id) = (0, 1, true, None, None);
            let sent = Sent { frame, at, position, seq, len, fin, tsval, ip_id };
            let Repair { recovery, causes } = &mut **self.repair.get_or_insert_default();
            let kind = causes.syn(&sent, answer, &self.stream, recovery);
            let (sight, transmission) = (self.stream.terms.sight, self.stream.segments() as u32);
            recovery.syn_retransmitted(&sent, kind, sight, transmission);
            recovery.retransmissions.stamp_syn(stamps);
            self.picture.retransmitted(&sent, self.stream.stand(), transmission);
            self.ways.syn_retransmitted();
        }
    }

    /// The data that goes out next, from here on, has CWR.
    pub fn says_lowered(&mut self, position: u64) {
        let marks = self.marks.get_or_insert_default();
        marks.says_lowered(position, self.stream.terms.at_sender());
    }

    /// Data or a FIN goes out. In order of time with [`SenderModel::acked`].
    #[inline]
    pub fn sent(&mut self, sent: &Sent) {
        self.stream.count();
        self.elapse(sent.at);
        let outstanding = &self.stream.outstanding;
        if sent.position == outstanding.max() && outstanding.has_started() {
            self.new_data(sent);
        } else {
            self.out_of_order(sent);
        }
        self.limits.outstanding(&self.stream);
    }

    #[inline]
    fn new_data(&mut self, sent: &Sent) {
        let resumes = self.stream.outstanding.is_empty();
        if !resumes && self.stream.moments.silence(sent.at) > self.stream.timers.quiet() {
            let Repair { recovery, causes } = &mut **self.repair.get_or_insert_default();
            causes.after_silence(sent, &self.stream, recovery);
            self.ways.after_silence();
        }
        let asked = self.stalls.is_asked(self.stream.moments.last_ack());
        self.limits.new_data(sent.at, &self.stream, asked);
        if sent.payload() == 0 && self.stream.moments.since_new_data(sent.at) > SOON {
            self.episodes.closes(sent.position);
        }
        if resumes {
            self.sender_resumes(sent, asked);
        }
        let recovering = self.repair.as_mut().is_some_and(|repair| {
            repair.recovery.phases.new_data();
            repair.recovery.phases.is_recovery()
        });
        self.stream.append(sent, recovering);
        if let Some(causes) = watching(&mut self.repair) {
            causes.watch_new_data(sent, &self.stream);
        }
        if self.ways.is_on() && sent.payload() > 0 {
            self.ways.new_data(sent.at, &self.stream);
        }
        if self.picture.is_on() {
            self.picture.sent(sent, self.stream.stand());
        }
    }

    /// The first segment that goes out with nothing outstanding.
    fn sender_resumes(&mut self, sent: &Sent, asked: bool) {
        let had_waited = follows_ack(sent.at, &self.stream, asked);
        let first = self.stream.bytes() == 0;
        let Stream { moments, timers, windows, outstanding, terms, .. } = &mut self.stream;
        let (at, frame, progress) = (sent.at, sent.frame, moments.progress());
        let now = Now { at, frame, progress, timers };
        let probes_window = windows.offered() == 0 && sent.len == 1;
        self.stalls.sender_resumes(&now, first, terms.mss, probes_window);
        if !had_waited {
            self.episodes.idle(outstanding.max());
        }
        moments.progressed(sent.at);
        windows.set_pipe(0);
    }

    /// What does not continue where the highest ended: a retransmission, or something was missed.
    #[cold]
    fn out_of_order(&mut self, sent: &Sent) {
        if !self.stream.outstanding.has_started() {
            self.stream.outstanding.start(sent.position);
            return self.new_data(sent);
        }
        let max = self.stream.outstanding.max();
        if sent.position > max {
            self.stream.miss(sent);
            self.new_data(sent);
        } else if sent.end() <= max {
            self.old_data(sent);
        } else {
            // Old and new data in one segment.
            let old = (max - sent.position) as u32;
            if !self.stream.has_probed_window(sent.position, old) {
                self.old_data(&Sent { len: old, fin: false, ..*sent });
            }
            let (position, seq) = (max, sent.seq + old);
            self.new_data(&Sent { position, seq, len: sent.len - old, ..*sent });
        }
    }

    /// A segment of data that went out before, or was missed then.
    fn old_data(&mut self, sent: &Sent) {
        let Self { stream, repair, limits, losses, marks, episodes, ways, picture, .. } = self;
        if stream.is_keep_alive_or_window_probe(sent) {
            return stream.uncount();
        }
        let records = stream.outstanding.cut_out(sent.position, sent.end());
        if stream.is_late_original(sent, records.clone()) {
            return;
        }
        let Repair { recovery, causes } = &mut **repair.get_or_insert_default();
        let sign = Sign::of(sent, stream, recovery);
        let kind = causes.retransmission(sent, records.start, stream, recovery, picture);
        ways.retransmitted(sent.at, kind, &sign, stream);
        if let Some(waited) = causes.take_expiry() {
            ways.expired(waited, stream);
        }
        if !is_by_ack(kind) {
            limits.timer_expired(stream);
        }
        let behind_head = records.start > 0;
        let is_head = !behind_head && !records.is_empty();
        let is_acked = records.is_empty() && stream.outstanding.is_acked(sent.end());
        let (index, window) = (recovery.retransmissions.len(), stream.windows.offered());
        let begins = stream.outstanding.get(records.start).is_some_and(|s| episodes.begins_with(s));
        let soon = Span(stream.timers.min_rtt().0 / 2);
        let flight = if begins { stream.outstanding.burst(records.start, soon) } else { 0 };
        if let Some(segment) = stream.outstanding.get(records.start).filter(|_| !records.is_empty())
        {
            losses.retransmitted(segment, index, stream);
        }
        let replaced = stream.retransmit(sent, records, index as u32 + 1, |segment| {
            episodes.retransmitted(segment, index, window, flight);
        });
        // At the receiver, what was seen has arrived. But the head would have been acknowledged, so
        // it was lost behind the capture.
        let received = stream.terms.sight == Sight::Received;
        let had_arrived = is_acked
            || sent.end() <= self.passed
            || received && replaced.unseen == 0 && behind_head;
        recovery.retransmitted(sent, kind, &replaced, is_head, had_arrived, stream);
        if let Some(marks) = marks {
            marks.retransmitted(recovery.phases.is_open());
        }
        if matches!(kind, Kind::SlowStart | Kind::TailLossProbe | Kind::ProbeOrTimeout) {
            stream.windows.sent(sent.len);
        }
        let transmission = recovery.retransmissions.last().map_or(1, |r| r.transmission);
        picture.retransmitted(sent, stream.stand(), transmission);
        if matches!(kind, Kind::Recovery | Kind::FastRetransmit | Kind::SlowStart) {
            stream.windows.estimate_cwnd(recovery.phases.is_recovery());
        }
    }

    // What comes back.

    /// An ACK has passed the capture and is on its way: what it acknowledges has arrived.
    pub fn ack_has_passed(&mut self, ack: u64) {
        self.passed = self.passed.max(ack);
    }

    /// An ACK reaches the sender. In order of time with [`SenderModel::sent`].
    #[inline]
    pub fn acked(&mut self, a: &Acked) {
        self.elapse(a.at);
        if self.stream.moments.silence(a.at) > self.stream.timers.quiet() {
            self.ack_after_silence(a.at);
        }
        if self.ways.is_on() {
            self.ways.before_ack(a.at, a.ack, a.sacks > 0, &self.stream);
        }
        self.stalls.waited(self.stream.waits_for_fin_alone());
        if self.stalls.opened() {
            if let (Some(repair), Some(echo)) = (&mut self.repair, a.tsecr) {
                repair.recovery.retransmissions.syn_answered(echo);
            }
            self.progressed(a);
        }
        let Stream { outstanding, moments, .. } = &mut self.stream;
        outstanding.ack_seen(a.ack, moments.progress());
        let before = (outstanding.una(), outstanding.sacked_bytes());
        let segments = outstanding.len();
        let calm = self.repair.as_ref().is_none_or(|repair| repair.recovery.is_calm());
        let calm = calm && outstanding.retransmitted() == 0 && before.1 == 0;
        if calm && a.sacks == 0 && before.0 < a.ack && a.ack <= outstanding.max() {
            self.advance_calmly(a);
        } else {
            self.advance_or_repeat(a);
        }
        self.stalls.offered(a.allowed());
        self.stream.windows.offer(a);
        if let Some(causes) = watching(&mut self.repair) {
            causes.watch_answer(a, segments, &self.stream);
        }
        self.stream.moments.acked(a.at);
        if a.ece || self.marks.is_some() {
            let marks = self.marks.get_or_insert_default();
            let phases = &self.repair.get_or_insert_default().recovery.phases;
            marks.acked(a, &mut self.stream, phases);
        }
        self.limits.answered();
        self.limits.outstanding(&self.stream);
        if self.picture.is_on() {
            let sacked = self.stream.outstanding.sacked_bytes();
            let recovery = self.repair.as_ref().map(|repair| &repair.recovery);
            let dupacks = recovery.map_or(0, |recovery| recovery.evidence.duplicates());
            self.picture.acked(a, self.stream.stand(), before, sacked, dupacks);
        }
    }

    /// An ACK comes after silence, which tells of probes.
    #[cold]
    fn ack_after_silence(&mut self, at: Time) {
        let none = Repair::default();
        let Repair { recovery, causes } = self.repair.as_deref().unwrap_or(&none);
        if causes.misses_probe(at, &self.stream, recovery) {
            let una = self.stream.outstanding.una();
            self.repair.get_or_insert_default().causes.probes.was_missing(una);
        }
    }

    /// With nothing lost and nothing repaired, an ACK takes off what it covers.
    #[inline]
    fn advance_calmly(&mut self, a: &Acked) {
        let (mut oldest, mut newest) = (None, Departure::default());
        while let Some(segment) = self.stream.outstanding.pop_acked(a.ack) {
            if !segment.is_hole() {
                oldest = oldest.or(Some(segment.first_at));
                newest = segment.departure();
            }
        }
        let bytes = a.ack - self.stream.outstanding.una();
        self.stream.windows.delivered(bytes);
        self.episodes.acked(bytes);
        self.stream.outstanding.advance(a.ack);
        if let Some(oldest) = oldest {
            self.measure(a, oldest, &newest);
            let newest = newest.at;
            if a.timed && !self.stalls.is_probing_window() {
                self.bottleneck.measured(&Trip { at: a.at, oldest, newest, ack: a.ack, bytes });
            }
        }
        if let Some(repair) = &mut self.repair {
            repair.recovery.evidence.calm();
        }
        self.progressed(a);
    }

    /// What has waited for the window measures no round trip.
    #[inline]
    fn measure(&mut self, a: &Acked, oldest: Time, newest: &Departure) {
        if !self.stalls.is_probing_window() {
            self.stream.measure(a, oldest, newest.at);
            if a.timed {
                self.losses.passed(a.at, newest, self.stream.timers.min_rtt());
            }
        }
    }

    /// `una` has moved.
    fn progressed(&mut self, a: &Acked) {
        self.check_stall(a.at, a.frame);
        self.stream.moments.progressed(a.at);
        self.limits.news();
        if let Some(repair) = &mut self.repair {
            repair.causes.timeouts.progressed();
        }
    }

    #[inline]
    fn check_stall(&mut self, at: Time, frame: u64) {
        let (timers, repair) = (&self.stream.timers, self.repair.as_ref());
        let again = repair.is_some_and(|repair| !repair.recovery.retransmissions.is_empty());
        let probes = repair.map_or(0, |repair| repair.causes.probes.of_new_data());
        let now = Now { at, frame, progress: self.stream.moments.progress(), timers };
        self.stalls.progressed(&now, probes, timers.srtt() == Span::ZERO && !again);
    }

    #[cold]
    fn advance_or_repeat(&mut self, a: &Acked) {
        let Self { stream, repair, picture, .. } = self;
        if !stream.outstanding.has_started() {
            stream.outstanding.start(a.ack);
            return stream.moments.progressed(a.at);
        }
        if repair.is_none() && a.sacks == 0 && stream.is_all_acked(a.ack) {
            // Another one for all that went out says nothing of losses.
            self.bottleneck.interrupted();
            if !a.with_data {
                self.limits.news();
            }
            return;
        }
        let recovery = &mut repair.get_or_insert_default().recovery;
        stream.terms.sack |= a.sacks > 0;
        stream.reach_ahead(a.at, a.ack);
        recovery.phases.next_ack();
        let disorder = stream.is_disorder(recovery.evidence.duplicates())
            || recovery.retransmissions.echoes_head_alone(a, &stream.outstanding);
        if a.dsack {
            recovery.dsacked(a, stream, picture);
        }
        let newly_sacked = self.take_sacks(a);
        if a.ack > self.stream.outstanding.una() {
            self.bottleneck.interrupted();
            self.advance(a, disorder, newly_sacked);
        } else {
            if !newly_sacked {
                self.bottleneck.interrupted();
            }
            self.repeat(a, newly_sacked);
        }
        self.repair.get_or_insert_default().recovery.weigh(a, &self.stream);
    }

    /// The SACK blocks, whose first may be a D-SACK. Returns whether they report anything new.
    fn take_sacks(&mut self, a: &Acked) -> bool {
        let mut newly = std::mem::take(&mut self.newly);
        newly.clear();
        for &(left, right) in a.sack.iter().take(usize::from(a.sacks)).skip(usize::from(a.dsack)) {
            self.stream.outstanding.sack(left, right, |s| newly.push(*s));
        }
        let (mut oldest, mut newest) = (None, Departure::default());
        for segment in &newly {
            self.arrived(segment, a, Echo::Nothing);
            if segment.again == 0 && !segment.unseen {
                oldest = Some(oldest.map_or(segment.first_at, |o: Time| o.min(segment.first_at)));
                if segment.first_at >= newest.at {
                    newest = segment.departure();
                }
            }
        }
        // What the ACK advances over is the better sample.
        if let Some(oldest) = oldest.filter(|_| a.ack <= self.stream.outstanding.una()) {
            self.measure(a, oldest, &newest);
            let bytes = newly.iter().map(|segment| u64::from(segment.len)).sum();
            self.arrived_alone(a, oldest, newest.at, bytes);
        }
        let any = !newly.is_empty();
        self.newly = newly;
        any
    }

    /// Segments have arrived behind the first one that is missing. Receivers report each at once
    /// (RFC 5681 section 4.2).
    fn arrived_alone(&mut self, a: &Acked, oldest: Time, newest: Time, bytes: u64) {
        let Stream { outstanding, .. } = &self.stream;
        let ack = outstanding.una() + outstanding.sacked_bytes();
        if a.timed {
            self.bottleneck.measured(&Trip { at: a.at, oldest, newest, ack, bytes });
        }
    }

    /// A segment is reported for the first time. Returns when that was sent which was sent last of what has arrived.
    fn arrived(&mut self, segment: &Segment, a: &Acked, echo: Echo) -> Time {
        self.stream.windows.delivered(u64::from(segment.len));
        self.repair.get_or_insert_default().recovery.arrived(segment, a, echo, &self.stream)
    }

    /// An ACK advances; `disorder` says that the receiver held data behind the head.
    fn advance(&mut self, a: &Acked, disorder: bool, newly_sacked: bool) {
        let (mut oldest, mut newest, mut retransmitted) = (None, Departure::default(), None);
        let (mut segments, mut answered) = (0, None);
        while let Some(segment) = self.stream.outstanding.pop_acked(a.ack) {
            let is_first = segments == 0;
            segments += 1;
            if segment.sacked {
                continue;
            }
            // The ACK echoes the segment that let it advance, the first one.
            let echo = match (is_first, disorder) {
                (true, _) => Echo::Own,
                (false, true) => Echo::Head,
                (false, false) => Echo::Nothing,
            };
            let latest = self.arrived(&segment, a, echo);
            answered = answered.or(Some(latest));
            if segment.again > 0 {
                retransmitted = Some(latest);
            } else if !segment.unseen {
                oldest = oldest.or(Some(segment.first_at));
                newest = segment.departure();
            }
        }
        self.stream.outstanding.advance(a.ack);
        // Karn's rule: an ACK of anything that was retransmitted measures nothing, unless a
        // timestamp identifies the transmission that it answers.
        match (oldest, retransmitted) {
            (Some(oldest), None) => self.measure(a, oldest, &newest),
            (_, Some(sent)) => self.stream.measure_retransmission(a, sent),
            (None, None) => {}
        }
        self.progressed(a);
        let Repair { recovery, causes } = &mut **self.repair.get_or_insert_default();
        causes.probes.acked(a.ack, a.dsack);
        let recovering = recovery.phases.is_recovery();
        recovery.advanced(a, newly_sacked, segments, &self.stream, &mut self.picture);
        if let Some(sent) = answered {
            recovery.answered(a, sent, &self.stream);
        }
        self.ways.advanced(a.at, recovering, &self.stream, recovery);
        self.check_repaired(a.at);
    }

    /// An ACK has advanced: is anything left to repair?
    fn check_repaired(&mut self, at: Time) {
        let Self { stream, repair, episodes, .. } = self;
        let Repair { recovery, causes } = &mut **repair.get_or_insert_default();
        let open = recovery.phases.is_open();
        if open && stream.outstanding.sacked_bytes() == 0 {
            stream.windows.set_pipe(stream.outstanding.flight());
        }
        let repaired = stream.outstanding.retransmitted() == 0;
        if repaired && open {
            episodes.repaired(at, recovery.retransmissions.len(), causes.last_timeout());
        }
        let clean = repaired && stream.outstanding.head().is_none_or(|head| head.again == 0);
        recovery.phases.advanced(stream.outstanding.una(), clean);
    }

    /// An ACK does not advance.
    fn repeat(&mut self, a: &Acked, newly_sacked: bool) {
        let Self { stream, repair, picture, .. } = self;
        let Repair { recovery, causes } = &mut **repair.get_or_insert_default();
        let (sack, outstanding) = (stream.terms.sack, &stream.outstanding);
        // RFC 5681 section 2: the window must not have changed. RFC 6675 section 2: with SACK, news
        // make the duplicate.
        let repeats = a.ack == outstanding.una() && !a.with_data && !outstanding.is_empty();
        let same_window = a.window == stream.windows.offered();
        if newly_sacked || !a.with_data {
            self.limits.news();
        }
        let duplicate = if sack { newly_sacked } else { repeats && same_window };
        if a.dsack || a.sacks == 0 {
            causes.probes.repeated(a.ack);
        }
        if duplicate && !sack {
            stream.windows.delivered(u64::from(stream.terms.mss));
        }
        recovery.repeated(a, duplicate, stream, picture);
    }

    // What time says.

    /// Something happens: what limited the sender until then?
    #[inline]
    fn elapse(&mut self, at: Time) {
        let open = self.repair.as_ref().is_none_or(|repair| repair.recovery.phases.is_open());
        let repairing = !open || self.stream.outstanding.retransmitted() > 0;
        self.limits.elapse(at, &self.stream, repairing);
    }

    /// The other end's data reached this one.
    #[inline]
    pub fn peer_data(&mut self, at: Time) {
        self.stalls.peer_data(at);
    }

    /// The capture has a gap that ends now.
    pub fn gap(&mut self, until: Time) {
        self.stalls.gap(until);
    }

    /// Keeps no further events.
    pub fn stop_events(&mut self) {
        self.picture.stop();
    }

    /// The connection, or the capture, ended at `end`.
    pub fn finish(mut self, end: Time) -> Found {
        let Repair { recovery, causes } = &mut **self.repair.get_or_insert_default();
        let mut undecided = causes.settle(recovery, &mut self.picture);
        self.stalls.waited(self.stream.waits_for_fin_alone());
        if !self.stream.outstanding.is_empty() || self.stalls.is_opening() {
            self.check_stall(end, 0);
        }
        self.elapse(end);
        let Self {
            stream,
            repair,
            stalls,
            limits,
            losses,
            marks,
            bottleneck,
            mut episodes,
            ways,
            picture,
            ..
        } = self;
        let Repair { mut recovery, causes } = *repair.unwrap_or_default();
        episodes.idle(stream.outstanding.max());
        recovery.retransmissions.settle(stream.terms.sack);
        let dsacks = recovery.retransmissions.dsacks();
        let mut timeouts = causes.timeouts.into_all(&recovery.retransmissions);
        let (recoveries, retransmissions) = recovery.into_found();
        let reductions = marks.map(|marks| marks.into_all()).unwrap_or_default();
        let facts = Facts {
            terms: &stream.terms,
            timers: &stream.timers,
            retransmissions: &retransmissions,
            rate_bps: bottleneck.bits_per_second(),
            delayed_ack: episodes.are_acks_delayed(stream.terms.mss),
        };
        episodes.settle(&facts, &mut timeouts);
        episodes.settle(&facts, &mut undecided);
        let full_window = limits.full_window();
        Found {
            stalls: stalls.into_all(&timeouts, &retransmissions),
            losses: losses.into_losses(&stream, &retransmissions, bottleneck.bits_per_second()),
            lifetime: limits.into_lifetime(stream.terms.mss, bottleneck.holds()),
            events: picture.into_events(&retransmissions, &reductions),
            reductions,
            retransmissions,
            timeouts,
            recoveries,
            probes_of_new_data: causes.probes.of_new_data(),
            ways: ways.into_ways(causes.probes.habit()),
            undecided,
            segments: stream.segments(),
            bytes: stream.bytes(),
            window: stream.windows.most_offered(),
            full_window,
            dsacks,
            unseen: stream.outstanding.unseen(),
            rtt: stream.timers.round_trip(),
            doubts: stream.outstanding.doubts().map(str::to_owned).collect(),
        }
    }
}

/// Who watches what follows a probe, if that may tell something.
#[inline]
fn watching(repair: &mut Option<Box<Repair>>) -> Option<&mut Causes> {
    repair.as_mut().map(|repair| &mut repair.causes).filter(|causes| causes.probes.watches())
}

/// Whether an ACK has let this go; what else did was silence.
fn is_by_ack(kind: Kind) -> bool {
    matches!(kind, Kind::FastRetransmit | Kind::Recovery | Kind::SlowStart)
}
