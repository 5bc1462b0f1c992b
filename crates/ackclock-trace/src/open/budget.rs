//! What all connections share, so that memory stays bounded whatever the capture.

use crate::copies::Copies;
use crate::settings::Detail;

/// How many packets may wait in all connections together.
const MOST_WAITING: usize = 1 << 20;

/// What is left of the memory that all connections share.
pub(crate) struct Budget {
    pub(super) places: Places,
    /// The last packets of all.
    pub(super) seen: Copies,
    detail: Detail,
    /// Packets of connections with events so far, each of which is about one event.
    events: usize,
}

impl Budget {
    pub fn new(detail: &Detail) -> Budget {
        let mut detail = detail.clone();
        if let Detail::Of(numbers) = &mut detail {
            numbers.sort_unstable();
        }
        Budget { places: Places::default(), seen: Copies::default(), detail, events: 0 }
    }

    /// Whether the events of the connection with this number are kept.
    pub fn keeps_events(&self, number: u64) -> bool {
        match &self.detail {
            Detail::None => false,
            Detail::UpTo(most) => self.events < *most,
            Detail::Of(numbers) => numbers.binary_search(&number).is_ok(),
        }
    }

    pub fn count_event(&mut self) {
        self.events += 1;
    }
}

/// Places for packets that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    taken: usize,
}

impl Places {
    /// Takes a place; `false` if there is none left.
    #[inline]
    pub fn take(&mut self) -> bool {
        let room = self.taken < MOST_WAITING;
        self.taken += usize::from(room);
        room
    }

    /// Takes a place for a packet that may as well be forgotten, as long as three quarters of them
    /// are left.
    #[inline]
    pub fn take_spare(&mut self) -> bool {
        self.taken < MOST_WAITING / 4 && self.take()
    }

    #[inline]
    pub fn give_back(&mut self, places: usize) {
        self.taken = self.taken.saturating_sub(places);
    }
}
