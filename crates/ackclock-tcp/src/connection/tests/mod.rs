//! Worked examples with exact segments. Each script runs at two initial sequence numbers on either side, so that they wrap.

mod open;

use super::*;
use crate::receiver::{DelayedAck, ReceiverConfig};
use crate::sender::SenderConfig;
use crate::strategy::Composition;

/// What both ends of the examples have in common: segments of 1000 bytes, every segment acknowledged at once, no options but MSS.
pub(super) fn config() -> ConnectionConfig {
    ConnectionConfig {
        iss: Seq(0),
        local_mss: 1000,
        path_mss: 1000,
        sack: false,
        timestamps: false,
        wscale: None,
        sender: SenderConfig { initial_window: 4, ..SenderConfig::default() },
        receiver: ReceiverConfig { delayed_ack: DelayedAck::Off, buffer: 10_000, ..ReceiverConfig::default() },
        syn_retries: 3,
        keep_alive: None,
        user_timeout: None,
        time_wait: Span::from_secs(60),
        fin_wait_2: Span::from_secs(30),
    }
}
