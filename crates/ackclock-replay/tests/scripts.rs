//! Recordings of Linux 6.18 whose ACKs were written by hand, each for one rule of the kernel that
//! random scenarios seldom or never reach. Everything is answered as recorded, windows included.

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

/// `tcp_clean_rtx_queue` (`FLAG_ORIG_SACK_ACKED`): the ACK of data that was sent once shows that a
/// timeout was spurious, also where its SACK was forgotten (`tcp_timeout_mark_lost`).
#[test]
fn an_original_that_was_reneged_shows_a_timeout_spurious() {
    answered("renege-original.jsonl");
}

/// `tcp_sacktag_write_queue` walks a block up to one of the ACK before, and from there on: what
/// reaches into that one from below is not SACKed, unless nothing was SACKed at all, or the block
/// lies above all that was.
#[test]
fn blocks_of_the_ack_before_cut_a_block() {
    answered("sack-part.jsonl");
}

/// `tcp_init_undo` counts retransmissions on their way, of which this timeout leaves none
/// (`tcp_timeout_mark_lost`), and no probe that an earlier response has counted (`tlp_high_seq`).
#[test]
fn a_timeout_leaves_no_retransmission_to_be_reported() {
    answered("undo-second-timeout.jsonl");
}

/// `tcp_fastretrans_alert` returns where the head is SACKed: what is lost waits, and new data goes.
#[test]
fn nothing_goes_again_on_the_ack_that_shows_reneging() {
    answered("renege-lost.jsonl");
}

/// `tcp_is_sackblock_valid`: a block that holds the first unacknowledged byte SACKs nothing.
#[test]
fn a_block_of_the_first_byte_says_nothing() {
    answered("sack-of-head.jsonl");
}

/// `tcp_cwnd_validate` lowers a cwnd that is not used only with `tcp_slow_start_after_idle`.
#[test]
fn an_unused_cwnd_stays_where_idle_time_lowers_nothing() {
    answered("idle-time-lowers-nothing.jsonl");
}

/// `tcp_may_raise_cwnd`: what acknowledges no segment in full (`FLAG_DATA_ACKED`) raises nothing.
#[test]
fn a_part_of_a_segment_does_not_raise_cwnd() {
    answered("part-acked.jsonl");
}

/// `tcp_clean_rtx_queue` leaves a segment whole that is acknowledged in part: the ACK of the rest
/// reports one that begins below what was acknowledged before, and so is reordering.
#[test]
fn an_ack_within_a_segment_is_reordering() {
    answered("ack-within-segment.jsonl");
}

/// `tcp_clean_rtx_queue`: what acknowledges no segment in full does not set the timer
/// (`FLAG_SET_XMIT_TIMER`).
#[test]
fn a_part_of_a_segment_does_not_put_the_timeout_off() {
    answered("timer-of-part.jsonl");
}

/// `tcp_bound_to_half_wnd`: segments have half of the largest window at most, but for tiny ones.
#[test]
fn segments_have_half_of_a_small_window() {
    answered("half-window.jsonl");
}

/// `tcp_grow_skb`: what was written for smaller segments is sent in buffers of that size, each
/// filled with what the next one has. A later write fills the last one.
#[test]
fn what_lies_in_smaller_buffers_fills_segments_in_part() {
    answered("half-window-grows.jsonl");
}

/// `tcp_write_wakeup` leaves the rest of a segment in a buffer of its own, which the next one fills
/// (`tcp_grow_skb`).
#[test]
fn a_window_probe_leaves_the_rest_of_a_segment() {
    answered("window-probe.jsonl");
}

/// `tcp_schedule_loss_probe`: only with 3 and 4 there are tail loss probes.
#[test]
fn early_retrans_switches_probes_on() {
    answered("early-retrans.jsonl");
}

/// `tcp_rto_min_us` and `tcp_rto_max_ms` bound the timeout.
#[test]
fn settings_bound_the_timeout() {
    answered("rto-bounds.jsonl");
}

