//! Eifel detection (RFC 3522).

use super::*;

/// Ten segments go out at `start` ms with timestamps.
fn run_from(composition: &str, start: u64, script: impl Fn(&mut Script)) {
    run_with(
        composition,
        SenderConfig { initial_window: Some(10), timestamps: true, ..config() },
        |x| {
            x.at(start).write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
            x.echo = Some(start as u32);
            script(x);
        },
    );
}

/// The timer expires, and then an ACK of the first segment's original arrives.
fn spurious_timeout(x: &mut Script) {
    x.fire(1000).sends("0T").windows(1_000, 5_000);
    x.at(1100).ack(1);
}

#[test]
fn a_spurious_timeout_is_undone() {
    run_from("newreno+eifel", 0, |x| {
        spurious_timeout(x);
        // What was saved, and the slow start that it interrupted.
        x.sends("10 11").windows(11_000, UNSET).phase(Phase::Open);
        x.ack(2).sends("12 13").windows(12_000, UNSET);
        assert_eq!(x.sender.stats().retransmissions, 1);
    });
    run_from("newreno", 0, |x| {
        spurious_timeout(x);
        x.sends("1S 2S").windows(2_000, 5_000).phase(Phase::Loss);
    });
}

/// RFC 4015 section 4: after that, three duplicates are three duplicates.
#[test]
fn a_loss_after_a_spurious_timeout_is_recovered() {
    run_from("newreno+eifel", 0, |x| {
        spurious_timeout(x);
        x.sends("10 11").acks(1, ["", "", "1F"]).windows(8_500, 5_500);
    });
}

/// Step 4: "smaller than"; timestamps wrap.
#[test]
fn the_echo_has_to_be_older_than_the_retransmission() {
    for (echo, sends) in [(999, "10 11"), (1000, "1S 2S"), (1001, "1S 2S")] {
        run_from("newreno+eifel", 0, |x| {
            x.fire(1000).sends("0T");
            x.echo = Some(echo);
            x.at(1100).ack(1).sends(sends);
        });
    }
    let start = (1 << 32) - 500;
    for (echo, sends) in [(start as u32, "10 11"), (500, "1S 2S")] {
        run_from("newreno+eifel", start, |x| {
            x.fire(start + 1000).sends("0T");
            x.echo = Some(echo);
            x.at(start + 1100).ack(1).sends(sends);
        });
    }
}

/// Segment 0 is reordered by three. The first acceptable ACK answers the original; what follows
/// does not count.
#[test]
fn a_spurious_fast_retransmit_is_undone() {
    run_from("newreno+eifel", 0, |x| {
        x.at(100).ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
        x.ack(4).sends("10 11 12 13 14").windows(11_000, UNSET).phase(Phase::Open);
        // The retransmission's duplicate.
        x.at(200).ack(4).sends("").windows(11_000, UNSET);
    });
    // Reordering by one and by two is not noticed, and a genuine loss is not undone.
    run_from("newreno+eifel", 0, |x| {
        x.at(100)
            .ack(0)
            .ack(2)
            .sends("10 11 12")
            .ack(2)
            .ack(2)
            .ack(5)
            .sends("13 14 15 16")
            .windows(12_000, UNSET);
        x.ack(5).ack(5).ack(5).sends("5F").windows(9_000, 6_000);
        x.echo = Some(100);
        x.at(200).ack(13).sends("13P").windows(2_000, 6_000).phase(Phase::Recovery);
    });
}

/// Step 3: duplicates are waited through; only the first ACK that advances is judged.
#[test]
fn the_first_ack_that_advances_decides() {
    run_from("newreno+eifel", 0, |x| {
        x.fire(1000).sends("0T").at(1050).ack(0).sends("").ack(0).sends("");
        x.at(1100).ack(1).sends("10 11").windows(11_000, UNSET);
    });
    run_from("newreno+eifel", 0, |x| {
        x.fire(1000).sends("0T");
        x.echo = Some(1000);
        x.at(1100).ack(1).sends("1S 2S");
        x.echo = Some(0);
        x.ack(2).sends("3S 4S").windows(3_000, 5_000);
    });
}

