//! The sequence numbers of one end as positions, which do not wrap.

use ackclock_tcp::Seq;

use crate::compact::Compact;
use crate::standards::LARGEST_WINDOW;

/// Where the capture begins mid-connection, positions begin this much before the first byte seen,
/// so that older data has a place.
pub(crate) const ROOM: u64 = 1 << 24;

/// After so many packets in a row that do not belong to the stream, it is the stream that has gone
/// on, while the capture had a gap.
const LOST_TRACK: u8 = 8;

#[derive(Default)]
pub(super) struct Positions {
    /// Sequence number of position 0, once it is known.
    origin: Option<Seq>,
    /// After the highest byte seen, FIN included.
    max: u64,
    /// Highest acknowledgment seen.
    una: u64,
    /// Numbers in a row that are far outside of the stream. The last one would be at `astray_at`,
    /// if it was less than [`LARGEST_WINDOW`] off.
    astray: u8,
    astray_at: Compact<u64>,
    strays: u32,
    jumps: u32,
}

impl Positions {
    /// The stream from what is acknowledged on, as where a capture begins mid-connection.
    pub fn rest(&self) -> Positions {
        let Some(origin) = self.origin else { return Positions::default() };
        let origin = Seq::at(origin, self.una) - ROOM as u32;
        let max = self.max.max(self.una) - self.una + ROOM;
        Positions { origin: Some(origin), max, una: ROOM, ..Positions::default() }
    }

    /// The stream begins with this sequence number, at position 0.
    pub fn start(&mut self, origin: Seq) {
        self.origin = Some(origin);
        (self.max, self.una) = (0, 0);
    }

    /// The numbers of position 0 and after the highest byte seen.
    pub fn first_and_last(&self) -> Option<[Seq; 2]> {
        self.origin.map(|origin| [origin, Seq::at(origin, self.max)])
    }

    /// A SYN/ACK whose SYN is missing acknowledges this.
    pub fn start_if_unknown(&mut self, origin: Seq) {
        self.origin = self.origin.or(Some(origin));
    }

    /// The capture began mid-connection, and no other number was seen than this one.
    pub fn is_only(&self, seq: Seq) -> bool {
        let first = self.origin.map(|origin| origin + ROOM as u32);
        first == Some(seq) && (self.max, self.una) == (ROOM, ROOM)
    }

    /// After the highest byte seen, FIN included.
    #[inline]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Highest acknowledgment seen.
    #[inline]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Everything up to `end` was seen, or acknowledged.
    #[inline]
    pub fn extend(&mut self, end: u64) {
        self.max = self.max.max(end);
    }

    /// Everything below `ack` is acknowledged.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64) {
        self.una = ack;
    }

    /// All before this number is acknowledged.
    #[inline]
    pub fn is_acked(&self, seq: Seq) -> bool {
        self.origin.is_some_and(|origin| seq.ahead_of(Seq::at(origin, self.una)) <= 0)
    }

    /// It is the number of a byte that was seen and is not acknowledged.
    pub fn is_outstanding(&self, seq: Seq) -> bool {
        let outstanding =
            u64::from(seq.distance_from(Seq::at(self.origin.unwrap_or(seq), self.una)));
        self.una + outstanding < self.max
    }

    /// Whether what came last for this stream may have been astray.
    #[inline]
    pub fn is_lost(&self) -> bool {
        self.astray > 0
    }

    /// Numbers that cannot belong to the stream.
    pub fn strays(&self) -> u64 {
        u64::from(self.strays)
    }

    /// Times that the stream was lost and found again elsewhere.
    pub fn jumps(&self) -> u64 {
        u64::from(self.jumps)
    }

    /// A SYN does not belong to the stream.
    pub fn count_stray(&mut self) {
        self.strays = self.strays.saturating_add(1);
    }

    /// So many strays belong to another connection.
    pub fn forget_strays(&mut self, strays: u32) {
        self.strays = self.strays.saturating_sub(strays);
    }

    /// The position of a sequence number; the first one seen says where positions begin. `edge` is
    /// the right edge of the offered window, or 0.
    #[inline]
    pub fn of(&mut self, seq: Seq, edge: u64) -> Option<u64> {
        let Some(origin) = self.origin else {
            self.origin = Some(seq - ROOM as u32);
            (self.max, self.una) = (ROOM, ROOM);
            return Some(ROOM);
        };
        // Nearly all are near the highest byte seen, and `una` is not above that.
        let ahead = seq.ahead_of(Seq::at(origin, self.max));
        let position = self.max.wrapping_add_signed(ahead.into());
        if position.abs_diff(self.max) <= ROOM {
            self.astray = 0;
            return Some(position);
        }
        self.far(seq, origin, edge)
    }

    /// The same of one that is far from the highest byte seen.
    #[cold]
    fn far(&mut self, seq: Seq, origin: Seq, edge: u64) -> Option<u64> {
        let room = self.max.max(edge) + ROOM;
        let position = seq
            .position(origin, self.max)
            .filter(|&at| at <= self.max + LARGEST_WINDOW && at + LARGEST_WINDOW >= self.una);
        if position.is_none_or(|at| at > room) {
            return self.stray(seq, position);
        }
        self.astray = 0;
        position
    }

    /// A number that no window has room for (RFC 9293 section 3.10.7.4) does not belong to the
    /// stream, unless others agree: the next one, where it can be followed, else several. How far
    /// they have jumped then is not known.
    fn stray(&mut self, seq: Seq, position: Option<u64>) -> Option<u64> {
        self.astray += 1;
        let before = self.astray_at.take().filter(|_| self.astray > 1);
        let agrees =
            |at: u64| before.is_some_and(|before| before != at && before.abs_diff(at) <= ROOM);
        if let Some(at) = position.filter(|&at| agrees(at)) {
            self.astray = 0;
            return Some(at);
        }
        self.strays = self.strays.saturating_add(1);
        self.astray_at = position.into();
        if self.astray < LOST_TRACK {
            return None;
        }
        self.astray = 0;
        if position.is_some() {
            return position;
        }
        self.jumps = self.jumps.saturating_add(1);
        self.origin = Some(seq - self.max as u32);
        Some(self.max)
    }

    /// A SACK block as positions; `None` if it makes no sense.
    pub fn of_block(&self, left: Seq, right: Seq, edge: u64) -> Option<(u64, u64)> {
        let len = u64::from(right.distance_from(left));
        let left = left.position(self.origin?, self.una)?;
        let most = self.max.max(edge) + ROOM;
        let fits = (1..LARGEST_WINDOW).contains(&len)
            && left + len <= most
            && left + LARGEST_WINDOW >= self.una;
        fits.then_some((left, left + len))
    }
}

#[cfg(test)]
mod tests;
