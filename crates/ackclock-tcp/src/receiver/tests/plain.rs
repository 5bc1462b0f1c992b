//! The short path of plain segments and the full one: the same answers and the same state after
//! each segment of random histories.

use std::format;

use super::*;
use crate::dice::Dice;
use crate::segment::Codepoint;

const HISTORIES: u64 = 20_000;

/// Most segments are the next one in order; some come late, early, short, twice or marked.
fn segment(r: &Receiver, dice: &mut Dice) -> Segment {
    let ahead = if dice.is_one_in(6) { dice.below(3000) } else { 0 };
    let behind = if dice.is_one_in(6) { dice.below(1000) } else { 0 };
    let mark = if dice.is_one_in(8) { Codepoint::Ce } else { Codepoint::Ect0 };
    let val = dice.below(100) as u32;
    Segment {
        seq: Seq::at(r.config.isn, (r.rcv_nxt + ahead).saturating_sub(behind)),
        len: if dice.is_one_in(6) { dice.below(500) as u32 } else { 500 },
        flags: Flags::new(dice.is_one_in(4), dice.is_one_in(16)),
        ecn: Ecn::new(mark, false, dice.is_one_in(8)),
        timestamps: r.config.timestamps.then_some(Timestamps { val, ecr: 0 }),
        ..Segment::default()
    }
}

#[test]
fn the_short_path_does_what_the_full_one_does() {
    let delays = [
        DelayedAck::Off,
        DelayedAck::After(Span::from_millis(40)),
        DelayedAck::FastTimer(Span::from_millis(7)),
        DelayedAck::Linux(Span::from_millis(30)),
        DelayedAck::Ns2(Span::from_millis(100)),
    ];
    let mut plain = 0;
    for history in 0..HISTORIES {
        let mut dice = Dice(history);
        let mut short = Receiver::new(ReceiverConfig {
            isn: Seq(ISNS[dice.below(5) as usize]),
            delayed_ack: delays[history as usize % delays.len()],
            ack_every: 1 + dice.below(3) as u32,
            timestamps: dice.is_one_in(4),
            ecn: dice.is_one_in(4),
            auto_read: !dice.is_one_in(4),
            buffer: 4000,
            ..config()
        });
        let (mut full, mut now) = (short.clone(), Time::ZERO);
        for _ in 0..24 {
            now += Span::from_millis(dice.below(30));
            let segment = segment(&short, &mut dice);
            plain += u64::from(short.plain_end(&segment).is_some());
            let fresh = [short.on_segment(now, &segment), full.on_any_segment(now, &segment)];
            assert_eq!(fresh[0], fresh[1], "history {history}");
            let (expires, reads) = (dice.is_one_in(4), dice.is_one_in(3));
            let [a, b] = [&mut short, &mut full].map(|r| {
                if expires {
                    r.on_deadline(now);
                }
                if reads {
                    r.read(now, 700);
                }
                (r.poll_transmit(now), r.next_deadline())
            });
            assert_eq!(a, b, "history {history}");
        }
        assert_eq!(format!("{short:?}"), format!("{full:?}"), "history {history}");
    }
    assert!(plain > 2 * HISTORIES, "{plain} segments were plain");
}
