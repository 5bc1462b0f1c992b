//! What passes of a sender, kept for hypotheses.

use super::Model;
use crate::hypotheses::{self, Entry};
use crate::open::budget::Places;
use crate::open::send_clock::SendClock;
use crate::sender::Arrivals;

/// What passed, and what was known before.
#[derive(Default)]
pub(super) struct Log {
    pub entries: Vec<Entry>,
    /// Bytes that other connections had outstanding on the path, from each entry at which that was
    /// another number than before.
    pub others: Vec<(usize, u32)>,
    /// There was no place for more of them.
    pub is_over: bool,
    /// When the sender sent what passes.
    pub clock: SendClock,
    /// Where nothing says when that was, what arrives says how fast the bottleneck is.
    pub arrivals: Arrivals,
}

impl Log {
    /// Whether something was sent again, which hypotheses explain.
    #[cold]
    fn repeats(&self) -> bool {
        let mut next = 0;
        self.entries.iter().filter_map(Entry::sent).any(|sent| {
            let again = sent.position < next;
            next = next.max(sent.end());
            again
        })
    }
}

impl Model {
    /// Keeps what passes, for hypotheses.
    #[inline]
    pub(super) fn keep(&mut self, entry: impl FnOnce() -> Entry, places: &mut Places) {
        let Some(log) = self.log.as_mut().filter(|log| !log.is_over) else { return };
        let len = log.entries.len();
        let is_full = len >= hypotheses::MOST;
        log.is_over = is_full || !places.take_spare();
        if log.is_over {
            if !is_full && !log.repeats() {
                // Others have more use for its places.
                places.give_back(len);
                self.log = None;
            }
            return;
        }
        if len == log.entries.capacity() {
            // By a half, as open connections are many. Most clients send one request, and get ACKs
            // for the handshake and for that.
            log.entries.reserve_exact((len / 2).max(2));
        }
        let entry = entry();
        let others = self.sender.others(entry.at());
        if log.others.last().map_or(0, |(_, last)| *last) != others {
            log.others.reserve_exact(usize::from(log.others.is_empty()));
            log.others.push((len, others));
        }
        log.entries.push(entry);
    }
}
