//! Which end is the client, of a connection whose SYNs are not in the capture.

use std::ops::RangeInclusive;

/// Ports of servers beyond 1023, as they are registered (IANA): from OpenVPN to EtherNet/IP.
const REGISTERED: [u16; 36] = [
    1194, 1433, 1521, 1723, 1883, 1935, 2375, 2379, 2404, 3128, 3260, 3306, 3389, 4840, 5060, 5061,
    5222, 5432, 5672, 5900, 5985, 6379, 6443, 6667, 8000, 8080, 8443, 8883, 9042, 9092, 9200, 9418,
    11211, 20000, 27017, 44818,
];

/// NFS, whose clients take ports from 512 to 1023, as those of rsh do.
const NFS: u16 = 2049;

/// Ports that old clients take (4.4BSD, Windows before Vista). Those of newer ones are above most
/// of servers.
const OLD_CLIENTS: RangeInclusive<u16> = 1024..=5000;

/// Whether the first of these ports is the client's: mostly it is the higher one.
pub fn is_client(one: u16, other: u16) -> bool {
    if one < other { is_server(other, one) } else { !is_server(one, other) }
}

/// Whether a port is the server's though the other one is lower.
fn is_server(port: u16, lower: u16) -> bool {
    let of_rsh = (512..1024).contains(&lower);
    port == NFS && of_rsh
        || REGISTERED.contains(&port)
            && OLD_CLIENTS.contains(&lower)
            && !REGISTERED.contains(&lower)
}

#[cfg(test)]
mod tests;
