//! Why it took as long: the lifetime of one way of a connection, divided by what limited its
//! sender.

use ackclock_tcp::Span;

/// What limits a sender at a moment: exactly one of these.
///
/// Linux counts three of them (`tcp_chrono_start`, told by `TCP_INFO`): it is busy while something
/// is unacknowledged or waits to be sent (`tcpi_busy_time`, the rest is [`Limit::Application`]),
/// and limited by the receiver while the window holds back what cwnd would let go
/// (`tcpi_rwnd_limited`, [`Limit::ReceiveWindow`]). A send buffer that is full
/// (`tcpi_sndbuf_limited`) looks like cwnd from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The connection opens: a client waits for the answer to its SYN, and a server, from that SYN
    /// on, for the answer to its own.
    Handshake,
    /// All is acknowledged, and the application gives nothing more.
    Application,
    /// The receiver's window has no room for the next segment.
    ReceiveWindow,
    /// Its own window is full, while nothing is lost and the path could carry more.
    CongestionWindow,
    /// It repairs losses, or waits for the timer to do so.
    Recovery,
    /// All that the application has given is on its way, or so much of all connections between the
    /// two hosts is that the bottleneck is busy all the time: its rate times the shortest round
    /// trip.
    Path,
    /// A segment that is not full waits until all before it is acknowledged (Nagle's algorithm, RFC
    /// 9293 section 3.7.4), in Linux the small segment before it. The receiver may delay that ACK.
    /// The application writes in pieces.
    Nagle,
}

impl Limit {
    /// All, in a fixed order.
    pub const ALL: [Limit; 7] = [
        Limit::Handshake,
        Limit::Application,
        Limit::ReceiveWindow,
        Limit::CongestionWindow,
        Limit::Recovery,
        Limit::Path,
        Limit::Nagle,
    ];

    /// The name used in every output.
    pub const fn name(self) -> &'static str {
        match self {
            Limit::Handshake => "handshake",
            Limit::Application => "application",
            Limit::ReceiveWindow => "receive_window",
            Limit::CongestionWindow => "congestion_window",
            Limit::Recovery => "recovery",
            Limit::Path => "path",
            Limit::Nagle => "nagle",
        }
    }
}

impl From<Shares> for Lifetime {
    fn from(shares: Shares) -> Lifetime {
        Lifetime { shares, ..Lifetime::default() }
    }
}

/// In the order of [`Limit::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shares([Span; Limit::ALL.len()]);

impl Shares {
    pub fn of(&self, limit: Limit) -> Span {
        self.0[limit as usize]
    }

    pub fn add(&mut self, limit: Limit, span: Span) {
        let share = &mut self.0[limit as usize];
        *share = *share + span;
    }

    pub fn take(&mut self, limit: Limit, span: Span) {
        let share = &mut self.0[limit as usize];
        *share = *share - span;
    }
}

/// From the first packet of a connection to its last, divided by what limited the sender of one
/// way. The shares add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifetime {
    shares: Shares,
    idle: Span,
    growing: Span,
    full: Span,
    answering: Span,
    longest_answer: Span,
    unasked: Span,
    closed: Span,
    closing: Span,
    shrunk: Span,
    filled: Span,
    kept: Span,
}

impl Lifetime {
    /// How long this limited the sender.
    pub fn of(&self, limit: Limit) -> Span {
        self.shares.of(limit)
    }

    /// All of it.
    pub fn whole(&self) -> Span {
        self.shares.0.iter().fold(Span::ZERO, |sum, share| sum + *share)
    }

    /// All but the share of the application: for how long the sender had something to do.
    pub fn busy(&self) -> Span {
        self.whole() - self.of(Limit::Application)
    }

    /// Of the share of the congestion window, how long the bottleneck was idle meanwhile, as far as
    /// its rate is known: that much a window would save that fills the path. A window that is
    /// nearly large enough costs little of the time that it limits.
    pub fn idle(&self) -> Span {
        self.idle
    }

    /// Of [`Lifetime::idle`], what was before the first loss, or what looked like one: nothing had
    /// lowered the window.
    pub fn growing(&self) -> Span {
        self.growing
    }

    /// Of the share of the path, how long its bottleneck was busy. In the rest of it all that the
    /// application had given was on its way.
    pub fn full(&self) -> Span {
        self.full
    }

    /// Of the share of the application, how long the other end waited for an answer: from when its
    /// last data reached this end until this end sent again.
    pub fn answering(&self) -> Span {
        self.answering
    }

    /// Of [`Lifetime::answering`], the wait for the answer that took longest.
    pub fn longest_answer(&self) -> Span {
        self.longest_answer
    }

    /// Of the share of the application, how long the other end had asked for nothing: from when all
    /// was acknowledged until its data came that the next of this end answers.
    pub fn unasked(&self) -> Span {
        self.unasked
    }

    /// Of the share of the application, how long the FIN of this end had been acknowledged: all was
    /// said, and the other end kept the connection open.
    pub fn closed(&self) -> Span {
        self.closed
    }

    /// Of the share of the application, how long nobody had sent data until the FIN of this end
    /// came alone: it was written so late, or lost before. Nobody waits for that.
    pub fn closing(&self) -> Span {
        self.closing
    }

    /// The share of the application without [`Lifetime::closed`]: for how long this end gave
    /// nothing and could have.
    pub fn paused(&self) -> Span {
        self.of(Limit::Application) - self.closed
    }

