//! The initial window (RFC 5681 section 3.1, RFC 6928): what goes out before the first ACK.
//!
//! It is known if cwnd was all that kept it at that: the segments were full, the receiver's window
//! had room, nothing was lost, and more went out on that ACK. And the capture has to have all of
//! it.

use crate::sender::stream::Stream;

#[derive(Debug, Default)]
pub(super) enum InitialWindow {
    /// No data was acknowledged so far.
    #[default]
    Sending,
    /// The first ACK has come, after so many segments.
    Acked(u32),
    Over(Option<u32>),
}

impl InitialWindow {
    #[inline]
    pub fn is_open(&self) -> bool {
        !matches!(self, InitialWindow::Over(_))
    }

    /// An ACK comes; it is not yet taken in.
    pub fn acked(&mut self, ack: u64, sacks: bool, stream: &Stream) {
        let (bytes, mss) = (stream.bytes(), u64::from(stream.terms.mss.max(1)));
        let advances = ack > stream.outstanding.una();
        if !advances && !sacks || bytes == 0 {
            return;
        }
        *self = match self {
            InitialWindow::Sending
                if advances
                    && stream.terms.handshake_rtt.get().is_some()
                    && bytes.is_multiple_of(mss)
                    && bytes == stream.outstanding.max()
                    && !stream.rwnd_is_full() =>
            {
                InitialWindow::Acked((bytes / mss) as u32)
            }
            // The ACK before it has let nothing out.
            InitialWindow::Sending | InitialWindow::Acked(_) => InitialWindow::Over(None),
            InitialWindow::Over(found) => InitialWindow::Over(*found),
        };
    }

    /// New data goes out, `on_ack` or later.
    pub fn new_data(&mut self, on_ack: bool) {
        if let InitialWindow::Acked(segments) = *self {
            *self = InitialWindow::Over(on_ack.then_some(segments));
        }
    }

    /// Something goes out again.
    pub fn over(&mut self) {
        if self.is_open() {
            *self = InitialWindow::Over(None);
        }
    }

    pub fn found(&self) -> Option<u32> {
        match self {
            InitialWindow::Over(found) => *found,
            _ => None,
        }
    }
}
