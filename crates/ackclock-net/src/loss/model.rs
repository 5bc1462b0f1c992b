//! Loss models at work.

use ackclock_tcp::Time;

use super::{Applies, ListedLoss, Loss, LossModel};
use crate::ids::FlowId;
use crate::packet::{Kind, Packet};
use crate::rng::Rng;
use crate::transmission::transmission_time;

/// A loss model at work, and the packets that it sees.
#[derive(Debug)]
pub(crate) struct Losses {
    applies: Applies,
    flow: Option<FlowId>,
    model: Model,
    rng: Rng,
}

/// A loss model with its state.
#[derive(Debug)]
enum Model {
    /// The entries in order, each with whether a packet has met it.
    Listed(Vec<(ListedLoss, bool)>),
    Bernoulli(f64),
    GilbertElliott {
        p: f64,
        r: f64,
        loss_good: f64,
        loss_bad: f64,
        bad: bool,
    },
    ThreeState(ThreeState),
    Policer(Policer),
}

impl Losses {
    pub(crate) fn new(loss: Loss, rng: Rng) -> Self {
        let model = match loss.model {
            LossModel::Listed(mut listed) => {
                listed.sort_unstable();
                listed.dedup();
                Model::Listed(listed.into_iter().map(|entry| (entry, false)).collect())
            }
            LossModel::Bernoulli(p) => Model::Bernoulli(p),
            LossModel::GilbertElliott { p, r, loss_good, loss_bad } => {
                Model::GilbertElliott { p, r, loss_good, loss_bad, bad: false }
            }
            LossModel::ThreeState {
                second_at,
                second_for,
                second_loss,
                third_for,
                third_loss,
                lose_fast_retransmission,
                repeat,
            } => {
                let third_at = second_at + second_for;
                Model::ThreeState(ThreeState {
                    ends: [second_at, third_at, third_at + third_for],
                    loss: [0.0, second_loss, third_loss, 0.0],
                    lose_fast_retransmission,
                    repeat,
                    fast_lost: None,
                })
            }
            LossModel::Policer { rate, burst } => {
                Model::Policer(Policer { rate, burst, full_at: 0 })
            }
        };
        Losses { applies: loss.applies, flow: loss.flow, model, rng }
    }

    /// Whether this packet is lost, and if so by which model. `mss` is its flow's.
    pub(crate) fn take(&mut self, now: Time, packet: &Packet, mss: u32) -> Option<&'static str> {
        let seen = match self.applies {
            Applies::Data => packet.kind != Kind::Ack,
            Applies::Acks => packet.kind == Kind::Ack,
            Applies::Both => true,
        };
        if !seen || self.flow.is_some_and(|flow| flow.0 != packet.flow) {
            return None;
        }
        let rng = &mut self.rng;
        let (lost, name) = match &mut self.model {
            Model::Listed(listed) => (meets(listed, packet, mss), "listed"),
            Model::Bernoulli(p) => (rng.chance(*p), "bernoulli"),
            Model::GilbertElliott { p, r, loss_good, loss_bad, bad } => {
                let lost = rng.chance(if *bad { *loss_bad } else { *loss_good });
                *bad ^= rng.chance(if *bad { *r } else { *p });
                (lost, "gilbert_elliott")
            }
            Model::ThreeState(states) => (states.takes(now, packet, rng), "three_state"),
            Model::Policer(policer) => (policer.takes(now, packet), "policer"),
        };
        lost.then_some(name)
    }

    /// The entries of a list that no packet has met.
    pub(crate) fn unmet(&self) -> impl Iterator<Item = ListedLoss> {
        let listed = match &self.model {
            Model::Listed(listed) => &listed[..],
            _ => &[],
        };
        listed.iter().filter(|(_, met)| !met).map(|&(entry, _)| entry)
    }
}

/// [`LossModel::ThreeState`] with its state.
#[derive(Debug)]
struct ThreeState {
    /// When each state ends.
    ends: [Time; 3],
    /// The probability of a loss in each state, and after the last.
    loss: [f64; 4],
    lose_fast_retransmission: bool,
    repeat: bool,
    /// The last pass that has lost its fast retransmission.
    fast_lost: Option<u64>,
}

impl ThreeState {
    fn takes(&mut self, now: Time, packet: &Packet, rng: &mut Rng) -> bool {
        let period = self.ends[2].0.max(1);
        let (pass, at) =
            if self.repeat { (now.0 / period, Time(now.0 % period)) } else { (0, now) };
        let state = self.ends.iter().filter(|&&end| end <= at).count();
        let p = self.loss[state];
        let fast = self.lose_fast_retransmission
            && packet.fast_retransmission
            && state > 0
            && self.fast_lost != Some(pass);
        if fast {
            self.fast_lost = Some(pass);
        }
        (p > 0.0 && rng.chance(p)) || fast
    }
}

/// [`LossModel::Policer`] with its state.
#[derive(Debug)]
struct Policer {
    rate: u64,
    burst: u32,
    /// When the bucket will be full again if it gives no more tokens.
    full_at: u64,
}

impl Policer {
    fn takes(&mut self, now: Time, packet: &Packet) -> bool {
        let full_at =
            self.full_at.max(now.0).saturating_add(transmission_time(packet.size, self.rate));
        let lost = full_at - now.0 > transmission_time(self.burst, self.rate);
        if !lost {
            self.full_at = full_at;
        }
        lost
    }
}

/// The segment whose first byte the packet holds, if it holds one.
pub(crate) fn first_byte_of(packet: &Packet, mss: u32) -> Option<u64> {
    let mss = u64::from(mss.max(1));
    let segment = packet.position.div_ceil(mss);
    (segment.saturating_mul(mss) < packet.position.saturating_add(u64::from(packet.len)))
        .then_some(segment)
}

/// Whether the list names this transmission of the segment whose first byte the packet holds. The
/// entry has been met then.
fn meets(listed: &mut [(ListedLoss, bool)], packet: &Packet, mss: u32) -> bool {
    if packet.kind == Kind::Ack || packet.copy {
        return false;
    }
    let entry = first_byte_of(packet, mss)
        .map(|segment| ListedLoss { segment, transmission: packet.transmission })
        .and_then(|named| listed.binary_search_by_key(&named, |&(entry, _)| entry).ok());
    if let Some(entry) = entry {
        listed[entry].1 = true;
    }
    entry.is_some()
}

#[cfg(test)]
mod tests;
