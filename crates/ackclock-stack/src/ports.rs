//! Ephemeral ports by the double-hash algorithm (RFC 6056 section 3.3.4): to each peer they count
//! up, from where only we know, so that a port comes again as late as possible and nobody else can
//! tell the next one.

use crate::tuple::{Purpose, Secret, Tuple};

const FIRST: u16 = 32_768;
const COUNT: u32 = 32_768;
const TABLE: usize = 256;

/// Where the counters stand.
pub(crate) struct Ports {
    table: Vec<u32>,
}

impl Ports {
    pub(crate) fn new() -> Ports {
        Ports { table: vec![0; TABLE] }
    }

    /// The next port for a connection to the peer of `tuple`, whose local port does not count, that
    /// `is_free`.
    pub(crate) fn take(
        &mut self,
        secret: &Secret,
        tuple: &Tuple,
        is_free: impl Fn(u16) -> bool,
    ) -> Option<u16> {
        let peer = Tuple { local_port: 0, ..*tuple };
        let offset = secret.hash(Purpose::Port, peer) as u32;
        let counter = &mut self.table[secret.hash(Purpose::PortTable, peer) as usize % TABLE];
        (0..COUNT).find_map(|_| {
            let port = FIRST + (offset.wrapping_add(*counter) % COUNT) as u16;
            *counter = counter.wrapping_add(1);
            is_free(port).then_some(port)
        })
    }
}
