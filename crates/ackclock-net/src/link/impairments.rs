//! What a link does to packets beside queueing and delaying them.

use ackclock_tcp::{Span, Time};

use super::wire::Late;
use crate::config::{LinkConfig, Reorder, Spike};
use crate::fates::{Fate, Fates};
use crate::loss::{ListedLoss, Losses, first_byte_of};
use crate::packet::{Kind, Packet};
use crate::rng::Rng;

/// What a link does to packets beside queueing and delaying them. Most links do none of it.
#[derive(Debug)]
pub(super) struct Impairments {
    fates: Fates,
    /// How much later than others the packet arrives that was let in last, by its listed fate.
    pub(super) late_by: Span,
    losses: Vec<Losses>,
    /// Packets that were listed as lost, or that the loss models dropped.
    pub(super) lost: u64,
    spikes: Vec<Spike>,
    jitter: Option<(Span, Rng)>,
    reorder: Option<Reordering>,
    duplicate: Option<(f64, Rng)>,
    corrupt: Option<(f64, Rng)>,
    /// Packets of which a bit was flipped.
    pub(super) corrupted: u64,
    pub(super) last_arrival: u64,
    /// Packets on the wire that others overtake.
    pub(super) late: Late,
    /// Of the last packet let in.
    pub(super) effects: Effects,
}

/// Which packets others overtake.
#[derive(Debug)]
struct Reordering {
    config: Reorder,
    rng: Rng,
    /// Of each listed segment, whether its packet has come.
    met: Vec<bool>,
}

/// What the wire does to a packet, delay aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Effects {
    /// It is overtaken by those behind it.
    pub(crate) late: bool,
    /// It arrives twice.
    pub(crate) twice: bool,
    /// A bit of it is flipped.
    pub(crate) corrupt: bool,
    /// It is marked with CE.
    pub(crate) marked: bool,
}

impl Impairments {
    /// The impairments of a link, if it has any. `rng` makes the random numbers for a role.
    pub(super) fn new(config: &LinkConfig, rng: impl Fn(&str) -> Rng) -> Option<Impairments> {
        let losses = config.loss.iter().cloned().enumerate();
        let reorder =
            config.reorder.clone().filter(|r| r.probability > 0.0 || !r.segments.is_empty());
        let impairments = Impairments {
            fates: Fates::new(&config.fates),
            late_by: Span::ZERO,
            losses: losses.map(|(i, loss)| Losses::new(loss, rng(&format!("loss {i}")))).collect(),
            lost: 0,
            spikes: config.spikes.clone(),
            jitter: (config.jitter > Span::ZERO).then(|| (config.jitter, rng("jitter"))),
            reorder: reorder.map(|config| Reordering {
                met: vec![false; config.segments.len()],
                config,
                rng: rng("reorder"),
            }),
            duplicate: (config.duplicate > 0.0).then(|| (config.duplicate, rng("duplicate"))),
            corrupt: (config.corrupt > 0.0).then(|| (config.corrupt, rng("corrupt"))),
            corrupted: 0,
            last_arrival: 0,
            late: Late::default(),
            effects: Effects::default(),
        };
        let none = impairments.fates.is_empty()
            && impairments.losses.is_empty()
            && impairments.spikes.is_empty()
            && impairments.jitter.is_none()
            && impairments.reorder.is_none()
            && impairments.duplicate.is_none()
            && impairments.corrupt.is_none()
            && !config
                .varying
                .changes
                .iter()
                .any(|change| change.overtake || change.loss.is_some());
        (!none).then_some(impairments)
    }

