use super::*;
use crate::ids::FlowId;
use crate::packet::Options;
use ackclock_tcp::{Segment, Span};

fn data(segment: u64, transmission: u32) -> Packet {
    let header = Segment { len: 1000, ..Segment::default() };
    let packet = Packet::new(Kind::Data, &header, &mut Options::default());
    Packet { position: segment * 1000, transmission, ..packet }
}

fn losses(model: LossModel) -> Losses {
    Losses::new(Loss { model, applies: Applies::Data, flow: None }, Rng::new(1, "test"))
}

fn lost(losses: &mut Losses, packet: Packet) -> bool {
    losses.take(Time::ZERO, &packet, 1000).is_some()
}

#[test]
fn a_drop_list_takes_the_named_transmissions_and_no_others() {
    let list =
        vec![ListedLoss::retransmission(14, 1), ListedLoss::first(28), ListedLoss::first(14)];
    let mut losses = losses(LossModel::Listed(list));
    let sent = [(13, 1), (14, 1), (15, 1), (14, 2), (14, 3), (28, 1), (28, 2), (14, 1)];
    let taken = sent.map(|(segment, transmission)| lost(&mut losses, data(segment, transmission)));
    assert_eq!(taken, [false, true, false, true, false, true, false, true]);
    assert!(!lost(&mut losses, Packet { copy: true, ..data(14, 1) }));
    assert!(!lost(&mut losses, Packet { kind: Kind::Ack, ..data(14, 1) }));
}

#[test]
fn a_short_segment_is_the_listed_one_if_it_holds_its_first_byte() {
    let mut losses = losses(LossModel::Listed(vec![ListedLoss::first(1)]));
    let short = |position, len| Packet { position, len, ..data(0, 1) };
    let sent = [(0, 1000), (500, 500), (500, 501), (999, 2), (1000, 1), (1001, 999), (1000, 0)];
    let taken = sent.map(|(position, len)| lost(&mut losses, short(position, len)));
    assert_eq!(taken, [false, false, true, true, true, false, false]);
}

#[test]
fn bernoulli_takes_its_share() {
    let count = |p| {
        let mut losses = losses(LossModel::Bernoulli(p));
        (0..10_000).filter(|&i| lost(&mut losses, data(i, 1))).count()
    };
    assert_eq!((count(0.0), count(1.0)), (0, 10_000));
    assert!((900..1100).contains(&count(0.1)));
}

#[test]
fn gilbert_elliott_changes_its_state_after_each_packet() {
    let run = |p, r, loss_good, loss_bad| {
        let mut losses = losses(LossModel::GilbertElliott { p, r, loss_good, loss_bad });
        [0, 1, 2, 3, 4, 5].map(|i| lost(&mut losses, data(i, 1)))
    };
    assert_eq!(run(1.0, 1.0, 0.0, 1.0), [false, true, false, true, false, true]);
    assert_eq!(run(1.0, 0.0, 0.0, 1.0), [false, true, true, true, true, true]);
    assert_eq!(run(0.0, 0.0, 0.0, 1.0), [false; 6]);
    assert_eq!(run(1.0, 1.0, 1.0, 0.0), [true, false, true, false, true, false]);
}

/// From 100 ns, from 110 ns, and until 140 ns.
fn three_state(second_loss: f64, third_loss: f64, lose_fast_retransmission: bool) -> Losses {
    three_states(second_loss, third_loss, lose_fast_retransmission, false)
}

fn three_states(
    second_loss: f64,
    third_loss: f64,
    lose_fast_retransmission: bool,
    repeat: bool,
) -> Losses {
    let (second_at, second_for, third_for) = (Time(100), Span(10), Span(30));
    losses(LossModel::ThreeState {
        second_at,
        second_for,
        second_loss,
        third_for,
        third_loss,
        lose_fast_retransmission,
        repeat,
    })
}

#[test]
fn the_three_states_follow_each_other_once() {
    let taken = |second_loss, third_loss| {
        let mut losses = three_state(second_loss, third_loss, false);
        [0, 99, 100, 109, 110, 139, 140, 999]
            .map(|at| losses.take(Time(at), &data(0, 1), 1000).is_some())
    };
    assert_eq!(taken(1.0, 0.0), [false, false, true, true, false, false, false, false]);
    assert_eq!(taken(0.0, 1.0), [false, false, false, false, true, true, false, false]);
}

#[test]
fn three_states_may_take_the_first_fast_retransmission() {
    let fast = Packet { fast_retransmission: true, ..data(0, 2) };
    let taken = |lose, sent: [(u64, Packet); 5]| {
        let mut losses = three_state(0.0, 0.0, lose);
        sent.map(|(at, packet)| losses.take(Time(at), &packet, 1000).is_some())
    };
    let sent = [(99, fast), (105, data(0, 2)), (150, fast), (151, fast), (152, data(0, 3))];
    assert_eq!(taken(true, sent), [false, false, true, false, false]);
    assert_eq!(taken(false, sent), [false; 5]);
}

