//! The scoreboard: one record for each outstanding segment, with what became of its transmissions.
//!
//! RFC 6675 section 3 leaves the structure open. A record keeps the boundaries of its segment, the
//! number of its transmissions, and when the first and the last of them were sent. So Karn's rule,
//! time-based detection, recovery of lost retransmissions and undo need no table of their own. Byte
//! counters are kept incrementally and checked against recomputation in debug builds.

use alloc::collections::VecDeque;

use crate::time::Time;

/// Who judged a segment lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Judge {
    /// No mechanism: it is not lost, or given up by a timeout.
    #[default]
    Nobody,
    /// Detection.
    Detect,
    /// The detection of lost retransmissions.
    Retransmission,
    /// Selection, on a partial ACK.
    Select,
}

/// One outstanding segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// Position of its first byte.
    pub seq: u64,
    /// When it was first sent.
    pub first_sent: Time,
    /// When it was last sent.
    pub last_sent: Time,
    /// Payload bytes.
    pub len: u32,
    /// How often it was sent.
    pub transmissions: u16,
    /// The receiver reported it in a SACK block.
    pub sacked: bool,
    /// Judged lost. Stays set when the segment is retransmitted.
    pub lost: bool,
    /// A retransmission is on its way, and counts in the pipe.
    pub retransmitted: bool,
    /// A SACK block reported it before a timeout forgot that.
    pub(crate) forgotten: bool,
    /// Who judged its last transmission lost.
    pub(crate) lost_by: Judge,
    /// Bytes from its first one to the end of what had been sent when it was last sent.
    span: u32,
}

impl Record {
    /// Position after its last byte.
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }

    /// Judged lost, and no retransmission of it is on its way.
    pub fn waits(&self) -> bool {
        self.lost && !self.retransmitted
    }

    /// A transmission of it is on its way, as far as anyone knows.
    pub fn on_its_way(&self) -> bool {
        !self.sacked && !self.waits()
    }

    /// It was sent once, nothing was ever known of it but that, and it does not reach beyond `ack`.
    fn is_plainly_below(&self, ack: u64) -> bool {
        self.transmissions == 1 && !self.forgotten && self.end() <= ack
    }

    /// Detection has judged a retransmission of it lost, and none is on its way.
    pub(crate) fn is_lost_again(&self) -> bool {
        self.waits() && self.lost_by == Judge::Detect && self.transmissions > 1
    }

    /// The position from which on everything was sent after its last transmission.
    pub fn sent_before(&self) -> u64 {
        self.seq + u64::from(self.span)
    }
}

/// What a cumulative acknowledgment took off the scoreboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Acked {
    /// Bytes acknowledged.
    pub bytes: u64,
    /// Of those, bytes that had been selectively acknowledged before.
    pub sacked_before: u64,
    /// Segments acknowledged in full that had not been selectively acknowledged before.
    pub segments: u32,
    /// Send time of the oldest segment acknowledged.
    pub first_sent: Option<Time>,
    /// When the last of these segments was last sent.
    pub last_sent: Option<Time>,
    /// When the last of those among them was sent that had been sent more than once (Karn's rule);
    /// `None` if there was none.
    pub retransmission: Option<Time>,
}

/// What an acknowledgment took off the scoreboard that said nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlainlyAcked {
    /// Segments.
    pub segments: usize,
    /// Where the first one ended.
    pub first_end: u64,
    /// When the first and the last of them were sent.
    pub first_sent: Time,
    pub last_sent: Time,
}

/// Bytes and segments of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    bytes: u64,
    segments: u32,
}

impl Tally {
    fn add(&mut self, r: &Record) {
        self.bytes += u64::from(r.len);
        self.segments += 1;
    }

