//! Two captures beside each other: their totals, and, if they have connections in common, what
//! happened between them.

mod between;
mod conversations;
mod json;
mod text;

use std::collections::HashMap;
use std::net::SocketAddr;

use ackclock_run::{Cancel, Progress, in_parallel};
use ackclock_tcp::{Seq, Time};

use self::between::Way;
use self::conversations::{Conversation, Conversations};
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
    /// What passed both; `None` if no connection did.
    both: Option<Both>,
}

/// Connections that are in both captures.
#[derive(Clone, Debug)]
struct Both {
    /// Which capture is nearer the clients, 0 or 1.
    near_client: usize,
    /// What the clients sent, and what the servers sent.
    ways: [Way; 2],
    connections: Vec<Shared>,
    /// Connections in one capture alone.
    alone: [u64; 2],
    /// Connections that were not compared, in each capture: a SYN was not seen, or memory was full.
    left_out: [u64; 2],
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
    let [Source::File(_), Source::File(_)] = sources else {
        let found = sources.len();
        let what =
            format!("--compare: this takes two captures that are files, and here are {found}");
        return Err(Error::Usage(what));
    };
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
    let both = match &read[..] {
        [first, second] => both([first, second], &numbers(explained)),
        _ => None,
    };
    Ok(Comparison { totals, both })
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

/// What both have. Connections are the same if both ends chose the same numbers: addresses and
/// ports may be translated in between.
fn both(captures: [&Conversations; 2], numbers: &Numbers) -> Option<Both> {
    let [first, second] = captures.map(Conversations::whole);
    // Simulated connections may all begin with the same numbers.
    let key = |(isns, c): &([Seq; 2], &Conversation)| (*isns, c.client, c.server);
    let exact: HashMap<_, _> = second.iter().map(|other| (key(other), other.1)).collect();
    let mut by_numbers: HashMap<[Seq; 2], Vec<&Conversation>> = HashMap::new();
    second.iter().for_each(|(isns, other)| by_numbers.entry(*isns).or_default().push(other));
    let mut pairs: Vec<[&Conversation; 2]> = Vec::new();
    for one in &first {
        let alone = || match by_numbers.get(&one.0)?[..] {
            [other] => Some(other),
            _ => None,
        };
        pairs.extend(exact.get(&key(one)).copied().or_else(alone).map(|other| [one.1, other]));
    }
    if pairs.is_empty() {
        return None;
    }
    // How much later the other capture has a SYN. The difference of the clocks is in both ways,
    // with another sign, so that their sum is what the path takes.
    let later = |pair: &[&Conversation; 2], near: usize, end: usize| {
        signed(pair[1 - near].syns[end]) - signed(pair[near].syns[end])
    };
    let least = |near, end| pairs.iter().map(|pair| later(pair, near, end)).min().unwrap_or(0);
    let near_client = usize::from(least(0, 0) + least(1, 1) < 0);
    let mut ways: [Way; 2] = Default::default();
    let mut connections = Vec::new();
    for pair in &pairs {
        let of = [0, 1].map(|end| {
            let near = if end == 0 { near_client } else { 1 - near_client };
            Way::of(&pair[near].sent[end], &pair[1 - near].sent[end], later(pair, near, end))
        });
        ways.iter_mut().zip(&of).for_each(|(sum, way)| sum.add(way));
        let numbers = [0, 1].map(|capture| {
            let Conversation { client, server, start, .. } = pair[capture];
            numbers.get(&(capture, *client, *server, *start)).copied()
        });
        let [Conversation { client, server, .. }, _] = *pair;
        connections.push(Shared { client: *client, server: *server, numbers, ways: of });
    }
    ways.iter_mut().for_each(Way::sort);
    // The most lost first; of the others the order of the first capture.
    connections.sort_by_key(|shared| {
        std::cmp::Reverse(shared.ways.iter().map(|way| way.lost).sum::<u64>())
    });
    let shared = pairs.len() as u64;
    Some(Both {
        near_client,
        ways,
        connections,
        alone: [first.len() as u64 - shared, second.len() as u64 - shared],
        left_out: captures.map(Conversations::left_out),
    })
}

impl Both {
    /// Nanoseconds that both ways between the captures take at least, and by how much the clock of
    /// the second capture is ahead, if both take as long.
    fn clocks(&self) -> Option<(i64, i64)> {
        let (to_server, to_client) = (self.ways[0].shortest?, self.ways[1].shortest?);
        let ahead = (to_server - to_client) / 2;
        Some((to_server + to_client, if self.near_client == 0 { ahead } else { -ahead }))
    }
}

/// Nanoseconds since 1970, which go to 2262.
fn signed(at: Time) -> i64 {
    i64::try_from(at.nanos()).unwrap_or(i64::MAX)
}
