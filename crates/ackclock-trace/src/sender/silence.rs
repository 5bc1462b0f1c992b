//! Away from the sender: the last silence with nothing outstanding that data has ended, and what
//! shows later that it was none of the application's.

use ackclock_tcp::{Span, Time, Timestamps};
use thin_vec::ThinVec;

use super::input::Sent;
use super::lost_before::is_most;
use super::rate::TICK;
use super::stream::Stream;
use super::stream::timers::{Timers, nearly};
use crate::standards::{LEAST_RTO_OF_RFC, MOST_EXPIRIES, expiries};

/// Segments of the largest initial window in use (RFC 6928).
const INITIAL_WINDOW: u64 = 10;

#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// When it ended, and with which byte.
    ended: Time,
    position: u64,
    /// The timestamp of that.
    tsval: Option<u32>,
    /// How long it was, less what was known of its timers when it ended.
    span: Span,
    /// What of that a timer has taken, as is known since.
    taken: Span,
    /// The first byte that has come again since, how often it has, and in which frame it did last.
    again: u64,
    times: u32,
    frame: u64,
    /// Data from before the silence has come again since.
    older: bool,
    /// Of silences in which a timer has expired by the numbers of packets: when each ended, and for
    /// how long none is known to have run.
    untold: ThinVec<(Time, Span)>,
    doubt: Option<Doubt>,
    /// When a keep-alive last went out.
    alive: Time,
}

/// A silence in which a timer has expired if the number of the packet that ended it tells that some
/// were missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doubt {
    id: u16,
    pub frame: u64,
    pub start: Time,
    pub end: Time,
    /// What a timer took of it.
    pub taken: Span,
}

impl Silence {
    /// This ends a silence since `start`, of which a timer took so much if its number tells.
    pub fn doubts(&mut self, sent: &Sent, start: Time, taken: Span) {
        let (frame, end) = (sent.frame, sent.at);
        self.doubt = sent.ip_id.map(|id| Doubt { id, frame, start, end, taken });
    }

    /// The number of this packet tells.
    pub fn settles(&mut self, id: u16) -> Option<Doubt> {
        let doubt = self.doubt.take_if(|doubt| doubt.id == id)?;
        self.untold.push((doubt.end, doubt.end.since(doubt.start) - doubt.taken));
        Some(doubt)
    }

    /// A keep-alive goes out.
    pub fn keeps_alive(&mut self, at: Time) {
        self.alive = at;
    }

    /// When one last went out.
    pub fn alive(&self) -> Time {
        self.alive
    }

    /// Data goes out with nothing outstanding after so long, of which timers took `repaired`.
    pub fn ends(&mut self, sent: &Sent, span: Span, repaired: Span) {
        let (ended, position) = (sent.at, sent.position);
        (self.ended, self.position, self.span) = (ended, position, span - repaired);
        (self.taken, self.times, self.tsval) = (Span::ZERO, 0, sent.tsval);
        self.older = false;
        if repaired > Span::ZERO {
            self.untold.push((ended, self.span));
        }
    }

    /// Of silences in which a timer has expired by the numbers of packets: when each ended, and for
    /// how long none is known to have run.
    pub fn take_untold(&mut self) -> ThinVec<(Time, Span)> {
        std::mem::take(&mut self.untold)
    }

    /// When the last one ended.
    pub fn ended(&self) -> Time {
        self.ended
    }

