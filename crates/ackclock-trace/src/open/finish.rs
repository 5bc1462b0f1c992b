//! What was found of a connection once it is over.

use std::net::SocketAddr;

use ackclock_tcp::{Event, EventKind, Span, Time};

use super::Open;
use super::budget::Budget;
use super::doubts::Gaps;
use super::end::End;
use super::end::positions::ROOM;
use crate::connection::{Connection, Ecn, Ended, Flow, Kind, Retransmission, RoundTrip, Spurious};
use crate::lifetime::{Lifetime, Limit};
use crate::reset::{Reset, ResetBy};
use crate::sender::{Found, Sight};
use crate::standards::LEAST_RTO;

/// So many full segments are not sent without an ACK of any of them, if not all at once: half a
/// super-segment.
const UNASKED: u64 = 22;

/// ACKs that come too late so often do not do so by chance.
const OFTEN: u8 = 3;

/// What the model of a sender has found, which may know SMSS better.
struct Model {
    mss: u32,
    found: Found,
}

impl Open {
    /// The connection is over, and was not seen again until `now`. `why` counts where its packets
    /// do not say how it ended.
    pub fn finish(mut self, why: Ended, now: Time, budget: &mut Budget) -> Connection {
        if let Some(data) = self.syn_data.take() {
            self.deliver_syn_data(*data, budget);
        }
        self.end_warm_up(budget);
        for end in [0, 1] {
            // A SYN that nobody answered, and that was retransmitted.
            if !self.senders[end].has_begun() && self.handshake.isn(end).is_some() {
                self.begin(end, budget);
            }
        }
        let [client, server] = [0, 1].map(|end| SocketAddr::new(self.hosts[end], self.ports[end]));
        let until = if self.is_over() { self.clock.last() } else { now.max(self.clock.last()) };
        let waited = || self.clock.waited().unwrap_or_else(|| self.senders[1].since_asked(until));
        let in_vain = self.waited_in_vain().then(waited);
        let models = [0, 1].map(|end| self.settle(end, budget));
        for (end, model) in models.iter().enumerate() {
            let least = model.as_ref().and_then(|model| Some(model.found.rtt?.min));
            if let Some(least) = least.filter(|_| self.place.sight(end) == Sight::Sent) {
                self.place.measured(1 - end, least);
            }
        }
        let misses_most = |end: usize| {
            // Away from the sender, what it had sent before may look new.
            self.place.sight(end) == Sight::Sent
                && models[end].as_ref().is_some_and(misses_most_acks)
        };
        let unanswered = self.misses_all_bare_acks(&models)
            || [0, 1].into_iter().any(misses_most)
            || models.iter().flatten().any(is_mostly_unknown);
        // In a simulation, SYNs that nobody answers may go every few seconds.
        let whole_seconds = self.directions.has_begun() && self.clock.has_whole_seconds();
        let told = !unanswered && !whole_seconds && !self.directions.is_one();
        let [from_client, from_server] = {
            let [first, second] = models;
            [self.flow(0, first, told), self.flow(1, second, told)]
        };
        Connection {
            number: self.number,
            client,
            server,
            start: self.clock.start(),
            end: self.clock.last(),
            packets: self.clock.packets(),
            copies: self.ends.iter().map(End::copies).sum(),
            copies_after: self.copies.longest(),
            deferred: self.deferred.into(),
            greeted: self.turns.has_greeted(),
            begun: self.begun,
            opened: self.is_opened(),
            one_way: self.directions.is_one(),
            unanswered,
            whole_seconds,
            no_answer: in_vain.filter(|_| told),
            ended: self.ended(why),
            position: self.place.position(),
            numbers: self.ends.each_ref().map(End::numbers),
            from_client,
            from_server,
        }
    }

