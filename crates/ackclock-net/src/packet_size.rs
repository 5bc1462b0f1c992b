//! How large the packets of a connection are on links.

/// Sizes, as [`crate::FlowConfig`] has them.
pub(crate) struct PacketSizes {
    pub(crate) mss: u32,
    pub(crate) header: u32,
    pub(crate) ack_size: u32,
    pub(crate) count_options: bool,
}

impl PacketSizes {
    /// Bytes on a link of a packet with `len` bytes of payload and `options` bytes of TCP options,
    /// which are asked for only if they count.
    #[inline]
    pub(crate) fn packet(&self, len: u32, options: impl FnOnce() -> u32) -> u32 {
        let options = if self.count_options { options() } else { 0 };
        let bare = if len == 0 { self.ack_size } else { len.saturating_add(self.header) };
        bare.saturating_add(options)
    }
}
