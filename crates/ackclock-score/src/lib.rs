//! Holds the microscope against the truth.
//!
//! What a capture shows is explained by `ackclock_trace`; what was true is known here, from the simulator or from the kernel's
//! counters. [`Score`] counts both beside each other.

pub mod kernel;
mod matrix;

pub use matrix::{Again, Expiry, Matrix, Score};
