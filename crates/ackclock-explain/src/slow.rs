//! Why a connection took as long as it did: what limited the end that had most to do, and how fast
//! it was.

use ackclock_tcp::Span;
use ackclock_trace::{Connection, Flow, Lifetime, Limit};

use crate::explained::{End, Found};

impl Found {
    /// The end that the connection waited for: of those that sent data, that which was busy for
    /// longer, with more payload if both were for as long.
    pub fn sender(&self) -> End {
        let busy = |end: &End| {
            let flow = self.flow(*end);
            let wait = [Limit::Application, Limit::Handshake].map(|limit| flow.lifetime.of(limit));
            (flow.bytes > 0, flow.lifetime.whole() - wait[0] - wait[1], flow.bytes)
        };
        End::BOTH.into_iter().rev().max_by_key(busy).unwrap_or(End::Client)
    }

    /// What limited that end, and for how long.
    pub fn lifetime(&self) -> &Lifetime {
        &self.flow(self.sender()).lifetime
    }
}

/// How fast one end of a connection sent.
pub(crate) struct Rates {
    /// Bits of payload a second, retransmissions included; `None` of no time.
    pub throughput: Option<f64>,
    /// The same with each byte counted once.
    pub goodput: Option<f64>,
    /// Of the segments, the part that were retransmissions; `None` of no segment.
    pub retransmitted: Option<f64>,
}

impl Rates {
    pub fn of(connection: &Connection, flow: &Flow) -> Rates {
        let long = connection.end.since(connection.start);
        let rate = |bytes: u64| (long > Span::ZERO).then(|| bytes as f64 * 8.0 / long.secs_f64());
        let again: u64 = flow.retransmissions.iter().map(|r| u64::from(r.len)).sum();
        let part = flow.retransmissions.len() as f64 / flow.segments as f64;
        Rates {
            throughput: rate(flow.bytes + again),
            goodput: rate(flow.bytes),
            retransmitted: (flow.segments > 0).then_some(part),
        }
    }
}
