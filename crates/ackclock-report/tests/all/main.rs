//! The integration tests, as one binary: it is linked once, and its tests run beside each other.

mod any_events;
mod capture;
mod chart;
mod events;
mod picture;
mod qlog;
mod recovery;
mod summary;
mod thin;