    /// No ACK without data was captured, although one end has sent so much that the other one had
    /// to send some (RFC 9293 section 3.8.6.3: for every second full segment). What both ends send
    /// all the time acknowledges the other's. Or an end had to wait so long that it had got some.
    fn misses_all_bare_acks(&self, models: &[Option<Model>; 2]) -> bool {
        let bytes = [0, 1].map(|end| models[end].as_ref().map_or(0, |model| model.found.bytes));
        let unasked = |end: usize| {
            let much = u64::from(self.mss(end)) * UNASKED;
            self.ends[end].ahead() >= much && bytes[1 - end] < bytes[end] / 4
        };
        let waited = |end: usize| {
            let model = models[end].as_ref();
            !self.directions.has_bare_acks_of_data(1 - end)
                && model.is_some_and(|m| self.has_got_some(end, m))
        };
        let much = || !self.directions.has_bare_acks() && [0, 1].into_iter().any(unasked);
        !self.directions.is_one() && (much() || [0, 1].into_iter().any(waited))
    }

    /// No ACK without data of what `end` has sent was captured, but `end` had got some: for most of
    /// its time it went on so, or ACKs came with data so late that nobody delays them for as long,
    /// again and again, without a timer that had sent anything. The capture was taken where they
    /// were sent, or has not even the ACK of the handshake: elsewhere the path may have taken that
    /// time. The numbers of packets may tell that none is missing. Where one counter numbers those
    /// of both ends, what wrote the capture sees little, or both are on one host that delays no ACK
    /// for as long as a timer takes: once is enough.
    fn has_got_some(&self, end: usize, model: &Model) -> bool {
        let Model { found, .. } = model;
        let here = !self.ends[1 - end].is_counted() && self.place.position().is_at(end == 1);
        // A timer that has sent something says once that no ACK had come.
        let again = found.retransmissions.len();
        let often = usize::from(found.carried) >= again + usize::from(OFTEN)
            && (here || !self.directions.has_bare_acks());
        let whole = self.place.whole_trip().unwrap_or_default();
        let late = |rtt: RoundTrip| rtt.max > whole + LEAST_RTO;
        let once = || self.counter.is_one() && found.rtt.is_some_and(late);
        misses_most_acks(model) || often || again == 0 && once()
    }

    /// The server has all that the client sent, and owes an answer. A client that closes its end
    /// before waits, too.
    pub(super) fn waits(&self) -> bool {
        self.asked.is_owed() && self.ends[0].is_taken()
    }

    /// It still did in the end. Where nothing says that the server ever has something to say, a
    /// client that closes its end has said all, and one that resets the connection, or leaves it
    /// open, may wait.
    fn waited_in_vain(&self) -> bool {
        let closed = self.ends.iter().any(End::has_fin) || self.ends[1].is_reset();
        let waits_for_more = self.ends[0].is_reset() || !closed;
        self.waits() && (self.asked.is_answered() || waits_for_more)
    }

    /// How it ended: as its packets say, or else for this reason.
    fn ended(&self, why: Ended) -> Ended {
        if self.ends.iter().all(End::has_fin) {
            Ended::Fin
        } else if self.is_refused() {
            Ended::Refused
        } else {
            self.reset().map_or(why, Ended::Reset)
        }
    }

    /// More was seen than SYNs, or than SYNs and resets: nobody has acknowledged the server's SYN,
    /// nor has it gone on as if somebody had.
    fn is_opened(&self) -> bool {
        let server = &self.ends[1];
        let goes_on = || server.has_acks() || server.has_data() || self.directions.has_bare_acks();
        self.directions.has_begun() && (!self.begun || goes_on())
    }

    /// The server has answered the SYN by a reset.
    fn is_refused(&self) -> bool {
        let [client, server] = [0, 1].map(|end| self.handshake.isn(end).is_some());
        let data = self.ends.iter().any(End::has_data);
        client && !server && !data && self.ends[1].is_reset()
    }