    /// Of the share of the receive window, how long it was for what the application had not read:
    /// that was more than half of the buffer, which is as large as the largest window offered
    /// before.
    pub fn shrunk(&self) -> Span {
        self.shrunk
    }

    /// Of the share of the receive window, how long as much was outstanding as fills the path: a
    /// larger window makes the queue longer, and nothing faster.
    pub fn filled(&self) -> Span {
        self.filled
    }

    /// Of the share of recovery, how long the bottleneck took for what arrived meanwhile, as far as
    /// its rate is known: a sender that keeps its rate through losses (BBR) loses no time to them.
    pub fn kept(&self) -> Span {
        self.kept
    }

    /// What limited it for longest; `None` of no time.
    pub fn main(&self) -> Option<Limit> {
        let longest = Limit::ALL.into_iter().max_by_key(|limit| self.of(*limit))?;
        (self.of(longest) > Span::ZERO).then_some(longest)
    }

    /// Counts more time.
    pub fn add(&mut self, limit: Limit, span: Span) {
        self.shares.add(limit, span);
    }

    /// The bottleneck was idle for so much more of what the congestion window limited.
    pub fn add_idle(&mut self, span: Span) {
        self.idle = self.idle + span;
    }

    /// So much more of the time in which the bottleneck was idle was before the first loss.
    pub fn add_growing(&mut self, span: Span) {
        self.growing = (self.growing + span).min(self.idle);
    }

    /// The bottleneck was busy for so much more of what the path limited.
    pub fn add_full(&mut self, span: Span) {
        self.full = self.full + span;
    }

    /// The other end waited for so much longer for an answer.
    pub fn add_answering(&mut self, span: Span) {
        self.answering = self.answering + span;
    }

    /// One of the answers took so long.
    pub fn note_answer(&mut self, took: Span) {
        self.longest_answer = self.longest_answer.max(took);
    }

    /// The other end asked for nothing for so much longer.
    pub fn add_unasked(&mut self, span: Span) {
        self.unasked = self.unasked + span;
    }

    /// The other end kept the connection open for so much longer.
    pub fn add_closed(&mut self, span: Span) {
        self.closed = self.closed + span;
    }

    /// The FIN of this end came so late.
    pub fn add_closing(&mut self, span: Span) {
        self.closing = self.closing + span;
    }

    /// What was not read limited the sender for so much longer.
    pub fn add_shrunk(&mut self, span: Span) {
        self.shrunk = self.shrunk + span;
    }

    /// As much as fills the path was outstanding for so much more of what the receive window
    /// limited.
    pub fn add_filled(&mut self, span: Span) {
        self.filled = (self.filled + span).min(self.of(Limit::ReceiveWindow));
    }

    /// The bottleneck was busy for so much more of the recovery.
    pub fn add_kept(&mut self, span: Span) {
        self.kept = (self.kept + span).min(self.of(Limit::Recovery));
    }

    /// For so long as much was outstanding as fills the path, or this part of it: what limited the
    /// sender then, of whose share this is.
    pub(crate) fn note_filled(&mut self, filled: f64, span: Span) -> Limit {
        if filled >= 1.0 {
            self.add_full(span);
            return Limit::Path;
        }
        self.add_idle(Span((span.0 as f64 * (1.0 - filled)) as u64));
        Limit::CongestionWindow
    }

    /// Counts less time.
    pub(crate) fn take(&mut self, limit: Limit, span: Span) {
        self.shares.take(limit, span);
    }

    /// The same of a connection that never opened: no application could give anything to it, nor
    /// can one that closed it have known whether the other end was there.
    pub(crate) fn unopened(mut self) -> Lifetime {
        let span = self.of(Limit::Application);
        self.take(Limit::Application, span);
        self.add(Limit::Handshake, span);
        self.fit(self.whole())
    }

    /// The same, lasting `whole`: what is too much goes where least was said of it, and what is
    /// missing at the end the application gave nothing in.
    pub(crate) fn fit(mut self, whole: Span) -> Lifetime {
        let mut over = Span(self.whole().0.saturating_sub(whole.0));
        for limit in [Limit::Application, Limit::Path, Limit::CongestionWindow] {
            let share = &mut self.shares.0[limit as usize];
            let off = over.min(*share);
            (*share, over) = (*share - off, over - off);
        }
        for share in &mut self.shares.0 {
            let off = over.min(*share);
            (*share, over) = (*share - off, over - off);
        }
        self.add(Limit::Application, Span(whole.0.saturating_sub(self.whole().0)));
        self.idle = self.idle.min(self.of(Limit::CongestionWindow));
        self.growing = self.growing.min(self.idle);
        self.full = self.full.min(self.of(Limit::Path));
        self.answering = self.answering.min(self.of(Limit::Application));
        self.longest_answer = self.longest_answer.min(self.answering);
        self.unasked = self.unasked.min(self.of(Limit::Application));
        self.closed = self.closed.min(self.of(Limit::Application));
        self.closing = self.closing.min(self.paused());
        self.shrunk = self.shrunk.min(self.of(Limit::ReceiveWindow));
        self.filled = self.filled.min(self.of(Limit::ReceiveWindow));
        self.kept = self.kept.min(self.of(Limit::Recovery));
        self
    }
}
