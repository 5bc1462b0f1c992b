//! Loss models at work.

use ackclock_tcp::Time;

use super::{Applies, ListedLoss, Loss, LossModel};
use crate::packet::{Kind, Packet};
use crate::rng::Rng;
use crate::transmission::transmission_time;

/// A loss model with its state.
#[derive(Debug)]
pub(crate) struct Losses {
    /// A list in it is sorted.
    loss: Loss,
    /// Which entries of a list packets met.
    met: Vec<bool>,
    /// The state of the Gilbert-Elliott model.
    bad: bool,
    /// The last pass of the three-state model that has lost its fast retransmission.
    fast_lost: Option<u64>,
    /// When the policer's bucket will be full again if it gives no more tokens.
    full_at: u64,
    rng: Rng,
}

impl Losses {
    pub(crate) fn new(mut loss: Loss, rng: Rng) -> Self {
        let mut met = Vec::new();
        if let LossModel::Listed(listed) = &mut loss.model {
            listed.sort_unstable();
            listed.dedup();
            met.resize(listed.len(), false);
        }
        Losses { loss, met, bad: false, fast_lost: None, full_at: 0, rng }
    }

    /// Whether this packet is lost, and if so by which model. `mss` is its flow's.
    pub(crate) fn take(&mut self, now: Time, packet: &Packet, mss: u32) -> Option<&'static str> {
        let seen = match self.loss.applies {
            Applies::Data => packet.kind != Kind::Ack,
            Applies::Acks => packet.kind == Kind::Ack,
            Applies::Both => true,
        };
        if !seen || self.loss.flow.is_some_and(|flow| flow.0 != packet.flow) {
            return None;
        }
        let rng = &mut self.rng;
        let (lost, name) = match &self.loss.model {
            LossModel::Listed(listed) => {
                let entry = listed_entry(listed, packet, mss)
                    .filter(|_| packet.kind != Kind::Ack && !packet.copy);
                if let Some(entry) = entry {
                    self.met[entry] = true;
                }
                (entry.is_some(), "listed")
            }
            LossModel::Bernoulli(p) => (rng.chance(*p), "bernoulli"),
            LossModel::GilbertElliott { p, r, loss_good, loss_bad } => {
                let lost = rng.chance(if self.bad { *loss_bad } else { *loss_good });
                self.bad ^= rng.chance(if self.bad { *r } else { *p });
                (lost, "gilbert_elliott")
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
                let third_at = *second_at + *second_for;
                let end = third_at + *third_for;
                let (pass, at) = match repeat {
                    true => (now.0 / end.0.max(1), Time(now.0 % end.0.max(1))),
                    false => (0, now),
                };
                let state = [*second_at, third_at, end].iter().filter(|&&end| end <= at).count();
                let p = [0.0, *second_loss, *third_loss, 0.0][state];
                let fast = *lose_fast_retransmission
                    && packet.fast_retransmission
                    && state > 0
                    && self.fast_lost != Some(pass);
                if fast {
                    self.fast_lost = Some(pass);
                }
                ((p > 0.0 && rng.chance(p)) || fast, "three_state")
            }
            LossModel::Policer { rate, burst } => {
                let full_at =
                    self.full_at.max(now.0).saturating_add(transmission_time(packet.size, *rate));
                let lost = full_at - now.0 > transmission_time(*burst, *rate);
                if !lost {
                    self.full_at = full_at;
                }
                (lost, "policer")
            }
        };
        lost.then_some(name)
    }

    /// The entries of a list that no packet has met.
    pub(crate) fn unmet(&self) -> impl Iterator<Item = ListedLoss> {
        let listed = match &self.loss.model {
            LossModel::Listed(listed) => &listed[..],
            _ => &[],
        };
        listed.iter().zip(&self.met).filter(|(_, met)| !**met).map(|(entry, _)| *entry)
    }
}

/// The segment whose first byte the packet holds, if it holds one.
pub(crate) fn first_byte_of(packet: &Packet, mss: u32) -> Option<u64> {
    let mss = u64::from(mss.max(1));
    let segment = packet.position.div_ceil(mss);
    (segment.saturating_mul(mss) < packet.position.saturating_add(u64::from(packet.len)))
        .then_some(segment)
}

/// Where the list names this transmission of the segment whose first byte the packet holds.
fn listed_entry(listed: &[ListedLoss], packet: &Packet, mss: u32) -> Option<usize> {
    let segment = first_byte_of(packet, mss)?;
    listed.binary_search(&ListedLoss { segment, transmission: packet.transmission }).ok()
}

#[cfg(test)]
mod tests;
