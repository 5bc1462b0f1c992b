//! Which end is the client, of a connection whose SYNs are not in the capture.

/// Ports of servers beyond 1023: those that are registered (IANA), from OpenVPN to EtherNet/IP, and
/// those of iperf.
const KNOWN: [u16; 39] = [
    1194, 1433, 1521, 1723, 1883, 1935, 2375, 2379, 2404, 3128, 3260, 3306, 3389, 4840, 5001, 5060,
    5061, 5201, 5222, 5432, 5672, 5900, 5985, 6000, 6379, 6443, 6667, 8000, 8080, 8443, 8883, 9042,
    9092, 9200, 9418, 11211, 20000, 27017, 44818,
];

/// NFS, whose clients take ports from 512 to 1023, as those of rsh do.
const NFS: u16 = 2049;

/// Whether the first of these ports is the client's. Clients take any port, and most of theirs are
/// above those of servers. One may be known by chance: of the 28232 that Linux takes, one is.
pub fn is_client(one: u16, other: u16) -> bool {
    (class(one), one) >= (class(other), other)
}

/// The lower, the more a port is a server's.
fn class(port: u16) -> u8 {
    match port {
        ..512 => 0,
        NFS => 1,
        512..1024 => 2,
        _ if KNOWN.contains(&port) => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests;
