use super::*;

#[test]
fn off_or_a_time() {
    assert_eq!("off".parse(), Ok(KeepAlives(None)));
    let KeepAlives(minute) = "60s".parse().unwrap();
    let (idle, interval) = (Span::from_secs(60), Span::from_secs(10));
    assert_eq!(minute, Some(KeepAlive { idle, interval, count: 6 }));
    for text in ["on", "0", "10ms", "60"] {
        let error = text.parse::<KeepAlives>().unwrap_err();
        assert!(error.contains("neither `off` nor a time"), "{error}");
    }
}
