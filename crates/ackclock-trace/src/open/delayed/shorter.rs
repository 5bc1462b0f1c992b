//! A router asks the sender for shorter packets.

use ackclock_tcp::Span;

use super::DelayedSender;
use crate::sender::{Shorter, Terms};

impl DelayedSender {
    /// That passes the capture, and reaches the sender later. `delay` as in
    /// [`DelayedSender::data`].
    #[cold]
    pub fn too_big(&mut self, asked: &Shorter, delay: Span) {
        let Some(model) = &mut self.model else { return };
        model.sender.too_big(&Shorter { at: asked.at + delay, ..*asked });
        let Terms { mss, header, .. } = *model.sender.terms();
        if let Some(mtu) = asked.mtu {
            model.size.is_asked(mtu, header, mss);
        }
    }
}
