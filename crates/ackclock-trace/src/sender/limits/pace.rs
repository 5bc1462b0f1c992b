//! Who sets the pace: ACKs and the sender itself, or the application.
//!
//! A sender that cwnd limits sends as soon as it may: at once on an ACK, or, if it paces, so long
//! after what it has sent before as its rate says. That rate is more than cwnd in a round trip, for
//! else the window would never be used: 1.2 times that in Linux, and twice in slow start
//! (`tcp_update_pacing_rate`); RFC 9002 section 7.7 asks for the same of QUIC. What leaves later
//! was written only then. BBR paces at the bottleneck's rate, and its window is two round trips of
//! that: what it sends looks written, so that only the bottleneck, where it is known, tells the two
//! apart.
//!
//! An application that writes steadily meets an ACK at times, and a sender that paces is late at
//! times. So the larger part of a few round trips decides.
//!
//! If it writes in step with the round trip, each write meets an ACK. Two things tell it from a
//! window then: what is outstanding does not grow, and what leaves at a time ends with a segment
//! that is not full. A full send buffer has no such ends, as what waits in it is joined (Linux's
//! `tcp_sendmsg_locked`).

use ackclock_tcp::{Span, Time};

use super::super::cells::{Cells, add_at};
use super::super::stream::Stream;
use super::super::stream::moments::HOST_IDLE;

/// Round trips in which a window that is full grows by a segment: by one in each (RFC 5681 section
/// 3.1), or in two where ACKs are delayed and each counts for a segment; Linux's CUBIC by half of
/// one at least as long as it is below the window of the last loss (RFC 9438 section 4.3). Half and
/// twice of it move time between the congestion window and the path in a third of captures.
const FLAT: u64 = 4;

/// How new data leaves.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// The most that this sender had outstanding since it last repaired losses or was idle for
    /// longer than its timer waits (RFC 5681 section 4.1), in bytes: cwnd was as large.
    peak: u32,
    /// What went out last was written only then.
    written: bool,
    /// From the first data on that seems to have waited for an ACK.
    period: Option<Box<Period>>,
}

/// A few round trips: what new data waited for that did not fill the receiver's window.
#[derive(Debug, Default)]
struct Period {
    since: Time,
    /// [`Pace::peak`] at that time.
    peak: u32,
    /// For an ACK, or for the pace of the sender; by what was outstanding on the path.
    held: Cells<Span>,
    /// For the pace of the sender, with most of the receiver's window in use.
    paced: Cells<Span>,
    /// Of both, the sum.
    all: Span,
    /// Of that, behind a segment that was not full.
    ended: Span,
    /// For the application, though there was an ACK not long before.
    written: Span,
    /// The receiver's window was full meanwhile.
    window: bool,
    /// Bytes that went out one behind the other, and those before the last silence.
    burst: u32,
    before: u32,
    found: Paced,
}

/// Time by what was outstanding on the path, which may have been full meanwhile.
#[derive(Clone, Debug, Default)]
pub(super) struct Paced {
    /// Else all was on its way.
    pub even: Cells<Span>,
    /// Else the receiver's window limited the sender.
    pub window: Cells<Span>,
}

/// What new data waited for, as it looks: an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub span: Span,
    /// The most segments outstanding on the path meanwhile.
    pub segments: u64,
    /// The segment before was not full.
    pub ended: bool,
}

impl Pace {
    /// More has gone out: so many bytes are outstanding. What a recovery has left over says nothing
    /// of the window behind it, which may be smaller (RFC 6582 section 3.2 step 3, RFC 6937).
    #[inline]
    pub fn outstanding(&mut self, flight: u32) {
        self.peak = self.peak.max(flight);
    }

    /// Cwnd is lowered, or was after so long without data.
    pub fn lowered(&mut self) {
        self.peak = 0;
    }

    /// New data goes out.
    #[inline]
    pub fn sent(&mut self, at: Time, len: u32, stream: &Stream) {
        if let Some(period) = &mut self.period {
            if stream.moments.since_new_data(at) > HOST_IDLE {
                period.before = std::mem::take(&mut period.burst);
            }
            period.burst = period.burst.saturating_add(len);
        }
    }

