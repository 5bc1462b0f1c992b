use super::super::super::trace::What;
use super::*;
use ackclock_tcp::wire::Options;
use ackclock_tcp::{SackBlock, Timestamps};

const MSS: u32 = 1000;

fn ends() -> [SocketAddr; 2] {
    [([10, 1, 1, 1], 5001).into(), ([10, 1, 2, 1], 4000).into()]
}

/// Packets in order, a millisecond apart, and what the gateway and the trace say of them.
#[derive(Default)]
struct Story {
    packets: Vec<Packet>,
    lost: Vec<usize>,
    /// Whether what is lost is lost before the middle.
    near_sender: bool,
    /// Packets in the middle and at the receiver, by number, in the order of their frames there.
    away: [Vec<usize>; 2],
    trace: Vec<Line>,
}

impl Story {
    fn begun() -> Story {
        let mut story = Story::default();
        story.packet(0, 0, 0, Control::SYN);
        story.packet(1, 0, 0, Control::SYN.with(Control::ACK));
        for packet in &mut story.packets {
            packet.options.mss = Some(MSS as u16);
        }
        story
    }

    fn packet(&mut self, from: usize, number: u32, len: u32, control: Control) -> &mut Packet {
        let n = self.packets.len() as u64 + 1;
        let seq = if control.contains(Control::SYN) { Seq(7) } else { Seq(8 + number * MSS) };
        let timestamps =
            (!control.contains(Control::SYN)).then_some(Timestamps { val: n as u32, ecr: 0 });
        let options = Options { timestamps, ..Options::default() };
        let (frame, at, ip_id) = (n, Time(n * 1_000_000), Some(n as u16));
        let [from, to] = [ends()[from], ends()[1 - from]];
        self.packets.push(Packet {
            frame,
            at,
            from,
            to,
            seq,
            ack: Seq(8),
            control,
            len,
            options,
            ip_id,
        });
        self.packets.last_mut().expect("just pushed")
    }

    /// Segment `number` goes out; lost or not.
    fn send(&mut self, number: u32, lost: bool) -> &mut Story {
        self.packet(0, number, MSS, Control::ACK);
        self.lost.extend(lost.then_some(self.packets.len() - 1));
        self
    }

    /// All below segment `number` is acknowledged; `block` are segments of the first SACK block.
    fn ack(&mut self, number: u32, block: Option<[u32; 2]>, ecr: u32) -> &mut Story {
        let packet = self.packet(1, 0, 0, Control::ACK);
        packet.ack = Seq(8 + number * MSS);
        packet.options.timestamps = Some(Timestamps { val: 0, ecr });
        if let Some([left, right]) = block.map(|block| block.map(|n| Seq(8 + n * MSS))) {
            packet.options.sack.push(SackBlock { left, right });
        }
        self
    }

    /// The trace says this of the last packet.
    fn traced(&mut self, what: What) -> &mut Story {
        let at =
            self.packets.last().map_or(Time::ZERO, |packet| packet.at + ackclock_tcp::Span(3000));
        self.trace.push(Line { at, ends: ends().map(|end| end.to_string()), what });
        self
    }

    /// The packets there, half a round trip later.
    fn there(&self, away: &[usize]) -> Vec<Packet> {
        let all = (1..).zip(away).map(|(frame, &i)| {
            let p = &self.packets[i];
            let at = p.at + ackclock_tcp::Span(20_000_000);
            Packet { frame, at, ..*p }
        });
        all.collect()
    }

    fn connection(&self) -> Connection {
        let (truth, missing) = self.told();
        assert_eq!(missing, Vec::<String>::new());
        truth
    }

