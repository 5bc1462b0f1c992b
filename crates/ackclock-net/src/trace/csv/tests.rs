use crate::Trace;

/// 12.032 Mbit/s are an opportunity each millisecond. Half of that from 2 ms to 4 ms brings one,
/// and 0 none until the end at 6 ms, where nothing is left over but the end is marked.
#[test]
fn opportunities_come_when_their_bytes_have_come_together() {
    let table = "rtt,time_s,rate_bps\n9,10,12032000\n9,10.002,6016000\n\n9,10.004,0\n";
    let trace = Trace::from_csv(table).expect("a sound table");
    assert_eq!(trace.to_text(), "1\n2\n4\n6\n");
    // 1.5 opportunities a millisecond: at 0.67 ms, 1.33, 2, 2.67, 3.33, 4.
    let trace = Trace::from_csv("time_s,rate_bps\n0,18048000\n0.002,18048000\n");
    assert_eq!(trace.expect("a sound table").to_text(), "1\n2\n2\n3\n4\n4\n");
    // Six tenths of one each millisecond: the second line does not lose what the first one left.
    let trace = Trace::from_csv("time_s,rate_bps\n0,7219200\n0.001,7219200\n");
    assert_eq!(trace.expect("a sound table").to_text(), "2\n");
}

/// As spreadsheets write them: a byte order mark, quotes, and lines that end with two characters.
#[test]
fn tables_of_spreadsheets_are_read() {
    let table = "\u{feff}\"time_s\",\"rate_bps\"\r\n\"0\",12032000\r\n0.002 ,\"12032000\"\r\n";
    assert_eq!(Trace::from_csv(table).expect("a sound table").to_text(), "1\n2\n3\n4\n");
}

#[test]
fn what_is_wrong_has_its_line() {
    let wrong = |table: &str| Trace::from_csv(table).expect_err("a wrong table").to_string();
    assert_eq!(
        wrong("time_s,mbps\n0,1\n"),
        "1: no column `rate_bps`; the first line is for example `time_s,rate_bps`"
    );
    assert_eq!(
        wrong("time_s,rate_bps\n0,1\n1,fast\n"),
        "3: `fast` is no rate_bps; it is a number from 0 on"
    );
    assert_eq!(wrong("time_s,rate_bps\n-1,1\n"), "2: `-1` is no time_s; it is a number from 0 on");
    assert_eq!(wrong("time_s,rate_bps\n1,1\n1,1\n"), "3: 1 comes after 1; times go forward");
    assert_eq!(
        wrong("time_s,rate_bps\n1,1\n"),
        "2: a table has two lines or more below the first one"
    );
    assert_eq!(
        wrong("time_s,rate_bps\n0,0\n1,0\n"),
        "3: this never delivers: no line has a rate above 0"
    );
    assert_eq!(wrong("time_s,rate_bps\n0,1\n5000000,1\n"), "2: a trace lasts at most 4000000 s");
    assert_eq!(
        wrong("time_s,rate_bps\n0,1\n1,1e12\n"),
        "3: a trace has at most 10000000 opportunities"
    );
}
