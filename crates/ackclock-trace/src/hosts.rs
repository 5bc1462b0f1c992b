//! What a host does on one of its connections, it does on the others: its kernel has one setting
//! for tail loss probes. So what is undecided on one connection may be decided by another. Nor do
//! losses between two hosts have a cause of their own on each connection.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ackclock_tcp::EventKind;
use rustc_hash::FxHashMap;

use crate::connection::{Connection, Flow, Kind, StallCause, Timeout};
use crate::loss::{LEAST_RANDOM, LossCause};
use crate::sender::{expiry, insert_all};
use crate::within::ByTime;

/// Decides each [`Kind::ProbeOrTimeout`] of these connections, which are those of one capture,
/// where its host was seen to send probes or to have none, and not both; and takes back that losses
/// are random where other connections of the same two hosts say otherwise.
pub fn decide<'a>(connections: impl IntoIterator<Item = &'a mut Connection>) {
    let mut hosts: BTreeMap<IpAddr, [bool; 2]> = BTreeMap::new();
    let mut undecided = Vec::new();
    let mut connections: Vec<_> = connections.into_iter().collect();
    agree_on_random(&mut connections);
    for connection in connections {
        let Connection { client, server, from_client, from_server, .. } = connection;
        for (host, flow) in [(client.ip(), from_client), (server.ip(), from_server)] {
            if let Some(sends) = flow.ways.probes.leaning() {
                hosts.entry(host).or_default()[usize::from(sends)] = true;
            }
            if !flow.undecided.is_empty() {
                undecided.push((host, flow));
            }
        }
    }
    for (host, flow) in undecided {
        match hosts.get(&host) {
            Some([false, true]) => flow.were_probes(),
            Some([true, false]) => flow.were_timeouts(),
            _ => {}
        }
    }
}

/// Random is what nothing else explains. Of connections that fill a queue together, a few look like
/// that by chance, while of those with losses at random most do. So it is said where at least half
/// of the connections say it that have lost often enough to show it.
fn agree_on_random(connections: &mut [&mut Connection]) {
    let both = |c: &Connection| [(c.client.ip(), c.server.ip()), (c.server.ip(), c.client.ip())];
    let is_random = |flow: &Flow| matches!(flow.losses.cause, Some(LossCause::Random { .. }));
    let mut ways: BTreeMap<(IpAddr, IpAddr), [u32; 2]> = BTreeMap::new();
    for connection in &*connections {
        let flows = [&connection.from_client, &connection.from_server];
        for (way, flow) in both(connection).into_iter().zip(flows) {
            if flow.losses.episodes >= LEAST_RANDOM {
                let [all, random] = ways.entry(way).or_default();
                *all += 1;
                *random += u32::from(is_random(flow));
            }
        }
    }
    ways.retain(|_, [all, random]| *random > 0 && *random * 2 < *all);
    if ways.is_empty() {
        return;
    }
    for connection in connections {
        let ways = both(connection).map(|way| ways.contains_key(&way));
        let flows = [&mut connection.from_client, &mut connection.from_server];
        for (flow, _) in flows.into_iter().zip(ways).filter(|(_, denied)| *denied) {
            flow.losses.cause = flow.losses.cause.filter(|_| !is_random(flow));
        }
    }
}

impl Flow {
    /// The kind of the retransmissions that may have been timeouts, also in the picture.
    fn decide(&mut self, undecided: &[Timeout], kind: Kind) {
        let mut of: FxHashMap<(u64, u32), &Timeout> = FxHashMap::default();
        for timeout in undecided {
            let Some(r) = self.retransmissions.get_mut(timeout.retransmission) else { continue };
            r.kind = kind;
            of.insert((r.position, r.transmission), timeout);
        }
        let mut expiries = Vec::new();
        for (place, event) in self.events.iter_mut().enumerate() {
            let EventKind::Sent { seq, transmission, cause, .. } = &mut event.kind else {
                continue;
            };
            let Some(timeout) = of.remove(&(*seq, *transmission)) else { continue };
            *cause = kind.cause().unwrap_or(*cause);
            if kind == Kind::Timeout {
                expiries.push((place, expiry(timeout, event, timeout.waited)));
            }
        }
        insert_all(&mut self.events, expiries);
    }

    fn were_probes(&mut self) {
        let all = std::mem::take(&mut self.undecided);
        self.decide(&all, Kind::TailLossProbe);
        for stall in &mut self.stalls {
            if stall.cause == StallCause::ProbeOrTimeout {
                stall.cause = StallCause::TailLossProbe;
            }
        }
    }

    fn were_timeouts(&mut self) {
        let late = std::mem::take(&mut self.undecided);
        self.decide(&late, Kind::Timeout);
        // The lists of stalls name timeouts by their place.
        let places: Vec<Option<usize>> = self
            .stalls
            .iter()
            .map(|stall| Some(self.timeouts.get(stall.timeout?)?.retransmission))
            .collect();
        self.timeouts.extend(late);
        self.timeouts.sort_by_key(|t| t.retransmission);
        let by_time = ByTime::new(self.timeouts.iter().map(|t| t.at));
        for (stall, retransmission) in self.stalls.iter_mut().zip(places) {
            let index = match retransmission {
                Some(place) => {
                    self.timeouts.binary_search_by_key(&place, |t| t.retransmission).ok()
                }
                None if stall.cause == StallCause::ProbeOrTimeout => by_time.within(stall).min(),
                None => None,
            };
            if let Some(index) = index {
                stall.cause = StallCause::Timeout(self.timeouts[index].class);
                stall.timeout = Some(index);
            }
        }
    }
}
