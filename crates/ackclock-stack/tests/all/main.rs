//! The integration tests, as one binary: it is linked once, and its tests run beside each other.

mod budget;
mod ecn;
mod gather;
mod hostile;
mod icmp;
mod limits;
mod listen;
mod paths;
mod patience;
mod rig;
mod simulated;
mod through_gateway;
mod transfer;
