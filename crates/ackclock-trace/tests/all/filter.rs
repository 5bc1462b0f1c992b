//! Filters, compiled by tcpdump where there is one; without it, that they say so.

use ackclock_tcp::Time;
use ackclock_trace::{Filter, FilterError, Frame, LinkType};

/// Compiles; `None` if there is no tcpdump.
fn compile(filter: &mut Filter, link: u16) -> Option<Result<(), String>> {
    match filter.compile(LinkType(link)) {
        Err(FilterError::NoTcpdump(error)) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => Some(Err(error.to_string())),
        Ok(()) => Some(Ok(())),
    }
}

fn frame(link: u16, data: &[u8]) -> Frame<'_> {
    Frame { number: 1, at: Time(0), link: LinkType(link), data, wire_len: 1000 }
}

/// IPv4 from 192.0.2.1, port 5001, to 192.0.2.2, port 80, with so many bytes of link layer before
/// it.
fn packet(link: &[u8]) -> Vec<u8> {
    let ip = [0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    [link, &ip, &[0x13, 0x89, 0, 80], &[0; 8], &[0x50, 0x10], &[0; 6]].concat()
}

#[test]
fn one_filter_for_many_link_types() {
    let mut filter = Filter::new("host 192.0.2.1 and (port 80 or net 10.0.0.0/8) and greater 999");
    if compile(&mut filter, 1).is_none() {
        return;
    }
    let ethernet = packet(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]);
    let raw = packet(&[]);
    let cooked = packet(&[0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]);
    let loopback = packet(&[2, 0, 0, 0]);
    for (link, data) in
        [(1, &ethernet), (101, &raw), (113, &cooked), (0, &loopback), (1, &ethernet)]
    {
        assert!(filter.matches(&frame(link, data)).expect("a program"), "{link}");
        let short = Frame { wire_len: 998, ..frame(link, data) };
        assert!(!filter.matches(&short).expect("a program"), "{link}");
    }
    assert!(!filter.clone().matches(&frame(101, &ethernet)).expect("a program"));
}

/// A capture of USB (220) among others: the rest is filtered, and it is counted by its link type.
#[test]
fn link_types_that_nobody_knows_pass() {
    let mut filter = Filter::new("tcp port 80");
    let usb = filter.matches(&frame(220, &[0; 64]));
    if matches!(usb, Err(FilterError::NoTcpdump(_))) {
        return;
    }
    assert!(usb.expect("no error"));
    assert!(filter.refused_for_all().is_some_and(|e| e.to_string().contains("link type 220")));
    assert!(!filter.matches(&frame(1, &[0; 64])).expect("a program"));
    assert!(filter.refused_for_all().is_none());
}

#[test]
fn what_tcpdump_refuses_is_said_in_its_words() {
    let says = |expression: &str, link| compile(&mut Filter::new(expression), link);
    let Some(refused) = says("tcp porrt 80", 1) else { return };
    let refused = refused.expect_err("refused");
    assert!(refused.starts_with("filter `tcp porrt 80` on frames of link type 1: "), "{refused}");
    assert!(refused.contains("syntax error"), "{refused}");
    let refused = says("vlan 5", 101).expect("tcpdump").expect_err("refused");
    assert!(refused.to_lowercase().contains("vlan"), "{refused}");
    // No option of tcpdump's.
    assert!(says("-w /tmp/x", 1).expect("tcpdump").is_err());
    // Everything passes.
    let mut all = Filter::new("");
    all.compile(LinkType(1)).expect("a program");
    assert!(all.matches(&frame(1, &[0; 60])).expect("a program"));
}
