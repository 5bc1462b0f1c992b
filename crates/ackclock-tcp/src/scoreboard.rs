//! The scoreboard: one record for each outstanding segment, with what became of its transmissions.
//!
//! RFC 6675 section 3 leaves the structure open. A record keeps the boundaries of its segment, the
//! number of its transmissions, and when the first and the last of them were sent. So Karn's rule,
//! time-based detection, recovery of lost retransmissions and undo need no table of their own. Byte
//! counters are kept incrementally and checked against recomputation in debug builds.

mod acked;
mod judgement;
mod pieces;
mod record;

use alloc::collections::VecDeque;

use crate::time::Time;
pub use acked::Acked;
pub(crate) use record::Judge;
pub use record::Record;
use record::Tally;

/// Whether a segment sent at `time` was sent before `sent`, a time and the end of a segment. Times
/// seldom tie, so that they are compared first.
#[inline]
fn is_before(time: Time, r: &Record, sent: (Time, u64)) -> bool {
    time < sent.0 || (time == sent.0 && r.end() < sent.1)
}

/// The outstanding segments in sequence order, without gaps between them. What every ACK touches
/// stands last ([`State`](crate::State)).
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    /// SACK blocks of the previous ACK, so that only what is new in a block is walked.
    known: [(u64, u64); 4],
    /// When each retransmission on its way was sent, the oldest first, and where its segment
    /// begins; and behind the first, some that are on their way no more.
    again: VecDeque<(Time, u64)>,
    /// Every record below this position is either sacked or lost, as of the last judgement by
    /// position.
    judged: u64,
    /// Position after the highest sacked byte.
    highest_sacked: u64,
    /// Segments that [wait](Record::waits).
    waiting: u32,
    retransmitted: Tally,
    lost: Tally,
    sacked: Tally,
    /// None of the first so many segments [waits](Record::waits).
    waits_from: usize,
    /// Of the first so many records each is either sacked or lost, so that only their
    /// retransmissions are on their way.
    settled: usize,
    /// Position after the last record.
    end: u64,
    records: VecDeque<Record>,
    /// Where the head begins that was acknowledged in part, and where it did before.
    cut: (u64, u64),
}

impl Scoreboard {
    /// Outstanding segments.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether nothing is outstanding.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The `index`-th outstanding segment, the head being 0.
    pub fn get(&self, index: usize) -> Option<&Record> {
        self.records.get(index)
    }

    /// The first unacknowledged segment.
    pub fn head(&self) -> Option<&Record> {
        self.records.front()
    }

    /// The highest outstanding segment.
    pub fn last(&self) -> Option<&Record> {
        self.records.back()
    }

