//! Stalls: times without progress longer than max(2 SRTT, RTO / 2), with the RTO not backed off.
//!
//! - *While something is outstanding*, progress is an ACK that acknowledges more. A stall lasts
//!   from one to the next, or from when the first byte went out; a SYN counts as a byte. What the
//!   sender did meanwhile gives the cause: its timer expired, it sent a tail loss probe, it
//!   retransmitted something else, or it only waited for an ACK that came late. Where the only byte
//!   outstanding asks for a closed window, the receiver is the cause. Where a FIN alone is
//!   outstanding, nobody waits for anything, and that is no stall; nor is it known of what is
//!   acknowledged and was not captured when it went out.
//! - *While nothing is outstanding*, it is the sender's turn. Its turn begins when the last byte
//!   was acknowledged, or when the other end's last data reached it, if that is later; it lasts
//!   until it sends something. If it lasts too long, the cause is the receiver if its window was
//!   closed or had no room for a segment meanwhile, a timeout if the numbers of its packets say
//!   that some were lost before the capture, and else the application.
//!
//! So between two requests on an idle connection only the client stalls, and while the server
//! thinks only the server does. Where both ends have something outstanding, both may stall at once:
//! whoever adds stalls up must count such time once. Nobody stalls before the first byte, or after
//! the last one is acknowledged.

use ackclock_tcp::{Span, Time, TimeoutClass};
use thin_vec::ThinVec;

use super::stream::timers::Timers;
use crate::connection::{Kind, Retransmission, Stall, StallCause, Timeout};

/// Bits of [`Stalls::carries_ack`].
const NOW: u8 = 1;
const LAST: u8 = 2;
const PAID: u8 = 4;

/// Whether what is outstanding began with a byte that asks for a closed window (RFC 9293 section
/// 3.8.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Probing {
    #[default]
    No,
    Closed,
    /// The window is open now, but the byte is not acknowledged.
    Opened,
}

/// What an end that sends data had acknowledged of the other end's before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owed {
    /// All of it, as was seen.
    Nothing,
    /// Not all.
    Some,
    /// Not all, but now all.
    Carried,
}

#[derive(Debug)]
pub(crate) struct Stalls {
    /// A gap in the capture ended here.
    gap: Time,
    /// A SYN waits for its ACK.
    opening: bool,
    probing: Probing,
    /// When the other end's data last reached this one.
    peer_data: Time,
    /// What goes out [`NOW`] is the first that acknowledges all of that, and so was what ended the
    /// [`LAST`] turn of which no packet is missing. [`PAID`]: an ACK of all of it was seen before.
    /// In one byte: open connections are many.
    carries_ack: u8,
    /// The smallest window offered since the last progress.
    least_window: u64,
    /// Probes with new data by the last progress.
    probes: u32,
    waiting: Waiting,
    found: ThinVec<Wait>,
}

/// A stall. Its cause may depend on what is found only at the end.
#[derive(Debug)]
struct Wait {
    start: Time,
    end: Time,
    frame: u64,
    came_twice: bool,
    alone: bool,
    newest: Time,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    Known(StallCause),
    /// Something was outstanding: what was sent meanwhile decides. `probed`: a probe with new data
    /// went out. `closed`: what was outstanding asked for a closed window. `unseen`: the sender had
    /// got an ACK that the capture does not have.
    Outstanding {
        probed: bool,
        closed: bool,
        unseen: bool,
    },
}

/// Who waits for an ACK of what is outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Waiting {
    #[default]
    Sender,
    /// Only a FIN does, or what the capture does not have.
    Nobody,
    /// The sender has got one that the capture does not have.
    Unseen,
}

impl Default for Stalls {
    fn default() -> Stalls {
        Stalls {
            gap: Time::ZERO,
            opening: false,
            probing: Probing::default(),
            peer_data: Time::ZERO,
            carries_ack: 0,
            least_window: u64::MAX,
            probes: 0,
            waiting: Waiting::default(),
            found: ThinVec::new(),
        }
    }
}

impl Stalls {
    /// A SYN goes out.
    pub fn opening(&mut self) {
        self.opening = true;
    }

    /// An ACK comes. Returns whether it is the first one, which acknowledges the SYN.
    #[inline]
    pub fn opened(&mut self) -> bool {
        std::mem::take(&mut self.opening)
    }

    /// An ACK is to be taken in, or the capture has ended.
    #[inline]
    pub fn waited(&mut self, waiting: Waiting) {
        self.waiting = waiting;
    }

    /// The other end's data reached this one, if any has: until then it had nothing to answer.
    /// `owed`: when what goes out next did so.
    #[inline]
    pub fn peer_data(&mut self, at: Time, owed: Owed) {
        self.peer_data = at;
        let now = match owed {
            Owed::Nothing => PAID,
            Owed::Some => 0,
            Owed::Carried => NOW,
        };
        self.carries_ack = (self.carries_ack & LAST) | now;
    }

    /// An ACK of the other end's data was not seen before what goes out now.
    pub fn owes_ack(&self) -> bool {
        self.carries_ack & PAID == 0
    }

