//! Filters of tcpdump, and programs that go astray.

use proptest::prelude::*;

use super::*;

fn parse(lines: &[&str]) -> Result<Program, (usize, String)> {
    Program::parse(&format!("{}\n{}\n", lines.len(), lines.join("\n")))
}

/// What a program returns for this frame, of which 100 bytes were on the wire.
fn run(lines: &[&str], data: &[u8]) -> Option<u32> {
    let program = parse(lines).expect("a program");
    Machine { data, wire_len: 100, a: 0, x: 0, memory: [0; WORDS] }.run(&program.code)
}

#[test]
fn every_instruction_does_what_it_should() {
    let data = [0x45, 0x02, 0x03, 0x04, 0xff];
    let with = |first: &[&str]| {
        let lines = [first, &["22 0 0 0"]].concat();
        run(&lines, &data)
    };
    let rows: [(&[&str], Option<u32>); 42] = [
        (&["32 0 0 1"], Some(0x0203_04ff)),
        (&["32 0 0 2"], None),
        (&["40 0 0 0"], Some(0x4502)),
        (&["48 0 0 4"], Some(0xff)),
        (&["48 0 0 5"], None),
        (&["48 0 0 4294967295"], None),
        (&["1 0 0 2", "64 0 0 4294967295"], None),
        (&["1 0 0 1", "64 0 0 0"], Some(0x0203_04ff)),
        (&["1 0 0 2", "72 0 0 1"], Some(0x04ff)),
        (&["1 0 0 2", "80 0 0 1"], Some(4)),
        (&["177 0 0 0", "135 0 0 0"], Some(20)),
        (&["177 0 0 5", "135 0 0 0"], None),
        (&["0 0 0 7"], Some(7)),
        (&["128 0 0 0"], Some(100)),
        (&["129 0 0 0", "135 0 0 0"], Some(100)),
        (&["0 0 0 7", "2 0 0 15", "0 0 0 1", "96 0 0 15"], Some(7)),
        (&["1 0 0 7", "3 0 0 0", "97 0 0 0", "135 0 0 0"], Some(7)),
        (&["0 0 0 9", "7 0 0 0", "0 0 0 1", "135 0 0 0"], Some(9)),
        (&["0 0 0 9", "4 0 0 4294967295"], Some(8)),
        (&["0 0 0 9", "1 0 0 2", "12 0 0 0"], Some(11)),
        (&["0 0 0 9", "20 0 0 10"], Some(u32::MAX)),
        (&["0 0 0 9", "1 0 0 2", "28 0 0 0"], Some(7)),
        (&["0 0 0 9", "36 0 0 4"], Some(36)),
        (&["0 0 0 9", "52 0 0 4"], Some(2)),
        (&["0 0 0 9", "1 0 0 0", "60 0 0 4"], None),
        (&["0 0 0 9", "148 0 0 4"], Some(1)),
        (&["0 0 0 9", "1 0 0 0", "156 0 0 4"], None),
        (&["0 0 0 9", "68 0 0 6"], Some(15)),
        (&["0 0 0 9", "84 0 0 12"], Some(8)),
        (&["0 0 0 9", "164 0 0 12"], Some(5)),
        (&["0 0 0 9", "100 0 0 2"], Some(36)),
        (&["0 0 0 9", "100 0 0 32"], Some(0)),
        (&["0 0 0 9", "116 0 0 2"], Some(2)),
        (&["0 0 0 9", "1 0 0 40", "124 0 0 0"], Some(0)),
        (&["0 0 0 9", "132 0 0 0"], Some(9_u32.wrapping_neg())),
        (&["5 0 0 1", "6 0 0 1", "0 0 0 2"], Some(2)),
        (&["0 0 0 9", "21 1 0 9", "6 0 0 1"], Some(9)),
        (&["0 0 0 9", "37 1 0 9", "6 0 0 1"], Some(1)),
        (&["0 0 0 9", "53 1 0 9", "6 0 0 1"], Some(9)),
        (&["0 0 0 9", "69 1 0 6", "6 0 0 1"], Some(1)),
        (&["0 0 0 9", "1 0 0 8", "45 0 1 0", "6 0 0 1"], Some(1)),
        (&["0 0 0 9", "1 0 0 8", "77 0 1 0", "6 0 0 1"], Some(1)),
    ];
    for (lines, returns) in rows {
        assert_eq!(with(lines), returns, "{lines:?}");
    }
}

