//! What comes back to the sender: ACKs, and the SACK blocks in them.

use ackclock_tcp::Time;

use super::input::{Acked, Dsack};
use super::rate::Trip;
use super::recovery::retransmissions::Echo;
use super::stalls::{Now, Waiting};
use super::stream::Stream;
use super::stream::segment::{Departure, Segment};
use super::{Repair, SenderModel, Sight};
use crate::standards::{DEFAULT_SMSS, LEAST_RTO_OF_RFC};

impl SenderModel {
    /// An ACK has passed the capture and is on its way: what it acknowledges has arrived.
    pub fn ack_has_passed(&mut self, ack: u64) {
        self.passed = self.passed.max(ack);
    }

    /// An ACK reaches the sender. In order of time with [`SenderModel::sent`].
    #[inline]
    pub fn acked(&mut self, a: &Acked) {
        debug_assert!(self.unsettled || !self.is_unsettled());
        self.elapse(a.at);
        let closed = a.window == 0 && self.stream.windows.offered() == 0;
        if closed && !a.with_data && self.stream.is_all_acked(a.ack) {
            self.limits.asks_for_room(self.stream.timers.rto());
        }
        let missed = (a.skips || a.overdue) && self.was_acknowledged_before(a);
        if !missed && self.stream.moments.silence(a.at) > self.stream.timers.quiet() {
            self.ack_after_silence(a.at);
        }
        let untimed = missed.then_some(Acked { timed: false, ..*a });
        let a = untimed.as_ref().unwrap_or(a);
        if self.unsettled {
            self.before_ack(a);
        }
        self.stalls.waited(match () {
            () if self.stream.waits_for_fin_alone() => Waiting::Nobody,
            () if missed || self.unsettled && self.misses_repair(a) => Waiting::Unseen,
            () => Waiting::Sender,
        });
        if self.stalls.opened() {
            if let (Some(repair), Some(echo)) = (&mut self.repair, a.tsecr) {
                let first = self.stream.moments.progress();
                let sent = repair.recovery.retransmissions.syn_answered(echo, first);
                if let Some(sent) = sent.filter(|_| self.stream.terms.opens && a.timed) {
                    self.stream.timers.answered_syn(a.at.since(sent));
                }
            }
            self.progressed(a, true);
        }
        self.limits.hears_of_room(a, &self.stream);
        if self.stalls.is_probing_window() && a.window > 0 {
            self.gets_room(a);
        }
        self.stream.ack_seen(a.ack);
        let outstanding = &self.stream.outstanding;
        let before = (outstanding.una(), outstanding.sacked_bytes());
        let segments = outstanding.len();
        let repair = self.repair.as_ref();
        let calm = || repair.is_none_or(|repair| repair.recovery.is_calm());
        let calm = || calm() && outstanding.retransmitted() == 0 && before.1 == 0;
        if (!self.unsettled || calm())
            && a.sacks == 0
            && before.0 < a.ack
            && a.ack <= outstanding.max()
        {
            self.advance_calmly(a);
        } else {
            self.advance_or_repeat(a);
        }
        self.stalls.offered(a.allowed());
        self.stream.windows.offer(a);
        if self.unsettled
            && let Some(Repair { recovery, causes, .. }) = self.repair.as_deref_mut()
            && causes.probes.watches()
        {
            causes.watch_answer(a, segments, &self.stream, recovery);
        }
        self.stream.moments.acked(a.at);
        if a.ece || self.marks.is_some() {
            let marks = self.marks.get_or_insert_default();
            let phases = &self.repair.get_or_insert_default().recovery.phases;
            marks.acked(a, &mut self.stream, phases);
        }
        self.limits.answered();
        if a.with_data {
            self.limits.hears_data();
        }
        self.limits.outstanding(&self.stream);
        if self.unsettled && self.picture.is_on() {
            let sacked = self.stream.outstanding.sacked_bytes();
            let recovery = self.repair.as_ref().map(|repair| &repair.recovery);
            let dupacks = recovery.map_or(0, |recovery| recovery.evidence.duplicates());
            self.picture.acked(a, self.stream.stand(), before, sacked, dupacks);
        }
        self.settles();
    }

