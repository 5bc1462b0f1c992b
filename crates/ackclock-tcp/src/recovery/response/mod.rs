//! Response: what does a lost retransmission do to the windows? It is decided apart from how the
//! loss is detected.

mod lower_once;
mod lower_twice;
mod response_1;
mod response_2;
mod response_3;
mod response_dac;
mod response_dac_revised;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::recovery::row;
use crate::recovery::window::{Window, Windows, half};
use crate::state::State;

pub use lower_once::LowerOnce;
pub use lower_twice::LowerTwice;
pub use response_1::Response1;
pub use response_2::Response2;
pub use response_3::Response3;
pub use response_dac::ResponseDac;
pub use response_dac_revised::ResponseDacRevised;

/// Response to a lost retransmission.
pub trait Response: Send {
    /// Recovery began.
    fn on_enter(&mut self) {}

    /// A retransmission was lost within recovery. `law` is the window law of the connection.
    fn on_lost(&mut self, s: &State, law: &mut dyn Window) -> Windows;

    /// Recovery ends with this cwnd; returns the cwnd that it ends with instead. Only option III of
    /// Miyake & Inamura changes it: its response waits for the end.
    fn on_exit(&mut self, _s: &State, cwnd: u64) -> u64 {
        cwnd
    }
}

/// Half of ssthresh (RFC 5681 equation 4). It is not raised where segments have grown larger and
/// two of them are more than it was.
fn halved(s: &State) -> u64 {
    half(s, s.ssthresh).min(s.ssthresh)
}

type Row = row::Row<dyn Response>;

/// The mechanisms of this axis.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::new("lower-twice", || Box::new(LowerTwice))
            .source(
                "RFC 5681 section 4.3",
                "\"[...] the loss of a retransmission, should be taken as two indications of \
                 congestion and, therefore, cwnd (and ssthresh) MUST be lowered twice in this \
                 case.\"",
            )
            .summary("a lost retransmission halves ssthresh once more"),
        Row::new("lower-once", || Box::new(LowerOnce::default()))
            .source(
                "RFC 5681 section 4.3",
                "\"[...] the loss of a retransmission, should be taken as two indications of \
                 congestion [...]\"",
            )
            .summary(
                "the first retransmission lost in a recovery lowers ssthresh by the window law",
            ),
        Row::new("response-1", || Box::new(Response1))
            .source(
                "Miyake & Inamura 2005 section 3.2 option I",
                "A lost retransmission changes no window, since both losses lie within a single \
                 transmission window.",
            )
            .summary("a lost retransmission leaves the windows alone"),
        Row::new("response-2", || Box::new(Response2::default()))
            .source(
                "Miyake & Inamura 2005 section 3.2 option II",
                "\"In addition to the fast retransmit algorithm, the loss recovery algorithm \
                 sets ssthresh which is lowered twice.\"",
            )
            .summary(
                "a lost retransmission halves ssthresh once more, at most once in a recovery; cwnd \
                 follows at its end",
            ),
        Row::new("response-3", || Box::new(Response3::default()))
            .source(
                "Miyake & Inamura 2005 section 3.2 option III",
                "\"If an acceptable ACK whose sequence number covers recovery arrives and segment \
                 retransmission is experienced in Step(5) then set cwnd <- 1 [...]\"",
            )
            .summary("a recovery that lost a retransmission ends with cwnd = 1 segment"),
        Row::new("response-dac", || Box::new(ResponseDac))
            .source(
                "Miyake & Inamura 2005 section 2, on Kim & Lee 2004",
                "\"[...] two segments, a new segment and an unacknowledged segment are \
                 transmitted due to the lack of cooperation between the fast recovery and loss \
                 recovery algorithms.\"",
            )
            .summary(
                "the ACK that shows a retransmission lost inflates cwnd as well, so that two \
                 segments go",
            ),
        Row::new("response-dac-revised", || Box::new(ResponseDacRevised))
            .source(
                "Miyake & Inamura 2005 section 2, on Kim et al. 2004",
                "\"Whenever the algorithm detects the loss of retransmitted segments, the \
                 congestion window and slow start threshold are lowered twice, independently of \
                 the fast recovery algorithm [...]\"",
            )
            .summary(
                "a lost retransmission sets ssthresh and cwnd, inflation and all, to half of \
                 ssthresh",
            ),
    ]
}

#[cfg(test)]
mod tests;
