//! The first packets of a connection whose SYNs, or options of theirs, were not seen. They wait
//! until SMSS and the place of the capture can be learned from them.

use std::cmp::Reverse;

use thin_vec::ThinVec;

use super::budget::Places;
use super::input::Input;

/// How many packets wait at most.
const MOST: usize = 32;

pub(super) struct WarmUp {
    state: State,
    /// What waits, and which end's model it is for.
    waiting: ThinVec<(usize, Input)>,
    /// SMSS of each end as learned from sizes.
    mss: [Option<u16>; 2],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing has to wait.
    Unneeded,
    Waiting,
    Over,
}

impl WarmUp {
    pub fn new(needed: bool) -> WarmUp {
        let state = if needed { State::Waiting } else { State::Unneeded };
        WarmUp { state, waiting: ThinVec::new(), mss: [None; 2] }
    }

    #[inline]
    pub fn is_on(&self) -> bool {
        self.state == State::Waiting
    }

    /// It has not been on so far.
    pub fn is_unneeded(&self) -> bool {
        self.state == State::Unneeded
    }

    /// It turns out to be needed.
    pub fn start(&mut self) {
        self.state = State::Waiting;
    }

    /// Something waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Lets something wait; `false` if there is no place. A number or a message that has none is
    /// forgotten.
    pub fn push(&mut self, end: usize, input: Input, places: &mut Places) -> bool {
        // Neither takes the place of a packet, from which the place of the capture is learned.
        let kind = |input: &Input| match input {
            Input::Number(_) | Input::Asks(..) => 0,
            Input::TooBig(_) => 1,
            _ => 2,
        };
        let alike = |(_, other): &&(usize, Input)| kind(other) == kind(&input);
        let room = self.waiting.iter().filter(alike).count() < MOST && places.take();
        let waits = room || kind(&input) < 2;
        if room {
            self.waiting.push((end, input));
        }
        waits
    }

    /// Learns from what has waited, and hands it over.
    #[cold]
    pub fn end(&mut self, places: &mut Places) -> ThinVec<(usize, Input)> {
        if !self.is_on() {
            return ThinVec::new();
        }
        self.state = State::Over;
        let sizes = |end| {
            self.waiting.iter().filter_map(move |(of, input)| match input {
                Input::Data(data) if *of == end && data.len > 0 => Some(data.len),
                _ => None,
            })
        };
        self.mss = [0, 1].map(|end| learn_mss(sizes(end)).and_then(|mss| u16::try_from(mss).ok()));
        let waiting = std::mem::take(&mut self.waiting);
        places.give_back(waiting.len());
        waiting
    }

    /// SMSS of an end, if it was learned from sizes.
    pub fn mss(&self, end: usize) -> Option<u32> {
        self.mss[end].map(u32::from)
    }
}

/// The size of full segments among these payloads: the one that divides most of them, so that
/// super-segments count as well; the least of several.
fn learn_mss(sizes: impl Iterator<Item = u32> + Clone) -> Option<u32> {
    /// 1500 and 9000 bytes less headers and timestamps, and what tunnels leave: for captures that
    /// have nothing but super-segments.
    const USUAL: [u32; 12] =
        [8948, 8960, 8928, 1460, 1448, 1440, 1428, 1400, 1388, 1380, 1368, 536];
    let full = |mss: u32| sizes.clone().filter(|size| size % mss == 0).count();
    let twice = |size: &u32| sizes.clone().filter(|other| other == size).count() > 1;
    let seen = sizes.clone().filter(|size| (500..=9000).contains(size)).filter(twice);
    let best = seen.chain(USUAL).max_by_key(|&mss| (full(mss), Reverse(mss)))?;
    (full(best) > 0).then_some(best)
}
