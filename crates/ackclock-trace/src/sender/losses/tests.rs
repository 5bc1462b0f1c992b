use ackclock_tcp::Seq;

use super::*;
use crate::connection::Spurious;

#[test]
fn more_in_vain_than_lost() {
    let again = |kind, spurious, len| Retransmission {
        frame: 1,
        at: Time::ZERO,
        seq: Seq(0),
        position: 0,
        len,
        kind,
        probability: None,
        syn: false,
        spurious,
        known: true,
        lost: None,
        transmission: 2,
        sacked: 0,
        too_big: false,
        all_seen: false,
    };
    let vain = Some(Spurious::Dsack);
    let two = [again(Kind::FastRetransmit, vain, 9), again(Kind::Recovery, vain, 9)];
    assert_eq!([1, 2].map(|lost| repairs_in_vain(&two, lost)), [true, false]);
    let others = [
        again(Kind::SlowStart, vain, 9),
        again(Kind::Timeout, None, 9),
        again(Kind::Timeout, vain, 0),
    ];
    assert!(!repairs_in_vain(&others, 0));
}
