//! Why packets were lost, named where the losses of a connection leave no other reason.
//!
//! Which evidence decides is said by the parts that collect and weigh it (`sender/losses/`).

use ackclock_tcp::Span;

/// Losses at random only many episodes show to be so: with eight the mean rank is known to a tenth.
/// With half, two more are named at random, rightly (counted as `sender/losses/verdict.rs` says).
pub(crate) const LEAST_RANDOM: u32 = 8;

/// The losses of a sender's data, as far as they were looked at, and what explains them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Segments lost on their first transmission whose sending was seen.
    pub counted: u32,
    /// Times at which something was lost: losses within a round trip of the first one are one.
    pub episodes: u32,
    /// What explains them. `None` where too few were seen, or where they fit nothing or more than
    /// one.
    pub cause: Option<LossCause>,
}

/// What explains losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossCause {
    /// A queue that drops what comes while it is full.
    DropTail {
        /// How long it delays a packet when it is full.
        delay: Span,
        /// Bytes of payload that it holds then: what its bottleneck sends in that time.
        /// `None` where the rate of that is not known.
        size: Option<u64>,
    },
    /// A token bucket without a queue: what finds too few tokens is dropped.
    Policer {
        /// How fast tokens come, in bits a second, with IP and TCP headers.
        rate_bps: f64,
        /// How many bytes the bucket holds, with the same headers; `None` if it was never seen
        /// full.
        burst: Option<u64>,
    },
    /// Losses that depend neither on what the sender has in flight, nor on the round trip, nor on
    /// a bucket.
    Random {
        /// Segments lost, of those that were sent.
        rate: f64,
        /// The mean number of segments lost in a row: 1 if each is lost by itself.
        run: f64,
    },
    /// A path that takes shorter packets than the sender believes, and none of whose routers can
    /// say so (a black hole, RFC 2923 section 2.1). Both are bytes of IP packets.
    PathMtu {
        /// The longest that came through.
        passed: u32,
        /// The shortest of those that were lost, longer than that.
        lost: u32,
    },
}

impl LossCause {
    /// The names of all, in a fixed order.
    pub const NAMES: [&str; 4] = ["drop_tail", "policer", "random", "path_mtu"];

    /// The name used in every output.
    pub const fn name(&self) -> &'static str {
        match self {
            LossCause::DropTail { .. } => Self::NAMES[0],
            LossCause::Policer { .. } => Self::NAMES[1],
            LossCause::Random { .. } => Self::NAMES[2],
            LossCause::PathMtu { .. } => Self::NAMES[3],
        }
    }
}