    /// With what is missing.
    fn told(&self) -> (Connection, Vec<String>) {
        let header = |p: &Packet| {
            // As on the wire: version and length, identification, protocol, addresses, ports,
            // sequence number, offset, flags.
            let mut bytes = vec![0; 40 + p.len as usize];
            (bytes[0], bytes[9], bytes[32], bytes[33]) = (0x45, 6, 0x50, p.control.0);
            bytes[2..4].copy_from_slice(&(40 + p.len as u16).to_be_bytes());
            bytes[4..6].copy_from_slice(&p.ip_id.unwrap_or(0).to_be_bytes());
            for (at, end) in [(12, p.from), (16, p.to)] {
                let IpAddr::V4(address) = end.ip() else { panic!("IPv4") };
                bytes[at..at + 4].copy_from_slice(&address.octets());
            }
            bytes[20..22].copy_from_slice(&p.from.port().to_be_bytes());
            bytes[22..24].copy_from_slice(&p.to.port().to_be_bytes());
            bytes[24..28].copy_from_slice(&p.seq.0.to_be_bytes());
            bytes
        };
        let drop = |&i: &usize| {
            let p = &self.packets[i];
            Drop {
                at: p.at,
                from_sender: true,
                near_sender: self.near_sender,
                why: "bernoulli",
                packet: header(p),
            }
        };
        let drops: Vec<Drop> = self.lost.iter().map(drop).collect();
        let mut missing = Vec::new();
        let away = self.away.each_ref().map(|away| self.there(away));
        let (sender, trace) = (ends()[0].ip(), Some(&self.trace[..]));
        let mut all = connections(&self.packets, &away, sender, &drops, trace, &mut missing);
        assert_eq!(all.len(), 1);
        (all.remove(0), missing)
    }
}

fn queue() -> What {
    What::Retransmit(Caller::Queue)
}

/// Packets 2 to 6 are segments 0, 1, 0, 1, 0, of a host that does not number packets: those of 0
/// differ in nothing but their order.
fn repaired(near_sender: bool) -> Story {
    let mut story = Story { near_sender, ..Story::begun() };
    story.send(0, true).send(1, false).send(0, true).send(1, false).send(0, false);
    for packet in &mut story.packets {
        (packet.ip_id, packet.options.timestamps) = (Some(0), None);
    }
    story
}

#[test]
fn transmissions_away_from_the_sender_are_those_that_came_there() {
    // Lost before the middle: what comes there as segment 0 is its third transmission.
    let mut story = repaired(true);
    story.away = [vec![0, 3, 5, 6], vec![0, 3, 5, 6]];
    let away = |story: &Story| -> Vec<_> {
        story.connection().retransmissions.iter().map(|r| (r.frame, r.away)).collect()
    };
    let at = |middle, receiver| [Some(middle), Some(receiver)];
    assert_eq!(away(&story), [(5, [None, None]), (6, at(3, 3)), (7, at(4, 4))]);
    // Behind it: all three pass there. A duplicate that the network makes has no transmission of
    // its own.
    let mut story = repaired(false);
    story.away = [vec![0, 2, 3, 4, 5, 5, 6], vec![0, 3, 5, 6]];
    assert_eq!(away(&story), [(5, [Some(4), None]), (6, at(5, 3)), (7, at(7, 4))]);
}

/// tcpdump may not have kept up.
#[test]
fn what_a_capture_away_from_the_sender_does_not_have_is_said() {
    let mut story = repaired(false);
    story.away = [vec![0, 2, 3, 4, 5, 6], vec![0, 3, 5]];
    let (truth, missing) = story.told();
    assert_eq!(truth.retransmissions[2].away, [Some(6), None]);
    assert_eq!(missing, ["1 segments are not in the capture of the receiver"]);
}

#[test]
fn what_was_lost_and_what_was_spurious() {
    let mut story = Story::begun();
    // 0 is lost, 1 and 2 come through; 0 goes again and is lost again, 1 goes again spuriously, 0
    // once more.
    story.send(0, true).send(1, false).send(2, false).send(0, true).traced(queue());
    story.send(1, false).traced(queue()).send(0, false).traced(queue());
    story.ack(0, Some([1, 2]), 0).ack(3, None, 8);
    let truth = story.connection();
    assert_eq!((truth.mss, truth.segments), (MSS, 7));
    let again: Vec<_> = truth
        .retransmissions
        .iter()
        .map(|r| (r.frame, r.seq, r.len, r.spurious, r.lost, r.reported))
        .collect();
    // The first SACK block is above the ACK: no D-SACK. The echo of 8 is of the last transmission
    // of 0, and older than none.
    assert_eq!(
        again,
        [
            (6, 8, 1000, false, true, false),
            (7, 1008, 1000, true, false, false),
            (8, 8, 1000, false, false, false)
        ]
    );
}

