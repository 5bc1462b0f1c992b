//! Types of pcapng's blocks (draft-ietf-opsawg-pcapng section 4).

/// A section header: the same in both orders of bytes.
pub const SECTION_HEADER: u32 = 0x0a0d_0d0a;
/// Link type and clock of an interface.
pub const INTERFACE_DESCRIPTION: u32 = 1;
/// A packet. Obsolete; written by old versions of Wireshark.
pub const PACKET: u32 = 2;
/// A packet without time and options.
pub const SIMPLE_PACKET: u32 = 3;
/// What an interface has counted.
pub const INTERFACE_STATISTICS: u32 = 5;
/// A packet.
pub const ENHANCED_PACKET: u32 = 6;
