//! The discipline of a link's queue, with its state.

use super::served::Transmitter;
use crate::packet::Packet;
use crate::queue::{
    CodelState, FqCodelState, FredState, Limit, PieState, Queue, RedState, Verdict, Waiting,
};
use crate::rng::Rng;

#[derive(Debug)]
pub(super) enum Discipline {
    DropTail(Limit),
    Red(Box<RedState>),
    Fred(Box<FredState>),
    /// These need to see packets leave, which takes a [`Transmitter`].
    Codel(Box<CodelState>),
    FqCodel(Box<FqCodelState>),
    Pie(Box<PieState>),
    /// Its transmitter needs events ([`served`]).
    Served(Box<Transmitter>),
}

impl Discipline {
    /// `rng` makes random numbers by the name of their use.
    pub(super) fn new(queue: &Queue, rate: u64, rng: impl Fn(&str) -> Rng) -> Self {
        match queue.clone() {
            Queue::DropTail(limit) => Discipline::DropTail(limit),
            Queue::Red(red) => Discipline::Red(Box::new(RedState::new(red, rate, rng("red")))),
            Queue::Fred(fred) => {
                Discipline::Fred(Box::new(FredState::new(fred, rate, rng("fred"))))
            }
            Queue::Codel(codel) => Discipline::Codel(Box::new(CodelState::new(&codel))),
            Queue::FqCodel(fq) => {
                Discipline::FqCodel(Box::new(FqCodelState::new(&fq, rng("fq_codel"))))
            }
            Queue::Pie(pie) => Discipline::Pie(Box::new(PieState::new(pie, rng("pie")))),
        }
    }

    /// Whether it needs to see packets leave.
    pub(super) fn judges_late(&self) -> bool {
        matches!(self, Discipline::Codel(_) | Discipline::FqCodel(_) | Discipline::Pie(_))
    }

    /// What becomes of an arriving packet where neither room alone decides nor RED.
    #[inline(never)]
    pub(super) fn verdict(&mut self, waiting: Waiting, packet: &Packet) -> Verdict {
        match self {
            Discipline::Fred(fred) => fred.arrive(waiting, packet.flow),
            // Their transmitters have events.
            _ => Verdict::Full,
        }
    }

    /// Packets marked.
    pub(super) fn marked(&self) -> u64 {
        match self {
            Discipline::DropTail(_) | Discipline::Fred(_) => 0,
            Discipline::Red(red) => red.marked,
            Discipline::Codel(codel) => codel.marked,
            Discipline::FqCodel(fq) => fq.marked(),
            Discipline::Pie(pie) => pie.marked,
            Discipline::Served(transmitter) => transmitter.discipline.marked(),
        }
    }

    /// Packets dropped early.
    pub(super) fn dropped_early(&self) -> u64 {
        match self {
            Discipline::DropTail(_) => 0,
            Discipline::Red(red) => red.dropped_early,
            Discipline::Fred(fred) => fred.dropped_early,
            Discipline::Codel(codel) => codel.dropped_early,
            Discipline::FqCodel(fq) => fq.dropped_early(),
            Discipline::Pie(pie) => pie.dropped_early,
            Discipline::Served(transmitter) => transmitter.discipline.dropped_early(),
        }
    }
}