    /// Something is to be made of an ACK before it is taken in.
    #[cold]
    fn before_ack(&mut self, a: &Acked) {
        if self.ways.is_on() {
            self.ways.before_ack(a.at, a.ack, a.sacks > 0, &self.stream);
        }
        if let Some(repair) = &mut self.repair {
            repair.recovery.next_ack(a, &self.stream);
        }
    }

    /// An ACK comes after silence, which tells of probes.
    #[cold]
    fn ack_after_silence(&mut self, at: Time) {
        self.unsettled = true;
        let none = Repair::default();
        let Repair { recovery, causes, .. } = self.repair.as_deref().unwrap_or(&none);
        if causes.misses_probe(at, &self.stream, recovery) {
            self.repair.get_or_insert_default().causes.probes.was_missing(&self.stream);
        }
        self.outlast_timers(at);
    }

    /// Whether the sender had got another ACK of the same, which the capture does not have, where
    /// that has missed packets of the receiver: it was taken there, or the sender's timer has
    /// expired and retransmitted nothing. Other timers than Linux's wait for longer. Of what a
    /// capture between the ends shows, both may have been lost before it, but not at once for so
    /// long that the ACK is overdue.
    #[cold]
    fn was_acknowledged_before(&mut self, a: &Acked) -> bool {
        let progress = self.stream.moments.progress();
        let told = self.stalls.has_gap_since(progress) || self.has_outlasted();
        let none = told || self.stream.waits_for_fin_alone() || self.stalls.is_opening();
        let Stream { outstanding, moments, timers, windows, terms, .. } = &mut self.stream;
        let silence = moments.since_progress(a.at).min(moments.since_ack(a.at));
        let expired = silence > timers.latest_expiry();
        let missed = match terms.sight {
            _ if a.overdue && expired => true,
            Sight::Sent => expired && (silence > LEAST_RTO_OF_RFC || !timers.is_foreign()),
            Sight::Received => silence > timers.quiet(),
            Sight::Arrived => false,
        };
        let again = outstanding.retransmitted() > 0;
        let waits = outstanding.head().is_some_and(|head| a.ack > head.position);
        if !missed || none || again || !waits || windows.offered() == 0 {
            return false;
        }
        // All of it had been acknowledged after a round trip.
        let trip = if a.ack >= outstanding.max() { timers.srtt().min(silence) } else { silence };
        outstanding.misses_acks(trip);
        self.limits.was_idle(silence - trip);
        true
    }

