//! What kept a socket from sending faster, and for how long.

use ackclock_tcp::{Span, State, Time};

/// What keeps a socket from sending more at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// Everything that was written is acknowledged.
    #[default]
    Application,
    /// Everything that was written is on its way.
    InFlight,
    /// The same, and the application has more for which the send buffer has no room.
    SendBuffer,
    /// The receiver's window.
    Receiver,
    /// The congestion window.
    Cwnd,
    /// A loss is being repaired.
    Recovery,
}

impl Limit {
    /// All of them.
    pub const ALL: [Limit; 6] = [
        Limit::Application,
        Limit::InFlight,
        Limit::SendBuffer,
        Limit::Receiver,
        Limit::Cwnd,
        Limit::Recovery,
    ];

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Application => "application",
            Limit::InFlight => "in_flight",
            Limit::SendBuffer => "send_buffer",
            Limit::Receiver => "receive_window",
            Limit::Cwnd => "congestion_window",
            Limit::Recovery => "recovery",
        }
    }

    /// What it is for a sender that has sent all that it may.
    pub(crate) fn of(sender: &State, wants_write: bool) -> Limit {
        if sender.snd_una >= sender.written {
            Limit::Application
        } else if sender.window_edge <= sender.snd_una {
            // A receiver that has shrunk its window lets nothing pass, lost or not: what the
            // timer sends probes the window (Linux `tcp_retransmit_timer`).
            Limit::Receiver
        } else if sender.recovering() {
            Limit::Recovery
        } else if sender.snd_max >= sender.written {
            if wants_write { Limit::SendBuffer } else { Limit::InFlight }
        } else if sender.window_edge < sender.snd_max + sender.mss {
            Limit::Receiver
        } else {
            Limit::Cwnd
        }
    }
}

/// For how long each was the one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    times: [Span; Limit::ALL.len()],
    now: Limit,
    since: Time,
}

impl Limits {
    pub(crate) fn new(now: Time) -> Limits {
        Limits { since: now, ..Limits::default() }
    }

    /// From now on it is `limit`.
    pub(crate) fn set(&mut self, now: Time, limit: Limit) {
        let time = &mut self.times[self.now as usize];
        *time = *time + now.since(self.since);
        (self.now, self.since) = (limit, now);
    }

    /// For how long it was this one.
    pub fn time(&self, limit: Limit) -> Span {
        self.times[limit as usize]
    }

    /// All of them together.
    pub fn total(&self) -> Span {
        self.times.into_iter().fold(Span::ZERO, |sum, time| sum + time)
    }

    /// What came after `earlier`, a moment of the same socket.
    pub fn since(&self, earlier: &Limits) -> Limits {
        let mut after = *self;
        let times = after.times.iter_mut().zip(earlier.times);
        times.for_each(|(time, before)| *time = Span(time.0.saturating_sub(before.0)));
        after
    }

    /// The one that was it for longest.
    pub fn most(&self) -> Limit {
        let longest = |a: Limit, b: Limit| if self.time(b) > self.time(a) { b } else { a };
        Limit::ALL.into_iter().reduce(longest).unwrap_or_default()
    }
}
