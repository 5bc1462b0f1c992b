//! What could not be known of what one end sent, in words.

use ackclock_tcp::Span;

/// What is missing or odd in the capture.
pub(super) struct Gaps {
    /// The end sent data.
    pub sent: bool,
    /// The beginning was seen: a SYN, and those of both ends.
    pub begun: bool,
    pub both_syns: bool,
    /// The scale of the receiver's window is known.
    pub window_scale: bool,
    /// It is, but only by what it has to fit.
    pub inferred_scale: bool,
    /// ACKs for this end were seen.
    pub acks: bool,
    /// Only one direction was captured.
    pub one_way: bool,
    /// The capture was taken away from this end, and the round trip between both is not known.
    pub unknown_delay: bool,
    /// The other end acknowledges data that was not captured.
    pub data_not_captured: bool,
    /// Options were cut off by the snap length.
    pub options_cut: bool,
    pub gaps: u64,
    pub went_back: u64,
    pub copies: u64,
    /// How long after a packet its copy came, at most.
    pub lag: Span,
    pub strays: u64,
    pub jumps: u64,
    pub bad_blocks: u64,
}

impl Gaps {
    /// A sentence for each.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if self.one_way {
            doubts.push("only one direction was captured".to_owned());
        }
        let mut doubt = |holds: bool, what: &str| {
            if holds {
                doubts.push(what.to_owned());
            }
        };
        if self.sent {
            let learned = !self.begun && !self.both_syns;
            doubt(learned, "the capture began mid-connection: SMSS is learned from sizes");
            doubt(
                self.begun && !self.both_syns,
                "only one SYN was captured: options of the other end are not known",
            );
            doubt(
                self.acks && !self.window_scale && !self.inferred_scale,
                "the scale of the receiver's window is not known: full windows may be missed",
            );
            doubt(
                self.acks && !self.window_scale && self.inferred_scale,
                "the scale of the receiver's window was inferred: before it was known, full \
                 windows may have been missed",
            );
            doubt(
                !self.acks && !self.one_way,
                "no ACK was captured: what was lost and when it was repaired is a guess",
            );
            doubt(
                self.unknown_delay && !self.one_way,
                "the round trip between the capture and this end is not known: ACKs seem to arrive \
                 too early",
            );
        }
        doubt(self.data_not_captured, "its data was not captured");
        doubt(self.options_cut, "options were cut off by the snap length");
        let mut count = |n: u64, one: &str, many: &str| match n {
            0 => {}
            1 => doubts.push(one.to_owned()),
            _ => doubts.push(format!("{n} {many}")),
        };
        count(self.gaps, "the capture has a gap", "gaps in the capture");
        count(
            self.went_back,
            "the clock of the capture went back",
            "times the clock of the capture went back",
        );
        let lag = match self.lag {
            Span::ZERO => String::new(),
            lag => format!(", up to {:.3} ms apart", lag.secs_f64() * 1e3),
        };
        count(
            self.copies,
            "a packet was captured twice",
            &format!("packets were captured twice{lag}: the copies are left out"),
        );
        count(
            self.strays,
            "a packet was ignored whose numbers are far outside of the stream",
            "packets were ignored whose numbers are far outside of the stream",
        );
        count(
            self.jumps,
            "numbers have jumped farther than can be followed: positions after that are too low",
            "times numbers have jumped farther than can be followed: positions after that are too \
             low",
        );
        count(
            self.bad_blocks,
            "a SACK block was ignored that makes no sense",
            "SACK blocks were ignored that make no sense",
        );
        doubts
    }
}
