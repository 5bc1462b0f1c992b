//! Recordings of Linux 6.18 whose ACKs were written by hand, each for one rule of the kernel that
//! random scenarios seldom reach. Everything is answered as recorded, windows included.

use std::fs;
use std::path::PathBuf;

use ackclock_replay::{Comparison, Score, matching, read};
use ackclock_tcp::Registry;

/// Asserts it for a recording of `vectors/scripts`.
fn answered(name: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors/scripts").join(name);
    let text = fs::read_to_string(&path).unwrap();
    let registry = Registry::default();
    for vector in read(name, &text).unwrap() {
        let strategy = registry.parse(&matching(&vector.header, &registry)).unwrap();
        let comparison = Comparison::new(&vector, &strategy);
        let Score { otherwise, cwnd, ssthresh, state, .. } = comparison.score();
        let shown = comparison.side_by_side(0, vector.steps.len());
        assert_eq!((otherwise, cwnd, ssthresh, state), (0, 0, 0, 0), "{name}\n{shown}");
    }
}

/// `tcp_xmit_retransmit_queue` stops at `retrans_out >= lost_out`, also as a recovery begins: what
/// a timeout has sent again is no longer lost after its undo, and still counts.
#[test]
fn a_retransmission_that_an_undo_has_left_behind_counts() {
    answered("undo-retrans-out.jsonl");
}

/// `tcp_rack_detect_loss` takes what it marks lost off its list until it is sent again: after an
/// undo a segment is not judged once more.
#[test]
fn time_judges_a_transmission_once() {
    answered("rack-after-undo.jsonl");
}

/// `tcp_ack`, `old_ack`: an ACK that others have overtaken begins a recovery and lets out what is
/// lost, and leaves cwnd alone.
#[test]
fn an_ack_that_others_have_overtaken_leaves_cwnd_alone() {
    answered("old-ack.jsonl");
}

/// `tcp_sacktag_one`: a D-SACK of data that was retransmitted, and is SACKed already, is
/// reordering. It may be of another segment of the same run of SACKed data (`tcp_shifted_skb`).
#[test]
fn a_d_sack_of_data_that_is_sacked_already_is_reordering() {
    answered("d-sack-of-sacked.jsonl");
    answered("d-sack-of-joined.jsonl");
}

/// `tcp_retransmit_timer`: what expires while the window is closed does not count as a
/// retransmission, so that each timeout lowers the windows and the second ends F-RTO.
#[test]
fn timeouts_into_a_closed_window_do_not_count() {
    answered("zero-window.jsonl");
    answered("window-shrinks.jsonl");
}

/// `tcp_check_sack_reneging`: a SACKed segment that becomes the first brings the timeout near.
#[test]
fn a_sacked_segment_at_the_head_brings_the_timeout_near() {
    answered("renege-head.jsonl");
}
