//! Where packets may move ahead of the clock.
//!
//! A packet costs an event only where packets from different places meet. Where one other link
//! feeds a link and keeps the order of its packets, nothing else can come in between. So what the
//! second link does with a packet is worked out as soon as its arrival there is known. The same
//! holds for the two ends of a connection whose host sends nothing else, as long as no timer of
//! that end is due earlier. The discrete-event literature calls this lookahead.
//!
//! The results are the same with it and without it. Without it, everything happens in the order of
//! time. Recorders need that, and so do links that vary, and flows whose sender is notified of
//! losses ([`crate::loss_notices`]).

use crate::flow::{Agent, Flow};
use crate::link::Link;
use crate::packet::Kind;
use crate::paths::Paths;

/// What puts packets onto a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeder {
    Nothing,
    Link(u32),
    /// A flow's sender or receiver.
    Sender(u32),
    Receiver(u32),
    Several,
}

/// Marks the links that packets may enter ahead of the clock, and the ends that packets may reach
/// ahead of it.
pub(crate) fn mark(links: &[Link], flows: &mut [Flow], paths: &mut Paths) {
    let path = |begin: u32| -> Vec<u32> { paths.links(begin).collect() };
    let mut feeders = vec![Feeder::Nothing; links.len()];
    let mut feed = |links: &[u32], mut feeder: Feeder| {
        for &link in links {
            let slot = &mut feeders[link as usize];
            if *slot == Feeder::Nothing {
                *slot = feeder;
            } else if *slot != feeder {
                *slot = Feeder::Several;
            }
            feeder = Feeder::Link(link);
        }
    };
    for (index, flow) in (0u32..).zip(&*flows) {
        feed(&path(flow.data_path), Feeder::Sender(index));
        if !matches!(flow.agent, Agent::Cbr(_)) {
            feed(&path(flow.ack_path), Feeder::Receiver(index));
        }
    }
    let fed_in_order = |link: u32| match feeders[link as usize] {
        Feeder::Link(feeder) => links[feeder as usize].keeps_order(),
        _ => false,
    };
    for (index, flow) in (0u32..).zip(flows) {
        if matches!(flow.agent, Agent::Handshake(_)) {
            continue;
        }
        let data = path(flow.data_path);
        let in_order =
            |path: &[u32]| path.last().is_some_and(|&link| links[link as usize].keeps_order());
        if matches!(flow.agent, Agent::Cbr(_)) {
            if in_order(&data) {
                flow.gates.open(Kind::Datagram);
            }
            continue;
        }
        let acks = path(flow.ack_path);
        let alone = |path: &[u32], feeder| {
            path.first().is_some_and(|&link| feeders[link as usize] == feeder)
        };
        let to_receiver = in_order(&data) && alone(&acks, Feeder::Receiver(index));
        if to_receiver {
            flow.gates.open(Kind::Data);
        }
        // A sender's burst must be on the wire before its first ACK comes back, so a loop needs at
        // least one event.
        let loops =
            to_receiver && data[1..].iter().chain(&acks[1..]).all(|&link| fed_in_order(link));
        if in_order(&acks) && alone(&data, Feeder::Sender(index)) && !loops {
            flow.gates.open(Kind::Ack);
        }
    }
    paths.allow_lookahead(fed_in_order);
}
