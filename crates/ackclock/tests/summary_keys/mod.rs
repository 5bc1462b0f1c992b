//! What every summary of a flow has, in its order: README lists them.

pub const KEYS: [&str; 17] = [
    "strategy",
    "seed",
    "flow",
    "bytes_acked",
    "segments_sent",
    "retransmissions",
    "fast_retransmissions",
    "timeouts",
    "timeouts_non_trigger",
    "timeouts_multiple_losses",
    "timeouts_lost_retransmission",
    "recoveries",
    "drops",
    "spurious_retransmissions",
    "goodput_bps",
    "completion_s",
    "mean_rtt_s",
];