/// What tcpdump 4.99 makes of `tcp port 80` on Ethernet.
const TCP_PORT_80: &str = "20\n40 0 0 12\n21 0 6 34525\n48 0 0 20\n21 0 15 6\n40 0 0 54\n21 12 0 \
    80\n40 0 0 56\n21 10 11 80\n\
    21 0 10 2048\n48 0 0 23\n21 0 8 6\n40 0 0 20\n69 6 0 8191\n177 0 0 14\n72 0 0 14\n21 2 0 \
    80\n72 0 0 16\n21 0 1 80\n\
    6 0 0 65535\n6 0 0 0\n";

#[test]
fn a_filter_of_tcpdump_passes_what_it_should() {
    let program = Program::parse(TCP_PORT_80).expect("a program");
    let frame = |ethertype: u16, ip: &[u8], ports: [u16; 2]| {
        let mut frame = vec![0; 12];
        frame.extend(ethertype.to_be_bytes());
        frame.extend(ip);
        frame.extend(ports[0].to_be_bytes());
        frame.extend(ports[1].to_be_bytes());
        frame
    };
    // Six words, with one of options; then 40 bytes.
    let v4 = |offset: u8, protocol: u8| {
        [&[0x46, 0, 0, 64, 0, 0, 0, offset, 64, protocol], &[9; 14][..]].concat()
    };
    let v6 = [&[0x60, 0, 0, 0, 0, 20, 6, 64], &[9; 32][..]].concat();
    let passes = |frame: &[u8]| program.matches(frame, 100);
    assert!(passes(&frame(0x0800, &v4(0, 6), [80, 1])));
    assert!(passes(&frame(0x0800, &v4(0, 6), [1, 80])));
    assert!(!passes(&frame(0x0800, &v4(0, 6), [1, 81])));
    assert!(!passes(&frame(0x0800, &v4(0, 17), [80, 80])));
    assert!(!passes(&frame(0x0800, &v4(1, 6), [80, 80])));
    assert!(passes(&frame(0x86dd, &v6, [1, 80])));
    assert!(!passes(&frame(0x86dd, &v6, [1, 2])));
    assert!(!passes(&frame(0x0806, &v6, [80, 80])));
    // Cut before the port that matters.
    let whole = frame(0x0800, &v4(0, 6), [1, 80]);
    assert!(!passes(&whole[..whole.len() - 1]));
}

#[test]
fn programs_that_could_go_astray_are_refused() {
    let refused = |lines: &[&str]| parse(lines).expect_err("refused").0;
    assert_eq!(refused(&["0 0 0 1"]), 2); // does not return
    assert_eq!(refused(&["21 0 1 5", "6 0 0 1"]), 2); // jumps past the end
    assert_eq!(refused(&["6 0 0 1", "5 0 0 4294967295", "6 0 0 1"]), 3);
    assert_eq!(refused(&["96 0 0 16", "6 0 0 1"]), 2); // no such word
    assert_eq!(refused(&["52 0 0 0", "6 0 0 1"]), 2); // divides by zero
    assert_eq!(refused(&["255 0 0 0", "6 0 0 1"]), 2);
    assert_eq!(refused(&["6 0 0", "6 0 0 1"]), 2);
    assert_eq!(refused(&["6 0 0 1 1", "6 0 0 1"]), 2);
    assert_eq!(refused(&[]), 1);
    assert_eq!(Program::parse("2\n6 0 0 1\n").expect_err("refused").0, 2);
    assert_eq!(Program::parse("").expect_err("refused").0, 1);
}

proptest! {
    #[test]
    fn any_program_ends(
        code in proptest::collection::vec((any::<u8>(), 0..4_u8, 0..4_u8, 0..20_u32), 1..40),
        data in proptest::collection::vec(any::<u8>(), 0..30),
    ) {
        let known: Vec<String> = code
            .iter()
            .map(|(code, yes, no, k)| format!("{code} {yes} {no} {k}"))
            .enumerate()
            .filter(|(at, line)| Op::parse(line, code.len().saturating_sub(at + 1)).is_some())
            .map(|(_, line)| line)
            .chain(["6 0 0 1".into()])
            .collect();
        let lines: Vec<&str> = known.iter().map(String::as_str).collect();
        if let Ok(program) = parse(&lines) {
            program.matches(&data, 100);
        }
    }
}
