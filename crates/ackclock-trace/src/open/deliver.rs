//! What passes goes to the models of the senders, or waits until there is enough to begin them
//! with.

use ackclock_tcp::Span;

use super::clock::Moment;
use super::delayed::DelayedSender;
use super::input::{Data, Input};
use super::{Budget, Open, flights};
use crate::packet::Packet;
use crate::sender::{Acked, Sight};

impl Open {
    /// Things wait, or there is no model of `end`.
    #[inline]
    fn is_early(&self, end: usize) -> bool {
        self.warm_up.is_on() || !self.senders[end].has_begun()
    }

    /// Passes data on to the model of `end`, or lets it wait.
    // Apart from ACKs: so nothing is asked twice, nor goes through memory.
    #[inline(always)]
    pub(super) fn pass_on_data(&mut self, end: usize, data: Data, budget: &mut Budget) {
        if self.is_early(end) {
            return self.pass_on_early(end, Input::Data(data), budget);
        }
        self.deliver_data(end, data, budget);
    }

    /// Passes an ACK on to the model of `end`, or lets it wait.
    #[inline(always)]
    pub(super) fn pass_on_acked(&mut self, end: usize, acked: &mut Acked, budget: &mut Budget) {
        if self.is_early(end) {
            return self.pass_on_early(end, Input::Acked(*acked), budget);
        }
        self.deliver_acked(end, acked, budget);
    }

    /// Passes something on to the model of `end`, also if things wait or there is none.
    #[cold]
    pub(super) fn pass_on_early(&mut self, end: usize, input: Input, budget: &mut Budget) {
        if self.warm_up.is_on() {
            if self.warm_up.push(end, input, &mut budget.places) {
                return;
            }
            self.end_warm_up(budget);
        }
        self.deliver_early(end, input, budget);
    }

    #[cold]
    pub(super) fn end_warm_up(&mut self, budget: &mut Budget) {
        let waiting = self.warm_up.end(&mut budget.places);
        for end in [0, 1] {
            if let Some(trip) = flights::round_trip(end, &waiting, self.mss(end)) {
                self.place.learn(end, trip);
            }
        }
        // What an end had heard when it sent what waits, and not what it has heard since.
        let heard = [0, 1].map(|end| self.senders[end].take_peer_data());
        for (end, input) in waiting {
            if let Input::Data(data) = &input
                && data.len > 0
            {
                self.senders[1 - end].peer_data(data.at);
            }
            self.deliver_early(end, input, budget);
        }
        for (sender, heard) in self.senders.iter_mut().zip(heard) {
            sender.peer_data(heard);
        }
    }

    fn deliver_early(&mut self, end: usize, input: Input, budget: &mut Budget) {
        if !self.senders[end].has_begun() {
            match input {
                Input::Data(_)
                    if self.warm_up.is_unneeded()
                        && (self.place.forget_made_up() || self.handshake.is_cut()) =>
                {
                    self.warm_up.start();
                    return self.pass_on_early(end, input, budget);
                }
                Input::Data(_) => self.begin(end, budget),
                Input::Acked(acked) => return self.senders[end].keep(&acked),
                Input::Gap(..) | Input::TooBig(_) | Input::Asks(..) | Input::Number(_) => return,
            }
        }
        match input {
            Input::Data(data) => self.deliver_data(end, data, budget),
            Input::Acked(mut acked) => self.deliver_acked(end, &mut acked, budget),
            Input::Gap(until, fin) => {
                self.count_event(budget);
                self.senders[end].gap(until, fin, self.place.delay(end), &mut budget.places);
            }
            Input::TooBig(asked) => {
                let delay = self.place.delay(end);
                self.senders[end].too_big(&asked, delay, &mut budget.places);
            }
            Input::Asks(at, frame) => {
                let delay = self.place.delay(end);
                self.senders[end].asks_again(at, frame, delay, &mut budget.places);
            }
            Input::Number(id) => self.senders[end].number_tells(id),
        }
    }

    /// Gives data to the model of `end`.
    #[inline(always)]
    fn deliver_data(&mut self, end: usize, data: Data, budget: &mut Budget) {
        self.count_event(budget);
        self.senders[end].data(data, self.place.delay(end), &mut budget.places);
    }

    /// Gives an ACK to that model. Away from the sender, as long as nothing has measured how
    /// far off that is, an ACK measures only the part of the round trip that is behind the capture.
    /// Timestamps will soon measure the rest; without them, that part is all that is ever known.
    /// Where the handshake was made up, candidates learn the distance from the first flights.
    #[inline(always)]
    fn deliver_acked(&mut self, end: usize, acked: &mut Acked, budget: &mut Budget) {
        self.count_event(budget);
        let delay = self.place.delay(end);
        if delay == Span::ZERO {
            acked.timed &= self.place.sight(end) == Sight::Sent
                || self.place.is_made_up()
                || !self.timestamps(end);
        } else if let Some(trip) = self.senders[end].answers_within() {
            self.place.measures(end, trip, true);
        }
        self.senders[end].acked(acked, delay, &mut budget.places);
    }

    /// What goes out from `end` carries nothing new, and asks whether the other end is there, or
    /// whether it has room; perhaps.
    #[cold]
    pub(super) fn asks(&mut self, end: usize, p: &Packet, now: &Moment, budget: &mut Budget) {
        if self.ends[end].keeps_alive(p, now.silence) {
            self.senders[end].keeps_alive(now.at);
        } else if self.ends[end].asks_again(p) {
            self.pass_on_early(end, Input::Asks(now.at, p.frame), budget);
        }
    }

    /// Each packet is about one event, if any are kept.
    #[inline]
    pub(super) fn count_event(&mut self, budget: &mut Budget) {
        if self.events {
            self.count_kept_event(budget);
        }
    }

    #[cold]
    fn count_kept_event(&mut self, budget: &mut Budget) {
        budget.count_event();
        if !budget.keeps_events(self.number) {
            self.events = false;
            self.senders.iter_mut().for_each(DelayedSender::stop_events);
        }
    }
}
