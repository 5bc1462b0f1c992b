//! What is left of a frame while its headers are taken off, and why there may be no segment in it.

use crate::file::Frame;

/// Two enumerations, of reasons and of wrappers, with a name for each: so that no list of all of
/// them can lack one.
macro_rules! reasons {
    (
        $($(#[$reason_doc:meta])* $reason:ident = $reason_name:literal,)*;
        $($(#[$wrapper_doc:meta])* $wrapper:ident = $wrapper_name:literal,)*
    ) => {
        /// Why a frame yields no segment.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Ignored {
            $($(#[$reason_doc])* $reason,)*
            /// In a tunnel, or under an encryption, that is not opened.
            Wrapped(Wrapper),
        }

        /// What segments may be in without being found.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Wrapper {
            $($(#[$wrapper_doc])* $wrapper,)*
        }

        impl Ignored {
            /// All of them.
            pub const ALL: &[Ignored] = &[
                $(Ignored::$reason,)*
                $(Ignored::Wrapped(Wrapper::$wrapper),)*
            ];

            /// The name used in every output.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Ignored::$reason => $reason_name,)*
                    $(Ignored::Wrapped(Wrapper::$wrapper) => $wrapper_name,)*
                }
            }
        }
    };
}

reasons! {
    /// A link type that is not known here.
    Link = "link_type",
    /// Not IP.
    NotIp = "not_ip",
    /// IP, but not TCP.
    NotTcp = "not_tcp",
    /// ICMP that says of a packet that it was too big for a link.
    /// [`too_big`](crate::packet::too_big) reads it.
    TooBig = "icmp_too_big",
    /// A fragment of a packet: its TCP header is not in it, or its payload is elsewhere.
    /// [`Fragments`](crate::Fragments) puts those of IP together.
    Fragment = "fragment",
    /// The snap length cut it within the headers that are needed: TCP's first 20 bytes.
    Cut = "cut",
    /// Lengths or fields that cannot be.
    Malformed = "malformed",
    /// Damaged on its way: its TCP checksum is wrong, and those of its sender are right
    /// ([`Packet::damaged`](crate::Packet)). The receiver drops it (RFC 9293 section 3.1).
    Damaged = "damaged",
    ;
    /// IPsec's encrypted payload (RFC 4303), also in UDP (RFC 3948).
    Esp = "in_ipsec_esp",
    /// The layer 2 tunnelling protocol (RFC 2661, RFC 3931).
    L2tp = "in_l2tp",
    /// PPTP's version of GRE (RFC 2637).
    Pptp = "in_pptp",
    /// The user plane of mobile networks (3GPP TS 29.281).
    Gtp = "in_gtp",
    /// WireGuard.
    WireGuard = "in_wireguard",
    /// OpenVPN.
    OpenVpn = "in_openvpn",
    /// Encrypted frames of 802.11.
    Wlan = "in_encrypted_wlan",
    /// MACsec (IEEE 802.1AE).
    Macsec = "in_macsec",
    /// A pseudowire over MPLS (RFC 4385), such as Ethernet's (RFC 4448).
    Pseudowire = "in_pseudowire",
    /// TaZmen Sniffer Protocol, by which access points hand captures on.
    Tzsp = "in_tzsp",
    /// Frames of 802.11 that carry several others (A-MSDU).
    Amsdu = "in_amsdu",
    /// More tunnels in each other than are opened.
    Deep = "in_many_tunnels",
}

/// The rest of a frame: the bytes that were kept, and how many there were on the wire, which is not
/// fewer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a> {
    pub kept: &'a [u8],
    pub wire: u32,
    /// What is around it carries no more than this.
    most: u32,
}

impl<'a> Bytes<'a> {
    pub fn new(kept: &'a [u8], wire: u32) -> Bytes<'a> {
        Bytes { kept, wire, most: u32::MAX }
    }

    /// All of a frame.
    #[inline]
    pub fn of(frame: &Frame<'a>) -> Bytes<'a> {
        let len = u32::try_from(frame.data.len()).unwrap_or(u32::MAX);
        Bytes::new(frame.data, frame.wire_len.max(len))
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
        let [wire, most] = [self.wire, self.most].map(|bytes| bytes.saturating_sub(n as u32));
        Ok(Bytes { kept, wire, most })
    }

    /// The first `n` bytes on the wire: what comes after them is padding. A switch that mirrors may
    /// have cut off the last of them.
    #[inline]
    pub fn limit(&self, n: u32) -> Bytes<'a> {
        let n = n.min(self.most);
        let kept = self.kept.get(..n as usize).unwrap_or(self.kept);
        Bytes { kept, wire: n, ..*self }
    }

    /// The first `n` bytes, whatever is said of more in them.
    pub fn within(&self, n: u32) -> Bytes<'a> {
        let kept = self.kept.get(..n as usize).unwrap_or(self.kept);
        Bytes { kept, wire: self.wire.min(n), most: n }
    }

    /// Why the first `n` bytes are not there.
    #[cold]
    fn missing(&self, n: usize) -> Ignored {
        if (self.wire as usize) < n { Ignored::Malformed } else { Ignored::Cut }
    }
}