    /// Why a packet is lost, if it is.
    #[inline(never)]
    pub(super) fn lose(
        &mut self,
        now: u64,
        packet: &Packet,
        mss: impl Fn() -> u32,
    ) -> Option<&'static str> {
        self.lose_by(None, now, packet, mss)
    }

    /// The same, by these loss models instead of the link's own.
    pub(super) fn lose_by(
        &mut self,
        instead: Option<&mut Vec<Losses>>,
        now: u64,
        packet: &Packet,
        mss: impl Fn() -> u32,
    ) -> Option<&'static str> {
        let losses = instead.unwrap_or(&mut self.losses);
        if losses.is_empty() && self.fates.is_empty() {
            return None;
        }
        let mss = mss();
        let fate = self.fates.meet(packet, mss);
        self.late_by = if let Some(Fate::Late(by)) = fate { by } else { Span::ZERO };
        let why = if fate == Some(Fate::Lost) {
            "listed"
        } else {
            losses.iter_mut().find_map(|loss| loss.take(Time(now), packet, mss))?
        };
        self.lost += 1;
        Some(why)
    }

    /// Whether packets always arrive in the order in which they were let in.
    pub(super) fn keep_order(&self) -> bool {
        self.reorder.is_none() && !self.fates.delay_some()
    }

    /// The fates that no packet has met yet, by their places in the list.
    pub(super) fn unmet_fates(&self) -> impl Iterator<Item = usize> {
        self.fates.unmet()
    }

    /// The entries of drop lists that no packet has met yet, each after the place of its list.
    pub(super) fn unmet_drops(&self) -> impl Iterator<Item = (usize, ListedLoss)> {
        let all = self.losses.iter().enumerate();
        all.flat_map(|(place, loss)| loss.unmet().map(move |entry| (place, entry)))
    }

    /// The listed segments that were not late yet.
    pub(super) fn unmet_segments(&self) -> impl Iterator<Item = u64> {
        self.reorder.iter().flat_map(|reorder| {
            let listed = reorder.config.segments.iter().zip(&reorder.met);
            listed.filter(|(_, met)| !**met).map(|(segment, _)| *segment)
        })
    }

    /// When a packet arrives that enters the wire at `entry`. Without spikes it would arrive at
    /// `arrival`.
    pub(super) fn spiked(&self, entry: u64, arrival: u64) -> u64 {
        let at_entry = self
            .spikes
            .iter()
            .filter(|spike| (spike.at..spike.at + spike.lasts).contains(&Time(entry)));
        at_entry.fold(arrival, |arrival, spike| arrival.saturating_add(spike.delay.0))
    }

    /// Draws what the wire does to a packet that enters it at `entry`. Without that it would arrive
    /// at `arrival`; returns when it does arrive.
    #[inline(never)]
    pub(super) fn pass(
        &mut self,
        entry: u64,
        mut arrival: u64,
        packet: &Packet,
        mss: impl Fn() -> u32,
    ) -> u64 {
        arrival = self.spiked(entry, arrival);
        if let Some((most, rng)) = &mut self.jitter {
            arrival = arrival.saturating_add(rng.up_to(*most).0);
        }
        arrival = arrival.max(self.last_arrival);
        self.last_arrival = arrival;
        self.effects = Effects::default();
        // Not `||`: the list has met its packet also where chance has made it late.
        if let Some(reorder) = &mut self.reorder
            && (reorder.rng.chance(reorder.config.probability) | reorder.names(packet, mss))
        {
            self.effects.late = true;
            arrival = arrival.saturating_add(reorder.config.extra_delay.0);
        }
        if self.late_by > Span::ZERO {
            self.effects.late = true;
            arrival = arrival.saturating_add(self.late_by.0);
        }
        self.effects.twice = self.duplicate.as_mut().is_some_and(|(p, rng)| rng.chance(*p));
        self.effects.corrupt = self.corrupt.as_mut().is_some_and(|(p, rng)| rng.chance(*p));
        self.corrupted += u64::from(self.effects.corrupt);
        arrival
    }
}

impl Reordering {
    /// Whether the list names this packet.
    fn names(&mut self, packet: &Packet, mss: impl Fn() -> u32) -> bool {
        let segments = &self.config.segments;
        if segments.is_empty()
            || packet.kind == Kind::Ack
            || packet.copy
            || packet.transmission != 1
        {
            return false;
        }
        let Some(segment) = first_byte_of(packet, mss()) else { return false };
        let mut named = false;
        for (listed, met) in segments.iter().zip(&mut self.met) {
            if *listed == segment {
                (*met, named) = (true, true);
            }
        }
        named
    }
}
