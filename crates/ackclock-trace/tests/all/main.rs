//! The integration tests, as one binary: it is linked once, and its tests run beside each other.

mod build;
mod file;
mod filter;
mod fragments;
mod frames;
mod icmp;
mod packet;
mod tunnels;
