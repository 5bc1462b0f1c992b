use super::*;

/// An outage of seconds, or some timeouts in a row, are no reason.
#[test]
fn nobody_loses_a_place_before_r2() {
    let at = |s| Time::ZERO + Span::from_secs(s);
    let clients = [(at(30), SocketId(1)), (at(10), SocketId(2)), (at(20), SocketId(3))];
    let lose = |now| in_vain(at(now), clients.into_iter()).iter().map(|s| s.0).collect::<Vec<_>>();
    assert_eq!(lose(109), [0; 0]);
    assert_eq!(lose(110), [2]);
    assert_eq!(lose(130), [2, 3, 1]);
}