/// `tcp_is_non_sack_preventing_reopen` and `tcp_try_to_open`: with nothing retransmitted left, the
/// time of the first retransmission is forgotten at the recovery point, so that no echo from before
/// it undoes anything.
#[test]
fn without_sack_the_recovery_point_forgets_the_first_retransmission() {
    answered("retrans-stamp-without-sack.jsonl");
}

/// `tcp_adjust_pcount`: where segments are joined to be retransmitted, duplicates stand for fewer.
#[test]
fn joined_segments_take_duplicates_with_them() {
    answered("joined-without-sack.jsonl");
}

/// `tcp_mark_skb_lost`: what is found lost while a retransmission of it is on its way that an undo
/// has left behind is not retransmitted once more.
#[test]
fn a_retransmission_that_an_undo_has_left_behind_stays_on_its_way() {
    answered("lost-while-on-its-way.jsonl");
}

/// `tcp_tsopt_ecr_before`: an echo of 0 is none, and undoes nothing.
#[test]
fn an_echo_of_zero_is_none() {
    answered("echo-of-zero.jsonl");
}

/// `tcp_may_update_window`: an ACK with a new sequence number is no duplicate.
#[test]
fn the_first_ack_is_no_duplicate() {
    answered("first-duplicate.jsonl");
}

/// `tcp_xmit_recovery`: the new data of F-RTO goes whatever Nagle's algorithm says.
#[test]
fn f_rto_sends_a_short_tail() {
    answered("f-rto-nagle.jsonl");
}

/// `tcp_simple_retransmit`: after a message of ICMP duplicates are limited, cwnd stays, and CUBIC
/// begins anew.
#[test]
fn a_lowered_mss_leaves_cwnd_alone() {
    answered("mss-lowered.jsonl");
}

/// `tcp_try_undo_dsack`: what D-SACKs undo within a recovery is no reordering, other than what
/// `tcp_try_undo_partial` undoes.
#[test]
fn an_undo_by_d_sacks_is_no_reordering() {
    answered("undone-by-d-sack.jsonl");
}

/// `tcp_may_update_window`: an ACK that closes the window is no duplicate, so that `tlp_high_seq`
/// stays (`tcp_process_tlp_ack`).
#[test]
fn an_ack_that_closes_the_window_is_no_duplicate() {
    answered("probe-and-closed-window.jsonl");
}

/// `tcp_rack_reo_timeout` and `tcp_retransmit_timer` do not call `tcp_cwnd_validate`.
#[test]
fn what_a_timer_retransmits_does_not_validate_cwnd() {
    answered("timers-validate-nothing.jsonl");
}

/// `tcp_grow_skb`: a buffer that takes all of the one behind it takes its PSH.
#[test]
fn a_buffer_takes_push_with_the_next_one() {
    answered("buffer-taken-with-push.jsonl");
}

/// `tcp_push_one`: the segments of a write leave one by one. Where the first is reported last,
/// RACK's round trip is the longest, and a hole between waits.
#[test]
fn segments_of_a_write_leave_one_by_one() {
    answered("written-one-by-one.jsonl");
}

/// `tcp_write_xmit` looks at the clock anew (`tcp_mstamp_refresh`): new data leaves later than what
/// is retransmitted on the same ACK, and is not judged by the ACK of that.
#[test]
fn new_data_leaves_later_than_what_goes_again() {
    answered("new-data-leaves-later.jsonl");
}

/// `tcp_ack_update_rtt`: the echo of an ACK that acknowledges no segment in full is no sample
/// (`FLAG_ACKED`), so that HyStart sees none.
#[test]
fn a_part_of_a_segment_measures_no_round_trip() {
    answered("part-acked-timestamp.jsonl");
}

/// `tcp_cwnd_reduction`: where the ACK that ends a recovery acknowledges what was SACKed before, it
/// delivers nothing, and the recovery that begins with it leaves cwnd alone.
#[test]
fn a_recovery_may_begin_with_nothing_delivered() {
    answered("recovery-delivers-nothing.jsonl");
}

/// `tcp_send_fin`: the FIN goes on the last buffer that is not sent, full or not, and without PSH
/// where there is none.
#[test]
fn a_fin_takes_no_room() {
    answered("fin-on-full-segment.jsonl");
    answered("fin-alone-without-push.jsonl");
}

