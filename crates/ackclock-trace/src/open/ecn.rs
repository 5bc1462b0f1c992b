//! ECN: what the SYNs agree on, and what packets say of marks.

use ackclock_tcp::Codepoint;
use ackclock_tcp::wire::Control;

use crate::connection::Ecn;
use crate::packet::Packet;

const FLAGS: Control = Control::ECE.with(Control::CWR);

/// Both ends: 0, the client, and 1, the server.
#[derive(Default)]
pub(super) struct EcnCounts {
    /// What the last SYN that asks for it does, or the last SYN/ACK accepts.
    setups: [Option<Setup>; 2],
    /// From the first packet on that says something.
    ends: Option<Box<[Seen; 2]>>,
}

/// What a SYN says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setup {
    No,
    /// RFC 3168.
    Classic,
    /// RFC 9768.
    Accurate,
}

impl Setup {
    /// RFC 9768 section 3.1.1 and table 2, by AE, CWR and ECE. A SYN/ACK with all bits of the SYN
    /// reflects what it does not know (RFC 3168 section 6.1.1), so that both CWR and ECE count as
    /// an answer only to a SYN with AE.
    fn of(p: &Packet) -> Setup {
        let [cwr, ece] = [Control::CWR, Control::ECE].map(|bit| p.control.contains(bit));
        match (p.control.contains(Control::ACK), p.ae, cwr, ece) {
            (false, true, true, true) => Setup::Accurate,
            (false, false, true, true) | (true, _, false, true) => Setup::Classic,
            (true, false, true, _) | (true, true, _, false) => Setup::Accurate,
            _ => Setup::No,
        }
    }
}

/// What one end sends.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// AE was seen.
    ae: bool,
    capable: u64,
    marked: u64,
    cwr: u64,
    /// ACKs with ECN-Echo, for the other end's data.
    echoes: u64,
}

impl EcnCounts {
    /// What was agreed on, with nothing counted.
    pub fn rest(&self) -> EcnCounts {
        EcnCounts { setups: self.setups, ends: None }
    }

    /// Whether a packet says anything.
    #[inline]
    pub fn concern(p: &Packet) -> bool {
        p.control.0 & (FLAGS.0 | Control::SYN.0) != 0 || p.ae || p.codepoint != Codepoint::NotEct
    }

    /// The next packet of end `one`, whose segments are of `mss` bytes.
    #[cold]
    pub fn note(&mut self, one: usize, p: &Packet, mss: u32) {
        let flags = Control(p.control.0 & FLAGS.0);
        if p.control.contains(Control::SYN) {
            let setup = Setup::of(p);
            // The answer to the first SYN may still come after a second one that asks no more.
            if setup != Setup::No || p.control.contains(Control::ACK) || self.setups[one].is_none()
            {
                self.setups[one] = Some(setup);
            }
            return;
        }
        let seen = &mut self.ends.get_or_insert_default()[one];
        seen.ae |= p.ae;
        if p.len > 0 && p.codepoint != Codepoint::NotEct {
            let segments = u64::from(p.len.div_ceil(mss.max(1)));
            seen.capable += segments;
            seen.marked += if p.codepoint == Codepoint::Ce { segments } else { 0 };
        }
        seen.cwr += u64::from(flags.contains(Control::CWR));
        seen.echoes += u64::from(flags.contains(Control::ECE));
    }

    /// Whether both ends agreed on it; without both SYNs, whether it is in use.
    pub fn negotiated(&self) -> Option<bool> {
        match self.setups {
            [Some(client), Some(server)] => Some(match client {
                Setup::No => false,
                Setup::Classic => server == Setup::Classic,
                Setup::Accurate => server != Setup::No,
            }),
            [Some(Setup::No), _] | [_, Some(Setup::No)] => Some(false),
            _ if self.ends.iter().flat_map(|ends| &**ends).any(|seen| seen.capable > 0) => {
                Some(true)
            }
            _ => None,
        }
    }

    /// Whether they agreed on accurate ECN; without both SYNs, whether AE is in use.
    pub fn is_accurate(&self) -> bool {
        match self.setups {
            [Some(client), Some(server)] => [client, server] == [Setup::Accurate; 2],
            _ => self.ends.iter().flat_map(|ends| &**ends).any(|seen| seen.ae),
        }
    }

    /// Whether ECN-Echo and CWR mean what RFC 3168 says.
    pub fn is_classic(&self) -> bool {
        self.negotiated() == Some(true) && !self.is_accurate()
    }

    /// What is known of what `end` sends; when it answered echoes its model knows. Nothing counts
    /// where the ends did not agree on it.
    pub fn of(&self, end: usize) -> Ecn {
        let negotiated = self.negotiated();
        if negotiated != Some(true) {
            return Ecn { negotiated, ..Ecn::default() };
        }
        let ends = self.ends.as_deref().copied().unwrap_or_default();
        let Seen { capable, marked, cwr, .. } = ends[end];
        let echoes = ends[1 - end].echoes;
        if self.is_accurate() {
            return Ecn { negotiated, accurate: true, capable, marked, ..Ecn::default() };
        }
        Ecn { negotiated, capable, marked, echoes, cwr, ..Ecn::default() }
    }
}
