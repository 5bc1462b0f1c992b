//! Timelines by hand: segments of 1,000 bytes are named by their number, times are milliseconds.

mod episodes;
mod holes;
mod kinds;
mod late;
mod limits;
mod losses;
mod marks;
mod one_by_one;
mod picture;
mod probes;
mod repair;
mod retransmissions;
mod routes;
mod shorter;
mod silence;
mod states;
mod twice;
mod undone;
mod unseen;
mod ways;

use std::sync::Arc;

use ackclock_tcp::{Seq, Span, Time, TimeoutClass};

use super::{Acked, Dsack, Found, Opening, Owed, SenderModel, Sent, Sight, Terms};
use crate::connection::{Kind, Spurious, State};
use crate::path::Path;

const MSS: u64 = 1000;

/// A sender whose timeline is written down.
struct Line {
    model: SenderModel,
    frame: u64,
    timestamps: bool,
    end: Time,
    window: u64,
    /// The scale of the window is known.
    scaled: bool,
    /// The ACKs to come have ECN-Echo.
    ece: bool,
}

fn ms(t: f64) -> Time {
    Time((t * 1e6) as u64)
}

impl Line {
    /// Linux with SACK and no timestamps, whose handshake took `rtt` ms; captured at the sender.
    fn sack(rtt: f64) -> Line {
        Line::over(Arc::default(), rtt)
    }

    /// The same, over a path that others share.
    fn over(path: Arc<Path>, rtt: f64) -> Line {
        let terms = Terms {
            start: Time::ZERO,
            mss: MSS as u32,
            header: 40,
            sack: true,
            cut: false,
            timestamps: false,
            sight: Sight::Sent,
            near: false,
            opening: Opening::Seen,
            opens: true,
            handshake_rtt: Some(Span((rtt * 1e6) as u64)).into(),
            events: false,
        };
        Line::new(terms, path)
    }

    fn without_sack(rtt: f64) -> Line {
        let mut line = Line::sack(rtt);
        line.model.stream.terms.sack = false;
        line
    }

    fn timestamped(rtt: f64) -> Line {
        let mut line = Line::sack(rtt);
        line.timestamps = true;
        line
    }

    fn new(terms: Terms, path: Arc<Path>) -> Line {
        let mut model = SenderModel::new(terms, path);
        model.syn(1, Time::ZERO, Seq(0), false, None);
        let (timestamps, scaled, ece) = (false, true, false);
        Line { model, frame: 1, timestamps, end: Time::ZERO, window: 1 << 20, scaled, ece }
    }

    /// One of data, of which no numbers of packets are known.
    fn segment(&self, at: Time, position: u64, len: u32) -> Sent {
        let tsval = self.timestamps.then_some((at.0 / 1_000_000) as u32);
        let (frame, seq) = (self.frame, Seq(1 + position as u32));
        Sent { frame, at, position, seq, len, tsval, ..Sent::default() }
    }

    fn sent(&mut self, at: Time, position: u64, len: u32, fin: bool) {
        self.end = at;
        self.model.sent(&Sent { fin, ..self.segment(at, position, len) });
    }

    /// Sends these segments at `t`, each in a packet of its own, one microsecond apart.
    fn send(&mut self, t: f64, segments: impl IntoIterator<Item = u64>) {
        for (i, n) in segments.into_iter().enumerate() {
            self.frame += 1;
            self.sent(Time(ms(t).0 + i as u64 * 1000), n * MSS, MSS as u32, false);
        }
    }

    /// Sends these bytes at `t`, in a packet of its own.
    fn send_bytes(&mut self, t: f64, position: u64, len: u32) {
        self.frame += 1;
        self.sent(ms(t), position, len, false);
    }

    fn ack_with(&mut self, t: f64, n: u64, blocks: &[(u64, u64)], dsack: bool, echo: Option<f64>) {
        self.acked(t, n, blocks, dsack, echo, false);
    }

    /// A segment with a SYN or data repeats that nothing has arrived.
    fn acked_again(&mut self, t: f64) {
        self.acked(t, 0, &[], false, None, true);
    }

    fn acked(
        &mut self,
        t: f64,
        n: u64,
        blocks: &[(u64, u64)],
        dsack: bool,
        echo: Option<f64>,
        with_data: bool,
    ) {
        let mut sack = [(0, 0); 4];
        for (to, from) in sack.iter_mut().zip(blocks) {
            *to = (from.0 * MSS, from.1 * MSS);
        }
        let (sacks, tsecr) = (blocks.len() as u8, echo.map(|e| e as u32));
        let dsack = if dsack { Dsack::Sent } else { Dsack::None };
        self.heard(Acked { sack, sacks, dsack, tsecr, with_data, ..self.plain(t, n * MSS) });
    }

    /// All below this position has arrived, which need not be where a segment of 1,000 bytes ends.
    fn acked_at(&mut self, t: f64, ack: u64) {
        self.heard(self.plain(t, ack));
    }

    fn plain(&self, t: f64, ack: u64) -> Acked {
        Acked {
            frame: self.frame + 1,
            at: ms(t),
            ack,
            window: self.window,
            scaled: self.scaled,
            sack: [(0, 0); 4],
            sacks: 0,
            dsack: Dsack::None,
            tsecr: None,
            stamp: None,
            with_data: false,
            ece: self.ece,
            timed: true,
            skips: false,
            overdue: false,
        }
    }

    fn heard(&mut self, acked: Acked) {
        (self.frame, self.end) = (acked.frame, acked.at);
        self.model.acked(&acked);
    }

    /// All below segment `n` has arrived.
    fn ack(&mut self, t: f64, n: u64) {
        self.ack_with(t, n, &[], false, None);
    }

    /// The same three times, a tenth of a millisecond apart.
    fn three_acks(&mut self, t: f64, n: u64) {
        for i in 0..3 {
            self.ack(t + f64::from(i) * 0.1, n);
        }
    }

    /// All below segment `n` has arrived, and the segments of these blocks.
    fn ack_sack(&mut self, t: f64, n: u64, blocks: &[(u64, u64)]) {
        self.ack_with(t, n, blocks, false, None);
    }

    fn dsack(&mut self, t: f64, n: u64, duplicate: (u64, u64)) {
        self.ack_with(t, n, &[duplicate], true, None);
    }

    /// All below segment `n` has arrived, and there is no room for more.
    fn closed_window(&mut self, t: f64, n: u64) {
        self.window = 0;
        self.ack(t, n);
        self.window = 1 << 20;
    }

    fn ack_echo(&mut self, t: f64, n: u64, echo: f64) {
        self.ack_with(t, n, &[], false, Some(echo));
    }

    fn found(self) -> Found {
        self.model.finish(self.end, None)
    }

    /// What became of each retransmission: what proves it spurious, whether that is known, and
    /// whether it was lost.
    fn fates(self) -> Vec<(Option<Spurious>, bool, Option<bool>)> {
        self.found().retransmissions.iter().map(|r| (r.spurious, r.known, r.lost)).collect()
    }
}

fn kinds(found: &Found) -> Vec<(u64, Kind)> {
    found.retransmissions.iter().map(|r| (r.position / MSS, r.kind)).collect()
}

fn timeouts(found: &Found) -> Vec<(u64, TimeoutClass, State)> {
    found.timeouts.iter().map(|t| (t.position / MSS, t.class, t.state)).collect()
}
