//! The integration tests, as one binary: it is linked once, and its tests run beside each other.

mod extremes;
mod last_mile;
mod oracle;
mod shipped;
mod without_sack;
