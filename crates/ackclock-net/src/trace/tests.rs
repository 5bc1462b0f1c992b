use super::*;

fn error(text: &str) -> String {
    Trace::parse(text).expect_err("a wrong trace").to_string()
}

#[test]
fn what_is_wrong_with_a_trace_is_said_with_its_line() {
    assert_eq!(
        error("1\n2.5\n"),
        "2: `2.5` is no time; a line is a whole number of milliseconds, such as `12`"
    );
    assert_eq!(
        error("1\n\n3\n"),
        "2: an empty line is no time; a line is a whole number of milliseconds, such as `12`"
    );
    assert_eq!(error("5\n4\n"), "2: 4 comes after 5; times do not go back");
    assert_eq!(
        error("1\n4294967296\n"),
        "2: 4294967296 ms is too late; a time is at most 4294967295"
    );
    assert_eq!(
        error(""),
        "1: this never delivers: it has no line; write `1` for 1504 bytes each millisecond"
    );
    assert_eq!(
        error("0\n0\n"),
        "2: this never delivers after time 0: the last time is how long the trace lasts, so it is \
         above 0"
    );
}

/// Three opportunities in 10 ms: 3 * 1504 * 8 bits / 10 ms.
#[test]
fn a_trace_has_a_mean_rate_and_is_written_as_it_was_read() {
    let trace = Trace::parse("0\n4\n10\n").expect("a trace");
    assert_eq!((trace.mean_rate(), trace.period()), (3_609_600, Span::from_millis(10)));
    assert_eq!(trace.to_text(), "0\n4\n10\n");
}

/// The second pass begins at the time of the last line of the first one, and has an opportunity
/// then too.
#[test]
fn a_trace_begins_again() {
    let mut cursor = Cursor::new(Trace::parse("0\n4\n4\n10\n").expect("a trace"));
    let mut times = Vec::new();
    for _ in 0..9 {
        times.push(cursor.time() / MS);
        cursor.advance();
    }
    assert_eq!(times, [0, 4, 4, 10, 10, 14, 14, 20, 20]);
}

/// From each nanosecond around each opportunity, `skip` finds what walking finds.
#[test]
fn skipping_is_walking() {
    let trace = Trace::parse("0\n4\n4\n10\n").expect("a trace");
    for ms in 0..45 {
        for now in [(ms * MS).saturating_sub(1), ms * MS, ms * MS + 1] {
            let mut walked = Cursor::new(trace.clone());
            while walked.time() <= now {
                walked.advance();
            }
            let mut skipped = Cursor::new(trace.clone());
            skipped.skip(now);
            assert_eq!((skipped.time(), skipped.index), (walked.time(), walked.index), "{now}");
        }
    }
}