/// `tcp_v4_mtu_reduced` does not refresh `tcp_mstamp`: what goes again for a message of ICMP has
/// the time of the input before, so that a SACK of an original may be taken for one of it. Nothing
/// but what goes again is cut (`tcp_fragment`).
#[test]
fn what_goes_again_for_a_lowered_mss_has_an_earlier_time() {
    answered("mss-lowered-in-time.jsonl");
}

/// `tcp_non_congestion_loss_retransmit`: ssthresh becomes three quarters of cwnd if it is less
/// (`tcp_current_ssthresh`).
#[test]
fn a_lowered_mss_keeps_three_quarters_of_cwnd() {
    answered("mss-raises-ssthresh.jsonl");
}

/// `tcp_write_wakeup` sets PSH before it cuts the buffer, so that what is left has it, too.
#[test]
fn a_window_probe_leaves_push_on_the_rest() {
    answered("probe-leaves-push.jsonl");
}

/// `tcp_init_transfer`: after more than one retransmission of the SYN cwnd is 1, and the initial
/// window what it was. Without a round trip the first timeout is 3 s (`tcp_init_metrics`).
#[test]
fn lost_syns_leave_a_cwnd_of_one() {
    answered("handshake-slow.jsonl");
}

/// `tcp_dsack_seen`: `total_retrans` counts SYNs, too.
#[test]
fn a_d_sack_may_answer_a_syn() {
    answered("handshake-d-sack.jsonl");
}

/// `tcp_simple_retransmit` sends what is lost, and no new data.
#[test]
fn icmp_lets_no_new_data_out() {
    answered("mss-lowered-sends-nothing-new.jsonl");
}

/// `tcp_non_congestion_loss_retransmit` within Loss: `high_seq` stays, so that what ICMP found lost
/// above it begins a recovery.
#[test]
fn icmp_leaves_the_recovery_point_of_a_timeout() {
    answered("mss-lowered-after-timeout.jsonl");
}

/// `tcp_sacktag_write_queue`: in Loss without `undo_marker` no SACK shows reordering.
#[test]
fn a_slow_start_that_icmp_began_sees_no_reordering_in_sacks() {
    answered("mss-lowered-without-marker.jsonl");
}

/// `tcp_process_loss` (`recovered`) asks for no retransmission: new data goes.
#[test]
fn at_the_recovery_point_without_sack_new_data_goes() {
    answered("mss-lowered-recovered.jsonl");
}

/// `tcp_skb_seglen`: what was acknowledged of a segment counts until it is retransmitted.
#[test]
fn a_segment_acknowledged_in_part_is_as_large_as_before() {
    answered("mss-lowered-part-acked.jsonl");
}

/// `tcp_ecn_send` takes what `tcp_write_wakeup` sends of new data for data.
#[test]
fn new_data_into_a_small_window_carries_cwr() {
    answered("ecn-in-small-window.jsonl");
}

/// What was written for larger segments lies in buffers of that size, whose rests `tcp_grow_skb`
/// fills with the next one only.
#[test]
fn what_lies_in_larger_buffers_is_cut_at_their_ends() {
    answered("mss-lowered-buffers.jsonl");
}

/// `tcp_push`: a write ends with `pushed_seq` at its end, and buffers have PSH by where that stood
/// as they were written.
#[test]
fn buffers_have_psh_from_when_they_were_written() {
    answered("push-of-earlier-writes.jsonl");
    answered("push-of-write.jsonl");
}

/// `tcp_shift_skb_data` joins SACKed segments of the same length only.
#[test]
fn segments_of_different_length_are_not_joined() {
    answered("d-sack-of-other-length.jsonl");
}

/// `tcp_mstamp` is that of the last segment where a write has let out all, so that what ICMP has
/// retransmitted was sent no later than that one.
#[test]
fn what_goes_again_for_icmp_is_no_later_than_the_last_segment() {
    answered("mss-lowered-time-of-write.jsonl");
}
