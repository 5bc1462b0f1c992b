use super::*;

/// That of the handshake has no time, and the clock of a host runs since long.
#[test]
fn of_a_handshake() {
    let mut min = MinRtt::default();
    min.sample(Span::from_millis(20), Time::ZERO);
    let hour = Time::ZERO + Span::from_secs(3600);
    min.sample(Span::from_millis(200), hour);
    assert_eq!(min.get(), Some(Span::from_millis(20)));
    min.sample(Span::from_millis(200), hour + Span::from_secs(301));
    assert_eq!(min.get(), Some(Span::from_millis(200)));
}

/// A round trip of 10 ms, and then 20 ms a second: the first counts for five minutes.
#[test]
fn five_minutes() {
    for began in [1, 200, 299] {
        let mut min = MinRtt::default();
        let mut after = |seconds: u64, millis| {
            min.sample(Span::from_millis(millis), Time::ZERO + Span::from_secs(seconds));
            min.get()
        };
        for second in 0..began {
            after(second, 30);
        }
        for second in 0..=301 {
            let expected = if second <= 300 { 10 } else { 20 };
            let rtt = if second == 0 { 10 } else { 20 };
            assert_eq!(after(began + second, rtt), Some(Span::from_millis(expected)), "{second}");
        }
    }
}
