//! What a connection waited for, told from what looks like it: an outage from a spurious timeout, a
//! receiver that reads slowly from a small buffer, a client that asks for nothing, or for one thing
//! after the other, from a server that is idle.

use ackclock_tcp::connection::RTO_AFTER_LOSS;
use ackclock_tcp::{Span, TimeoutClass};
use ackclock_trace::{
    Ended, Flow, Limit, Position, Reset, ResetBy, Retransmission, Spurious, Stall, StallCause,
    Timeout,
};

use crate::explained::{End, Found, sent_by};

/// Timeouts in a row, of which all but the last were in vain: losses at random seldom take a
/// segment three times.
const IN_A_ROW: usize = 3;
/// The first timeout comes after this time at the latest (RFC 6298 section 2.1), or after about so
/// many round trips (section 2.3). Elsewhere than at the sender a silence that is longer than so
/// many of the longer of both has held timeouts before the one that was seen.
const FIRST_TIMEOUT: Span = Span::from_secs(1);
const TRIPS: u64 = 3;
/// Who asks so often asks one after the other for a reason.
const MANY: u64 = 10;

/// For how long nothing came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outage {
    /// At the least; `None` if what was lost was lost before the capture.
    pub least: Option<Span>,
    /// At the most: until the last timer, or what went out behind it, sent what came through.
    pub most: Span,
    /// Timeouts seen in it.
    pub timeouts: usize,
    /// What the last of them sent was in vain, too.
    pub all: bool,
}

impl Found {
    /// Nothing that this end sent came through in a stall, until the last timeout in it or what
    /// went out behind that. The last timeout may have been spurious: the first segment of an
    /// outage may have arrived, whose ACK was lost.
    pub(crate) fn outage(&self, from: End, stall: &Stall) -> Option<Outage> {
        let flow = self.flow(from);
        stall.timeout?;
        let [begins, ends] =
            [stall.start, stall.end].map(|at| flow.timeouts.partition_point(|t| t.at <= at));
        let timeouts = &flow.timeouts[begins..ends];
        let (last, before) = timeouts.split_last()?;
        let sent = timeouts.iter().map(|t| sent_by(flow, t)).collect::<Option<Vec<_>>>()?;
        let (r, others) = sent.split_last()?;
        // Shorter segments may come through where longer ones do not (RFC 4821).
        let alike = others.iter().all(|o| (o.position, o.len) == (r.position, r.len));
        let none = stall.frame == 0 || last.class == TimeoutClass::Handshake || r.len == 0;
        let none = none || self.is_unheard(from, stall);
        if none || !alike || self.got_through.contains(&(from, stall.start)) {
            return None;
        }
        let longest = flow.rtt.map_or(Span::ZERO, |rtt| rtt.max).max(FIRST_TIMEOUT);
        // New data or a FIN went out behind it, and was answered at once.
        let all = r.lost != Some(false)
            && stall.newest > last.at
            && stall.end.since(last.at) > longest
            && stall.end.since(stall.newest) <= longest;
        let until = if all { stall.newest } else { last.at };
        let (most, at_sender) = (until.since(stall.start), self.is_at_sender(from));
        let lost = others.iter().any(|r| r.lost == Some(true))
            || timeouts.iter().any(|t| lost_behind(flow, at_sender, t))
            || came_once(stall, &sent);
        let in_vain = if all { timeouts } else { before };
        let least = match in_vain.last() {
            Some(t) if in_vain.len() + 1 >= IN_A_ROW && lost => Some(t.at.since(stall.start)),
            // Timers have expired before, unseen.
            _ if !at_sender
                && !r.all_seen
                && most > longest.max(first_timeout(flow, last)).times(TRIPS) =>
            {
                None
            }
            _ => return None,
        };
        let known = stall.start + least.unwrap_or(Span(most.0 / 2));
        let begun = stall.start + flow.rtt.map_or(FIRST_TIMEOUT, |rtt| rtt.p99).times(2);
        // What others sent before an outage is acknowledged a round trip later at the most.
        let others = timeouts.iter().any(|t| begun < t.passed && t.passed <= known);
        (!others).then_some(Outage { least, most, timeouts: timeouts.len(), all })
    }

