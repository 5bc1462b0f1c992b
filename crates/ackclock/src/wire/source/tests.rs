use super::{Pattern, Pumped, Source, StackError};

/// A source is written in the pieces that the socket takes, and nothing is lost or repeated
/// between them.
#[test]
fn what_the_socket_does_not_take_is_written_later() {
    let pattern = Pattern::new();
    let mut whole = Vec::new();
    while whole.len() < 300_000 {
        whole.extend_from_slice(pattern.at(whole.len() as u64, 300_000 - whole.len() as u64));
    }
    let read = Source::reader(Box::new(std::io::Cursor::new(whole.clone())), None);
    for mut source in [Source::pattern(300_000), read] {
        let mut taken = Vec::new();
        loop {
            let mut calls = 0;
            let pumped = source.pump(&pattern, |bytes| {
                calls += 1;
                if calls > 3 {
                    return Err(StackError::WouldBlock);
                }
                let n = bytes.len().min(1000);
                taken.extend_from_slice(&bytes[..n]);
                Ok(n)
            });
            match pumped.unwrap() {
                Pumped::Full => assert_eq!(taken.len() as u64, source.written),
                Pumped::End => break,
                _ => panic!(),
            }
        }
        assert!(taken == whole);
    }
}

#[test]
fn standard_input_is_read_only_when_it_has_something() {
    let waits = std::fs::File::open("/dev/null").unwrap().into();
    let mut source = Source::reader(Box::new(&b"ab"[..]), Some(waits));
    let mut taken = Vec::new();
    let mut pump = |source: &mut Source| {
        source
            .pump(&Pattern::new(), |bytes| {
                taken.extend_from_slice(bytes);
                Ok(bytes.len())
            })
            .unwrap()
    };
    assert!(matches!(pump(&mut source), Pumped::Starved));
    source.ready();
    assert!(matches!(pump(&mut source), Pumped::Starved));
    source.ready();
    assert!(matches!(pump(&mut source), Pumped::End));
    assert_eq!(taken, b"ab");
}
