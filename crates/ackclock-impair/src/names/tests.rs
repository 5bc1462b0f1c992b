use std::sync::Arc;

use super::*;

#[test]
fn a_silent_resolver_is_waited_for_no_longer() {
    let begin = Instant::now();
    let silent = || {
        thread::sleep(Duration::from_secs(5));
        Ok(())
    };
    static LOOK_UPS: LookUps = LookUps::new(1);
    let error = LOOK_UPS.within(Duration::from_millis(200), silent).unwrap_err();
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!(error.to_string(), "the resolver has not answered for 0.2 s");
}

#[test]
fn addresses_and_names_are_found() {
    let address = "[::1]:80".parse().unwrap();
    assert_eq!(addresses("[::1]:80").unwrap(), [address]);
    let all = addresses("localhost:80").unwrap();
    assert!(all.iter().all(|address| address.ip().is_loopback() && address.port() == 80));
    assert!(!all.is_empty());
    assert_eq!(addresses("localhost").unwrap_err().kind(), ErrorKind::InvalidInput);
}

/// Those for which nobody waits any more count until they end, and make room then.
#[test]
fn look_ups_are_bounded() {
    static LOOK_UPS: LookUps = LookUps::new(2);
    let (answer, silent) = channel::<()>();
    let silent = Arc::new(Mutex::new(silent));
    let ask = |longest| {
        let silent = silent.clone();
        LOOK_UPS.within(longest, move || {
            let _ = silent.lock().unwrap().recv();
            Ok(1)
        })
    };
    let soon = Duration::from_millis(50);
    for _ in 0..2 {
        let error = ask(soon).unwrap_err();
        assert_eq!(error.to_string(), "the resolver has not answered for 0.05 s");
    }
    let error = ask(soon).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let expected = "2 look-ups before this one have had no answer for 0.05 s";
    assert_eq!(error.to_string(), expected);
    // The resolver is back: whoever waits for room gets it.
    drop(answer);
    assert_eq!(ask(Duration::from_secs(60)).unwrap(), 1);
    // So does who comes after one that has panicked.
    for _ in 0..3 {
        let panics = || -> io::Result<()> { panic!("on purpose") };
        let error = LOOK_UPS.within(Duration::from_secs(60), panics);
        assert_eq!(error.unwrap_err().to_string(), "the look-up ended early");
    }
    assert_eq!(ask(Duration::from_secs(60)).unwrap(), 1);
}

/// Each waits for all others, so that one after the other they would never end.
#[test]
fn work_for_each_is_done_at_the_same_time() {
    let barrier = std::sync::Barrier::new(3);
    let work = |n: u32| {
        barrier.wait();
        10 * n
    };
    assert_eq!(each(vec![1, 2, 3], work), [10, 20, 30]);
    assert!(each(Vec::new(), work).is_empty());
}
