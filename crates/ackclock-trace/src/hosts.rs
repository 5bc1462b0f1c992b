//! What a host does on one of its connections, it does on the others: its kernel has one setting
//! for tail loss probes. So what is undecided on one connection may be decided by another.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ackclock_tcp::EventKind;

use crate::connection::{Connection, Flow, Kind, StallCause, Timeout};
use crate::sender::expiry;

/// Decides each [`Kind::ProbeOrTimeout`] of these connections, which are those of one capture,
/// where its host was seen to send probes or to have none, and not both.
pub fn decide<'a>(connections: impl IntoIterator<Item = &'a mut Connection>) {
    let mut hosts: BTreeMap<IpAddr, [bool; 2]> = BTreeMap::new();
    let mut undecided = Vec::new();
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

impl Flow {
    /// The kind of the retransmission that may have been a timeout, also in the picture.
    fn decide(&mut self, timeout: &Timeout, kind: Kind) {
        let Some(r) = self.retransmissions.get_mut(timeout.retransmission) else { return };
        r.kind = kind;
        let (position, number) = (r.position, r.transmission);
        let drawn = self.events.iter_mut().position(|event| {
            matches!(event.kind, EventKind::Sent { seq, transmission, .. }
                if (seq, transmission) == (position, number))
        });
        let Some(index) = drawn else { return };
        let event = &mut self.events[index];
        if let (EventKind::Sent { cause, .. }, Some(decided)) = (&mut event.kind, kind.cause()) {
            *cause = decided;
        }
        if kind == Kind::Timeout {
            let expiry = expiry(timeout, event, timeout.waited);
            self.events.insert(index, expiry);
        }
    }

    fn were_probes(&mut self) {
        for timeout in std::mem::take(&mut self.undecided) {
            self.decide(&timeout, Kind::TailLossProbe);
        }
        for stall in &mut self.stalls {
            if stall.cause == StallCause::ProbeOrTimeout {
                stall.cause = StallCause::TailLossProbe;
            }
        }
    }

    fn were_timeouts(&mut self) {
        let late = std::mem::take(&mut self.undecided);
        for timeout in &late {
            self.decide(timeout, Kind::Timeout);
        }
        // The lists of stalls name timeouts by their place.
        let places: Vec<Option<usize>> = self
            .stalls
            .iter()
            .map(|stall| Some(self.timeouts.get(stall.timeout?)?.retransmission))
            .collect();
        self.timeouts.extend(late);
        self.timeouts.sort_by_key(|t| t.retransmission);
        for (stall, retransmission) in self.stalls.iter_mut().zip(places) {
            let in_it = |t: &Timeout| match retransmission {
                Some(retransmission) => t.retransmission == retransmission,
                None => {
                    stall.cause == StallCause::ProbeOrTimeout
                        && t.at > stall.start
                        && t.at <= stall.end
                }
            };
            if let Some(index) = self.timeouts.iter().position(in_it) {
                stall.cause = StallCause::Timeout(self.timeouts[index].class);
                stall.timeout = Some(index);
            }
        }
    }
}