    /// The outstanding segments in sequence order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Record> + '_ {
        self.records.iter()
    }

    /// Position after the highest byte that any SACK block covered; 0 if none did.
    pub fn highest_sacked(&self) -> u64 {
        self.highest_sacked
    }

    /// Every outstanding byte below this position is either selectively acknowledged or judged
    /// lost.
    pub fn judged(&self) -> u64 {
        self.judged
    }

    /// Outstanding bytes that were selectively acknowledged.
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked.bytes
    }

    /// Outstanding segments that were selectively acknowledged.
    pub fn sacked_segments(&self) -> u32 {
        self.sacked.segments
    }

    /// Outstanding bytes judged lost, retransmitted or not.
    pub fn lost_bytes(&self) -> u64 {
        self.lost.bytes
    }

    /// Outstanding segments judged lost, retransmitted or not.
    pub fn lost_segments(&self) -> u32 {
        self.lost.segments
    }

    /// Outstanding segments of which a retransmission is on its way.
    pub fn retransmitted_segments(&self) -> u32 {
        self.retransmitted.segments
    }

    /// The first segment that [waits](Record::waits) for its retransmission.
    pub fn first_waiting(&self) -> Option<usize> {
        if self.waiting == 0 {
            return None;
        }
        let from = self.waits_from;
        self.records.range(from..).position(|r| r.waits()).map(|index| from + index)
    }

    /// From index `from` on, the first segment [on its way](Record::on_its_way) whose last
    /// transmission was sent before this one: its time, and the end of its segment, which breaks
    /// ties (RFC 8985 section 6.2, RACK_sent_after). Without those that time has judged, where it
    /// does so only once.
    #[inline]
    pub fn sent_before(&self, sent: (Time, u64), from: usize) -> Option<(usize, &Record)> {
        // What lies above was first sent no earlier.
        let found = match self.head() {
            Some(head) if is_before(head.first_sent, head, sent) => {
                self.find_sent_before(sent, from)
            }
            _ => None,
        };
        debug_assert_eq!(found, self.recomputed_sent_before(sent, from));
        found
    }

    #[inline(never)]
    fn find_sent_before(&self, sent: (Time, u64), from: usize) -> Option<(usize, &Record)> {
        // Of what is settled only retransmissions are on their way.
        let again = self.again.front().is_some_and(|&(time, _)| time <= sent.0);
        let mut index = if again { from } else { from.max(self.settled) };
        while let Some(r) = self.records.get(index)
            && is_before(r.first_sent, r, sent)
        {
            if r.on_its_way() && !r.judged_by_time && is_before(r.last_sent, r, sent) {
                return Some((index, r));
            }
            index += 1;
        }
        None
    }

    /// Outstanding bytes, acknowledged selectively or not.
    pub fn outstanding(&self) -> u64 {
        self.records.front().map_or(0, |head| self.end - head.seq)
    }

    /// RFC 6675 section 4, SetPipe: bytes neither sacked nor lost, plus bytes of retransmissions on
    /// their way.
    pub fn pipe(&self) -> u64 {
        self.outstanding() - self.sacked.bytes - self.lost.bytes + self.retransmitted.bytes
    }

    /// [`pipe`](Self::pipe) in segments, as Linux counts (`tcp_packets_in_flight`).
    pub fn in_flight(&self) -> u32 {
        self.len() as u32 + self.retransmitted.segments - self.sacked.segments - self.lost.segments
    }

    /// [`pipe`](Self::pipe) recomputed from the records; what the incremental counters must equal.
    pub fn recomputed_pipe(&self) -> u64 {
        let bytes = |r: &Record| {
            let copies = u64::from(!r.sacked && !r.lost) + u64::from(!r.sacked && r.retransmitted);
            copies * u64::from(r.len)
        };
        self.records.iter().map(bytes).sum()
    }

    /// [`in_flight`](Self::in_flight) recomputed from the records.
    fn recomputed_in_flight(&self) -> u32 {
        let copies =
            |r: &Record| u32::from(!r.sacked && !r.lost) + u32::from(!r.sacked && r.retransmitted);
        self.records.iter().map(copies).sum()
    }

    /// Segments that wait, recomputed from the records.
    fn recomputed_waiting(&self) -> u32 {
        self.records.iter().map(|r| u32::from(r.waits())).sum()
    }

    /// [`sent_before`](Self::sent_before) from a look at every record.
    fn recomputed_sent_before(&self, sent: (Time, u64), from: usize) -> Option<(usize, &Record)> {
        let before =
            |r: &Record| r.on_its_way() && !r.judged_by_time && (r.last_sent, r.end()) < sent;
        self.records.iter().enumerate().skip(from).find(|(_, r)| before(r))
    }

    /// Index of the segment that holds byte `seq`; the number of segments if it lies above all of
    /// them.
    pub fn find(&self, seq: u64) -> usize {
        let Some(head) = self.records.front() else { return 0 };
        if seq <= head.seq {
            return 0;
        }
        if seq >= self.end {
            return self.records.len();
        }
        let guess = ((seq - head.seq) / u64::from(head.len)) as usize;
        match self.records.get(guess) {
            Some(r) if r.seq <= seq && seq < r.end() => guess,
            _ => self.records.partition_point(|r| r.end() <= seq),
        }
    }

    pub(crate) fn push(&mut self, seq: u64, len: u32, now: Time) {
        debug_assert!(self.records.is_empty() || self.end == seq);
        self.records.push_back(Record {
            seq,
            first_sent: now,
            last_sent: now,
            len,
            transmissions: 1,
            sacked: false,
            lost: false,
            forgotten: false,
            lost_by: Judge::Nobody,
            judged_by_time: false,
            retransmitted: false,
            span: len,
        });
        self.end = seq + u64::from(len);
    }

    /// Counts every kind anew.
    fn count(&mut self) {
        (self.sacked, self.lost, self.retransmitted) = Default::default();
        (self.waiting, self.waits_from) = (self.recomputed_waiting(), 0);
        for r in &self.records {
            for (tally, has) in [
                (&mut self.sacked, r.sacked),
                (&mut self.lost, r.lost),
                (&mut self.retransmitted, r.retransmitted),
            ] {
                if has {
                    tally.add(r);
                }
            }
        }
    }

    /// Lists the retransmissions on their way anew.
    fn list_again(&mut self) {
        let on_its_way = self.records.iter().filter(|r| r.retransmitted);
        self.again = on_its_way.map(|r| (r.last_sent, r.seq)).collect();
        self.again.make_contiguous().sort();
    }

    /// Takes those off the list that are on their way no more, up to the first one that is.
    fn prune_again(&mut self) {
        while self.again.front().is_some_and(|&first| !self.is_again(first)) {
            self.again.pop_front();
        }
    }

    /// Whether a retransmission sent then, of the segment that begins there, is on its way.
    fn is_again(&self, (time, seq): (Time, u64)) -> bool {
        let r = self.get(self.find(seq));
        r.is_some_and(|r| r.seq == seq && r.retransmitted && r.last_sent == time)
    }

    /// Gives back the memory for records beyond those outstanding.
    pub(crate) fn release(&mut self) {
        self.records.shrink_to_fit();
        self.again.shrink_to_fit();
    }

    /// Gives back half of the memory for records where a quarter would do: many flows were once
    /// wide. Memory for a few stays, since it would soon grow again.
    pub(crate) fn fit(&mut self) {
        let half = self.records.capacity() / 2;
        if half >= 8 && self.records.len() <= half / 2 {
            // Not in place: the halves that then lie free fit no list of this size, since an
            // allocator adds a header to each. Of ten thousand flows they came to 0.7 KB a flow.
            let mut records = VecDeque::with_capacity(half);
            records.append(&mut self.records);
            self.records = records;
        }
    }

    /// Bytes of memory that its lists take.
    pub(crate) fn memory(&self) -> usize {
        self.records.capacity() * size_of::<Record>()
            + self.again.capacity() * size_of::<(Time, u64)>()
    }

    /// Records that it has memory for.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.records.capacity()
    }

    /// Marks every segment that lies wholly within `left..right`, and reports each that is new;
    /// returns the bytes newly marked.
    pub(crate) fn sack(&mut self, left: u64, right: u64, mut report: impl FnMut(&Record)) -> u64 {
        let (left, right) = self.within(left, right);
        if left >= right {
            return 0;
        }
        let from = self.beyond_known(left);
        if from >= right { 0 } else { self.mark_sacked(left, from, right, &mut report) }
    }

    /// The same as Linux does it where something was SACKed before (`tcp_sacktag_write_queue`): but
    /// for segments that reach into a block of the previous ACK from below, unless the new block
    /// lies above all that is SACKed.
    pub(crate) fn sack_apart(
        &mut self,
        left: u64,
        right: u64,
        mut report: impl FnMut(&Record),
    ) -> u64 {
        let (left, right) = self.within(left, right);
        let (mut from, mut newly) = (self.beyond_known(left), 0);
        while from < right {
            let above = self.known.iter().map(|block| block.0).filter(|&l| from < l);
            let to = above.fold(right, u64::min);
            if to == right && left >= self.highest_sacked {
                from = left;
            }
            newly += self.mark_sacked(left, from, to, &mut report);
            from = self.beyond_known(to);
        }
        newly
    }

    /// What of a block is outstanding.
    fn within(&self, left: u64, right: u64) -> (u64, u64) {
        (left.max(self.records.front().map_or(0, |r| r.seq)), right.min(self.end))
    }

    /// What an earlier block already reported needs no second walk; a block usually grows at its
    /// right end.
    fn beyond_known(&self, mut from: u64) -> u64 {
        for &(l, r) in &self.known {
            if l <= from && from < r {
                from = r;
            }
        }
        from
    }

    /// Marks the segments from the one with `from` on that lie wholly within `left..right`.
    fn mark_sacked(
        &mut self,
        left: u64,
        from: u64,
        right: u64,
        report: &mut impl FnMut(&Record),
    ) -> u64 {
        let (mut newly, again) = (0, self.retransmitted.segments);
        let first = self.find(from);
        let mut index = first;
        while let Some(r) = self.records.get_mut(index) {
            if r.end() > right {
                break;
            }
            if r.seq >= left && !r.sacked {
                report(r);
                r.sacked = true;
                newly += u64::from(r.len);
                self.sacked.add(r);
                self.waiting -= u32::from(r.waits());
                if r.lost {
                    self.lost.remove(r);
                }
                if r.retransmitted {
                    self.retransmitted.remove(r);
                }
                r.retransmitted = false;
                r.lost = false;
                self.highest_sacked = self.highest_sacked.max(r.end());
            }
            index += 1;
        }
        if (first..index).contains(&self.settled) {
            self.settle();
        }
        if self.retransmitted.segments < again {
            self.prune_again();
        }
        newly
    }

    /// Remembers the blocks of the ACK just processed.
    pub(crate) fn remember(&mut self, blocks: [(u64, u64); 4]) {
        // Only a block within the outstanding data was walked to its end.
        self.known = blocks.map(|block| if block.1 <= self.end { block } else { (0, 0) });
        self.check();
    }

    /// A block that was walked may cover a segment now: one that has become shorter, or that is
    /// SACKed no more.
    fn walk_again(&mut self) {
        self.known = [(0, 0); 4];
    }

    /// Forgets all SACK information (RFC 2018 section 8: the receiver may have discarded the data).
    pub(crate) fn forget_sacks(&mut self) {
        for r in &mut self.records {
            r.forgotten |= r.sacked;
            (r.sacked, r.judged_by_time) = (false, false);
        }
        self.sacked = Tally::default();
        self.highest_sacked = 0;
        (self.judged, self.settled) = (0, 0);
        self.walk_again();
        self.check();
    }

    /// Records that the segment at `index` was retransmitted; `counts` says whether it enters the
    /// pipe.
    pub(crate) fn on_retransmit(&mut self, index: usize, now: Time, counts: bool) {
        let Some(r) = self.records.get_mut(index) else { return };
        r.transmissions = r.transmissions.saturating_add(1);
        (r.last_sent, r.judged_by_time) = (now, false);
        if index == 0 {
            self.cut = (0, 0);
        }
        // No window of an ACK is larger than 2^30 bytes (RFC 7323 section 2.3), but the configured
        // one may be.
        r.span = u32::try_from(self.end - r.seq).unwrap_or(u32::MAX);
        let again = r.retransmitted;
        if counts && !r.sacked && !again {
            self.waiting -= u32::from(r.lost);
            r.retransmitted = true;
            self.retransmitted.add(r);
        }
        if r.retransmitted {
            self.again.push_back((now, r.seq));
        }
        // Otherwise what stood first on the list still does.
        if again {
            self.prune_again();
        }
        self.waits_from = self.first_waiting().unwrap_or(0);
        self.check();
    }

    #[inline]
    fn check(&self) {
        debug_assert_eq!(self.pipe(), self.recomputed_pipe());
        debug_assert_eq!(self.in_flight(), self.recomputed_in_flight());
        debug_assert_eq!(self.waiting, self.recomputed_waiting());
        debug_assert!(self.again.front().is_none_or(|&first| self.is_again(first)));
        debug_assert_eq!(self.first_waiting(), self.records.iter().position(|r| r.waits()));
    }
}

#[cfg(test)]
mod tests;
