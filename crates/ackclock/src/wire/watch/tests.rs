use std::fs::File;
use std::os::unix::process::ExitStatusExt;

use super::*;

#[test]
fn what_tcpdump_says_at_its_end() {
    let says = "tcpdump: listening on v0, link-type EN10MB (Ethernet), snapshot length 256 \
        bytes\n\
        tcpdump: pcap_loop: The interface disappeared\n\
        3 packets captured\n10 packets received by filter\n7 packets dropped by kernel\n";
    assert_eq!((dropped(says), dropped("1 packet dropped by kernel\n"), dropped("")), (7, 1, 0));
    let why = |says| why(says, Some(ExitStatus::from_raw(9)), Ok(())).to_string();
    assert_eq!(why(says), "tcpdump: pcap_loop: The interface disappeared");
    let killed = says.lines().next().unwrap();
    assert_eq!(why(killed), "tcpdump: it has ended: signal: 9 (SIGKILL)");
    let wrong = super::why(killed, None, Err(io::Error::other("byte 24: damaged"))).to_string();
    assert_eq!(wrong, "tcpdump: what it writes cannot be read: byte 24: damaged");
}

#[test]
fn metrics_are_the_totals_of_what_has_ended() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernel.pcap.gz");
    let mut reader = Reader::new(Box::new(File::open(path).unwrap())).unwrap();
    let mut monitor = Monitor::new("eth0");
    while let Some(frame) = reader.next().unwrap() {
        monitor.frame(&frame);
    }
    let open = text(&monitor);
    assert!(open.contains("\nackclock_explain_open 29\n"), "{open}");
    assert!(open.contains("\nackclock_explain_ended_total 0\n"), "{open}");
    monitor.finish();
    let ended = text(&monitor);
    for sample in [
        "open 0",
        "ended_total 30",
        "bad_total 5",
        "bytes_total 453000",
        "segments_total 507",
        "retransmissions_total{kind=\"fast_retransmit\"} 12",
        "timeouts_total{class=\"lost_retransmission\"} 3",
        "limited_seconds_total{limit=\"receive_window\"} 0",
        "packets_total 929",
        "tcp_packets_total 929",
        "left_out_packets_total{reason=\"fragment\"} 0",
    ] {
        assert!(ended.contains(&format!("\nackclock_explain_{sample}\n")), "{sample}: {ended}");
    }
}
