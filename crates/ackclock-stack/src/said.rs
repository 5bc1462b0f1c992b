//! What segments have told the peer.

use ackclock_tcp::Seq;
use ackclock_tcp::wire::{Control, Repr};

/// What the peer knows of us by the segments that we have sent: all that TIME-WAIT has to remember.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Said {
    /// The highest sequence number after a segment.
    pub(crate) snd_max: Seq,
    /// The last acknowledgment, window and echo.
    pub(crate) ack: Seq,
    pub(crate) wnd: u16,
    pub(crate) ts_recent: Option<u32>,
}

impl Said {
    /// Takes note of a segment with `len` bytes of payload.
    pub(crate) fn note(&mut self, header: &Repr, len: u32) {
        let end = header.seq + len + control_len(header.control);
        if end.ahead_of(self.snd_max) > 0 {
            self.snd_max = end;
        }
        (self.ack, self.wnd) = (header.ack, header.wnd);
        self.ts_recent = header.options.timestamps.map(|timestamps| timestamps.ecr);
    }
}

/// How many sequence numbers SYN and FIN take.
pub(crate) fn control_len(control: Control) -> u32 {
    u32::from(control.contains(Control::SYN)) + u32::from(control.contains(Control::FIN))
}
