//! The mechanisms, one file each; every file opens with its source.

mod ack_clock;
mod ambiguity;
mod bsd_timer;
mod dupack;
mod ff96;
mod go_back_n;
mod head;
mod inflate;
mod is_lost;
mod limited_transmit;
mod linux_timer;
mod lower_twice;
mod newreno;
mod next_seg;
mod ns2;
mod pipe;
mod reno_window;
mod rfc6298;

pub use ack_clock::AckClock;
pub use ambiguity::{Bugfix, NoBugfix, PastRecoveryPoint};
pub use bsd_timer::BsdTimer;
pub use dupack::DupackCount;
pub use ff96::{Ff96Holes, Ff96Pipe};
pub use go_back_n::GoBackN;
pub use head::Head;
pub use inflate::Inflate;
pub use is_lost::IsLost;
pub use limited_transmit::LimitedTransmit;
pub use linux_timer::LinuxTimer;
pub use lower_twice::LowerTwice;
pub use newreno::NewReno;
pub use next_seg::NextSeg;
pub use ns2::{Ns2Inflate, Ns2Pipe, Ns2Window};
pub use pipe::Pipe;
pub use reno_window::RenoWindow;
pub use rfc6298::Rfc6298;