    /// Whether what goes out carries an ACK that had waited for it, as did what ended the turn
    /// before. Who pauses for longer than an ACK may wait (RFC 5681 section 4.2) sends it alone.
    pub fn carries_acks(&self) -> bool {
        self.carries_ack & (NOW | LAST) == NOW | LAST
    }

    /// The turn ends with what goes out, before which nothing is missing.
    pub fn ends_turn(&mut self) {
        let last = if self.carries_ack & NOW > 0 { LAST } else { 0 };
        self.carries_ack = (self.carries_ack & !LAST) | last;
    }

    /// The other end has sent data at this time or later.
    #[inline]
    pub fn is_asked(&self, since: Time) -> bool {
        self.peer_data >= since && self.peer_data > Time::ZERO
    }

    /// Since the other end's data last reached this one.
    pub fn since_asked(&self, at: Time) -> Span {
        at.since(self.peer_data)
    }

    /// The capture has a gap that ends now.
    pub fn gap(&mut self, until: Time) {
        self.gap = until;
    }

    /// The capture has a gap that ended after this.
    pub fn has_gap_since(&self, time: Time) -> bool {
        self.gap > time
    }

    /// What is outstanding began with a byte that asks for a closed window.
    #[inline]
    pub fn is_probing_window(&self) -> bool {
        self.probing != Probing::No
    }

    /// The window has opened. What asks for it may have to go again: that is another stall.
    #[cold]
    pub fn gets_room(&mut self, now: &Now<'_>) {
        if self.probing == Probing::Closed {
            self.probing = Probing::Opened;
            let cause = Cause::Outstanding { probed: false, closed: true, unseen: false };
            self.add(now.progress, now, cause);
        }
    }

    /// The window has opened for the byte that asks for it, which is not acknowledged.
    pub fn has_got_room(&self) -> bool {
        self.probing == Probing::Opened
    }

    /// That byte goes once more, as a timer has expired since the window opened.
    #[cold]
    pub fn asks_again(&mut self, opened: Time, now: &Now<'_>) {
        let expired = StallCause::Timeout(TimeoutClass::Unknown);
        let closed = self.found.last().filter(|last| last.is_closed_window());
        let opened = closed.map_or(opened, |closed| closed.end);
        self.add(opened, now, Cause::Known(expired));
    }

    /// An ACK has been taken in that offers this window.
    #[inline]
    pub fn offered(&mut self, window: u64) {
        self.least_window = self.least_window.min(window);
    }

    /// Something goes out with nothing outstanding.
    pub fn sender_resumes(&mut self, now: &Now<'_>, resumed: &Resumed) {
        let &Resumed { is_first, fin_alone, room, probes_window, was_lost, alive } = resumed;
        self.probing = if probes_window { Probing::Closed } else { Probing::No };
        // Before the first byte, a sender only has something to answer if the other end has sent
        // something. After the last one it has nothing.
        if fin_alone || is_first && self.peer_data == Time::ZERO {
            return;
        }
        let cause = match self.least_window {
            0 => StallCause::ZeroWindow,
            window if window < room => StallCause::ReceiveWindow,
            _ if was_lost => StallCause::Timeout(TimeoutClass::Unknown),
            _ => StallCause::Application,
        };
        let start = match cause {
            StallCause::Application => self.turn(now.progress),
            StallCause::Timeout(_) => self.turn(now.progress).max(alive),
            _ => now.progress,
        };
        self.add(start, now, Cause::Known(cause));
    }

    /// When the turn of this end began in which it goes on now.
    pub fn turn(&self, progress: Time) -> Time {
        progress.max(self.peer_data)
    }

    /// What ended the silence between these, in that frame, had been lost before the capture.
    pub fn was_lost(&mut self, start: Time, end: Time, frame: u64) {
        let lost = Cause::Known(StallCause::Timeout(TimeoutClass::Unknown));
        let place = self.found.partition_point(|wait| wait.end < end);
        match self.found.get_mut(place).filter(|wait| wait.end == end) {
            Some(Wait { cause, .. }) if matches!(cause, Cause::Known(StallCause::Application)) => {
                *cause = lost;
            }
            Some(_) => {}
            // Before its first byte nobody was known to wait.
            None => {
                let (came_twice, alone, newest, cause) = (false, true, end, lost);
                let wait = Wait { start, end, frame, came_twice, alone, newest, cause };
                self.found.insert(place, wait);
            }
        }
    }

    /// What ended a silence then had been held back, so that this was none of the application's; or
    /// it had not been after all.
    pub fn was_held_back(&mut self, ended: Time, held: bool) {
        let [before, after] = [StallCause::Application, StallCause::Network];
        let [before, after] = if held { [before, after] } else { [after, before] };
        if let Some(Wait { cause: Cause::Known(cause), end, .. }) = self.found.last_mut()
            && *end == ended
            && *cause == before
        {
            *cause = after;
        }
    }

