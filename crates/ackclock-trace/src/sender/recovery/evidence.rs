//! What ACKs have said of losses, and since when they speak against the head: the first outstanding
//! segment.

use ackclock_tcp::Time;

use crate::sender::stream::segment::Segment;

#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// When the first sign came that the last transmission of the head is lost.
    against_head: Option<Time>,
    /// Duplicate ACKs since `una` advanced.
    duplicates: u32,
    /// Without SACK, segments that the receiver holds behind the head, by duplicates (Linux's
    /// `tcp_add_reno_sack`).
    held: u32,
    /// The last ACK said something about losses.
    fresh: bool,
    /// When an ACK last spoke of a loss: by a duplicate, a SACK block, or as a partial ACK.
    news: Time,
    /// Of what has arrived, what was sent last: when, and its position (RACK.segment of RFC 8985).
    latest: (Time, u64),
    /// Duplicate ACKs since the head was retransmitted, and segments outstanding at that time.
    head_duplicates: u32,
    head_flight: u32,
}

impl Evidence {
    pub fn against_head(&self) -> Option<Time> {
        self.against_head
    }

    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Without SACK, enough segments are held for a fast retransmit.
    pub fn shows_loss(&self) -> bool {
        self.held >= 3
    }

    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    pub fn news(&self) -> Time {
        self.news
    }

    /// An ACK that speaks of no loss.
    #[inline]
    pub fn calm(&mut self) {
        self.fresh = false;
    }

    /// What was sent then, from this position on, has arrived. Of all that has arrived, returns
    /// when the latest was sent.
    pub fn arrived(&mut self, sent: Time, position: u64) -> Time {
        self.latest = self.latest.max((sent, position));
        self.latest.0
    }

    /// An ACK advances over so many segments, of which one was the hole; `fresh` if it is a partial
    /// one or reports SACKed data.
    pub fn advanced(&mut self, fresh: bool, segments: u32) {
        self.held = self.held.saturating_sub(segments.saturating_sub(1));
        (self.duplicates, self.head_duplicates) = (0, 0);
        self.against_head = None;
        self.fresh = fresh;
    }

    /// An ACK does not advance.
    pub fn repeated(&mut self, is_duplicate: bool) {
        self.fresh = is_duplicate;
        self.duplicates += u32::from(is_duplicate);
        self.held += u32::from(is_duplicate);
        self.head_duplicates += u32::from(is_duplicate);
    }

    /// An ACK has been taken in: it was news if it said something of losses or was a D-SACK.
    pub fn note_news(&mut self, at: Time, dsack: bool) {
        if self.fresh || dsack {
            self.news = at;
        }
    }

    /// Nothing speaks against the head any more.
    pub fn clear(&mut self) {
        self.against_head = None;
    }

    /// The retransmission timer expired: duplicates are counted anew.
    pub fn timed_out(&mut self) {
        (self.duplicates, self.held) = (0, 0);
    }

    /// A recovery is complete, or more is acknowledged without one: nothing is held (Linux's
    /// `tcp_fastretrans_alert`, which calls `tcp_reset_reno_sack`). Duplicates may have answered
    /// what had arrived before.
    pub fn recovered(&mut self) {
        self.held = 0;
    }

    /// The head was retransmitted with `flight` segments outstanding: what spoke against it spoke
    /// against an earlier transmission.
    pub fn head_retransmitted(&mut self, flight: u32) {
        self.against_head = None;
        self.head_duplicates = 0;
        self.head_flight = flight;
    }

    /// Weighs what ACKs said by `at`. The head was last sent at `sent`; `next` says that a repair
    /// goes on which has not retransmitted it yet, so that it is next in turn.
    pub fn weigh(&mut self, at: Time, head: &Segment, sent: Time, next: bool, sack: bool) {
        let speaks = if next {
            true
        } else if sack {
            // Something sent later has arrived (RFC 8985 section 6.2).
            self.latest > (sent, head.position)
        } else if head.again > 0 {
            // Everything outstanding when it was retransmitted has drawn a duplicate, and then one
            // more came (Lin & Kung section 6.2).
            self.head_duplicates > self.head_flight
        } else {
            self.duplicates > 0
        };
        self.against_head = if speaks { self.against_head.or(Some(at)) } else { None };
    }
}
