//! Why a connection took as long as it did: what limited the end that had most to do, and how fast
//! it was.

use std::collections::BTreeSet;

use ackclock_tcp::Span;
use ackclock_trace::{Connection, Flow, Kind, Lifetime, Limit};

use crate::explained::{End, Found};

/// Nobody feels less, whatever part of a connection it is.
const FELT: Span = Span::from_millis(1);
/// An answer to a SYN is late after so many round trips.
const LATE: u64 = 3;

impl Found {
    /// The end that the connection waited for: of those that sent data, that which was busy for
    /// longer, with more payload if both were for as long. But a few bytes wait for their ACK as
    /// long as many: if the busier end was not held up, it is the one that sent more, unless that
    /// waited most of its time for what the busier one would say next. The same if the busier one
    /// had nothing to do for most of its time and the capture was taken elsewhere, where what holds
    /// it up is only probable. An end that repeats what had arrived waits for the other one, if
    /// that sends more.
    pub fn sender(&self) -> End {
        let of = |end: End| &self.flow(end).lifetime;
        let more = |end: End| self.flow(end).bytes > self.flow(end.other()).bytes;
        let opened = |end: End| {
            let busy = of(end).busy() - of(end).of(Limit::Handshake);
            let repeats = more(end.other()) && all_had_arrived(self.flow(end));
            if repeats { busy - of(end).of(Limit::Recovery) } else { busy }
        };
        let busy = |end: &End| {
            let bytes = self.flow(*end).bytes;
            (bytes > 0, opened(*end), bytes)
        };
        let busiest = End::BOTH.into_iter().rev().max_by_key(busy).unwrap_or(End::Client);
        let held = |end: End| opened(end) - (of(end).of(Limit::Path) - of(end).full());
        let much = Span(opened(busiest).0 / 10).max(FELT);
        let other = busiest.other();
        let waited = of(busiest).answering() > Span(of(other).of(Limit::Application).0 / 2);
        let paused = of(busiest).paused() - of(busiest).closing();
        let idle = paused > of(busiest).busy() && !self.is_at_sender(busiest);
        if more(other) && !waited && (idle || held(busiest) < much) { other } else { busiest }
    }

    /// What limited that end, and for how long.
    pub fn lifetime(&self) -> &Lifetime {
        &self.flow(self.sender()).lifetime
    }

    /// What limited it for longest; `None` of no time. Of a connection that the other end keeps
    /// open, all the rest counts first.
    pub(crate) fn main(&self) -> Option<Limit> {
        let longest = Limit::ALL.into_iter().max_by_key(|limit| self.limited_for(*limit))?;
        let any = self.limited_for(longest) > Span::ZERO;
        if any { Some(longest) } else { self.lifetime().main() }
    }

    /// For how long this limited it. That the other end keeps it open is no pause of its own, nor
    /// that either closes it late.
    pub(crate) fn limited_for(&self, limit: Limit) -> Span {
        match limit {
            Limit::Application => self.lifetime().paused() - self.closed_late(),
            _ => self.lifetime().of(limit),
        }
    }

    /// For how long nobody sent data before the connection was closed.
    pub(crate) fn closed_late(&self) -> Span {
        let closing = self.flows().map(|(_, flow)| flow.lifetime.closing()).max();
        closing.unwrap_or_default().min(self.lifetime().paused())
    }

    /// For how long that end had something to do.
    pub(crate) fn busy(&self) -> Span {
        self.lifetime().busy()
    }

    /// What is worth a word: a tenth of the time in which that end had something to do, and a
    /// millisecond at the least. Connections that are kept open are idle for most of their
    /// lifetime, of which it is a ten-thousandth at the least.
    pub(crate) fn worth(&self) -> Span {
        let whole = self.lifetime().whole();
        Span(self.busy().0 / 10).max(Span(whole.0 / 10_000)).max(FELT)
    }

    /// Time in which neither the application nor the path was what limited it. A handshake of one
    /// round trip is the path's.
    pub(crate) fn held(&self) -> Span {
        let (lifetime, opening) = (self.lifetime(), self.lifetime().of(Limit::Handshake));
        let way = self.least_round_trip().unwrap_or_default().min(opening);
        lifetime.busy() - lifetime.of(Limit::Path) - way
    }

    /// For how long the client waited for an answer of the server's application, or at the end for
    /// one that never came: the longest of these waits.
    pub(crate) fn longest_answer(&self) -> Span {
        let waited = self.connection.from_server.lifetime.longest_answer();
        waited.max(self.no_answer().unwrap_or_default())
    }