    /// All that this end retransmitted in a stall is known to have come twice, and the ACK came
    /// with data of the other end that had been lost until then: the request behind an answer,
    /// which acknowledges it (RFC 9293 section 3.8.6.3 lets an ACK wait for that).
    pub(crate) fn waited_for_lost(&self, from: End, stall: &Stall) -> bool {
        let in_vain = || !self.sent_again(from, stall, |r| r.spurious.is_none());
        let late = stall.cause == StallCause::Network || is_repair(stall) && in_vain();
        let stalls = &self.flow(from.other()).stalls;
        // The last one may have no end.
        let place = stalls.partition_point(|s| s.frame > 0 && s.frame < stall.frame);
        let ends = |s: &Stall| s.frame > 0 && s.frame == stall.frame && is_repair(s);
        late && stalls.get(place).is_some_and(ends)
    }

    /// How long timers and recoveries of this end took only because of that: what they sent had
    /// arrived.
    pub(crate) fn repaired_for_lost(&self, from: End) -> Span {
        let own = self.flow(from).stalls.iter().filter(|stall| is_repair(stall));
        let own = own.filter(|stall| self.waited_for_lost(from, stall));
        total(own)
    }

    /// For how long the end that the connection waits for waited itself until the other one had
    /// repaired its losses: it sent nothing meanwhile and waited for no ACK, or for none but that
    /// which came with what was lost. What the other one sent again is known to have been needed,
    /// or was never seen before.
    pub(crate) fn lost_of_other(&self) -> Span {
        let (from, other) = (self.sender(), self.sender().other());
        let own = self.flow(from).stalls.iter();
        let own: Vec<&Stall> =
            own.filter(|s| s.cause == StallCause::Network || is_repair(s)).collect();
        let waited = |stall: &&Stall| {
            let place = own.partition_point(|own| own.end <= stall.start);
            let mut meanwhile = own[place..].iter().take_while(|own| own.start < stall.end);
            match meanwhile.next() {
                None => stall.alone,
                Some(first) => {
                    self.waited_for_lost(from, first)
                        && meanwhile.all(|own| self.waited_for_lost(from, own))
                }
            }
        };
        let needed =
            |stall: &&Stall| self.sent_again(other, stall, |r| r.known && r.spurious.is_none());
        let lost = self.flow(other).stalls.iter().filter(|stall| is_repair(stall));
        total(lost.filter(waited).filter(needed))
    }

    /// Something that this end retransmitted in a stall was so, or nothing of it was seen.
    fn sent_again(&self, from: End, stall: &Stall, was: impl Fn(&Retransmission) -> bool) -> bool {
        let all = &self.flow(from).retransmissions;
        let first = all.partition_point(|r| r.at <= stall.start);
        let mut within = all[first..].iter().take_while(|r| r.at <= stall.end).peekable();
        within.peek().is_none() || within.any(was)
    }

    /// For how long, until the connection or the capture ended, this end sent the same again
    /// and again, and nothing of it was acknowledged.
    pub(crate) fn in_vain(&self, from: End) -> Option<Span> {
        let last = self.flow(from).stalls.last().filter(|stall| self.is_in_vain(from, stall))?;
        Some(last.end.since(last.start))
    }

    /// It is the stall in which that happened. A probe may have sent another segment before, which
    /// says nothing.
    pub(crate) fn is_in_vain(&self, from: End, stall: &Stall) -> bool {
        let again = self.flow(from).retransmissions.iter();
        let again = || again.clone().filter(|r| r.at > stall.start && r.len > 0);
        let Some(last) = again().next_back() else { return false };
        let same = again().filter(|r| r.position == last.position && r.spurious.is_none());
        stall.frame == 0 && same.count() >= IN_A_ROW
    }

    /// In this stall the client's first data went out three times or more. That it is acknowledged
    /// late or never does not tell that no packet came through: a full listen queue drops the ACK
    /// that opens the connection and all behind it (Linux's `tcp_conn_request`, `tcp_check_req`).
    /// A server that has said something before, or closed, had accepted the connection.
    pub(crate) fn is_unheard(&self, from: End, stall: &Stall) -> bool {
        if !self.connection.begun || self.connection.greeted || from != End::Client {
            return false;
        }
        let all = &self.flow(from).retransmissions;
        let [begins, ends] = [stall.start, stall.end].map(|at| all.partition_point(|r| r.at <= at));
        let first = |r: &Retransmission| {
            r.position == 0 && r.len > 0 && r.transmission > 2 && r.spurious.is_none()
        };
        all[begins..ends].iter().any(first)
    }

