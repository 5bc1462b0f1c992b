//! Captures: the packets of a run as they were seen somewhere, for Wireshark, tshark and tcptrace.

mod connection;
mod file;
mod frames;
mod writer;

pub use connection::Handshake;
pub use file::CaptureFormat;
pub use frames::{FrameWriter, PacketWriter};
pub use writer::CaptureWriter;