    /// The least round trip. Both ends measure the same path: the larger one of their minima is
    /// the surer one.
    pub(crate) fn least_round_trip(&self) -> Option<Span> {
        self.flows().filter_map(|(_, flow)| Some(flow.rtt?.min)).max()
    }

    /// The median round trip of the end that the connection waited for; of the other one where that
    /// measured none.
    pub(crate) fn median_round_trip(&self) -> Option<Span> {
        let rtt = self.flow(self.sender()).rtt.or(self.flow(self.sender().other()).rtt)?;
        Some(rtt.median)
    }

    /// What the handshake took beyond a round trip, if that is a good deal longer than the answer
    /// to a SYN takes on its way.
    pub(crate) fn opened_late(&self) -> Option<Span> {
        let c = &self.connection;
        let (took, rtt) = (c.from_client.lifetime.of(Limit::Handshake), self.least_round_trip()?);
        (c.begun && took > rtt.times(LATE)).then(|| took - rtt)
    }

    /// The server has answered a SYN, though not by a SYN/ACK: by a reset, or by an ACK of an older
    /// connection (RFC 5961 section 4). Nothing was lost, and the client has sent another one.
    pub(crate) fn asked_anew(&self) -> bool {
        let again = &self.connection.from_client.retransmissions;
        again.iter().any(|r| r.syn && r.kind == Kind::Unknown)
    }

    /// How long the server had not answered at the end, if that is what the client waited for: for
    /// longer than it had anything to do, half of what its application gave nothing in at the
    /// least, and a good deal longer than an answer takes on its way.
    pub(crate) fn no_answer(&self) -> Option<Span> {
        let (wait, lifetime) = (self.connection.no_answer?, &self.connection.from_client.lifetime);
        let idle = lifetime.of(Limit::Application);
        let way = self.least_round_trip().unwrap_or_default().times(LATE);
        (wait > lifetime.busy().max(way) && wait >= Span(idle.0 / 2).max(FELT)).then_some(wait)
    }

    /// How long the server's application kept the client waiting, if that is most of the time in
    /// which that end had nothing to send, or all that it had was on its way. An answer that comes
    /// soon carries the ACK of what was asked, which looks as if it were on its way until then.
    pub(crate) fn thinking(&self) -> Option<Span> {
        let answering = self.connection.from_server.lifetime.answering();
        let lifetime = self.lifetime();
        let waiting = match self.sender() {
            End::Client => {
                lifetime.of(Limit::Application) + (lifetime.of(Limit::Path) - lifetime.full())
            }
            End::Server => self.limited_for(Limit::Application),
        };
        (answering > Span::ZERO && answering >= Span(waiting.0 / 2)).then(|| answering.min(waiting))
    }
}

/// All data that it repeated had arrived before, as one of the retransmissions proves.
fn all_had_arrived(flow: &Flow) -> bool {
    let again = || flow.retransmissions.iter().filter(|r| r.len > 0);
    let proved = again().filter(|r| r.spurious.is_some()).map(|r| r.position);
    let proved: BTreeSet<u64> = proved.collect();
    again().next().is_some() && again().all(|r| proved.contains(&r.position))
}

/// How fast one end of a connection sent.
pub(crate) struct Rates {
    /// Bits of payload a second, retransmissions included; `None` of no time.
    pub throughput: Option<f64>,
    /// The same with each byte counted once.
    pub goodput: Option<f64>,
    /// The same while it had something to send; `None` where that is most of the time.
    pub busy: Option<f64>,
    /// Of the segments, the part that were retransmissions; `None` of no segment.
    pub retransmitted: Option<f64>,
}

impl Rates {
    pub fn of(connection: &Connection, flow: &Flow) -> Rates {
        let whole = connection.end.since(connection.start);
        let within = |bytes: u64, long: Span| {
            (long > Span::ZERO).then(|| bytes as f64 * 8.0 / long.secs_f64())
        };
        let rate = |bytes| within(bytes, whole);
        let [idle, opening] =
            [Limit::Application, Limit::Handshake].map(|limit| flow.lifetime.of(limit));
        let mostly_idle = idle.0 > whole.0 / 2;
        let again: u64 = flow.retransmissions.iter().map(|r| u64::from(r.len)).sum();
        let part = flow.retransmissions.len() as f64 / flow.segments as f64;
        Rates {
            throughput: rate(flow.bytes + again),
            goodput: rate(flow.bytes),
            busy: within(flow.bytes, whole - idle - opening).filter(|_| mostly_idle),
            retransmitted: (flow.segments > 0).then_some(part),
        }
    }
}
