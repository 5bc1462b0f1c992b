//! ECN (RFC 3168) on the wire of two hosts: who asks, what a mark does, and what carries it.

use std::cell::RefCell;
use std::rc::Rc;

use ackclock_stack::{EcnUse, TcpConfig};
use ackclock_tcp::Codepoint;
use ackclock_tcp::wire::ip::codepoint;
use ackclock_tcp::wire::{Control, Packet};

use crate::rig::{App, Fate, World, v4, v6};

/// A packet: who sent it, control bits, ECN field, bytes of payload.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen(usize, Control, Codepoint, usize);

fn seen(host: usize, packet: &[u8]) -> Seen {
    let ip_len = if packet[0] >> 4 == 4 { 20 } else { 40 };
    let tcp = Packet::parse(&packet[ip_len..]).unwrap();
    Seen(host, tcp.control(), codepoint(packet), tcp.payload().len())
}

fn config(ecn: EcnUse) -> TcpConfig {
    TcpConfig { ecn, ..TcpConfig::default() }
}

/// What the wire carries of 200,000 bytes from host 0. `fate` sees each packet with its number.
fn transfer(
    offload: bool,
    v6_too: bool,
    ends: [EcnUse; 2],
    mut fate: impl FnMut(usize, Seen) -> Fate + 'static,
) -> Vec<Seen> {
    let mut world = World::new(offload);
    let all = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&all);
    world.fate = Box::new(move |host, packet| {
        let seen = seen(host, packet);
        log.borrow_mut().push(seen);
        fate(log.borrow().len() - 1, seen)
    });
    let ip = if v6_too { v6(1) } else { v4(1) };
    world.listen(ip, config(ends[1]), 4, |_| App::new(0, 2, 1));
    world.connect(ip, config(ends[0]), App::new(200_000, 1, 2));
    world.run();
    all.take()
}

const SETUP: Control = Control::SYN.with(Control::ECE).with(Control::CWR);
const SYN_ACK: Control = Control::SYN.with(Control::ACK);

/// RFC 3168 section 6.1.1. Neither SYN, SYN/ACK nor plain ACKs are ECT; all new data is.
#[test]
fn it_is_negotiated_if_one_asks_and_the_other_accepts() {
    use EcnUse::{Accept, Ask, Off};
    for (ends, syn, syn_ack, ect) in [
        ([Ask, Accept], SETUP, SYN_ACK.with(Control::ECE), Codepoint::Ect0),
        ([Ask, Ask], SETUP, SYN_ACK.with(Control::ECE), Codepoint::Ect0),
        ([Ask, Off], SETUP, SYN_ACK, Codepoint::NotEct),
        ([Accept, Ask], Control::SYN, SYN_ACK, Codepoint::NotEct),
        ([Off, Ask], Control::SYN, SYN_ACK, Codepoint::NotEct),
    ] {
        for (offload, v6_too) in [(false, false), (false, true), (true, false), (true, true)] {
            let all = transfer(offload, v6_too, ends, |_, _| Fate::Deliver);
            assert_eq!(all[0], Seen(0, syn, Codepoint::NotEct, 0));
            assert_eq!(all[1], Seen(1, syn_ack, Codepoint::NotEct, 0));
            for packet in &all {
                let expected = if packet.3 > 0 { ect } else { Codepoint::NotEct };
                assert_eq!(packet.2, expected, "{ends:?} {packet:?}");
            }
        }
    }
    assert_eq!(TcpConfig::default().ecn, Accept);
}

/// RFC 3168 section 6.1.1.1.
#[test]
fn a_syn_without_answer_goes_again_without_it() {
    let ends = [EcnUse::Ask, EcnUse::Accept];
    let lose_first = |number, _| if number == 0 { Fate::Drop } else { Fate::Deliver };
    let all = transfer(false, false, ends, lose_first);
    let controls: Vec<_> = all[..3].iter().map(|packet| packet.1).collect();
    assert_eq!(controls, [SETUP, Control::SYN, SYN_ACK]);
    assert!(all.iter().all(|packet| packet.2 == Codepoint::NotEct));
}

/// RFC 3168 sections 6.1.2 and 6.1.3: the receiver echoes one mark until it sees CWR, which stands
/// on one segment, also if the device cuts segments from larger packets.
#[test]
fn a_mark_is_echoed_until_one_cwr() {
    for (offload, v6_too) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut data = 0;
        let all = transfer(offload, v6_too, [EcnUse::Ask, EcnUse::Accept], move |_, packet| {
            data += usize::from(packet.3 > 0);
            if packet.3 > 0 && data == 12 { Fate::Mark } else { Fate::Deliver }
        });
        let cwr: Vec<usize> = (1..all.len())
            .filter(|&at| all[at].0 == 0 && all[at].1.contains(Control::CWR))
            .collect();
        let [cwr] = cwr[..] else { panic!("one CWR: {cwr:?}") };
        assert!(all[cwr].3 > 0 && all[cwr].2 == Codepoint::Ect0);
        let echoes: Vec<usize> = (2..all.len())
            .filter(|&at| all[at].0 == 1 && all[at].1.contains(Control::ECE))
            .collect();
        assert!(echoes[0] < cwr);
        // From the first echo to the last every ACK has it, and none after.
        let acks: Vec<bool> = all[echoes[0]..]
            .iter()
            .filter(|packet| packet.0 == 1)
            .map(|packet| packet.1.contains(Control::ECE))
            .collect();
        assert_eq!(acks.iter().filter(|echo| **echo).count(), echoes.len());
        assert!(acks[..echoes.len()].iter().all(|echo| *echo));
        assert!(acks.len() > echoes.len());
        // Nothing was lost: each byte went once.
        assert_eq!(all.iter().map(|packet| packet.3).sum::<usize>(), 200_000);
    }
}
