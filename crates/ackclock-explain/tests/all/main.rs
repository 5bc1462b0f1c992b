//! The integration tests, as one binary: it is linked once, and its tests run beside each other.

mod annotate;
mod compare;
mod join;
mod outputs;
mod sample;
mod shorter;
mod sources;
