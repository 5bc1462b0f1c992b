//! ECN: what the SYNs agree on, and what packets say of marks.

use ackclock_tcp::Codepoint;
use ackclock_tcp::wire::Control;

use crate::connection::Ecn;
use crate::packet::Packet;

const FLAGS: Control = Control::ECE.with(Control::CWR);

/// Both ends: 0, the client, and 1, the server.
#[derive(Default)]
pub(super) struct Marks {
    /// The last SYN is an ECN-setup SYN, or the SYN/ACK accepts it.
    setups: [Option<bool>; 2],
    /// From the first packet on that says something.
    ends: Option<Box<[Seen; 2]>>,
}

/// What one end sends.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    capable: u64,
    marked: u64,
    cwr: u64,
    /// ACKs with ECN-Echo, for the other end's data.
    echoes: u64,
}

impl Marks {
    /// Whether a packet says anything.
    #[inline]
    pub fn concern(p: &Packet) -> bool {
        p.control.0 & (FLAGS.0 | Control::SYN.0) != 0 || p.codepoint != Codepoint::NotEct
    }

    /// The next packet of end `one`, whose segments are of `mss` bytes.
    #[cold]
    pub fn note(&mut self, one: usize, p: &Packet, mss: u32) {
        let flags = Control(p.control.0 & FLAGS.0);
        if p.control.contains(Control::SYN) {
            // RFC 3168 section 6.1.1: a SYN/ACK with both flags reflects what it does not know.
            let wanted = if p.control.contains(Control::ACK) { Control::ECE } else { FLAGS };
            self.setups[one] = Some(flags == wanted);
            return;
        }
        let seen = &mut self.ends.get_or_insert_default()[one];
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
            [Some(client), Some(server)] => Some(client && server),
            [Some(false), _] | [_, Some(false)] => Some(false),
            _ if self.ends.iter().flat_map(|ends| &**ends).any(|seen| seen.capable > 0) => {
                Some(true)
            }
            _ => None,
        }
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
        Ecn { negotiated, capable, marked, echoes, cwr, ..Ecn::default() }
    }
}
