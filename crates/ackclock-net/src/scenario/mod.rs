//! Scenarios.
pub mod units;