#[test]
fn a_dsack_or_an_older_echo_reports() {
    for (dsack, ecr, reported) in [(false, 4, false), (false, 3, true), (true, 4, true)] {
        let mut story = Story::begun();
        story.send(0, false).send(0, false).traced(queue());
        story.ack(1, dsack.then_some([0, 1]), ecr);
        let of = story.connection();
        assert_eq!(
            of.retransmissions.iter().map(|r| (r.spurious, r.reported)).collect::<Vec<_>>(),
            [(true, reported)]
        );
    }
}

/// A segment is overtaken by one whose time stamp the receiver echoes before it comes: PAWS
/// discards it, if it is older by more than a tick (RFC 7323 section 5.3). The next one is needed,
/// unless that has come before.
#[test]
fn what_is_discarded_as_too_old_has_not_come_through() {
    let (before, behind) = (vec![0, 3, 2, 4], vec![0, 4, 3, 2]);
    for (ecr, there, spurious) in [(4, &before, true), (5, &before, false), (5, &behind, true)] {
        let mut story = Story::begun();
        story.send(0, false).ack(0, None, ecr).send(0, false).traced(queue());
        story.away = [vec![0, 2, 4], there.clone()];
        let of = story.connection();
        let all: Vec<_> = of.retransmissions.iter().map(|r| (r.spurious, r.lost)).collect();
        assert_eq!(all, [(spurious, false)]);
    }
}

#[test]
fn kinds_and_classes() {
    let timer = || What::Retransmit(Caller::Timer);
    let mut story = Story::begun();
    story.send(0, true).send(1, true).send(2, true).send(3, false).send(4, true);
    story.ack(0, Some([3, 4]), 0).traced(What::State(1));
    story.traced(What::State(3)).send(0, false).traced(queue()).send(1, true).traced(queue());
    story.ack(1, None, 0);
    story.traced(What::State(4)).send(1, true).traced(timer());
    story.send(1, false).traced(timer());
    story.ack(2, None, 0).send(2, false).traced(queue());
    story
        .ack(4, None, 0)
        .traced(What::State(0))
        .send(4, false)
        .traced(What::Retransmit(Caller::LossProbe));
    let truth = story.connection();
    let kinds: Vec<_> = truth.retransmissions.iter().filter_map(|r| r.kind.as_deref()).collect();
    let expected = "fast_retransmit recovery timeout backed_off_timeout slow_start tail_loss_probe";
    assert_eq!(kinds.join(" "), expected);
    let timeouts: Vec<_> =
        truth.timeouts.iter().map(|t| (t.seq, t.class.as_str(), t.state.as_str())).collect();
    assert_eq!(timeouts, [(1008, "lost_retransmission", "recovery"), (1008, "backed_off", "loss")]);
}

/// Before the timeout nothing, or another segment, had been retransmitted.
#[test]
fn classes_without_a_retransmission_of_the_same_segment() {
    for (another, class) in [(false, "non_trigger"), (true, "multiple_losses")] {
        let mut story = Story::begun();
        story.send(0, another).send(1, true).send(2, true);
        if another {
            story.traced(What::State(3)).send(0, false).traced(queue());
        }
        story.ack(1, None, 0);
        story.traced(What::State(4)).send(1, false).traced(What::Retransmit(Caller::Timer));
        assert_eq!(
            story.connection().timeouts.iter().map(|t| t.class.as_str()).collect::<Vec<_>>(),
            [class]
        );
    }
}

/// The timer of a SYN/ACK that has already answered a SYN that came again.
#[test]
fn a_timeout_of_the_handshake_is_of_the_handshake() {
    let mut story = Story::begun();
    let syn_ack = Control::SYN.with(Control::ACK);
    for (control, by) in [(syn_ack, Caller::Syn), (syn_ack, Caller::Timer)] {
        story.packet(0, 0, 0, control).options.mss = Some(MSS as u16);
        story.traced(What::Retransmit(by));
    }
    let truth = story.connection();
    let kinds: Vec<_> = truth.retransmissions.iter().filter_map(|r| r.kind.as_deref()).collect();
    assert_eq!(kinds, ["unknown", "timeout"]);
    assert_eq!(
        truth.timeouts.iter().map(|t| (t.seq, t.class.as_str())).collect::<Vec<_>>(),
        [(7, "handshake")]
    );
}
