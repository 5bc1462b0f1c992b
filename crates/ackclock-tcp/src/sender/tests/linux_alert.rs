//! When Linux begins a recovery: `tcp_fastretrans_alert`.

use super::*;

/// 0 and 12 are lost. 12 was sent within the recovery, above its point, and is found lost and
/// retransmitted before that is acknowledged. Then the next recovery begins at once, and nothing
/// that is on its way is retransmitted.
#[test]
fn losses_above_the_recovery_point_begin_the_next_recovery() {
    run("linux", 10, |x| {
        x.write(60_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 4)]).sends("0F");
        x.windows(7_000, 7_000);
        x.at(101).sack(0, &[(1, 6)]).sends("10 11").at(102).sack(0, &[(1, 8)]).sends("12 13");
        x.at(103).sack(0, &[(1, 10)]).sends("14 15").windows(7_000, 7_000);
        // The retransmission of 0 is lost too: 10 was sent after it.
        x.at(201).sack(0, &[(1, 12)]).sends("0L 16 17").at(202).sack(0, &[(13, 14), (1, 12)]);
        x.sends("12P 18").at(203).sack(0, &[(13, 16), (1, 12)]).sends("19 20");
        // Six are in flight, 12 among them, and ceil(4 / 7) goes.
        x.at(301).sack(12, &[(13, 16)]).sends("21").windows(7_000, 4_000).phase(Phase::Recovery);
        // What it finds lost first begins it as far as retransmissions go.
        x.at(302).sack(12, &[(17, 19), (13, 16)]).sends("12F");
    });
}