    fn remove(&mut self, r: &Record) {
        self.bytes -= u64::from(r.len);
        self.segments -= 1;
    }
}

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

    /// Outstanding segments judged lost, sent again or not.
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
    /// ties (RFC 8985 section 6.2, RACK_sent_after).
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
            if r.on_its_way() && is_before(r.last_sent, r, sent) {
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
        let before = |r: &Record| r.on_its_way() && (r.last_sent, r.end()) < sent;
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
            retransmitted: false,
            span: len,
        });
        self.end = seq + u64::from(len);
    }

    /// Takes everything below `ack` off, and tells each segment delivered that was not sacked. A
    /// segment acknowledged in part is shortened.
    pub(crate) fn ack_to(&mut self, ack: u64, mut tell: impl FnMut(&Record)) -> Acked {
        let (mut acked, mut off_board) = (Acked::default(), 0);
        while let Some(&head) = self.records.front() {
            if head.seq >= ack {
                break;
            }
            acked.first_sent.get_or_insert(head.first_sent);
            acked.last_sent = Some(head.last_sent);
            // Most segments are sent once, and nothing else is known of them.
            let bare = !head.sacked && !head.lost && !head.retransmitted;
            if bare && head.transmissions == 1 && head.end() <= ack {
                acked.bytes += u64::from(head.len);
                acked.segments += 1;
            } else if !self.ack_head_to(ack, &mut acked) {
                self.list_again();
                break;
            }
            if !head.sacked {
                tell(&head);
            }
            self.records.pop_front();
            off_board += 1;
        }
        self.settled = self.settled.saturating_sub(off_board);
        if self.again.front().is_some_and(|&(_, seq)| seq < ack) {
            self.prune_again();
        }
        self.waits_from = self.waits_from.saturating_sub(off_board);
        self.check();
        acked
    }

    /// Takes the segments below `ack` off if it acknowledges at least one, each in full, if they were
    /// sent once, and if nothing is known of any outstanding segment but when it was sent; tells
    /// each. Otherwise nothing changes.
    #[inline(always)]
    pub(crate) fn ack_plainly_to(
        &mut self,
        ack: u64,
        mut tell: impl FnMut(&Record),
    ) -> Option<PlainlyAcked> {
        if (self.sacked.segments | self.lost.segments | self.retransmitted.segments) > 0 {
            return None;
        }
        let head = self.records.front().filter(|r| r.is_plainly_below(ack))?;
        let first_end = head.end();
        let mut acked = PlainlyAcked {
            segments: 1,
            first_end,
            first_sent: head.first_sent,
            last_sent: head.last_sent,
        };
        // One, most often.
        if first_end == ack {
            tell(head);
            self.records.pop_front();
        } else {
            acked.segments = 1 + self.plainly_below(ack)?;
            for r in self.records.drain(..acked.segments) {
                acked.last_sent = r.last_sent;
                tell(&r);
            }
        }
        let segments = acked.segments;
        self.settled = self.settled.saturating_sub(segments);
        self.waits_from = self.waits_from.saturating_sub(segments);
        self.check();
        Some(acked)
    }

    /// How many segments lie between the first one and `ack`, if each was sent once and the last
    /// ends there.
    #[inline(never)]
    fn plainly_below(&self, ack: u64) -> Option<usize> {
        let mut rest = self.records.iter().skip(1).take_while(|r| r.is_plainly_below(ack));
        rest.position(|r| r.end() == ack).map(|before| before + 1)
    }

    /// Counts what of the head lies below `ack` as acknowledged; whether that is the whole segment.
    /// If not, it is shortened.
    #[inline(never)]
    fn ack_head_to(&mut self, ack: u64, acked: &mut Acked) -> bool {
        let Some(head) = self.records.front_mut() else { return false };
        let part = head.end().min(ack) - head.seq;
        if head.transmissions > 1 {
            acked.retransmission = acked.retransmission.max(Some(head.last_sent));
        }
        acked.bytes += part;
        let whole = u32::from(head.end() <= ack);
        let off = |from: &mut Tally| {
            from.bytes -= part;
            from.segments -= whole;
        };
        if head.sacked {
            off(&mut self.sacked);
            acked.sacked_before += part;
        } else {
            if head.lost {
                off(&mut self.lost);
                self.waiting -= if head.retransmitted { 0 } else { whole };
            }
            if head.retransmitted {
                off(&mut self.retransmitted);
            }
            acked.segments += whole;
        }
        if whole == 0 {
            head.seq = ack;
            head.len -= part as u32;
            head.span -= part as u32;
        }
        whole > 0
    }

    /// Cuts every segment of more than `most` bytes (not zero), and judges lost what is not sacked
    /// of them, retransmissions included; returns the bytes judged.
    pub(crate) fn cut(&mut self, most: u32) -> u64 {
        if self.records.iter().all(|r| r.len <= most) {
            return 0;
        }
        let (mut cut, mut judged) = (VecDeque::with_capacity(self.records.len() * 2), 0);
        for r in self.records.drain(..) {
            let lost = r.len > most && !r.sacked;
            if lost {
                judged += u64::from(r.len);
            }
            let (lost, retransmitted) = (r.lost || lost, r.retransmitted && !lost);
            let pieces = (0..r.len).step_by(most as usize);
            cut.extend(pieces.map(|from| Record {
                seq: r.seq + u64::from(from),
                len: most.min(r.len - from),
                span: r.span - from,
                lost,
                retransmitted,
                ..r
            }));
        }
        self.records = cut;
        self.count();
        self.list_again();
        self.check();
        judged
    }

    /// Cuts the segment at `index` after `len` bytes, fewer than it has. Both pieces are what it was.
    pub(crate) fn split(&mut self, index: usize, len: u32) {
        let Some(r) = self.records.get_mut(index) else { return };
        let rest =
            Record { seq: r.seq + u64::from(len), len: r.len - len, span: r.span - len, ..*r };
        r.len = len;
        self.records.insert(index + 1, rest);
        self.count();
        self.list_again();
        self.check();
    }

    /// Joins the segment at `index` with those after it that are not sacked, up to `most` bytes.
    pub(crate) fn join(&mut self, index: usize, most: u32) {
        while let Some(&next) = self.records.get(index + 1) {
            let Some(r) = self.records.get_mut(index) else { return };
            if r.sacked || next.sacked || r.len + next.len > most {
                return;
            }
            r.len += next.len;
            r.transmissions = r.transmissions.max(next.transmissions);
            self.records.remove(index + 1);
            self.settled = self.settled.min(index);
            self.count();
            self.list_again();
            self.check();
        }
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
            self.records.shrink_to(half);
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

    /// Marks every segment that lies wholly within `left..right`, and tells each that is new;
    /// returns the bytes newly marked.
    pub(crate) fn sack(&mut self, left: u64, right: u64, mut tell: impl FnMut(&Record)) -> u64 {
        let (left, right) =
            (left.max(self.records.front().map_or(0, |r| r.seq)), right.min(self.end));
        if left >= right {
            return 0;
        }
        // What an earlier block already told needs no second walk; a block usually grows at its
        // right end.
        let mut from = left;
        for &(l, r) in &self.known {
            if l <= from && from < r {
                from = r;
            }
        }
        if from >= right {
            return 0;
        }
        let (mut newly, again) = (0, self.retransmitted.segments);
        let first = self.find(from);
        let mut index = first;
        while let Some(r) = self.records.get_mut(index) {
            if r.end() > right {
                break;
            }
            if r.seq >= left && !r.sacked {
                tell(r);
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

    /// Forgets all SACK information (RFC 2018 section 8: the receiver may have discarded the data).
    pub(crate) fn forget_sacks(&mut self) {
        for r in &mut self.records {
            r.forgotten |= r.sacked;
            r.sacked = false;
        }
        self.sacked = Tally::default();
        self.highest_sacked = 0;
        (self.judged, self.settled) = (0, 0);
        self.known = [(0, 0); 4];
        self.check();
    }

    /// Judges the segment at `index` lost, its retransmission included; returns whether that was
    /// news.
    pub(crate) fn mark_lost(&mut self, index: usize, by: Judge) -> bool {
        let Some(r) = self.records.get_mut(index) else { return false };
        if !r.on_its_way() {
            return false;
        }
        if !r.lost {
            self.lost.add(r);
        }
        let again = r.retransmitted;
        if again {
            self.retransmitted.remove(r);
        }
        (r.lost, r.lost_by) = (true, by);
        r.retransmitted = false;
        self.add_waiting(index);
        if again {
            self.prune_again();
        }
        if index == self.settled {
            self.settle();
        }
        self.check();
        true
    }

    /// Judges the segment at `index` lost, of which a retransmission is on its way that need not
    /// have counted in the pipe.
    pub(crate) fn mark_replaced(&mut self, index: usize) {
        let Some(r) = self.records.get_mut(index).filter(|r| !r.sacked && !r.lost) else { return };
        self.lost.add(r);
        if !r.retransmitted {
            self.retransmitted.add(r);
        }
        (r.lost, r.retransmitted) = (true, true);
        self.list_again();
        self.check();
    }

    fn add_waiting(&mut self, index: usize) {
        self.waits_from = if self.waiting == 0 { index } else { self.waits_from.min(index) };
        self.waiting += 1;
    }

    /// Moves `settled` on over what is sacked or lost.
    fn settle(&mut self) {
        self.settled +=
            self.records.range(self.settled..).take_while(|r| r.sacked || r.lost).count();
    }

    /// Judges the original transmission of every segment that ends at or below `edge` lost, and
    /// tells each that is new.
    pub(crate) fn mark_lost_below(&mut self, edge: u64, mut tell: impl FnMut(&Record)) {
        if edge <= self.judged {
            return;
        }
        // What is settled begins there, most often.
        let mut index = match self.records.get(self.settled) {
            Some(r) if r.seq == self.judged => self.settled,
            _ => self.find(self.judged),
        };
        while let Some(r) = self.records.get_mut(index) {
            if r.end() > edge {
                break;
            }
            if !r.sacked && !r.lost {
                (r.lost, r.lost_by) = (true, Judge::Detect);
                self.lost.add(r);
                tell(r);
                if r.waits() {
                    self.add_waiting(index);
                }
            }
            index += 1;
        }
        self.judged = edge.min(self.end);
        self.settled = self.settled.max(index);
        self.check();
    }

    /// Judges the head lost, and every outstanding segment that is not sacked and was last sent no
    /// later than `sent_by`, retransmissions included (a timeout).
    pub(crate) fn mark_all_lost(&mut self, sent_by: Time) {
        self.judged = self.end;
        let head = self.records.front().map_or(0, |r| r.seq);
        for r in &mut self.records {
            if r.seq == head || r.last_sent <= sent_by {
                (r.lost, r.lost_by) = (!r.sacked, Judge::Nobody);
                r.retransmitted = false;
            }
            if !r.sacked && !r.lost {
                self.judged = self.judged.min(r.seq);
            }
        }
        self.settled = 0;
        self.settle();
        self.count();
        self.prune_again();
        self.check();
    }

    /// Takes back every loss judgement (the losses were spurious).
    pub(crate) fn unmark_lost(&mut self) {
        for r in &mut self.records {
            r.lost = false;
        }
        (self.lost, self.waiting) = (Tally::default(), 0);
        (self.judged, self.settled) = (0, 0);
        self.check();
    }

    /// Records that the segment at `index` was retransmitted; `counts` tells whether it enters the
    /// pipe.
    pub(crate) fn on_retransmit(&mut self, index: usize, now: Time, counts: bool) {
        let Some(r) = self.records.get_mut(index) else { return };
        r.transmissions = r.transmissions.saturating_add(1);
        r.last_sent = now;
        // No window of an ACK is larger than 2^30 bytes (RFC 7323 section 2.3), but the configured
        // one may be.
        r.span = u32::try_from(self.end - r.seq).unwrap_or(u32::MAX);
        if counts && !r.sacked && !r.retransmitted {
            self.waiting -= u32::from(r.lost);
            r.retransmitted = true;
            self.retransmitted.add(r);
        }
        if r.retransmitted {
            self.again.push_back((now, r.seq));
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
