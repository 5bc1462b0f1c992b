//! The integration tests, as one binary: it is linked once, and its tests run beside each other.

mod beyond;
mod common;
mod experiments;
mod gurtov_floyd;
mod lin_kung;
mod miyake_inamura;
mod prr;
