//! What identifies a connection, and the secret that keeps others from guessing about it.

use std::hash::{BuildHasher, Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::wire::PseudoHeader;
use ackclock_tcp::{Seq, Time};
use siphasher::sip::{SipHasher13, SipHasher24};

/// Both ends of a connection; their addresses are of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuple {
    pub(crate) local: IpAddr,
    pub(crate) remote: IpAddr,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
}

impl Tuple {
    pub(crate) fn local(&self) -> SocketAddr {
        SocketAddr::new(self.local, self.local_port)
    }

    pub(crate) fn remote(&self) -> SocketAddr {
        SocketAddr::new(self.remote, self.remote_port)
    }

    /// Bytes of the fixed IP and TCP headers between them.
    pub(crate) fn fixed_headers(&self) -> u16 {
        if self.local.is_ipv4() { 40 } else { 60 }
    }

    /// For checksums of what we send.
    pub(crate) fn pseudo_header(&self) -> PseudoHeader {
        pseudo_header(self.local, self.remote)
    }
}

/// For a packet between two addresses of one family.
pub(crate) fn pseudo_header(src: IpAddr, dst: IpAddr) -> PseudoHeader {
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => PseudoHeader::V4 { src, dst },
        (src, dst) => PseudoHeader::V6 { src: to_v6(src), dst: to_v6(dst) },
    }
}

fn to_v6(address: IpAddr) -> std::net::Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

impl Hash for Tuple {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [a, b] = self.local_port.to_be_bytes();
        let [c, d] = self.remote_port.to_be_bytes();
        state.write(&[a, b, c, d]);
        for address in [self.local, self.remote] {
            match address {
                IpAddr::V4(address) => state.write(&address.octets()),
                IpAddr::V6(address) => state.write(&address.octets()),
            }
        }
    }
}

/// What only this host knows. Every use of it has a number of its own.
#[derive(Clone, Copy)]
pub(crate) struct Secret([u8; 16]);

/// What a hash is for.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    Isn = 1,
    Port = 2,
    PortTable = 3,
    Cookie = 4,
    DemuxKey0 = 5,
    DemuxKey1 = 6,
    CookieMask = 7,
    Timestamp = 8,
    FlowLabel = 9,
    PacketId = 10,
}

impl Secret {
    pub(crate) fn new(secret: [u8; 16]) -> Secret {
        Secret(secret)
    }

    /// A keyed hash of anything.
    pub(crate) fn hash(&self, purpose: Purpose, what: impl Hash) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write_u8(purpose as u8);
        what.hash(&mut hasher);
        hasher.finish()
    }

    /// RFC 6528 section 3: ISN = M + F(localip, localport, remoteip, remoteport, secretkey), where
    /// M is a timer that ticks every 4 microseconds.
    pub(crate) fn isn(&self, now: Time, tuple: &Tuple) -> Seq {
        let m = (now.nanos() / 4_000) as u32;
        Seq(m.wrapping_add(self.hash(Purpose::Isn, tuple) as u32))
    }

    /// What is added to the clock in the timestamps of a connection, so that they do not say how
    /// long this host has been up, or that two connections are of one host (RFC 7323 section 7).
    /// The same for each connection of a tuple: they go on from one to the next, by which SYNs are
    /// told apart in TIME-WAIT (RFC 6191).
    pub(crate) fn ts_offset(&self, tuple: &Tuple) -> u32 {
        self.hash(Purpose::Timestamp, tuple) as u32
    }

    /// The flow label of a connection over IPv6: not zero, and of no use to find the next one (RFC
    /// 6437 section 3).
    pub(crate) fn flow_label(&self, tuple: &Tuple) -> u32 {
        (self.hash(Purpose::FlowLabel, tuple) % 0x000f_ffff) as u32 + 1
    }

    /// What the packets of a connection that routers may fragment are numbered from, each
    /// connection for itself (Linux `inet_id`).
    pub(crate) fn packet_id(&self, tuple: &Tuple) -> u16 {
        self.hash(Purpose::PacketId, tuple) as u16
    }

    /// The hash of the table of connections: keyed, so that nobody can choose tuples that collide,
    /// and the same in every run with the same secret.
    pub(crate) fn demux_hasher(&self) -> DemuxHasher {
        DemuxHasher([self.hash(Purpose::DemuxKey0, ()), self.hash(Purpose::DemuxKey1, ())])
    }
}

/// Makes the hashers of a table that has tuples for keys.
#[derive(Clone)]
pub(crate) struct DemuxHasher([u64; 2]);

impl BuildHasher for DemuxHasher {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_keys(self.0[0], self.0[1])
    }
}