#[test]
fn three_states_may_begin_again() {
    let mut losses = three_states(1.0, 0.0, false, true);
    let taken = [100, 110, 139, 140, 239, 240, 249, 250, 380]
        .map(|at| losses.take(Time(at), &data(0, 1), 1000).is_some());
    assert_eq!(taken, [true, false, false, false, false, true, true, false, true]);
    // One fast retransmission of each pass.
    let mut losses = three_states(0.0, 0.0, true, true);
    let fast = Packet { fast_retransmission: true, ..data(0, 2) };
    let taken =
        [99, 101, 120, 141, 245, 260].map(|at| losses.take(Time(at), &fast, 1000).is_some());
    assert_eq!(taken, [false, true, false, false, true, false]);
}

/// 8 kb/s are a byte a millisecond. The bucket of 2500 bytes lets two packets of 1000 pass and has
/// 500 left.
#[test]
fn a_policer_lets_pass_what_finds_tokens_and_takes_none_for_a_loss() {
    let policer = |burst| losses(LossModel::Policer { rate: 8_000, burst });
    let passes = |policer: &mut Losses, sent: &[(u64, u32)]| -> Vec<bool> {
        let sees = |&(at, size): &(u64, u32)| {
            let packet = Packet { size, ..data(0, 1) };
            policer.take(Time(at), &packet, 1000).is_none()
        };
        sent.iter().map(sees).collect()
    };
    let ms = 1_000_000;
    let sent = [(0, 1000), (0, 1000), (0, 1000), (0, 501), (0, 500), (0, 1)];
    assert_eq!(passes(&mut policer(2500), &sent), [true, true, false, false, true, false]);
    // 500 tokens are left, and 500 more take 500 ms: not a nanosecond less. They are gone then.
    let sent = [
        (0, 1000),
        (0, 1000),
        (500 * ms - 1, 1000),
        (500 * ms, 1000),
        (501 * ms, 2),
        (501 * ms, 1),
    ];
    assert_eq!(passes(&mut policer(2500), &sent), [true, true, false, true, false, true]);
    // However long it waits, it holds no more than its burst.
    let sent = [(0, 2500), (9000 * ms, 2501), (9000 * ms, 2500), (9000 * ms, 1)];
    assert_eq!(passes(&mut policer(2500), &sent), [true, false, true, false]);
    assert_eq!(policer(1).take(Time(0), &data(0, 1), 1000), Some("policer"));
}

#[test]
fn a_model_sees_only_what_it_applies_to() {
    let packets = [
        data(0, 1),
        Packet { kind: Kind::Ack, ..data(0, 1) },
        Packet { kind: Kind::Datagram, ..data(0, 1) },
        Packet { flow: 1, ..data(0, 1) },
    ];
    let taken = |applies, flow| {
        let loss = Loss { model: LossModel::Bernoulli(1.0), applies, flow };
        let mut losses = Losses::new(loss, Rng::new(1, "test"));
        packets.map(|packet| lost(&mut losses, packet))
    };
    assert_eq!(taken(Applies::Data, None), [true, false, true, true]);
    assert_eq!(taken(Applies::Acks, None), [false, true, false, false]);
    assert_eq!(taken(Applies::Both, None), [true; 4]);
    assert_eq!(taken(Applies::Both, Some(FlowId(1))), [false, false, false, true]);
}

#[test]
fn what_no_packet_met_is_unmet() {
    let list = || {
        let again = ListedLoss::retransmission(14, 1);
        LossModel::Listed(vec![ListedLoss::first(28), again, ListedLoss::first(14), again])
    };
    let (first, again, later) =
        (ListedLoss::first(14), ListedLoss::retransmission(14, 1), ListedLoss::first(28));
    let unmet = |losses: &Losses| losses.unmet().collect::<Vec<_>>();
    let mut all = losses(list());
    assert_eq!(unmet(&all), [first, again, later]);
    lost(&mut all, Packet { flow: 1, ..data(14, 1) });
    lost(&mut all, Packet { flow: 3, copy: true, ..data(28, 1) });
    lost(&mut all, Packet { flow: 2, kind: Kind::Ack, ..data(28, 1) });
    assert_eq!(unmet(&all), [again, later]);
    lost(&mut all, Packet { flow: 3, ..data(14, 2) });
    assert_eq!(unmet(&all), [later]);
    let own = Loss { model: list(), applies: Applies::Data, flow: Some(FlowId(1)) };
    let mut own = Losses::new(own, Rng::new(1, "test"));
    lost(&mut own, Packet { flow: 3, ..data(14, 1) });
    assert_eq!(unmet(&own), [first, again, later]);
    lost(&mut own, Packet { flow: 1, ..data(28, 1) });
    assert_eq!(unmet(&own), [first, again]);
    assert_eq!(unmet(&losses(LossModel::Bernoulli(0.5))), []);
}
