use std::fs::File;
use std::os::unix::process::ExitStatusExt;

use super::*;

#[test]
fn what_tcpdump_says_at_its_end() {
    let says = "tcpdump: listening on v0, link-type EN10MB (Ethernet), snapshot length 256 \
        bytes\n\
        tcpdump: pcap_loop: The interface disappeared\n\
        3 packets captured\n10 packets received by filter\n";
    let why = |says| why(says, Some(ExitStatus::from_raw(9)), Ok(())).to_string();
    assert_eq!(why(says), "tcpdump: pcap_loop: The interface disappeared");
    let killed = says.lines().next().unwrap();
    assert_eq!(why(killed), "tcpdump: it has ended: signal: 9 (SIGKILL)");
    let wrong = super::why(killed, None, Err(io::Error::other("byte 24: damaged"))).to_string();
    assert_eq!(wrong, "tcpdump: what it writes cannot be read: byte 24: damaged");
}

/// At its end, and when it is asked.
#[test]
fn what_tcpdump_has_missed() {
    assert_eq!(missed("7 packets dropped by kernel"), Some(7));
    assert_eq!(missed("1 packet dropped by kernel"), Some(1));
    let asked = "tcpdump: 3 packets captured, 10 packets received by filter, 7 packets dropped by \
        kernel, 2 packets dropped by interface";
    assert_eq!(missed(asked), Some(7));
    assert_eq!(missed("tcpdump: 1 packet dropped by kernel"), Some(1));
    assert_eq!(missed("10 packets received by filter"), None);
    assert_eq!(missed(""), None);
}

#[test]
fn metrics_are_the_totals_of_what_has_ended() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernel.pcap.gz");
    let mut reader = Reader::new(Box::new(File::open(path).unwrap())).unwrap();
    let mut monitor = Monitor::new("eth0");
    while let Some(frame) = reader.next().unwrap() {
        monitor.frame(&frame);
    }
    let open = text(&monitor, 4);
    assert!(open.contains("\nackclock_explain_open 29\n"), "{open}");
    assert!(open.contains("\nackclock_explain_ended_total 0\n"), "{open}");
    monitor.finish();
    let ended = text(&monitor, 4);
    for sample in [
        "open 0",
        "ended_total 30",
        "bad_total 8",
        "bytes_total 453000",
        "segments_total 507",
        "retransmissions_total{kind=\"fast_retransmit\"} 12",
        "timeouts_total{class=\"lost_retransmission\"} 3",
        "limited_seconds_total{limit=\"receive_window\"} 0",
        "packets_total 929",
        "missed_packets_total 4",
        "tcp_packets_total 929",
        "left_out_packets_total{reason=\"fragment\"} 0",
    ] {
        assert!(ended.contains(&format!("\nackclock_explain_{sample}\n")), "{sample}: {ended}");
    }
}
