//! What an input orders to be sent: at once whatever the windows say, or in which order.

use crate::event::Cause;
use crate::scoreboard::Judge;

/// A segment that has to be retransmitted at once, whatever the window says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Urgent {
    /// The segment begins at this position.
    pub seq: u64,
    pub cause: Cause,
    /// Who found it lost.
    pub judge: Judge,
    /// It takes the place of a retransmission that was lost.
    pub replaces_lost: bool,
}

impl Urgent {
    /// The first retransmission of a recovery.
    pub fn fast_retransmit(seq: u64) -> Urgent {
        Urgent { seq, cause: Cause::FastRetransmit, judge: Judge::Detect, replaces_lost: false }
    }

    /// A probe of old data.
    pub fn probe(seq: u64) -> Urgent {
        let cause = Cause::TailLossProbe;
        Urgent { seq, cause, judge: Judge::Nobody, replaces_lost: false }
    }
}

/// New data that goes out once, whatever cwnd says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beyond {
    /// At most so many bytes, in as many segments as that are full ones; 0 for none.
    pub bytes: u64,
    /// What it is sent for.
    pub cause: Cause,
    /// Without new data the last segment is retransmitted.
    pub or_last: bool,
    /// That counts in the pipe beside what it repeats.
    pub counts: bool,
}

/// What an ACK or a timer lets out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// What selection says.
    Any,
    /// For F-RTO new data, and if there is none, what selection says (`REXMIT_NEW`).
    NewFirst,
    /// For F-RTO new data: some has gone.
    NewOnly,
    /// New data as always: nothing goes again (`REXMIT_NONE`).
    NothingAgain,
    /// What is lost (`tcp_simple_retransmit`).
    LostOnly,
}

impl Beyond {
    /// Nothing.
    pub const NONE: Beyond = Beyond::new(0, Cause::New);

    /// At most so many bytes of new data.
    pub const fn new(bytes: u64, cause: Cause) -> Beyond {
        Beyond { bytes, cause, or_last: false, counts: true }
    }

    /// A tail loss probe of at most so many bytes.
    pub const fn probe(bytes: u64, counts: bool) -> Beyond {
        Beyond { bytes, cause: Cause::TailLossProbe, or_last: true, counts }
    }
}
