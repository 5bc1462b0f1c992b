//! Losses that no queue causes.

mod model;

use ackclock_tcp::{Span, Time};

use crate::ids::FlowId;
pub(crate) use model::{Losses, first_byte_of};

/// A loss model and the packets that it sees.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Loss {
    /// How packets are lost.
    pub model: LossModel,
    /// Which packets of a connection it sees.
    pub applies: Applies,
    /// The one flow that it sees; `None` for all.
    pub flow: Option<FlowId>,
}

impl Loss {
    /// A model that sees the data of all flows.
    pub fn new(model: LossModel) -> Self {
        Loss { model, applies: Applies::Data, flow: None }
    }
}

/// Which packets of a connection a loss model sees. Datagrams of a CBR stream count as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// Segments from the sender.
    Data,
    /// Segments from the receiver.
    Acks,
    /// All.
    Both,
}

/// How packets are lost.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LossModel {
    /// Exactly these transmissions of data segments.
    Listed(Vec<ListedLoss>),
    /// Each packet with this probability, 0 to 1.
    Bernoulli(f64),
    /// Two states (Gilbert 1960, Elliott 1963). The first packet meets the good one. After each
    /// packet the state may change.
    GilbertElliott {
        /// Probability to go from good to bad.
        p: f64,
        /// Probability to go from bad to good.
        r: f64,
        /// Probability of a loss in the good state.
        loss_good: f64,
        /// Probability of a loss in the bad state.
        loss_bad: f64,
    },
    /// Three states in sequence (Gurtov & Floyd 2004, section V): without loss until `second_at`,
    /// then a short state that brings on a timeout, then a third one; without loss after that, or
    /// all three again.
    ThreeState {
        /// When the second state begins.
        second_at: Time,
        /// How long it lasts.
        second_for: Span,
        /// Probability of a loss in it.
        second_loss: f64,
        /// How long the third state lasts.
        third_for: Span,
        /// Probability of a loss in it.
        third_loss: f64,
        /// The first fast retransmission from `second_at` on is lost too.
        lose_fast_retransmission: bool,
        /// The end of the third state is the beginning of the first.
        repeat: bool,
    },
    /// A token bucket, full at first. A packet that finds fewer tokens than it has bytes, headers
    /// included, is lost and takes none. Each direction of a link has its own.
    Policer {
        /// Bits per second for which tokens come, at least 1.
        rate: u64,
        /// The bytes for which the bucket holds tokens, at least 1.
        burst: u32,
    },
}

/// One transmission of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListedLoss {
    /// The segment, counted from 0: the one that holds byte `segment * mss`.
    pub segment: u64,
    /// Which of its transmissions: 1 is the first, 2 the first retransmission.
    pub transmission: u32,
}

impl ListedLoss {
    /// The first transmission of a segment.
    pub const fn first(segment: u64) -> Self {
        ListedLoss { segment, transmission: 1 }
    }

    /// The `n`-th retransmission of a segment; `n` counts from 1.
    pub const fn retransmission(segment: u64, n: u32) -> Self {
        ListedLoss { segment, transmission: n.saturating_add(1) }
    }
}
