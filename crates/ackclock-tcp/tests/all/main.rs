//! The integration tests, as one binary: it is linked once, and its tests run beside each other.

mod clock;
mod connections;
mod custom_mechanism;
mod duplex;
mod hostile;
mod ns2;
mod one_packet_lives;
mod packet_conservation;
mod pair;
mod prr;
mod rig;
