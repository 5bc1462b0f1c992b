//! Where a capture was taken.

use ackclock_tcp::Span;

/// Where the capture was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// At the client, or near enough to it.
    Client,
    /// At the server, or near enough to it.
    Server,
    /// In between.
    Middle,
    /// It is not known.
    Unknown,
}

/// Where the capture was taken, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Where.
    pub vantage: Vantage,
    /// 0 (a guess) to 1 (the round trips on both sides say so clearly).
    pub confidence: f64,
    /// Round trip between the capture and the client; where only ACKs tell that may have waited for
    /// a timer, it is at most this. `None` if nothing tells.
    pub to_client: Option<Span>,
    /// Round trip between the capture and the server.
    pub to_server: Option<Span>,
    /// Packets of the client, or of the server, were lost before they came to the capture, as the
    /// numbers of packets say: it was not taken at that end, however near.
    pub lost_before: [bool; 2],
}

impl Position {
    /// Whoever answers within so short a time is on the host of the capture, as far as anything
    /// tells.
    pub const ON_HOST: Span = Span::from_micros(100);
}
