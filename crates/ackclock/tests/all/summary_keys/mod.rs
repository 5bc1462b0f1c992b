//! What every summary of a flow has, in its order: the guide lists them
//! (`docs/src/reference/json.md`).

pub const KEYS: [&str; 21] = [
    "strategy",
    "seed",
    "flow",
    "name",
    "bytes_acked",
    "segments_sent",
    "retransmissions",
    "fast_retransmissions",
    "timeouts",
    "timeouts_non_trigger",
    "timeouts_multiple_losses",
    "timeouts_lost_retransmission",
    "timeouts_backed_off",
    "syn_timeouts",
    "recoveries",
    "ecn_reductions",
    "drops",
    "spurious_retransmissions",
    "goodput_bps",
    "completion_s",
    "mean_rtt_s",
];