    /// For how long that was so.
    pub(crate) fn unheard(&self, from: End) -> Span {
        let stalls = self.flow(from).stalls.iter();
        let unheard = stalls.filter(|stall| self.is_unheard(from, stall));
        total(unheard)
    }

    /// The capture was taken at the server, which has answered only the last of several SYNs, as
    /// far as is known: an answer may echo an earlier one.
    pub(crate) fn came_unanswered(&self) -> bool {
        let syns = |end| self.flow(end).retransmissions.iter().filter(|r| r.syn);
        let answered = self.flow(End::Server).offered.is_some();
        let at_server = self.connection.position.is_at(false);
        let needed = syns(End::Client).any(|r| r.spurious.is_none());
        answered && at_server && needed && syns(End::Server).next().is_none()
    }

    /// The server has answered a SYN, and nothing but SYNs of the client was seen, or a reset.
    pub(crate) fn is_half_open(&self) -> bool {
        let c = &self.connection;
        !c.opened && c.from_client.segments > 0 && c.from_server.segments > 0
    }

    /// The same, and the client has not answered that even by a reset.
    pub(crate) fn is_left_half_open(&self) -> bool {
        let answers = match self.connection.ended {
            Ended::Reset(Reset { by, .. }) => {
                by != ResetBy::Server && self.connection.from_client.strange_reset.is_none()
            }
            _ => false,
        };
        self.is_half_open() && !answers
    }

    /// What ACKs of this end's data take beyond the shortest round trip is the receiver's time, and
    /// not the path's. The capture was taken on its host, where all that passes has arrived, and no
    /// timestamps say when it went out.
    pub(crate) fn measures_receiver(&self, from: End) -> bool {
        let on_host = self.part_to(from.other()).is_some_and(|trip| trip <= Position::ON_HOST);
        on_host && self.may_measure_receiver(from)
    }

    /// The same of a capture near the receiver, if it is on that host: some take longer to answer.
    pub(crate) fn may_measure_receiver(&self, from: End) -> bool {
        self.connection.position.is_at(from == End::Server) && !self.flow(from).timestamps
    }

    /// In a stall without timers, the receiver acknowledged late: for most of it nothing came, and
    /// what had come waited there for its ACK. A silence ends with data, which the path may have
    /// held back.
    pub(crate) fn acknowledged_late(&self, from: End, stall: &Stall) -> bool {
        // The stall ends when the ACK is at the sender.
        let waited = stall.end.since(stall.newest) - self.way_to(from);
        stall.cause == StallCause::Network
            && self.measures_receiver(from)
            && waited > Span(stall.end.since(stall.start).0 / 2)
    }

    /// For how long the receiver's application read nothing, or less than what opens its window
    /// again (RFC 9293 section 3.8.6.2.2), if that is worth a word, and at least half of the time
    /// in which its window held back the end that the connection waited for. One that reads slowly
    /// closes its window for a short time, again and again. A window that is less than a segment is
    /// as good as closed (section 3.8.6.2.1), if what was not read is what made it so small.
    pub(crate) fn reads_nothing(&self) -> Option<Span> {
        let stalls = self.flow(self.sender()).stalls.iter();
        let closed = stalls.filter(|stall| match stall.cause {
            StallCause::ZeroWindow => true,
            StallCause::ReceiveWindow => self.is_mostly_shrunk(),
            _ => false,
        });
        let longest = closed.map(|stall| stall.end.since(stall.start)).max()?;
        let half = Span(self.lifetime().of(Limit::ReceiveWindow).0 / 2);
        (longest >= half.max(self.worth())).then_some(longest)
    }

    /// How fast the receiver's application reads, in bits a second, if that is what holds back the
    /// end that the connection waited for: most of the waits were for what it had not read. While
    /// losses are repaired it lacks what comes next.
    pub(crate) fn reads_slowly(&self) -> Option<f64> {
        let (bytes, lifetime) = (self.flow(self.sender()).bytes, self.lifetime());
        self.is_mostly_shrunk().then(|| {
            bytes as f64 * 8.0 / (lifetime.busy() - lifetime.of(Limit::Recovery)).secs_f64()
        })
    }

    /// Most of the waits for the receiver's window were for what its application had not read.
    fn is_mostly_shrunk(&self) -> bool {
        let lifetime = self.lifetime();
        let shrunk = lifetime.shrunk();
        shrunk > Span::ZERO && shrunk >= Span(lifetime.of(Limit::ReceiveWindow).0 / 2)
    }

