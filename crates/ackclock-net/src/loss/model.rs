//! Loss models at work.

use ackclock_tcp::Time;

use super::{Applies, ListedLoss, Loss, LossModel};
use crate::packet::{Kind, Packet};
use crate::rng::Rng;

/// A loss model with its state.
#[derive(Debug)]
pub(crate) struct Losses {
    applies: Applies,
    flow: Option<u32>,
    model: Model,
    rng: Rng,
}

#[derive(Debug)]
enum Model {
    /// Sorted.
    Listed(Vec<ListedLoss>),
    Bernoulli(f64),
    GilbertElliott {
        p: f64,
        r: f64,
        loss_good: f64,
        loss_bad: f64,
        bad: bool,
    },
    /// The ends of the first, second and third state.
    ThreeState {
        ends: [Time; 3],
        second_loss: f64,
        third_loss: f64,
    },
}

impl Losses {
    pub(crate) fn new(loss: Loss, rng: Rng) -> Self {
        let model = match loss.model {
            LossModel::Listed(mut listed) => {
                listed.sort_unstable();
                Model::Listed(listed)
            }
            LossModel::Bernoulli(p) => Model::Bernoulli(p),
            LossModel::GilbertElliott { p, r, loss_good, loss_bad } => {
                Model::GilbertElliott { p, r, loss_good, loss_bad, bad: false }
            }
            LossModel::ThreeState { second_at, second_for, second_loss, third_for, third_loss } => {
                let ends = [second_at, second_at + second_for, second_at + second_for + third_for];
                Model::ThreeState { ends, second_loss, third_loss }
            }
        };
        Losses { applies: loss.applies, flow: loss.flow.map(|flow| flow.0), model, rng }
    }

    /// Whether this packet is lost, and if so by which model. `mss` is its flow's.
    pub(crate) fn take(&mut self, now: Time, packet: &Packet, mss: u32) -> Option<&'static str> {
        let seen = match self.applies {
            Applies::Data => packet.kind != Kind::Ack,
            Applies::Acks => packet.kind == Kind::Ack,
            Applies::Both => true,
        };
        if !seen || self.flow.is_some_and(|flow| flow != packet.flow) {
            return None;
        }
        let rng = &mut self.rng;
        let (lost, name) = match &mut self.model {
            Model::Listed(listed) => {
                (packet.kind != Kind::Ack && !packet.copy && is_listed(listed, packet, mss), "listed")
            }
            Model::Bernoulli(p) => (rng.chance(*p), "bernoulli"),
            Model::GilbertElliott { p, r, loss_good, loss_bad, bad } => {
                let lost = rng.chance(if *bad { *loss_bad } else { *loss_good });
                let change = rng.chance(if *bad { *r } else { *p });
                *bad ^= change;
                (lost, "gilbert_elliott")
            }
            Model::ThreeState { ends, second_loss, third_loss } => {
                let p = match ends.iter().filter(|&&end| end <= now).count() {
                    1 => *second_loss,
                    2 => *third_loss,
                    _ => 0.0,
                };
                (p > 0.0 && rng.chance(p), "three_state")
            }
        };
        lost.then_some(name)
    }
}

/// Whether the list names this transmission of the segment whose first byte the packet holds.
fn is_listed(listed: &[ListedLoss], packet: &Packet, mss: u32) -> bool {
    let mss = u64::from(mss.max(1));
    let segment = packet.position.div_ceil(mss);
    let held = segment.saturating_mul(mss) < packet.position.saturating_add(u64::from(packet.len));
    held && listed.binary_search(&ListedLoss { segment, transmission: packet.transmission }).is_ok()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