/// "It must not be reinitiated upon subsequent timeouts for the same segment": RetransmitTS stays
/// that of the first.
#[test]
fn a_second_timeout_is_not_a_new_beginning() {
    run_from("newreno+eifel", 0, |x| {
        x.fire(1000).sends("0T").fire(3000).sends("0T");
        x.echo = Some(1000);
        x.at(3100).ack(1).sends("1S 2S").windows(2_000, 5_000);
    });
    run_from("newreno+eifel", 0, |x| {
        x.fire(1000).sends("0T").fire(3000).sends("0T");
        x.at(3100).ack(1).sends("10 11").windows(11_000, UNSET);
    });
    // Nor is a timeout within a recovery.
    run_from("newreno+eifel", 0, |x| {
        x.at(100).ack(0).ack(0).ack(0).sends("0F").fire(1000).sends("0T");
        x.echo = Some(100);
        x.at(1100).ack(4).sends("4S 5S").windows(2_000, 2_500);
    });
}

/// Every loss recovery is judged by its own retransmission: here the second timeout, after one that
/// was genuine.
#[test]
fn each_recovery_has_a_timestamp_of_its_own() {
    run_from("newreno+eifel", 0, |x| {
        x.fire(1000).sends("0T");
        x.echo = Some(1000);
        x.at(1100)
            .ack(10)
            .sends("10 11")
            .windows(2_000, 5_000)
            .fire(2100)
            .sends("10T")
            .windows(1_000, 2_000);
        x.echo = Some(1100);
        x.at(2200).ack(11).sends("12 13").windows(3_000, 5_000).phase(Phase::Open);
    });
}

/// Step 5 and section 3.3: an old timestamp in an ACK of all there is may answer the
/// retransmission, and does if it says so.
#[test]
fn the_loss_of_all_acks_is_no_spurious_timeout() {
    run_from("newreno+eifel", 0, |x| {
        x.fire(1000).sends("0T");
        x.at(1100).ack(10).sends("10 11").windows(2_000, 5_000);
    });
    run_from("newreno+eifel", 0, |x| {
        x.fire(1000).sends("0T");
        x.at(1100).ack(9).sends("10 11 12 13 14 15 16 17 18 19").windows(11_000, UNSET);
    });
    // A D-SACK.
    run_from("newreno+eifel", 0, |x| {
        x.fire(1000).sends("0T");
        x.at(1100).sack(5, &[(0, 1)]).sends("5S 6S").windows(2_000, 5_000);
    });
    // The receiver has sent a D-SACK before, but this time it does not.
    run_from("newreno+eifel", 0, |x| {
        x.at(100).sack(1, &[(0, 1)]).sends("10 11").windows(11_000, UNSET).fire(1100).sends("1T");
        x.at(1200).ack(12).sends("12 13 14 15 16 17 18 19 20 21 22 23").windows(12_000, UNSET);
    });
}

#[test]
fn without_timestamps_nothing_is_undone() {
    run_with("newreno+eifel", SenderConfig { initial_window: Some(10), ..config() }, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.echo = Some(0);
        spurious_timeout(x);
        x.sends("1S 2S").windows(2_000, 5_000);
    });
}

/// Gurtov & Floyd section III: check first "that the timeout was not spurious to avoid using
/// acknowledgments generated in response to the original and not retransmitted segments". All ten
/// originals arrive late.
#[test]
fn the_ack_heuristic_is_misled_by_a_spurious_timeout() {
    run_from("newreno+ack-heuristic", 0, |x| {
        x.fire(1000).sends("0T").at(1100);
        for (n, sends) in [
            (1, "1S 2S"),
            (2, "3S 4S"),
            (3, "5S 6S"),
            (4, "7S 8S"),
            (5, "9S"),
            (6, "10"),
            (7, "11"),
            (8, "12"),
            (9, "13"),
        ] {
            x.ack(n).sends(sends);
        }
        x.ack(10).sends("14 15").windows(6_097, 5_000).phase(Phase::Open);
        // The duplicates of the spurious retransmissions.
        x.at(1200).acks(10, ["", "", "10F"]).windows(6_000, 3_000);
    });
    run_from("newreno-ack", 0, |x| {
        spurious_timeout(x);
        x.sends("10 11");
        for n in 2..=10 {
            x.ack(n).sends(&format!("{} {}", 2 * n + 8, 2 * n + 9));
        }
        x.at(1200).ack(10).sends("").windows(20_000, UNSET).phase(Phase::Open);
        assert_eq!(x.sender.stats().retransmissions, 1);
    });
}