    /// Who has reset it, and whether that has cut off what the other end had sent.
    fn reset(&self) -> Option<Reset> {
        let [client, server] = self.ends.each_ref();
        let by = match (client.is_reset(), server.is_reset()) {
            (true, false) => ResetBy::Client,
            (false, true) => ResetBy::Server,
            (true, true) => ResetBy::Both,
            (false, false) => return None,
        };
        let cut = |reset: &End, other: &End| reset.is_reset() && other.has_unacknowledged();
        Some(Reset { by, cuts_off: cut(client, server) || cut(server, client) })
    }

    /// As in [`Flow::strange_reset`]. Who has sent nothing but a SYN may have made that up, as
    /// scanners do: the host, which knows nothing of it, resets with a time to live of its own.
    fn strange_reset(&self, end: usize) -> Option<[u8; 2]> {
        let syn = self.handshake.syns(end).next().map(|syn| syn.ttl);
        let more = self.ends[end].has_data() || self.ends[1 - end].has_acks();
        self.place.strange_reset(end, syn).filter(|_| self.ends[end].is_reset() && more)
    }

    /// What the model of an end has found; `None` of one that has sent nothing.
    fn settle(&mut self, end: usize, budget: &mut Budget) -> Option<Model> {
        let sender = std::mem::take(&mut self.senders[end]);
        let mss = sender.mss().unwrap_or_else(|| self.mss(end));
        let delay = self.place.delay(end);
        let mut found = sender.finish(self.clock.last(), delay, &mut budget.places)?;
        if self.handshake.has_other_answer(1 - end) {
            last_syn_was_not_needed(&mut found);
        }
        Some(Model { mss, found })
    }

    /// A round trip of `end` that is shorter than its part between the end and the capture lacks
    /// that part, which was not known when it was measured.
    fn is_whole(&self, end: usize, trip: Span) -> bool {
        let position = self.place.position();
        let part = [position.to_client, position.to_server][end];
        self.place.sight(end) == Sight::Sent || part.is_none_or(|part| trip >= part)
    }

    /// What an end has sent. `told`: there is enough to say why, and what it waited for.
    fn flow(&self, end: usize, model: Option<Model>, told: bool) -> Flow {
        let mut doubts = self.gaps(end, model.is_some()).doubts();
        let Model { mss, mut found } =
            model.unwrap_or_else(|| Model { mss: self.mss(end), found: Found::default() });
        doubts.append(&mut found.doubts);
        // One may be a FIN.
        if found.unseen > 1 {
            let unseen = found.unseen;
            doubts.push(format!("{unseen} bytes that were acknowledged are not in the capture"));
        }
        let flow = Flow {
            mss: self.mss(end),
            offered: self.handshake.options(end),
            sack: self.handshake.sack().unwrap_or(self.ends[end].has_sack()),
            timestamps: self.timestamps(end),
            ecn: self.ecn.of(end),
            window: self.window(end, found.window),
            bytes: found.bytes,
            segments: found.segments,
            dsacks: found.dsacks,
            asked_shorter: found.asked_shorter,
            retransmissions: found.retransmissions,
            unseen: found.unseen,
            counted: self.ends[end].is_counted(),
            turns: self.turns.of(end),
            strange_reset: self.strange_reset(end),
            events: found.events,
            doubts,
            ..Flow::default()
        };
        if !told {
            return untold(flow);
        }
        Flow {
            mss,
            ecn: Ecn { reductions: found.reductions, ..flow.ecn },
            full_window: found.full_window,
            rtt: found.rtt.filter(|rtt| self.is_whole(end, rtt.min)),
            rerouted: found.moved,
            timeouts: found.timeouts,
            recoveries: found.recoveries,
            stalls: found.stalls,
            losses: found.losses,
            lifetime: self.lifetime(end, found.lifetime, found.end),
            probes_of_new_data: found.probes_of_new_data,
            ways: found.ways,
            undecided: found.undecided,
            ..flow
        }
    }

