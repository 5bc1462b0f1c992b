//! Two captures beside each other: their totals, and, if they have connections in common, what
//! happened between them.

mod between;
mod change;
mod conversations;
mod json;
mod nearer;
mod pairs;
mod text;

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::net::SocketAddr;

use ackclock_run::{Cancel, Progress, in_parallel};
use ackclock_tcp::Time;

use self::between::Way;
use self::change::Change;
use self::conversations::{Conversation, Conversations};
use self::nearer::{Turn, nearer};
use self::pairs::Pairs;
use crate::error::Error;
use crate::explained::{Explained, Found};
use crate::read::{Options, segments};
use crate::source::Source;
use crate::summary::Summary;

pub use json::write_compared;
pub use text::compared;

/// Two captures compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The connections of each.
    totals: [Summary; 2],
    /// Both have the same packets at the same times: they are copies of one capture.
    same: bool,
    /// What passed both; `None` if no connection did.
    both: Option<Both>,
    /// SYNs without an answer, of connections that are in one capture alone.
    unheard: [u64; 2],
    /// Whether the connections of the second take longer, if none is in both.
    change: Option<Change>,
}

/// Connections that are in both captures.
#[derive(Clone, Debug)]
struct Both {
    /// Which capture is nearer the clients, 0 or 1; `None` if nothing tells, and then the ways are
    /// as if it were the first.
    near_client: Option<usize>,
    /// The turn by which it was decided.
    turn: Option<Turn>,
    /// What the clients sent, and what the servers sent.
    ways: [Way; 2],
    /// Those that were compared.
    connections: Vec<Shared>,
    /// Connections that were not compared, since a SYN is missing or memory was full.
    left_out: u64,
    /// Connections without a SYN of the server in either capture: there is nothing to compare.
    unanswered: u64,
    /// Connections in one capture alone.
    alone: [u64; 2],
}

impl Both {
    /// Connections in both captures.
    fn count(&self) -> u64 {
        self.connections.len() as u64 + self.left_out + self.unanswered
    }
}

/// A connection in both captures.
#[derive(Clone, Debug)]
struct Shared {
    client: SocketAddr,
    server: SocketAddr,
    /// Its [`Found::number`](crate::Found) in each.
    numbers: [Option<usize>; 2],
    ways: [Way; 2],
}

/// Compares two captures that were read: reads them again.
///
/// # Errors
/// [`Error::Usage`] if there are not two of them, one cannot be read twice, or the filter cannot be
/// applied.
pub fn compare(
    sources: &[Source],
    explained: &Explained,
    options: &Options,
    cancel: &Cancel,
) -> Result<Comparison, Error> {
    let refused = |why: String| Err(Error::Usage(format!("--compare: {why}")));
    match sources {
        [first, second] if !first.is_stream() && !second.is_stream() => {}
        [_, _] => {
            return refused("this reads captures twice, and standard input comes once".into());
        }
        _ => return refused(format!("this takes two captures, and here are {}", sources.len())),
    }
    let of = |capture| explained.counted().filter(move |f| f.capture == capture);
    let totals = [0, 1].map(|capture| Summary::of(of(capture)));
    let progress = Progress::until(sources.iter().map(Source::len).sum(), cancel);
    let read = in_parallel(sources, options.jobs, |source| {
        let mut conversations = Conversations::default();
        let read = segments(source, options.filter.clone(), &progress, &mut conversations);
        Ok(read.map(|_| conversations))
    });
    let read = read.map_err(|e| Error::Usage(format!("--jobs: {e}")))?;
    let read: Vec<Conversations> = read.into_iter().collect::<Result<_, _>>()?;
    let [first, second] = &read[..] else { return refused("two captures are needed".into()) };
    let pairs = Pairs::of([first, second]);
    let (same, unheard) = (first.is_same(second), pairs.unheard);
    let both = both(pairs, [first.end, second.end], &numbers(explained));
    let change = if both.is_none() && !same { Change::of(explained) } else { None };
    Ok(Comparison { totals, same, both, unheard, change })
}

/// The number of a connection in a capture, by its ends and its beginning.
type Numbers = HashMap<(usize, SocketAddr, SocketAddr, Time), usize>;

