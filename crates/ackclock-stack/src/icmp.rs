//! The messages of ICMP (RFC 792) and ICMPv6 (RFC 4443) that a TCP host needs: echo, destination
//! unreachable, packet too big. **Nothing here panics on any input**, and nothing allocates.

#[cfg(test)]
mod tests;

use ackclock_tcp::wire::ip::ICMPV6;
use ackclock_tcp::wire::{Checksum, PseudoHeader};

/// Bytes before what a message quotes or echoes.
pub const HEADER_LEN: usize = 8;

/// Which protocol a message is of; they number their types differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// ICMP over IPv4.
    V4,
    /// ICMPv6 between these addresses.
    V6(PseudoHeader),
}

impl Version {
    fn checksum(self, message: &[u8]) -> u16 {
        let start = match self {
            Version::V4 => Checksum::default(),
            Version::V6(pseudo) => pseudo.of(ICMPV6, message.len() as u32),
        };
        start.then(message).value()
    }

    fn echo_types(self) -> (u8, u8) {
        match self {
            Version::V4 => (8, 0),
            Version::V6(_) => (128, 129),
        }
    }
}

/// A message by meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Answer me.
    EchoRequest,
    /// A packet could not be delivered.
    Unreachable {
        /// RFC 1122 section 4.2.3.9: whether it says that it never can be: protocol or port
        /// unreachable.
        hard: bool,
        /// The beginning of the packet.
        quoted: &'a [u8],
    },
    /// A packet was too big for a link.
    TooBig {
        /// The MTU of that link; 0 from routers older than RFC 1191.
        mtu: u32,
        /// The beginning of the packet.
        quoted: &'a [u8],
    },
    /// Any other, which a host without routes does not need.
    Other,
}

impl<'a> Message<'a> {
    /// Reads a message; `None` if it is cut off or its checksum is wrong.
    pub fn parse(version: Version, bytes: &'a [u8]) -> Option<Message<'a>> {
        let (&[kind, code, _, _, a, b, c, d], quoted) = bytes.split_first_chunk::<HEADER_LEN>()?;
        if version.checksum(bytes) != 0 {
            return None;
        }
        Some(match (version, kind, code) {
            (_, kind, 0) if kind == version.echo_types().0 => Message::EchoRequest,
            // RFC 1191 section 4: the lower half of the second word.
            (Version::V4, 3, 4) => {
                Message::TooBig { mtu: u32::from(u16::from_be_bytes([c, d])), quoted }
            }
            (Version::V4, 3, _) => Message::Unreachable { hard: matches!(code, 2 | 3), quoted },
            (Version::V6(_), 1, _) => Message::Unreachable { hard: code == 4, quoted },
            (Version::V6(_), 2, _) => {
                Message::TooBig { mtu: u32::from_be_bytes([a, b, c, d]), quoted }
            }
            _ => Message::Other,
        })
    }
}

/// Turns the bytes of an echo request into those of its reply.
pub fn reply(version: Version, message: &mut [u8]) {
    if let Some(header) = message.first_chunk_mut::<4>() {
        *header = [version.echo_types().1, 0, 0, 0];
        let checksum = version.checksum(message);
        message[2..4].copy_from_slice(&checksum.to_be_bytes());
    }
}
