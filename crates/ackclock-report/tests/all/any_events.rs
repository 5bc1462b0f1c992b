//! Whatever the events are, in whatever order: every output is well-formed and nothing panics.

use ackclock_report::{
    CaptureFormat, CaptureWriter, EventWriter, Panel, Picture, RecoveryStats, RecoveryTracker,
    recovery_measures, recovery_table,
};
use ackclock_tcp::wire::Repr;
use ackclock_tcp::{
    Cause, Codepoint, Ecn, Event, EventKind, Flags, SackBlock, SackBlocks, Segment, Sending, Seq,
    Sighting, Time, TimeoutClass, Timestamps,
};
use proptest::prelude::*;
use proptest::sample::select;

/// Numbers near 0, of the size that runs have, near the greatest, and any.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..3_u64, 0..100_000_u64, (0..3_u64).prop_map(|n| u64::MAX - n), any::<u64>()]
}

fn kind() -> impl Strategy<Value = EventKind> {
    let text = select(vec!["queue", "", "<&\"'>\\"]);
    let class = select(vec![
        TimeoutClass::NonTrigger,
        TimeoutClass::MultipleLosses,
        TimeoutClass::LostRetransmission,
    ]);
    let numbers = (number(), number(), number(), number());
    let small = (any::<u32>(), any::<u32>(), any::<u8>(), any::<bool>());
    (0..13, numbers, small, select(Cause::ALL.to_vec()), class, text).prop_map(
        |(which, (a, b, c, d), (len, n, sacks, flag), cause, class, text)| match which {
            0 => EventKind::Sent { seq: a, len, cause, transmission: n, detected_by: None },
            1 => EventKind::Acked {
                ack: a,
                dupacks: n,
                newly_acked: b,
                newly_sacked: c,
                window_edge: d,
                sack: [(a, b), (c, d), (b, a), (d, d)],
                sacks,
                dsack: flag,
            },
            2 => EventKind::Lost { seq: a, len, transmission: n, by: text },
            3 => EventKind::RecoveryEntered { recover: a, flight: b, pipe: c, by: text },
            4 => EventKind::RecoveryLeft { by_timeout: flag, cwnd_before: a },
            5 => {
                EventKind::TimedOut { seq: a, class, backoff: n, flight: b, cwnd_before: c, rto: d }
            }
            6 => EventKind::Undone { by: text },
            11 => EventKind::Reduced { cwnd_before: a },
            7 => EventKind::Arrived { seq: a, len, spurious: flag },
            8 => EventKind::Dropped { seq: a, len, transmission: n, link: n, why: text },
            9 => EventKind::Written { seq: a, len: b },
            10 => EventKind::MssChanged { mss: n, lost: a },
            _ => EventKind::AckDropped { ack: a, link: n, why: text },
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let state = (number(), number(), number(), number(), number());
    (state, kind()).prop_map(|((at, cwnd, ssthresh, snd_una, snd_nxt), kind)| Event {
        at: Time(at),
        cwnd,
        ssthresh,
        snd_una,
        snd_nxt,
        kind,
    })
}

fn segment() -> impl Strategy<Value = Segment> {
    let blocks = prop::collection::vec((any::<u32>(), any::<u32>()), 0..5);
    let timestamps = prop::option::of((any::<u32>(), any::<u32>()));
    let len = prop_oneof![0..3_u32, 0..200_000_u32];
    let ecn = (any::<u8>(), any::<bool>(), any::<bool>())
        .prop_map(|(tos, ece, cwr)| Ecn::new(Codepoint::from_tos(tos), ece, cwr));
    (any::<u32>(), any::<u32>(), len, any::<u16>(), any::<bool>(), timestamps, blocks, ecn)
        .prop_map(|(seq, ack, len, wnd, fin, timestamps, blocks, ecn)| {
            let mut sack = SackBlocks::NONE;
            for (left, right) in blocks {
                sack.push(SackBlock { left: Seq(left), right: Seq(right) });
            }
            let timestamps = timestamps.map(|(val, ecr)| Timestamps { val, ecr });
            Segment {
                seq: Seq(seq),
                ack: Seq(ack),
                len,
                wnd,
                flags: Flags::new(false, fin),
                timestamps,
                sack,
                ecn,
            }
        })
}

proptest! {
    #[test]
    fn lines_and_pictures(events in prop::collection::vec(event(), 0..40), mss in prop_oneof![0..3_u32, any::<u32>()]) {
        let mut lines = EventWriter::new(Vec::new());
        for event in &events {
            lines.record(1, "y", "x", event).unwrap();
        }
        let lines = String::from_utf8(lines.finish().unwrap()).unwrap();
        prop_assert_eq!(lines.lines().count(), events.len());
        for (line, event) in lines.lines().zip(&events) {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            prop_assert_eq!(&value["cwnd"], &serde_json::json!(event.cwnd));
        }

        let panels = [Panel { name: "x", mss, events: &events, ..Panel::default() }; 3];
        let picture = Picture { title: "x", panels: &panels, ..Picture::default() };
        let svg = picture.to_svg();
        prop_assert!(roxmltree::Document::parse(&svg).is_ok());
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let html = picture.to_html();
        let (_, data) = html.split_once("id=\"data\">").unwrap();
        let data: serde_json::Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
        let sent = events.iter().filter(|e| matches!(e.kind, EventKind::Sent { .. })).count();
        prop_assert_eq!(data["panels"][2]["segments"]["t"].as_array().unwrap().len(), sent);
        for edge in ["t0", "t1", "y0", "y1", "w1"] {
            prop_assert!(data["view"][edge].is_f64(), "{} is {}", edge, data["view"][edge]);
        }
    }

    /// The statistics of recovery do not depend on how the events of flows are mixed, nor on the
    /// order of sums.
    #[test]
    fn recoveries(events in prop::collection::vec((0..3_usize, event()), 0..80), mss in prop_oneof![0..3_u32, any::<u32>()]) {
        let mut mixed = RecoveryStats::default();
        let mut trackers = [(); 3].map(|()| RecoveryTracker::new(mss));
        for (flow, event) in &events {
            trackers[*flow].event(event, &mut mixed);
        }
        trackers.into_iter().for_each(|t| t.finish(Time(100_000), &mut mixed));

        let [a, b, c] = [0, 1, 2].map(|flow| {
            let (mut tracker, mut stats) = (RecoveryTracker::new(mss), RecoveryStats::default());
            events.iter().filter(|e| e.0 == flow).for_each(|e| tracker.event(&e.1, &mut stats));
            tracker.finish(Time(100_000), &mut stats);
            stats
        });
        let sum = |one: &RecoveryStats, other: &RecoveryStats| {
            let mut sum = one.clone();
            sum.add(other);
            sum
        };
        prop_assert_eq!(&mixed, &sum(&sum(&a, &b), &c));
        prop_assert_eq!(&mixed, &sum(&a, &sum(&c, &b)));

        let table = recovery_table(&[("mixed", &mixed), ("a", &a)]);
        prop_assert!(!table.contains("NaN") && !table.contains("inf"), "{}", table);
        let json = serde_json::to_string(&mixed).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        prop_assert!(recovery_measures().all(|m| json.get(m.name).is_some()));
    }

    /// A packet whose options fit is written and tells its length; one whose options do not fit is
    /// refused.
    #[test]
    fn captures(packets in prop::collection::vec((any::<u32>(), number(), segment(), any::<bool>()), 0..20)) {
        let mut capture = CaptureWriter::new(Vec::new(), CaptureFormat::PcapNg, "sender").unwrap();
        for (flow, at, segment, sent) in &packets {
            let packet = Sighting {
                at: Time(*at),
                to_receiver: *sent,
                header: Repr::from_segment(segment),
                len: segment.len,
                sent: sent.then_some(Sending { cause: Cause::New, transmission: 1 }),
                number: u32::MAX,
                hops: u32::MAX,
            };
            prop_assert_eq!(capture.packet(*flow, &packet).is_ok(), segment.option_len() <= 40);
        }
        let file = capture.finish().unwrap();
        let mut rest = &file[..];
        while let Some((head, _)) = rest.split_at_checked(8) {
            let total = u32::from_le_bytes(head[4..].try_into().unwrap()) as usize;
            prop_assert_eq!(&rest[total - 4..total], &head[4..]);
            rest = &rest[total..];
        }
        prop_assert!(rest.is_empty());
    }
}