    /// Data comes again. No ACK of what has ended the silence can have let it go so soon: a timer
    /// has sent it before that came, which was held back on its way. Returns how much more of the
    /// silence the timer has taken, and whether it is known to have taken less than half.
    ///
    /// Until it has expired so often, it takes its interval, doubled each time (RFC 6298 section
    /// 5.5), and less than until it would have once more. A longer silence is the application's at
    /// first, and so is what was before the first of both was written, by their timestamps.
    pub fn comes_again(&mut self, sent: &Sent, timers: &Timers) -> (Span, bool) {
        if !self.is_soon(sent, timers) || sent.position < self.position || sent.payload() == 0 {
            return (Span::ZERO, false);
        }
        if self.times == 0 {
            self.again = sent.position;
        }
        self.times += u32::from(self.again == sent.position);
        self.frame = sent.frame;
        let rto = timers.rto();
        let latest = expiries(rto.max(LEAST_RTO_OF_RFC), self.times + 1);
        let taken = match self.span {
            span if span < nearly(rto) => Span::ZERO,
            span if span <= latest => span,
            span => span.min(expiries(rto, self.times)),
        };
        let written = self.since_written(sent, timers);
        let taken = taken.min(written.unwrap_or(taken));
        let more = taken - self.taken;
        self.taken = self.taken.max(taken);
        (more, written.is_some() && !is_most(self.taken, self.span))
    }

    fn is_soon(&self, sent: &Sent, timers: &Timers) -> bool {
        self.span > Span::ZERO && sent.at.since(self.ended) < timers.least_trip()
    }

    /// Data comes again as soon. Timers send as much as a full segment has (RFC 5681 section 3.1),
    /// from the first byte on, or the last segment (RFC 8985 section 7.3), and nothing else until
    /// an ACK comes. What lies between, something else has made go at once, and what came again
    /// before it: no timer is known to have expired. Only where older data has come again, its ACK
    /// may have let this go, held back as well. Returns what was thought to be a timer's.
    pub fn is_refuted(&mut self, sent: &Sent, stream: &Stream) -> Option<Span> {
        let Stream { timers, outstanding, terms, .. } = stream;
        if !self.is_soon(sent, timers) {
            return None;
        }
        self.older |= sent.position < self.position;
        let full = self.position + u64::from(terms.mss);
        let between = sent.end() > full && sent.end() < outstanding.max();
        // A packet may have been several segments when it went out.
        let refuted = between && !self.older && sent.frame != self.frame && sent.payload() > 0;
        refuted.then(|| {
            self.span = Span::ZERO;
            std::mem::take(&mut self.taken)
        })
    }

    /// How long after what ended the silence this went out, by a clock that counts milliseconds, as
    /// most do: by slower ones the timer had not expired.
    fn since_written(&self, sent: &Sent, timers: &Timers) -> Option<Span> {
        let span = TICK.times(Timestamps::ticks_since(self.tsval?, sent.tsval?).into());
        (span >= nearly(timers.rto())).then_some(span)
    }
}

/// Where what was lost in a silence ends that ends with `sent`: so many packets were lost before
/// the capture. Some were what the timer had sent before, and all others data, which goes out again
/// from here on: this is the first of them, and the others are taken to be as long, for what is
/// shorter than a segment is so because no more was written. `waited`: how long the silence lasted.
pub(super) fn end_of_lost(sent: &Sent, packets: u16, waited: Span, timers: &Timers) -> u64 {
    let others = u64::from(packets.saturating_sub(before(waited, timers)).saturating_sub(1));
    sent.end() + others * u64::from(sent.len)
}

/// How often the timer has sent something before, `waited` after it was set. It is the earliest in
/// use, so that none has sent more.
fn before(waited: Span, timers: &Timers) -> u16 {
    (2..=MOST_EXPIRIES + 1).take_while(|n| expiries(timers.rto(), *n) <= waited).count() as u16
}

/// Whether so many packets may have been lost in a silence: what a window lets go that has doubled
/// since it was seen, what the timer has sent of it, and an ACK. Else the numbers are those of
/// other connections, too.
pub(super) fn may_be_lost(packets: u16, waited: Span, stream: &Stream) -> bool {
    let segments = stream.windows.cwnd() * 2 / u64::from(stream.terms.mss.max(1));
    let by_timer = u64::from(before(waited, &stream.timers)) + 1;
    u64::from(packets) <= segments.max(INITIAL_WINDOW) + by_timer + 1
}
