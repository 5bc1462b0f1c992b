//! What to change, in an operator's words, with what would give most first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ackclock_tcp::Span;
use ackclock_trace::{Flow, Limit, StallCause};

use super::words::{size, time};
use crate::explained::{End, Explained, Found};

/// Most lines.
const MOST: usize = 3;

/// A limit is worth advice if it has this part of a connection's time: one tenth.
const WORTH: u64 = 10;

/// A line for each thing to change.
pub(super) fn of(explained: &Explained) -> Vec<String> {
    let mut all: BTreeMap<String, Span> = BTreeMap::new();
    for found in &explained.connections {
        for (line, span) in one(found) {
            let sum = all.entry(line).or_default();
            *sum = *sum + span;
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, span)| Reverse(*span));
    all.truncate(MOST);
    all.into_iter().map(|(line, span)| format!("{line} (about {})", time(span))).collect()
}

fn one(found: &Found) -> Vec<(String, Span)> {
    let (from, lifetime) = (found.sender(), found.lifetime());
    // While its window limits, the path may carry nearly all that it can.
    let gain = |limit: Limit| match limit {
        Limit::CongestionWindow => lifetime.idle(),
        _ => lifetime.of(limit),
    };
    let worth = |limit: &Limit| {
        let gain = gain(*limit);
        gain > Span::ZERO && gain.0 >= lifetime.whole().0 / WORTH
    };
    let advise = |limit: Limit| Some((advice(found, from, limit)?, gain(limit)));
    Limit::ALL.into_iter().filter(worth).filter_map(advise).collect()
}

fn advice(found: &Found, from: End, limit: Limit) -> Option<String> {
    let c = &found.connection;
    let (flow, to) = (found.flow(from), found.flow(from.other()));
    let (sender, receiver) = match from {
        End::Client => (c.client.ip(), c.server.ip()),
        End::Server => (c.server.ip(), c.client.ip()),
    };
    Some(match limit {
        Limit::ReceiveWindow if closed(flow) => {
            format!("{receiver}: its application reads too slowly, so that its window closes")
        }
        Limit::ReceiveWindow if to.offered.is_some_and(|options| options.wscale.is_none()) => {
            format!(
                "{receiver}: it does not offer window scaling, so that its window ends at 64 KiB \
             (net.ipv4.tcp_window_scaling)"
            )
        }
        Limit::ReceiveWindow => format!(
            "{receiver}: its receive buffer limits at {}; raise net.ipv4.tcp_rmem or SO_RCVBUF",
            size(flow.window)
        ),
        Limit::Recovery => recovery(flow, to, &sender.to_string(), &receiver.to_string()),
        Limit::CongestionWindow if marked_rather_than_lost(flow) => format!(
            "{sender} to {receiver}: a queue marks packets (ECN), which keeps the congestion window \
             small; find where packets wait"
        ),
        Limit::CongestionWindow if flow.retransmissions.is_empty() => format!(
            "{sender}: its window is still growing or its send buffer is full; keep connections \
             open for longer, or raise initcwnd or net.ipv4.tcp_wmem"
        ),
        Limit::CongestionWindow => format!(
            "{sender} to {receiver}: losses keep the congestion window small; find where they occur"
        ),
        Limit::Handshake => {
            format!("{receiver}: SYNs or their answers are lost, or answered late")
        }
        Limit::Path | Limit::Application => return None,
    })
}

/// Marks have lowered the window more often than losses.
fn marked_rather_than_lost(flow: &Flow) -> bool {
    flow.ecn.reductions.len() > flow.recoveries.len() + flow.timeouts.len()
}

fn recovery(flow: &Flow, to: &Flow, sender: &str, receiver: &str) -> String {
    let offers = |flow: &Flow| flow.offered.is_none_or(|options| options.sack_permitted);
    let spurious = flow.retransmissions.iter().filter(|r| r.spurious.is_some()).count();
    match () {
        () if !offers(flow) => {
            format!("{sender}: it does not offer SACK; set net.ipv4.tcp_sack to 1")
        }
        () if !offers(to) => {
            format!("{receiver}: it does not offer SACK; set net.ipv4.tcp_sack to 1")
        }
        () if flow.ways.probes.verdict() == Some(false) && !flow.timeouts.is_empty() => {
            format!("{sender}: it sends no tail loss probes; set net.ipv4.tcp_early_retrans to 3")
        }
        () if spurious * 2 > flow.retransmissions.len() => format!(
            "{sender} to {receiver}: most retransmissions are spurious; look for reordering and \
             delay spikes"
        ),
        () => format!("{sender} to {receiver}: packets are lost; find where"),
    }
}

fn closed(flow: &Flow) -> bool {
    flow.stalls.iter().any(|stall| stall.cause == StallCause::ZeroWindow)
}

#[cfg(test)]
mod tests {
    use ackclock_trace::Lifetime;

    use super::*;
    use crate::fixture;

    /// The window limits for 1.8 s, in which the bottleneck is idle for that long, for 0.25 s, or for
    /// too little to speak of.
    #[test]
    fn a_window_costs_what_the_bottleneck_is_idle_in() {
        let said = |idle: u64| {
            let mut explained = fixture::explained();
            explained.connections.truncate(1);
            let mut lifetime = Lifetime::default();
            lifetime.add(Limit::CongestionWindow, Span::from_millis(1800));
            lifetime.add_idle(Span::from_millis(idle));
            let connection = &mut explained.connections[0].connection;
            (connection.from_client.lifetime, connection.from_server.lifetime) =
                (Lifetime::default(), lifetime);
            of(&explained)
        };
        let ends = |said: &[String], end: &str| said.len() == 1 && said[0].ends_with(end);
        assert!(ends(&said(1800), "(about 1.8 s)"), "{:?}", said(1800));
        assert!(ends(&said(250), "(about 0.25 s)"), "{:?}", said(250));
        assert_eq!(said(150), [""; 0]);
    }
}
