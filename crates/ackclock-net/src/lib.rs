//! A deterministic simulated network.
