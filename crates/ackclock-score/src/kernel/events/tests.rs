use super::*;

/// One call sends the first two packets again, another the third, which is captured a little later
/// than traced.
#[test]
fn packets_belong_to_the_event_nearest_in_time_and_order() {
    let times = |all: &[u64]| all.iter().map(|t| Time(*t)).collect::<Vec<_>>();
    assert_eq!(align(&times(&[100, 101, 205]), &times(&[103, 204])), [0, 0, 1]);
    // No event is left without a packet where that can be.
    assert_eq!(align(&times(&[100, 101]), &times(&[101, 102])), [0, 1]);
    assert_eq!(align(&times(&[500]), &times(&[100, 499])), [1]);
    assert_eq!(align(&times(&[5]), &[]), [usize::MAX]);
}

/// The trace lacks some callers. The timer alone has set the state of loss since the retransmission
/// before.
#[test]
fn a_missing_caller_follows_from_the_state() {
    let unknown = What::Retransmit(Caller::Unknown);
    let trace = [
        unknown.clone(),
        What::State(RECOVERY),
        unknown.clone(),
        What::State(LOSS),
        unknown.clone(),
        unknown.clone(),
        What::State(LOSS),
        unknown,
    ];
    let lines: Vec<Line> = trace
        .into_iter()
        .map(|what| Line { at: Time(0), ends: Default::default(), what })
        .collect();
    let by: Vec<Caller> = of(&lines.iter().collect::<Vec<_>>()).iter().map(|e| e.by).collect();
    let expected = [Caller::LossProbe, Caller::Queue, Caller::Timer, Caller::Queue, Caller::Timer];
    assert_eq!(by, expected);
}
