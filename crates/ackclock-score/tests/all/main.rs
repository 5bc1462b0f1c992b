//! The integration tests, as one binary: it is linked once, and its tests run beside each other.

mod kernel;
mod loss_causes;
mod simulated;
