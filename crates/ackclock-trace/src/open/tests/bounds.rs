//! Whatever comes: nothing panics, what is said fits together, and memory is bounded.

use super::*;
use crate::packet::TooBig;
use proptest::prelude::*;

/// In bytes: many connections may be open at the same time, and each has one model or two.
#[test]
fn an_open_connection_is_small() {
    let sizes = [size_of::<crate::open::Open>(), size_of::<crate::sender::SenderModel>()];
    assert!(sizes[0] <= 768 && sizes[1] <= 928, "{sizes:?}");
}

prop_compose! {
    /// A packet of one of a few connections: often one that could be, sometimes anything at all.
    fn any_packet()(
        end in 0..2usize, port in 0..3u16, wild in 0..20u8, control in any::<u8>(), step in 0..40u64, ack_step in 0..40u64,
        len in prop_oneof![Just(0u32), Just(1), Just(100), Just(1460), Just(5000), Just(65_000)],
        later in prop_oneof![Just(0i64), 0..100_000i64, 0..100_000_000i64, -1_000_000..0i64, 0..20_000_000_000i64],
        wnd in prop_oneof![Just(0u16), any::<u16>()], any_seq in any::<u32>(), any_ack in any::<u32>(), stamp in any::<Option<(u32, u32)>>(),
        blocks in prop::collection::vec((0..50u64, 0..50u64), 0..4), mss in any::<Option<u16>>(), wscale in prop::option::of(0..15u8),
    ) -> (P, Vec<(u64, u64)>, i64, Option<(u32, u32)>) {
        let mut p = if end == 0 { c(step * 1460, len) } else { s(step * 1460, len) };
        p = p.ack(ack_step * 1460).wnd(wnd);
        match wild {
            0 => p.control = Control(control),
            1 => p = syn(end),
            2 => p = p.with(Control::FIN),
            _ => {}
        }
        if end == 0 { p.packet.src.set_port(40_000 + port) } else { p.packet.dst.set_port(40_000 + port) }
        if let Some((val, ecr)) = stamp.filter(|_| wild % 2 == 0) {
            p = p.ts(val, ecr);
        }
        if wild == 1 {
            p.packet.options.mss = mss;
            p.packet.options.wscale = wscale;
        }
        let blocks = blocks.into_iter().map(|(left, right)| (left * 1460, right * 1460)).collect();
        (p, blocks, later, (wild == 3).then_some((any_seq, any_ack)))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn any_packets(packets in prop::collection::vec(any_packet(), 1..300), isns in prop::sample::select(&ISNS[..]), max_open in 1..4usize) {
        let mut talk = Talk::new(isns);
        talk.tracker = Tracker::new(Settings { max_open, ..Settings::default() });
        let mut now = START as i64;
        let (many, mut payload) = (packets.len() as u64, 0);
        for (p, blocks, later, numbers) in packets {
            now = now.saturating_add(later);
            let mut q = talk.on_wire(0.0, p, &blocks);
            q.at = Time(now as u64);
            if let Some((seq, ack)) = numbers {
                (q.seq, q.ack) = (Seq(seq), Seq(ack));
            }
            talk.frame += 1;
            q.frame = talk.frame;
            payload += u64::from(q.len);
            if later % 5 == 0 {
                let mtu = (later % 2 == 0).then_some(q.len);
                let Packet { frame, at, src, dst, seq, .. } = q;
                let (router, len) = (src.ip(), q.len + 40);
                talk.tracker.too_big(&TooBig { frame, at, router, mtu, len, src, dst, seq });
            }
            talk.tracker.packet(&q);
        }
        let all = talk.all();
        prop_assert_eq!(all.iter().map(|c| c.packets).sum::<u64>(), many);
        let mut numbers: Vec<u64> = all.iter().map(|c| c.number).collect();
        numbers.sort_unstable();
        prop_assert!(numbers.iter().copied().eq(0..all.len() as u64));
        let flows: Vec<_> = all.iter().flat_map(|c| [&c.from_client, &c.from_server]).collect();
        prop_assert!(flows.iter().map(|flow| flow.bytes).sum::<u64>() <= payload);
        for (flow, end) in flows.iter().zip(all.iter().flat_map(|c| [c.end; 2])) {
            prop_assert!(flow.retransmissions.len() as u64 <= flow.segments);
            prop_assert!(flow.timeouts.iter().all(|t| t.retransmission < flow.retransmissions.len()));
            prop_assert!(flow.retransmissions.is_sorted_by_key(|r| r.frame), "{:?}", flow.retransmissions.iter().map(|r| (r.frame, r.at.0 - START, r.position, r.len, r.kind)).collect::<Vec<_>>());
            prop_assert!(flow.stalls.iter().all(|s| s.start < s.end && s.timeout.is_none_or(|t| t < flow.timeouts.len())));
            prop_assert!(flow.stalls.is_sorted_by(|a, b| a.end <= b.start), "{:?}", flow.stalls);
            prop_assert!(flow.retransmissions.iter().all(|r| r.at <= end) && flow.mss > 0);
        }
    }
}