    /// Probes with new data until `una` last moved.
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// `una` has moved. `probes`: probes with new data so far. `measures`: no round trip is known
    /// yet, and nothing was retransmitted.
    #[inline]
    pub fn progressed(&mut self, now: &Now<'_>, probes: u32, measures: bool) {
        // The first round trip is what others are measured by, however long it is.
        if now.at.since(now.progress) > now.timers.quiet()
            && !measures
            && self.waiting != Waiting::Nobody
        {
            let (probed, closed) = (probes > self.probes, self.probing == Probing::Closed);
            let unseen = self.waiting == Waiting::Unseen;
            let cause = Cause::Outstanding { probed, closed, unseen };
            // Where the window has opened meanwhile, one has ended then.
            let before = self.found.last().map_or(Time::ZERO, |last| last.end);
            self.add(now.progress.max(before), now, cause);
        }
        self.probing = Probing::No;
        self.probes = probes;
        self.least_window = u64::MAX;
    }

    fn add(&mut self, start: Time, now: &Now<'_>, cause: Cause) {
        // A probe of a closed window interrupts nothing.
        let closed = matches!(cause, Cause::Outstanding { closed: true, .. });
        let last = self.found.last_mut().filter(|last| closed && last.end == start);
        if let Some(last) = last.filter(|last| last.is_closed_window()) {
            (last.end, last.frame, last.came_twice) = (now.at, now.frame, now.came_twice);
            last.newest = now.newest;
            return;
        }
        let least = now.timers.srtt().times(2).max(Span(now.timers.rto().0 / 2));
        if now.at.since(start) <= least {
            return;
        }
        let cause = if self.gap > start { Cause::Known(StallCause::CaptureGap) } else { cause };
        let &Now { at: end, frame, came_twice, newest, .. } = now;
        let alone = self.peer_data <= start;
        self.found.push(Wait { start, end, frame, came_twice, alone, newest, cause });
    }

    /// A SYN waits for its ACK.
    pub fn is_opening(&self) -> bool {
        self.opening
    }

    /// At the end: all stalls with their causes.
    pub fn into_all(self, timeouts: &[Timeout], retransmissions: &[Retransmission]) -> Vec<Stall> {
        self.found.iter().map(|wait| wait.stall(timeouts, retransmissions)).collect()
    }
}

/// The packet at hand, and what came before it.
pub(crate) struct Now<'a> {
    pub at: Time,
    /// 0 at the end of the capture.
    pub frame: u64,
    /// The last progress.
    pub progress: Time,
    pub timers: &'a Timers,
    /// It is an ACK that reports that something has come twice (D-SACK).
    pub came_twice: bool,
    /// When new data or a FIN last went out.
    pub newest: Time,
}

/// What goes out with nothing outstanding.
pub(crate) struct Resumed {
    /// It is the first byte of the stream.
    pub is_first: bool,
    /// A FIN without data.
    pub fin_alone: bool,
    /// The smallest window that lets a segment go, in bytes.
    pub room: u64,
    /// It asks for a closed window.
    pub probes_window: bool,
    /// For most of that time it was lost before the capture, until a timer retransmitted it.
    pub was_lost: bool,
    /// When a keep-alive last went out: nothing had been lost.
    pub alive: Time,
}

impl Wait {
    fn is_closed_window(&self) -> bool {
        matches!(self.cause, Cause::Known(StallCause::ZeroWindow))
    }

    fn stall(&self, timeouts: &[Timeout], retransmissions: &[Retransmission]) -> Stall {
        let Wait { start, end, frame, came_twice, alone, newest, .. } = *self;
        let (cause, timeout) = (StallCause::Unknown, None);
        let mut stall = Stall { start, end, frame, cause, timeout, came_twice, alone, newest };
        let (probed, unseen) = match self.cause {
            Cause::Known(cause) => return Stall { cause, ..stall },
            Cause::Outstanding { closed: true, .. } => {
                return Stall { cause: StallCause::ZeroWindow, ..stall };
            }
            Cause::Outstanding { probed, unseen, .. } => (probed, unseen),
        };
        let expired = timeouts.partition_point(|timeout| timeout.at <= end).checked_sub(1);
        if let Some((index, timeout)) = expired.and_then(|i| Some((i, timeouts.get(i)?)))
            && timeout.at > start
        {
            (stall.cause, stall.timeout) = (StallCause::Timeout(timeout.class), Some(index));
            return stall;
        }
        let first = retransmissions.partition_point(|r| r.at <= start);
        let within = || retransmissions.iter().skip(first).take_while(|r| r.at <= end);
        let mut sent = within().map(|r| r.kind).peekable();
        let any = sent.peek().is_some();
        stall.cause = if within().any(|r| r.syn) {
            // The timer of the SYN expired at the other end, and the SYN/ACK answers it once more.
            StallCause::Timeout(TimeoutClass::Handshake)
        } else if probed || sent.clone().any(|kind| kind == Kind::TailLossProbe) {
            StallCause::TailLossProbe
        } else if sent.any(|kind| kind == Kind::ProbeOrTimeout) {
            StallCause::ProbeOrTimeout
        } else if any {
            StallCause::Recovery
        } else if unseen {
            StallCause::CaptureGap
        } else if frame > 0 {
            StallCause::Network
        } else {
            StallCause::Unknown
        };
        stall
    }
}
