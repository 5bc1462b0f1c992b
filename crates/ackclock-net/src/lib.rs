//! A deterministic simulated network.
pub mod scenario;
