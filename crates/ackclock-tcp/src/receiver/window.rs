//! The offered window: how far the peer may send (RFC 9293 section 3.8.6.2.2, RFC 7323 section 2).

/// The receive buffer and the part of it that has been offered.
#[derive(Clone, Debug)]
pub(super) struct Window {
    buffer: u64,
    wscale: u8,
    /// The right edge: the first position that was never offered. It never moves left.
    edge: u64,
    /// The right edge as the last ACK put it; up to one unit below `edge`.
    on_wire: u64,
    /// Position of the first byte that the application has not read.
    read: u64,
    mss: u32,
    /// min(Fr * RCV.BUFF, Eff.snd.MSS) with Fr = 1/2: the least advance of the edge that is worth
    /// offering.
    step: u32,
}

impl Window {
    pub fn new(buffer: u64, wscale: u8, mss: u32) -> Self {
        // RFC 7323 section 2.3: a shift above 14 counts as 14.
        let wscale = wscale.min(14);
        let edge = buffer.min(u64::from(u16::MAX) << wscale);
        let step = step(buffer, mss);
        Window { buffer, wscale, edge, on_wire: edge, read: 0, mss, step }
    }

    #[inline]
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// The position after the last byte that the buffer has room for: beyond `edge`, unless the
    /// buffer has become smaller.
    #[inline]
    pub fn end(&self) -> u64 {
        self.read.saturating_add(self.buffer)
    }

    /// Returns whether the peer, which had no room, should hear at once that it has some now.
    pub fn set_buffer(&mut self, bytes: u64, rcv_nxt: u64) -> bool {
        let blocked = self.is_blocked(rcv_nxt);
        (self.buffer, self.step) = (bytes, step(bytes, self.mss));
        blocked && self.update_due(rcv_nxt)
    }

    /// The peer may be waiting for window.
    fn is_blocked(&self, rcv_nxt: u64) -> bool {
        self.on_wire.saturating_sub(rcv_nxt) < u64::from(self.step)
    }

    #[inline]
    pub fn read_position(&self) -> u64 {
        self.read
    }

    #[inline]
    pub fn set_read_position(&mut self, read: u64) {
        self.read = read;
    }

    /// The furthest edge that buffer and header field allow.
    fn limit(&self, rcv_nxt: u64) -> u64 {
        self.end().min(rcv_nxt + (u64::from(u16::MAX) << self.wscale))
    }

    /// The window field of an ACK sent now; what it offers is remembered.
    ///
    /// A field counts in units of 2^wscale from `rcv_nxt`, so an unmoved edge may not be
    /// expressible. It is then rounded up if the buffer has room for that, and down otherwise
    /// (RFC 7323 section 2.4: by less than one unit); what lies below the old edge is still
    /// accepted.
    pub fn offer(&mut self, rcv_nxt: u64) -> u16 {
        let limit = self.limit(rcv_nxt);
        let free = limit.saturating_sub(rcv_nxt);
        let field = if limit.saturating_sub(self.edge) >= u64::from(self.step) {
            free >> self.wscale
        } else {
            let window = self.edge - rcv_nxt;
            let up = (window + (1 << self.wscale) - 1) >> self.wscale;
            if rcv_nxt + (up << self.wscale) <= limit { up } else { window >> self.wscale }
        };
        let field = self.least(field, free).min(u64::from(u16::MAX));
        self.on_wire = rcv_nxt + (field << self.wscale);
        self.edge = self.edge.max(self.on_wire);
        field as u16
    }

    /// A buffer smaller than a unit must not be rounded away for ever. While half of it or more is
    /// free, one unit is offered, as by Linux (`__tcp_select_window`: "Advertise enough space so
    /// that it won't get scaled away"). What does not fit is cut off when it comes.
    fn least(&self, field: u64, free: u64) -> u64 {
        let vanishes = field == 0 && self.buffer >> self.wscale == 0;
        if vanishes && free > 0 && free >= self.buffer / 2 { 1 } else { field }
    }

    /// Whether enough was read since the last ACK that the peer should hear of it at once: two
    /// segments or half the buffer (as 4.4BSD does, Stevens volume 2 section 26.7), or one step
    /// if the peer may be waiting for window.
    pub fn update_due(&self, rcv_nxt: u64) -> bool {
        let window = self.limit(rcv_nxt).saturating_sub(rcv_nxt);
        let window = self.least(window >> self.wscale, window) << self.wscale;
        let gain = (rcv_nxt + window).saturating_sub(self.on_wire);
        let step = u64::from(self.step);
        let enough = if self.is_blocked(rcv_nxt) { step } else { (step * 2).min(self.buffer / 2) };
        gain > 0 && gain >= enough
    }
}

fn step(buffer: u64, mss: u32) -> u32 {
    (buffer / 2).clamp(1, u64::from(mss.max(1))) as u32
}