    /// How long the client asked for nothing, if that is most of the time in which the server's
    /// application gave nothing. What its timer took of that was no silence of its own, also where
    /// that was less than half of a stall.
    pub(crate) fn asks_nothing(&self) -> Option<Span> {
        let repaired = self.flow(End::Client).lifetime.of(Limit::Recovery);
        self.mostly_idle(self.lifetime().unasked() - repaired)
    }

    /// How long the server waited for what the client had lost, if that is most of that time.
    pub(crate) fn lost_requests(&self) -> Option<Span> {
        self.mostly_idle(self.lost_of_other().min(self.limited_for(Limit::Application)))
    }

    /// This, if it is most of the time in which the server's application gave nothing.
    fn mostly_idle(&self, span: Span) -> Option<Span> {
        let mostly = span > Span::ZERO && span >= Span(self.limited_for(Limit::Application).0 / 2);
        (self.sender() == End::Server && mostly).then_some(span)
    }

    /// How often the client asked, each time at once after the answer to what it had asked before,
    /// if the round trips of that are what the connection waited for, and not that the path was
    /// full.
    pub(crate) fn asks_in_turn(&self) -> Option<u64> {
        let (lifetime, turns) = (self.lifetime(), self.connection.from_client.turns);
        let took = self.least_round_trip()?.times(turns);
        let way = lifetime.of(Limit::Path) - lifetime.full();
        let path = self.main() == Some(Limit::Path);
        let in_turn = took >= Span(way.0 / 2) && took <= lifetime.whole();
        (turns >= MANY && path && way > lifetime.full() && in_turn).then_some(turns)
    }
}

/// The least timeout of what had no round trip to go by: the first data behind a SYN that was lost,
/// unless timestamps measure the handshake all the same (RFC 7323 section 4.1).
fn first_timeout(flow: &Flow, timeout: &Timeout) -> Span {
    let of_syn = |t: &Timeout| t.class == TimeoutClass::Handshake && t.at < timeout.at;
    let unmeasured = timeout.position == 0 && !flow.timestamps;
    let lost_syn = unmeasured && flow.timeouts.iter().any(of_syn);
    if lost_syn { RTO_AFTER_LOSS } else { FIRST_TIMEOUT }
}

/// How long these took together.
pub(crate) fn total<'a>(stalls: impl Iterator<Item = &'a Stall>) -> Span {
    stalls.fold(Span::ZERO, |sum, stall| sum + stall.end.since(stall.start))
}

/// Data was lost, or looked like it, and was repaired.
fn is_repair(stall: &Stall) -> bool {
    match stall.cause {
        StallCause::Timeout(class) => class != TimeoutClass::Handshake,
        StallCause::TailLossProbe | StallCause::ProbeOrTimeout | StallCause::Recovery => true,
        _ => false,
    }
}

/// A receiver that reports what comes twice (RFC 2883) has reported one of these retransmissions,
/// although the segment had arrived before all of them, and nothing had come back until then: the
/// others were lost, and the ACKs of all that had arrived. After a delay spike those ACKs come
/// first, however many of the reports are lost.
fn came_once(stall: &Stall, sent: &[&Retransmission]) -> bool {
    let arrived = sent.iter().filter(|r| r.lost == Some(false)).count();
    let reported = sent.iter().any(|r| r.spurious == Some(Spurious::Dsack));
    stall.came_twice && arrived == 1 && reported
}

/// Behind what a timeout sent, more was lost of what was outstanding: half of what the capture
/// shows of it. A delay spike may end while a queue drops some of it.
pub(crate) fn lost_behind(flow: &Flow, at_sender: bool, t: &Timeout) -> bool {
    let outstanding = t.position..t.position + t.flight;
    let sent = sent_by(flow, t).map_or(0, |r| r.len.into());
    let half = t.flight.saturating_sub(sent) / 2;
    let behind = flow.retransmissions.iter().skip(t.retransmission + 1);
    // What is repaired later lies behind all that was outstanding. What was lost before the
    // capture is not known to have been; it is repaired soon.
    let of_this =
        |r: &&Retransmission| r.position < outstanding.end || !at_sender && r.at <= t.at + t.waited;
    let lost = |r: &&Retransmission| {
        let first = r.transmission == 2 && r.position > t.position;
        first && r.known && r.spurious.is_none()
    };
    let lost: u64 = behind.take_while(of_this).filter(lost).map(|r| u64::from(r.len)).sum();
    lost > 0 && lost >= half
}

#[cfg(test)]
mod tests;