    /// What limited `end`, whose model was told of something `last`: the last ACK has reached the
    /// end later than the capture.
    fn lifetime(&self, end: usize, found: Lifetime, last: Time) -> Lifetime {
        let whole = last.max(self.clock.last()).since(self.clock.start());
        let lifetime = self.without_way_back(end, found).fit(whole);
        if self.begun && !self.is_opened() { lifetime.unopened() } else { lifetime }
    }

    /// The handshake of the server begins with its SYN/ACK, and so much later than the SYN as that
    /// takes from the capture to the server and back. That time is the path's.
    fn without_way_back(&self, end: usize, mut lifetime: Lifetime) -> Lifetime {
        if end == 1 && self.handshake.isn(0).is_some() {
            let way = self.place.delay(end).min(lifetime.of(Limit::Handshake));
            lifetime.take(Limit::Handshake, way);
            lifetime.add(Limit::Path, way);
        }
        lifetime
    }

    /// The largest window that `end` was offered, if the scale is known, or it was offered none.
    fn window(&self, end: usize, largest: u64) -> Option<u64> {
        let known = self.handshake.shift(1 - end).is_some() || !self.ends[end].has_acks();
        if known { Some(largest) } else { self.ends[end].inferred_window() }
    }

    /// What is missing in the capture of what `end` sent; `sent` if it sent anything.
    fn gaps(&self, end: usize, sent: bool) -> Gaps {
        let seen = &self.ends[end];
        let first = if self.handshake.isn(end).is_some() { 0 } else { ROOM };
        let away = self.place.sight(end) != Sight::Sent;
        Gaps {
            sent,
            begun: self.begun,
            both_syns: self.handshake.has_both_syns(),
            window_scale: self.handshake.shift(1 - end).is_some(),
            inferred_scale: seen.inferred_window().is_some(),
            acks: seen.has_acks(),
            one_way: self.directions.is_one(),
            unknown_delay: away && self.place.delay(end) == Span::ZERO,
            data_not_captured: seen.has_acks() && !seen.has_data() && seen.una() > first,
            options_cut: self.options_cut,
            gaps: self.gaps.into(),
            went_back: self.clock.went_back(),
            copies: seen.copies(),
            lag: self.copies.longest(),
            strays: seen.strays(),
            jumps: seen.jumps(),
            bad_blocks: seen.bad_blocks(),
        }
    }
}

/// Two of the SYNs were answered: one before the last one had come.
fn last_syn_was_not_needed(found: &mut Found) {
    let Found { retransmissions, timeouts, .. } = found;
    let mut syns = retransmissions.iter_mut().enumerate().filter(|(_, r)| r.syn);
    let Some((index, last)) = syns.next_back() else { return };
    last.spurious = last.spurious.or(Some(Spurious::DuplicateAck));
    last.known = true;
    if syns.next().is_none() {
        // Both came.
        last.lost = Some(false);
    }
    let of_last = timeouts.iter_mut().filter(|timeout| timeout.retransmission == index);
    of_last.for_each(|timeout| timeout.spurious = last.spurious);
}

/// The capture has gaps for more of the time than not.
fn is_mostly_unknown(Model { found, .. }: &Model) -> bool {
    found.unknown > found.lifetime.whole()
}

/// For more of the time than not in which it had something to do, the ACKs of what an end sent are
/// not in the capture.
fn misses_most_acks(Model { found, .. }: &Model) -> bool {
    found.unacked > Span::ZERO && found.unacked.times(2) > found.lifetime.busy()
}

/// What an end sent, where only one direction was captured, or ACKs are missing: without what came
/// back, nothing says why, nor what anybody waited for.
#[cold]
fn untold(flow: Flow) -> Flow {
    let unexplained = |r| Retransmission {
        kind: Kind::Unknown,
        probability: None,
        spurious: None,
        known: false,
        lost: None,
        ..r
    };
    let shown = |event: &Event| !matches!(event.kind, EventKind::TimedOut { .. });
    Flow {
        retransmissions: flow.retransmissions.into_iter().map(unexplained).collect(),
        events: flow.events.into_iter().filter(shown).collect(),
        ..flow
    }
}
