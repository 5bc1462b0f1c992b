//! Whether the receiver's application reads what has come, or its window waits for that.
//!
//! Who reads what comes lets every second full segment be acknowledged (RFC 5681 section 4.2), and
//! the window moves with each ACK. If the window cannot move, Linux acknowledges late, and all at
//! once (`__tcp_ack_snd_check`): by then more than half of the buffer was full of what the
//! application had not read, and the wait is for that. Linux lets a buffer grow to twice of what is
//! read in a round trip (`tcp_rcv_space_adjust`), so that just after each read less than half of it
//! may be full.
//!
//! Frames that come many at a time are acknowledged so, too. So the receiver must have left that
//! much unread before, as it said itself: a read that doubles the window is told at once
//! (`tcp_cleanup_rbuf`).

use ackclock_tcp::Span;

use super::super::cells::bytes;
use super::super::input::Acked;
use super::super::stream::Stream;
use super::super::stream::moments::HOST_BUSY;
use super::Limits;

/// Of so many late ACKs one at least has to come after the receiver has said what it has not read:
/// who has paused once reads what comes all the same.
const OFTEN: u32 = 10;

impl Limits {
    /// An ACK is about to be taken in.
    #[inline]
    pub fn hears_of_room(&mut self, a: &Acked, stream: &Stream) {
        let unread = is_unread(stream) && stream.moments.since_ack(a.at) > HOST_BUSY;
        self.unread = self.unread.saturating_add(unread.into());
        if stream.rwnd_is_full() && is_late_and_all_at_once(a, stream) {
            self.late = self.late.saturating_add(1);
            if self.unread > self.late / OFTEN {
                let pending = self.pending.window + self.pending.shut;
                self.waits.get_or_insert_default().pending = pending;
            }
        }
    }

    /// For so long the receiver's window has had no room.
    pub(super) fn note_rwnd_full(&mut self, span: Span, stream: &Stream) {
        let offered = stream.windows.offered();
        self.offered = self.offered.max(bytes(offered));
        if is_unread(stream) {
            let waits = self.waits.get_or_insert_default();
            waits.pending = waits.pending + span;
        }
    }
}

/// Whether more than half of the receiver's buffer is full, which is as large as the largest window
/// before.
#[inline]
fn is_unread(stream: &Stream) -> bool {
    stream.windows.offered() < stream.windows.most_offered() / 2
}

/// Whether this ACK covers more than RFC 5681 section 4.2 lets wait for one, more than a moment
/// after it has come, and most of the buffer would be full without what was read with it.
fn is_late_and_all_at_once(a: &Acked, stream: &Stream) -> bool {
    let (outstanding, windows) = (&stream.outstanding, &stream.windows);
    let covered = a.ack.saturating_sub(outstanding.una());
    let room = windows.offered().saturating_sub(covered);
    let late = stream.timers.min_rtt() + HOST_BUSY;
    let head = outstanding.head().filter(|head| head.again == 0 && !head.is_hole());
    a.timed
        && covered > 2 * u64::from(stream.terms.mss)
        && room < windows.most_offered() / 2
        && head.is_some_and(|head| a.at.since(head.first_at) > late)
}
