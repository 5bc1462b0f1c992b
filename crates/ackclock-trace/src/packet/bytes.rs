//! What is left of a frame while its headers are taken off, and why there may be no segment in it.

use crate::file::Frame;

/// Why a frame yields no segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ignored {
    /// A link type that is not known here.
    Link,
    /// Not IP.
    NotIp,
    /// IP, but not TCP.
    NotTcp,
    /// A fragment of a packet: its TCP header is not in it, or its payload is elsewhere.
    /// [`Fragments`](crate::Fragments) puts those of IP together.
    Fragment,
    /// In a tunnel, or under an encryption, that is not opened.
    Wrapped(Wrapper),
    /// The snap length cut it within the headers that are needed: TCP's first 20 bytes.
    Cut,
    /// Lengths or fields that cannot be.
    Malformed,
}

impl Ignored {
    /// All of them.
    pub const ALL: [Ignored; 18] = [
        Ignored::Link,
        Ignored::NotIp,
        Ignored::NotTcp,
        Ignored::Fragment,
        Ignored::Cut,
        Ignored::Malformed,
        Ignored::Wrapped(Wrapper::Esp),
        Ignored::Wrapped(Wrapper::L2tp),
        Ignored::Wrapped(Wrapper::Pptp),
        Ignored::Wrapped(Wrapper::Gtp),
        Ignored::Wrapped(Wrapper::WireGuard),
        Ignored::Wrapped(Wrapper::OpenVpn),
        Ignored::Wrapped(Wrapper::Wlan),
        Ignored::Wrapped(Wrapper::Macsec),
        Ignored::Wrapped(Wrapper::Pseudowire),
        Ignored::Wrapped(Wrapper::Tzsp),
        Ignored::Wrapped(Wrapper::Amsdu),
        Ignored::Wrapped(Wrapper::Deep),
    ];

    /// The name used in every output.
    pub const fn name(self) -> &'static str {
        match self {
            Ignored::Link => "link_type",
            Ignored::NotIp => "not_ip",
            Ignored::NotTcp => "not_tcp",
            Ignored::Fragment => "fragment",
            Ignored::Cut => "cut",
            Ignored::Malformed => "malformed",
            Ignored::Wrapped(wrapper) => match wrapper {
                Wrapper::Esp => "in_ipsec_esp",
                Wrapper::L2tp => "in_l2tp",
                Wrapper::Pptp => "in_pptp",
                Wrapper::Gtp => "in_gtp",
                Wrapper::WireGuard => "in_wireguard",
                Wrapper::OpenVpn => "in_openvpn",
                Wrapper::Wlan => "in_encrypted_wlan",
                Wrapper::Macsec => "in_macsec",
                Wrapper::Pseudowire => "in_pseudowire",
                Wrapper::Tzsp => "in_tzsp",
                Wrapper::Amsdu => "in_amsdu",
                Wrapper::Deep => "in_many_tunnels",
            },
        }
    }
}

/// What segments may be in without being found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrapper {
    /// IPsec's encrypted payload (RFC 4303), also in UDP (RFC 3948).
    Esp,
    /// The layer 2 tunnelling protocol (RFC 2661, RFC 3931).
    L2tp,
    /// PPTP's version of GRE (RFC 2637).
    Pptp,
    /// The user plane of mobile networks (3GPP TS 29.281).
    Gtp,
    /// WireGuard.
    WireGuard,
    /// OpenVPN.
    OpenVpn,
    /// Encrypted frames of 802.11.
    Wlan,
    /// MACsec (IEEE 802.1AE).
    Macsec,
    /// A pseudowire over MPLS (RFC 4385), such as Ethernet's (RFC 4448).
    Pseudowire,
    /// TaZmen Sniffer Protocol, by which access points hand captures on.
    Tzsp,
    /// Frames of 802.11 that carry several others (A-MSDU).
    Amsdu,
    /// More tunnels in each other than are opened.
    Deep,
}

/// The rest of a frame: the bytes that were kept, and how many there were on the wire, which is not
/// fewer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a> {
    pub kept: &'a [u8],
    pub wire: u32,
}

impl<'a> Bytes<'a> {
    /// All of a frame.
    #[inline]
    pub fn of(frame: &Frame<'a>) -> Bytes<'a> {
        let len = u32::try_from(frame.data.len()).unwrap_or(u32::MAX);
        Bytes { kept: frame.data, wire: frame.wire_len.max(len) }
    }

    /// The first `N` bytes.
    #[inline]
    pub fn head<const N: usize>(&self) -> Result<&'a [u8; N], Ignored> {
        self.kept.first_chunk().ok_or_else(|| self.missing(N))
    }

    /// What comes after the first `n` bytes.
    #[inline]
    pub fn after(&self, n: usize) -> Result<Bytes<'a>, Ignored> {
        let kept = self.kept.get(n..).ok_or_else(|| self.missing(n))?;
        Ok(Bytes { kept, wire: self.wire.saturating_sub(n as u32) })
    }

    /// The first `n` bytes on the wire: what comes after them is padding.
    #[inline]
    pub fn limit(&self, n: u32) -> Bytes<'a> {
        let kept = self.kept.get(..n as usize).unwrap_or(self.kept);
        Bytes { kept, wire: n }
    }

    /// Why the first `n` bytes are not there.
    #[cold]
    fn missing(&self, n: usize) -> Ignored {
        if (self.wire as usize) < n { Ignored::Malformed } else { Ignored::Cut }
    }
}
