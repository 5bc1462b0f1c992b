//! Which of two captures is nearer the clients.
//!
//! By how much later one of them has a packet is what the path in between takes, and the difference
//! of the clocks. The latter is in both ways, with another sign in their sum, so that the sum of a
//! packet of the client and one of the server is what the path takes: positive if the first capture
//! is nearer the client. Clocks drift apart, so that these two have to be close to each other.

use super::conversations::{Conversation, Mark};
use super::signed;

/// The kernel lets no clock run faster or slower than by 500 ppm (`MAXFREQ` in timex.h): of so many
/// nanoseconds, one.
const DRIFT: u64 = 2000;

/// A packet of the client and one of the server, that follow each other in one connection and are
/// in both captures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// By how many nanoseconds the second capture has that of the client and that of the server
    /// later, by the clocks of both.
    later: [i64; 2],
    /// Nanoseconds between both, in the capture in which they are further apart.
    apart: u64,
}

impl Turn {
    fn new(client: [i64; 2], server: [i64; 2]) -> Turn {
        let later = [client, server].map(|[first, second]| second.saturating_sub(first));
        let apart = [0, 1].map(|capture: usize| client[capture].abs_diff(server[capture]));
        Turn { later, apart: apart[0].max(apart[1]) }
    }

    /// That of both SYNs.
    pub fn handshake(pair: &[&Conversation; 2]) -> Turn {
        let [client, server] =
            [0, 1].map(|end: usize| pair.map(|conversation| signed(conversation.syns[end])));
        Turn::new(client, server)
    }

    /// Nanoseconds from the first capture to the second and back; negative if the second one is
    /// nearer the client.
    pub fn sum(&self) -> i64 {
        self.later[0].saturating_sub(self.later[1])
    }

    /// By how many nanoseconds the clock of the second capture is ahead, if both ways take as long.
    pub fn ahead(&self) -> i64 {
        self.later[0].midpoint(self.later[1])
    }

    /// Which capture it says is nearer the client: 1 for the first, -1 for the second, and 0 if the
    /// clocks may have drifted apart by as much in between.
    fn vote(&self) -> i64 {
        if self.sum().unsigned_abs() > self.apart / DRIFT { self.sum().signum() } else { 0 }
    }
}

/// Which capture is nearer the clients, 0 or 1, as most connections say; and the turn that takes
/// the least time of those that say it. `None` if nothing tells.
pub(super) fn nearer(pairs: &[[&Conversation; 2]]) -> Option<(usize, Turn)> {
    let mut votes = 0;
    // For the first capture and for the second.
    let mut least: [Option<Turn>; 2] = [None; 2];
    for pair in pairs {
        let mut balance = 0;
        for turn in turns(pair) {
            let vote = turn.vote();
            balance += vote;
            if vote != 0 {
                let least = &mut least[usize::from(vote < 0)];
                let shorter = |known: Turn| turn.sum().unsigned_abs() < known.sum().unsigned_abs();
                if least.is_none_or(shorter) {
                    *least = Some(turn);
                }
            }
        }
        votes += balance.signum();
    }
    let near = usize::from(votes < 0);
    Some((near, least[near]?)).filter(|_| votes != 0)
}

/// The SYNs, and then each change from what the client sent to what the server sent, or back. They
/// are apart, since simulated connections may begin with SYNs that take no time.
fn turns(pair: &[&Conversation; 2]) -> Vec<Turn> {
    let marks = |end: usize| common(pair.map(|conversation| &conversation.marks[end][..]), end);
    let mut all = [marks(0), marks(1)].concat();
    all.sort_by_key(|(_, at)| at[0]);
    let changes = all.windows(2).filter_map(|two| match *two {
        [(0, client), (1, server)] | [(1, server), (0, client)] => Some(Turn::new(client, server)),
        _ => None,
    });
    [Turn::handshake(pair)].into_iter().chain(changes).collect()
}

/// The marks of an end that are in both captures: the end, and when each capture has it.
fn common([first, second]: [&[Mark]; 2], end: usize) -> Vec<(usize, [i64; 2])> {
    let number = |mark: &Mark| (mark.sent, mark.acked);
    let same = first.iter().filter_map(|one| {
        let other = &second[second.binary_search_by_key(&number(one), number).ok()?];
        Some((end, [one.at, other.at].map(signed)))
    });
    same.collect()
}
