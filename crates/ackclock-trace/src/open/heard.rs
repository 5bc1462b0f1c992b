//! Which ACKs a sender had heard when it sent what passes: its timestamps echo the newest one (RFC
//! 7323 section 4.3).

use ackclock_tcp::{Span, Timestamps};

use crate::sender::Acked;
use crate::standards::LEAST_RTO;

/// So many new segments go out at most without an ACK long after one was due: two of F-RTO (RFC
/// 5682 section 2.1), and a tail loss probe. A sender that goes on has heard it.
const MOST_UNHEARD: u8 = 4;

/// What the timestamps of one sender have echoed.
#[derive(Default)]
pub(super) struct Heard {
    told: Told,
    /// The newest timestamp of an ACK that has reached the sender.
    last: Option<u32>,
    /// The newest one with data that has passed.
    data: Option<u32>,
    /// New segments that went out while an ACK was long due, by their echoes.
    unheard: u8,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Told {
    /// No ACK without data was echoed so far: a host may take timestamps from data alone.
    #[default]
    Unknown,
    Yes,
    No,
}

impl Heard {
    /// Timestamps of this sender say which ACKs it has heard.
    pub fn is_told(&self) -> bool {
        self.told == Told::Yes
    }

    /// An ACK passes on its way to the sender.
    pub fn passes(&mut self, acked: &Acked) {
        if acked.with_data {
            self.data = acked.stamp.or(self.data);
        }
    }

    /// The sender echoes this. `waiting`: what has passed, and is not known to have reached it.
    pub fn learn<'a>(&mut self, echo: u32, waiting: impl IntoIterator<Item = &'a Acked>) {
        if self.told == Told::Unknown && self.data != Some(echo) {
            let is_old = |a: &&Acked| a.stamp.is_some_and(|stamp| !is_newer(stamp, echo));
            let mut old = waiting.into_iter().take_while(is_old);
            if self.last == Some(echo) || old.any(|a| a.stamp == Some(echo)) {
                self.told = Told::Yes;
            }
        }
    }

    /// Whether the next ACK has reached the sender, which echoes this; `None` if that does not
    /// say. Of several with one timestamp the first has.
    pub fn has(&self, next: &Acked, echo: u32) -> Option<bool> {
        let stamp = next.stamp.filter(|_| self.is_told())?;
        if stamp != echo {
            Some(!is_newer(stamp, echo))
        } else {
            (self.last != Some(echo)).then_some(true)
        }
    }

    /// This ACK has reached the sender.
    pub fn reached(&mut self, acked: &Acked) {
        let stamp = acked.stamp.filter(|stamp| self.last.is_none_or(|last| is_newer(*stamp, last)));
        self.last = stamp.or(self.last);
        self.unheard = 0;
    }

    /// New data goes out, though the next ACK is not echoed, which was due so long ago.
    pub fn goes_on(&mut self, overdue: Span) {
        self.unheard = self.unheard.saturating_add(u8::from(overdue > LEAST_RTO));
        if self.unheard > MOST_UNHEARD {
            self.told = Told::No;
        }
    }
}

fn is_newer(stamp: u32, than: u32) -> bool {
    Timestamps::is_older(than, stamp)
}

#[cfg(test)]
mod tests;