fn numbers(explained: &Explained) -> Numbers {
    let key = |found: &Found| {
        let c = &found.connection;
        (found.capture, c.client, c.server, c.start)
    };
    explained.connections.iter().map(|found| (key(found), found.number)).collect()
}

/// What both have.
fn both(pairs: Pairs, ends: [Time; 2], numbers: &Numbers) -> Option<Both> {
    let all = |near| pairs.whole.iter().map(|pair| ways(pair, near, ends)).collect::<Vec<_>>();
    let found = nearer(&pairs.whole);
    let mut each = all(found.map_or(0, |(near, _)| near));
    let mut near_client = found.map(|(near, _)| near);
    if near_client.is_none() {
        // Bytes are lost on their way from the sender; they do not come up on it.
        let sum = |of: fn(&Way) -> u64| each.iter().flatten().map(of).sum::<u64>();
        near_client = match sum(|way| way.lost).cmp(&sum(|way| way.unseen)) {
            Ordering::Greater => Some(0),
            Ordering::Equal => None,
            Ordering::Less => Some(1),
        };
        if near_client == Some(1) {
            each = all(1);
        }
    }
    let mut ways: [Way; 2] = Default::default();
    let mut connections = Vec::new();
    for (pair, of) in pairs.whole.iter().zip(each) {
        ways.iter_mut().zip(&of).for_each(|(sum, way)| sum.add(way));
        let numbers = [0, 1].map(|capture| {
            let Conversation { client, server, start, .. } = pair[capture];
            numbers.get(&(capture, *client, *server, *start)).copied()
        });
        let [Conversation { client, server, .. }, _] = *pair;
        connections.push(Shared { client: *client, server: *server, numbers, ways: of });
    }
    for pair in &pairs.unanswered {
        // Where nothing else says which capture is nearer the client, the one with more of them is.
        ways[0].syns_lost += match near_client {
            Some(near) => syns_lost(pair, near, 0),
            None => pair[0].opened[0].abs_diff(pair[1].opened[0]),
        };
    }
    ways.iter_mut().for_each(Way::sort);
    // The most lost first; of the others the order of the first capture.
    connections.sort_by_key(|shared| Reverse(shared.ways.iter().map(|way| way.lost).sum::<u64>()));
    let Pairs { left_out, unanswered, alone, .. } = pairs;
    let (turn, unanswered) = (found.map(|(_, turn)| turn), unanswered.len() as u64);
    let both = Both { near_client, turn, ways, connections, left_out, unanswered, alone };
    (both.count() > 0).then_some(both)
}

/// What both ends of a connection sent, if capture `near` is nearer the client.
fn ways(pair: &[&Conversation; 2], near: usize, ends: [Time; 2]) -> [Way; 2] {
    // Between two captures nothing takes less than no time; simulated SYNs take none.
    let sum = Turn::handshake(pair).sum();
    let syn_tells = if near == 0 { sum > 0 } else { sum < 0 };
    [0, 1].map(|end: usize| {
        let order = if end == near { [0, 1] } else { [1, 0] };
        let [first, second] = order.map(|capture: usize| signed(pair[capture].syns[end]));
        let mut way = Way::of(
            order.map(|capture: usize| &pair[capture].sent[end][..]),
            order.map(|capture: usize| ends[capture]),
            second.saturating_sub(first),
            syn_tells,
        );
        way.syns_lost = syns_lost(pair, near, end);
        way
    })
}

/// SYNs of an end that came past the capture near it, and not past the other one.
fn syns_lost(pair: &[&Conversation; 2], near: usize, end: usize) -> u64 {
    let [first, second] = if end == near { [0, 1] } else { [1, 0] };
    pair[first].opened[end].saturating_sub(pair[second].opened[end])
}

impl Both {
    /// Nanoseconds that both ways between the captures take at least, and by how much the clock of
    /// the second capture is ahead, if both ways take as long.
    fn clocks(&self) -> Option<(u64, i64)> {
        self.turn.map(|turn| (turn.sum().unsigned_abs(), turn.ahead()))
    }
}

/// Nanoseconds since 1970, which go to 2262.
fn signed(at: Time) -> i64 {
    i64::try_from(at.nanos()).unwrap_or(i64::MAX)
}
