//! The outstanding segments in sequence order, without gaps: what was not seen going out has a record, too.

use std::collections::VecDeque;

use ackclock_tcp::Time;

/// Most segments that are kept. A window of 1 GiB, the largest that TCP has (RFC 7323 section 2.3), is four times as many of
/// 1460 bytes; more than this is a capture without ACKs.
const MOST: usize = 1 << 18;

/// Most ranges of SACKed data, and most outstanding records that cuts may have made. Each costs time in proportion to what is outstanding.
const MOST_PIECES: usize = 1 << 12;

/// From this capacity on an empty list gives its memory back: idle connections are many.
const KEPT: usize = 16;

/// One segment, or a piece of one: records are cut where retransmissions and SACK blocks cut the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Segment {
    pub position: u64,
    /// When it first went out; where that was not seen, when it was missed.
    pub first_at: Time,
    pub len: u32,
    /// Bytes outstanding right after it first went out, its own included.
    pub flight: u32,
    /// Its last retransmission, counted from 1 in the list of all; 0 if there was none.
    pub again: u32,
    /// Times that it was seen going out.
    pub transmissions: u16,
    pub sacked: bool,
    /// Its first transmission was not seen.
    pub unseen: bool,
}

impl Segment {
    pub fn end(&self) -> u64 {
        self.position + u64::from(self.len)
    }

    /// None of its transmissions was seen.
    pub fn is_hole(&self) -> bool {
        self.transmissions == 0
    }
}

#[derive(Debug, Default)]
pub(super) struct Outstanding {
    segments: VecDeque<Segment>,
    /// What SACK blocks have covered, as sorted ranges, so that only what is new in a block is walked.
    sacked: Vec<(u64, u64)>,
    /// Bytes in `sacked`.
    pub sacked_bytes: u64,
    /// Records that were sent again and are not SACKed.
    pub retransmitted: u32,
    /// Records that cuts have made, less those that are gone again.
    cuts: usize,
    /// There were too many pieces to tell all of them apart.
    pub overcut: bool,
}

impl Outstanding {
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    pub fn len(&self) -> usize {
        self.segments.len()
    }

    pub fn head(&self) -> Option<&Segment> {
        self.segments.front()
    }

    pub fn get(&self, index: usize) -> Option<&Segment> {
        self.segments.get(index)
    }

    /// Appends a segment; returns one that has no place any more.
    pub fn push(&mut self, segment: Segment) -> Option<Segment> {
        self.segments.push_back(segment);
        if self.segments.len() > MOST { self.pop() } else { None }
    }

    /// Puts what was outstanding before the first one in front of it.
    pub fn push_front(&mut self, segment: Segment) {
        self.segments.push_front(segment);
    }

    /// Takes the first record off if `ack` covers it; of one that is covered in part the covered part.
    pub fn pop_acked(&mut self, ack: u64) -> Option<Segment> {
        let head = self.segments.front_mut()?;
        if head.end() <= ack {
            return self.pop();
        }
        if head.position < ack {
            let part = Segment { len: (ack - head.position) as u32, ..*head };
            head.len -= part.len;
            head.position = ack;
            return Some(part);
        }
        None
    }

    fn pop(&mut self) -> Option<Segment> {
        let head = self.segments.pop_front()?;
        self.cuts = self.cuts.saturating_sub(1);
        self.retransmitted -= u32::from(head.again > 0 && !head.sacked);
        if self.segments.is_empty() && self.segments.capacity() > KEPT {
            self.segments = VecDeque::new();
        }
        Some(head)
    }

    /// Forgets SACKed ranges below `ack`.
    pub fn forget_sacked_below(&mut self, ack: u64) {
        let gone = self.sacked.partition_point(|r| r.1 <= ack);
        self.sacked_bytes -= self.sacked.drain(..gone).map(|r| r.1 - r.0).sum::<u64>();
        if let Some(first) = self.sacked.first_mut()
            && first.0 < ack
        {
            self.sacked_bytes -= ack - first.0;
            first.0 = ack;
        }
    }