    /// Whether what the receiver lacked, as SACK blocks have said, has arrived after the timer had
    /// expired, and the capture does not show that it went again.
    fn misses_repair(&self, a: &Acked) -> bool {
        let Stream { outstanding, moments, timers, .. } = &self.stream;
        outstanding.sacked_bytes() > 0
            && outstanding.retransmitted() == 0
            && outstanding.head().is_some_and(|head| a.ack > head.position)
            && moments.since_progress(a.at) > timers.latest_expiry()
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
        let all = self.limits.delivered(bytes);
        self.stream.outstanding.advance(a.ack);
        self.stream.holes.repaired();
        if let Some(oldest) = oldest {
            if a.with_data && a.timed {
                self.stream.timers.was_carried(a.at.since(oldest));
            }
            self.measure(a, oldest, &newest);
            let (newest, flight) = (newest.at, newest.flight);
            if a.timed && !self.stalls.is_probing_window() {
                // The longest segment of an application that writes little may be no full one.
                let little = bytes < 2 * u64::from(self.stream.terms.mss.max(DEFAULT_SMSS));
                if (little || a.window < self.stream.windows.offered())
                    && self.stream.outstanding.is_empty()
                {
                    self.stream.timers.was_delayable();
                }
                let trip = Trip { at: a.at, oldest, newest, ack: a.ack, bytes, all, flight };
                self.bottleneck.measured(&trip);
                self.limits.measured(&trip, &mut self.bottleneck);
            }
        }
        if let Some(repair) = self.repair.as_mut().filter(|_| self.unsettled) {
            repair.recovery.evidence.calm();
        }
        self.progressed(a, false);
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

    /// `una` has moved; `opens`: over the SYN.
    #[inline]
    fn progressed(&mut self, a: &Acked, opens: bool) {
        self.check_stall(a.at, a.frame, opens, a.dsack == Dsack::Sent);
        self.stream.moments.progressed(a.at);
        self.limits.got_through(a.at);
        self.limits.news();
        if let Some(repair) = self.repair.as_mut().filter(|_| self.unsettled) {
            repair.causes.timeouts.progressed();
        }
    }

    #[cold]
    fn advance_or_repeat(&mut self, a: &Acked) {
        self.unsettled = true;
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
        if a.sacks > 0 {
            stream.shows_sack();
        }
        let unseen = stream.outstanding.is_empty() && a.ack > stream.outstanding.max();
        let gap = self.stalls.has_gap_since(stream.moments.progress());
        if unseen && (a.ack == stream.outstanding.max() + 1 || !gap) {
            // Nothing says how long this was under way. One byte is a FIN that was not captured.
            self.stalls.waited(Waiting::Nobody);
        }
        stream.reach_ahead(a.at, a.ack);
        recovery.phases.next_ack();
        let disorder = stream.is_disorder(recovery.evidence.duplicates())
            || recovery.retransmissions.echoes_head_alone(a, &stream.outstanding);
        let held_from = disorder.then(|| stream.outstanding.highest_sacked());
        if a.dsack.is_some() {
            recovery.dsacked(a, stream, picture);
        }
        let newly_sacked = self.take_sacks(a);
        if a.ack > self.stream.outstanding.una() {
            self.bottleneck.interrupted();
            self.advance(a, held_from, newly_sacked);
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
        let mut newly = std::mem::take(&mut self.repair.get_or_insert_default().newly);
        newly.clear();
        let skipped = usize::from(a.dsack.is_some());
        for &(left, right) in a.sack.iter().take(usize::from(a.sacks)).skip(skipped) {
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
            self.arrived_alone(a, oldest, &newest, bytes);
        }
        let any = !newly.is_empty();
        self.repair.get_or_insert_default().newly = newly;
        any
    }

    /// Segments have arrived behind the first one that is missing. Receivers report each at once
    /// (RFC 5681 section 4.2).
    fn arrived_alone(&mut self, a: &Acked, oldest: Time, newest: &Departure, bytes: u64) {
        let Stream { outstanding, .. } = &self.stream;
        let ack = outstanding.una() + outstanding.sacked_bytes();
        if a.timed {
            let all = self.limits.delivered(0);
            let (newest, flight) = (newest.at, newest.flight);
            let trip = Trip { at: a.at, oldest, newest, ack, bytes, all, flight };
            self.bottleneck.measured(&trip);
            self.limits.measured(&trip, &mut self.bottleneck);
        }
    }

    /// The window has opened that a byte asks for.
    #[cold]
    fn gets_room(&mut self, a: &Acked) {
        let Self { stream, limits, stalls, .. } = self;
        limits.gets_room(a.at, stream);
        let (progress, newest) = (stream.moments.progress(), stream.moments.newest());
        let (timers, came_twice) = (&stream.timers, a.dsack == Dsack::Sent);
        stalls.gets_room(&Now { at: a.at, frame: a.frame, progress, timers, came_twice, newest });
    }

    /// A segment is reported for the first time. Returns when that was sent which was sent last of
    /// what has arrived.
    fn arrived(&mut self, segment: &Segment, a: &Acked, echo: Echo) -> Time {
        self.stream.windows.delivered(u64::from(segment.len));
        let repairing = self.is_repairing();
        let recovery = &mut self.repair.get_or_insert_default().recovery;
        let sent = recovery.arrived(segment, a, echo, &self.stream);
        if let Some(least) = self.bottleneck.base().trip().filter(|_| repairing) {
            let least = least + self.bottleneck.slack();
            self.limits.arrived_in_recovery(a.at, sent, segment.len, least);
        }
        if segment.again > 0 {
            self.episodes.arrived(a.at.since(sent));
        }
        sent
    }

    /// An ACK advances. `held_from`: the receiver held data behind the head, and from here on it
    /// may have held more than it has said. What is below and was not SACKed was missing
    /// (RFC 2018 section 4), so that it has come with the head or after it.
    fn advance(&mut self, a: &Acked, held_from: Option<u64>, newly_sacked: bool) {
        let (mut oldest, mut newest, mut retransmitted) = (None, Departure::default(), None);
        let (mut segments, mut answered, mut last) = (0, None, None);
        let progress = self.stream.moments.progress();
        while let Some(segment) = self.stream.outstanding.pop_acked(a.ack) {
            let is_first = segments == 0;
            segments += 1;
            if segment.sacked {
                continue;
            }
            last = Some(segment);
            // The ACK echoes the segment that let it advance, the first one.
            let echo = match held_from {
                _ if is_first => Echo::Own,
                Some(held_from) if held_from <= segment.position => Echo::Head,
                _ => Echo::Nothing,
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
        self.limits.was_missing(false);
        // Karn's rule: an ACK of anything that was retransmitted measures nothing, unless a
        // timestamp identifies the transmission that it answers.
        match (oldest, retransmitted) {
            (Some(oldest), None) => self.measure(a, oldest, &newest),
            (_, Some(sent)) => self.stream.measure_retransmission(a, sent),
            (None, None) => {}
        }
        self.progressed(a, false);
        let Repair { recovery, causes, .. } = &mut **self.repair.get_or_insert_default();
        causes.probes.acked(a.ack, a.dsack.is_some());
        let recovering = recovery.phases.is_recovery();
        recovery.advanced(a, newly_sacked, segments, &self.stream, &mut self.picture);
        if let Some(sent) = answered {
            recovery.answered(a, sent, progress, &self.stream);
        }
        recovery.acknowledged_alone(a, last.filter(|_| segments == 1), &self.stream);
        self.ways.advanced(a.at, recovering, &self.stream, recovery);
        self.check_repaired(a.at);
    }

    /// An ACK has advanced: is anything left to repair?
    fn check_repaired(&mut self, at: Time) {
        let Self { stream, repair, episodes, .. } = self;
        let Repair { recovery, causes, .. } = &mut **repair.get_or_insert_default();
        let open = recovery.phases.is_open();
        if open && stream.outstanding.sacked_bytes() == 0 {
            stream.windows.set_pipe(stream.outstanding.flight());
        }
        let repaired = stream.outstanding.retransmitted() == 0;
        if repaired && open {
            let (end, rtt) = (recovery.retransmissions.len(), stream.timers.min_rtt());
            episodes.repaired(at, end, causes.last_timeout(), rtt);
        }
        let clean = repaired && stream.outstanding.head().is_none_or(|head| head.again == 0);
        recovery.phases.advanced(stream.outstanding.una(), clean);
    }

    /// An ACK does not advance.
    fn repeat(&mut self, a: &Acked, newly_sacked: bool) {
        let Self { stream, repair, picture, .. } = self;
        let Repair { recovery, causes, .. } = &mut **repair.get_or_insert_default();
        let (sack, outstanding) = (stream.terms.sack, &stream.outstanding);
        // RFC 5681 section 2: the window must not have changed. RFC 6675 section 2: with SACK, news
        // make the duplicate.
        let repeats = a.ack == outstanding.una() && !a.with_data && !outstanding.is_empty();
        let same_window = a.window == stream.windows.offered();
        if newly_sacked || !a.with_data {
            self.limits.news();
        }
        let duplicate = if sack { newly_sacked } else { repeats && same_window };
        let pure = a.sacks == 0 && !a.with_data && same_window;
        if a.dsack.is_some() || pure {
            causes.probes.repeated(a.ack);
        }
        if duplicate && !sack {
            stream.windows.delivered(u64::from(stream.terms.mss));
        }
        recovery.repeated(a, duplicate, stream, picture);
    }
}