    /// New data goes out that nothing had held.
    pub fn free(&mut self) {
        self.written = true;
    }

    /// New data goes out after a wait. `full`: how long cwnd or the path was full, by what was
    /// outstanding.
    #[inline]
    pub fn held(&mut self, at: Time, wait: Wait, stream: &Stream, full: &mut Cells<Span>) {
        let Wait { span, segments, ended } = wait;
        let late = stream.moments.since_ack(at) > stream.latest_answer(at);
        let near = late && stream.outstanding.flight() >= stream.windows.allowed() / 4 * 3;
        let (period, written) = self.period(at, stream, full);
        // Elsewhere than at the sender nobody knows when data left.
        *written = stream.terms.at_sender() && late && period.is_written(at, stream, *written);
        if *written {
            period.written = period.written + span;
            add_at(&mut period.found.even, segments, span);
        } else {
            period.all = period.all + span;
            period.ended = period.ended + if ended { span } else { Span::ZERO };
            let cells = if near { &mut period.paced } else { &mut period.held };
            add_at(cells, segments, span);
        }
    }

    /// New data goes out that the receiver's window had held.
    #[cold]
    pub fn window_was_full(&mut self, at: Time, stream: &Stream, full: &mut Cells<Span>) {
        self.period(at, stream, full).0.window = true;
        self.written = false;
    }

    /// The period that this time is in.
    // New data goes through this.
    #[inline(always)]
    fn period(
        &mut self,
        at: Time,
        stream: &Stream,
        full: &mut Cells<Span>,
    ) -> (&mut Period, &mut bool) {
        let Pace { peak, written, period } = self;
        let begin = || Box::new(Period { since: at, peak: *peak, ..Period::default() });
        let period = period.get_or_insert_with(begin);
        let late = at.since(period.since) > stream.timers.srtt().times(FLAT);
        let grew = || *peak >= period.peak.saturating_add(stream.terms.mss);
        let away = !stream.terms.at_sender();
        if late || *peak < period.peak || away && grew() {
            let flat = late && !grew() && (away || period.ended.times(2) > period.all);
            period.settle(flat, full);
            (period.since, period.peak) = (at, *peak);
        }
        (period, written)
    }

    /// At the end, or at the first loss: all until now.
    pub fn settle(&mut self, full: &mut Cells<Span>) -> Paced {
        self.period.take().map_or_else(Paced::default, |mut period| {
            period.settle(false, full);
            period.found
        })
    }
}

impl Period {
    /// Whether what goes out now, late, was written only now; `last`: what went out last was.
    #[inline]
    fn is_written(&self, at: Time, stream: &Stream, last: bool) -> bool {
        let since = stream.moments.since_new_data(at);
        let paced = || u128::from(stream.timers.srtt().0) * u128::from(self.before);
        let late = || u128::from(since.0) * u128::from(self.peak) >= paced();
        last || since > HOST_IDLE && self.before > 0 && late()
    }

    /// A sender that cwnd limits has more outstanding with each round trip (RFC 5681 section 3.1),
    /// and one that has just repaired losses has lowered it. If what is outstanding stays `flat`,
    /// the application writes at a steady rate, or the path is full. At the sender that takes ends
    /// of writes, too: there a full send buffer (Linux's `tcp_wmem`) counts as cwnd.
    ///
    /// Cwnd is as large as the receiver's window if that was full. What is paced below it then
    /// waits for that window in the end.
    #[cold]
    fn settle(&mut self, flat: bool, full: &mut Cells<Span>) {
        let Period { held, paced, found, .. } = self;
        let even = flat || self.written > self.all;
        let to = if even { &mut found.even } else { full };
        held.empty_into(to);
        paced.empty_into(if self.window { &mut found.window } else { to });
        (self.written, self.all, self.ended, self.window) = Default::default();
    }
}