    /// Index of the record that holds the byte at `position`, or of the first one after it.
    pub fn find(&self, position: u64) -> usize {
        self.segments.partition_point(|s| s.end() <= position)
    }

    /// Cuts the record at `position`, if that lies inside of one. Returns the index of the record that begins there, or after it; where
    /// there are too many pieces, of the record that it lies in.
    pub fn cut(&mut self, position: u64) -> usize {
        let index = self.find(position);
        if let Some(segment) = self.segments.get_mut(index)
            && segment.position < position
        {
            if self.cuts >= MOST_PIECES {
                self.overcut = true;
                return index;
            }
            self.cuts += 1;
            let front = (position - segment.position) as u32;
            let back = Segment { position, len: segment.len - front, ..*segment };
            segment.len = front;
            self.retransmitted += u32::from(back.again > 0 && !back.sacked);
            self.segments.insert(index + 1, back);
            return index + 1;
        }
        index
    }

    /// Marks the record at `index` as sent again, by the retransmission with this number.
    pub fn sent_again(&mut self, index: usize, again: u32) {
        if let Some(segment) = self.segments.get_mut(index) {
            self.retransmitted += u32::from(segment.again == 0 && !segment.sacked);
            segment.again = again;
            segment.transmissions = segment.transmissions.saturating_add(1);
        }
    }

    /// What was missing has come: its first transmission was `at`.
    pub fn fill(&mut self, index: usize, at: Time) {
        if let Some(segment) = self.segments.get_mut(index) {
            segment.first_at = at;
            segment.transmissions = 1;
            segment.unseen = false;
        }
    }

    /// Takes the SACK block in. `newly` is called with each record that it reports and none before it did.
    pub fn sack(&mut self, left: u64, right: u64, mut newly: impl FnMut(&Segment)) {
        let (Some(first), Some(last)) = (self.segments.front(), self.segments.back()) else { return };
        let (left, right) = (left.max(first.position), right.min(last.end()));
        if left >= right {
            return;
        }
        // The ranges that the block overlaps or touches become one.
        let from = self.sacked.partition_point(|r| r.1 < left);
        let to = self.sacked.partition_point(|r| r.0 <= right);
        if to == from + 1 && self.sacked[from].0 <= left && right <= self.sacked[from].1 {
            return;
        }
        // Of a block only its two ends can cut a record.
        if (from == to && self.sacked.len() >= MOST_PIECES) || self.cuts + 2 > MOST_PIECES {
            self.overcut = true;
            return;
        }
        let mut position = left;
        for i in from..to {
            let (l, r) = self.sacked[i];
            if position < l {
                self.mark(position, l, &mut newly);
            }
            position = position.max(r);
        }
        if position < right {
            self.mark(position, right, &mut newly);
        }
        let joined = match self.sacked.get(from..to) {
            Some([first, .., last]) => (left.min(first.0), right.max(last.1)),
            Some([only]) => (left.min(only.0), right.max(only.1)),
            _ => (left, right),
        };
        self.sacked.splice(from..to, [joined]);
    }

    fn mark(&mut self, left: u64, right: u64, newly: &mut impl FnMut(&Segment)) {
        self.sacked_bytes += right - left;
        let mut index = self.cut(left);
        self.cut(right);
        while let Some(segment) = self.segments.get_mut(index) {
            if segment.position >= right {
                break;
            }
            segment.sacked = true;
            self.retransmitted -= u32::from(segment.again > 0);
            newly(segment);
            index += 1;
        }
    }

    /// The receiver has forgotten what it had SACKed (RFC 2018 section 8).
    pub fn forget_sacks(&mut self) {
        self.sacked.clear();
        self.sacked_bytes = 0;
        self.segments.iter_mut().for_each(|s| s.sacked = false);
        self.retransmitted = self.segments.iter().filter(|s| s.again > 0).count() as u32;
    }
}
