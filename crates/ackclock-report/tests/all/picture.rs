//! Pictures as HTML and as SVG.

use ackclock_report::{Band, Fate, Findings, FlowSummary, Mark, Panel, Picture, Tone, prose};
use ackclock_tcp::{Cause, Event, EventKind, SackRanges, Stats, Time, TimeoutClass};
use serde_json::{Value, json};

const MSS: u32 = 1000;

fn at(millis: u64, cwnd: u64, kind: EventKind) -> Event {
    Event {
        at: Time(millis * 1_000_000),
        cwnd,
        ssthresh: u64::MAX,
        snd_una: 0,
        snd_nxt: 3000,
        kind,
    }
}

/// 4 ms are 1.7 px of 1.2584 s on 544 px; both lines are there.
#[test]
fn of_names_that_would_lie_on_each_other_the_first_is_there() {
    let drawn = |events: &[Event]| {
        let panels = [Panel { name: "reno", mss: MSS, events, ..Panel::default() }];
        Picture { title: "t", panels: &panels, ..Picture::default() }.to_svg()
    };
    let mut events = lossy();
    let one = drawn(&events);
    events.push(at(1174, 1000, EventKind::Undone { by: "dsack" }));
    let two = drawn(&events);
    let lines = |svg: &str| svg.matches("stroke-dasharray=\"7 3 2 3\"").count();
    assert_eq!(lines(&two), lines(&one) + 1);
    let names =
        ["f_rto", "dsack"].map(|by| two.matches(&format!(">undone by {by}</text>")).count());
    assert_eq!(names, [1, 0]);
}

fn sent(segment: u64, cause: Cause, transmission: u32) -> EventKind {
    EventKind::Sent { seq: segment * 1000, len: MSS, cause, transmission, detected_by: None }
}

fn acked(ack: u64, dupacks: u32, newly_acked: u64, sack: &[(u64, u64)]) -> EventKind {
    let mut ranges: SackRanges = [(0, 0); 4];
    ranges[..sack.len()].copy_from_slice(sack);
    EventKind::Acked {
        ack,
        dupacks,
        newly_acked,
        newly_sacked: 0,
        window_edge: ack + 8000,
        sack: ranges,
        sacks: sack.len() as u8,
        dsack: false,
    }
}

/// Three segments, of which the second is lost twice: a recovery, then a timeout.
fn lossy() -> Vec<Event> {
    let dropped =
        |transmission, why| EventKind::Dropped { seq: 1000, len: MSS, transmission, link: 1, why };
    vec![
        at(0, 3000, sent(0, Cause::New, 1)),
        at(0, 3000, sent(1, Cause::New, 1)),
        at(0, 3000, sent(2, Cause::New, 1)),
        at(1, 3000, dropped(1, "list")),
        at(100, 4000, acked(1000, 0, 1000, &[])),
        at(110, 4000, acked(1000, 1, 0, &[(2000, 3000)])),
        at(110, 4000, EventKind::Lost { seq: 1000, len: MSS, transmission: 1, by: "dupack" }),
        at(
            110,
            2000,
            EventKind::RecoveryEntered { recover: 3000, flight: 2000, pipe: 1000, by: "dupack" },
        ),
        at(110, 2000, sent(1, Cause::FastRetransmit, 2)),
        at(111, 2000, dropped(2, "queue")),
        at(1110, 1000, EventKind::RecoveryLeft { by_timeout: true, cwnd_before: 1000 }),
        at(
            1110,
            1000,
            EventKind::TimedOut {
                seq: 1000,
                class: TimeoutClass::LostRetransmission,
                backoff: 0,
                flight: 2000,
                cwnd_before: 2000,
                rto: 1_000_000_000,
            },
        ),
        at(1110, 1000, sent(1, Cause::Timeout, 3)),
        at(1160, 1000, EventKind::Arrived { seq: 1000, len: MSS, spurious: false }),
        at(1170, 1000, EventKind::Undone { by: "f_rto" }),
        at(1200, 1000, EventKind::Reduced { cwnd_before: 1000 }),
        at(1210, 1000, EventKind::AckDropped { ack: 3000, link: 2, why: "bernoulli" }),
    ]
}

fn summary() -> FlowSummary {
    FlowSummary {
        strategy: "re<no".into(),
        seed: 1,
        flow: 0,
        name: "a".into(),
        bytes_acked: 1000,
        segments_sent: 5,
        retransmissions: 2,
        fast_retransmissions: 1,
        timeouts: 1,
        timeouts_non_trigger: 0,
        timeouts_multiple_losses: 0,
        timeouts_lost_retransmission: 1,
        timeouts_backed_off: 0,
        syn_timeouts: 0,
        recoveries: 1,
        ecn_reductions: 0,
        drops: Some(2),
        spurious_retransmissions: Some(0),
        goodput_bps: Some(6611.6),
        completion_s: None,
        mean_rtt_s: None,
        active: [ackclock_tcp::Time::ZERO; 2],
    }
}

/// What stands in the page's data element.
fn data(html: &str) -> Value {
    let (_, rest) = html.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn page(panels: &[Panel]) -> String {
    Picture { title: "t", panels, ..Picture::default() }.to_html()
}

/// The parsed SVG of the panels, whose coordinates are all numbers.
fn check_svg(panels: &[Panel]) -> String {
    let svg = Picture { title: "t", panels, ..Picture::default() }.to_svg();
    roxmltree::Document::parse(&svg).unwrap();
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    svg
}

/// All classes of timeouts stand below the name, so that they add up.
#[test]
fn the_results_name_each_class_of_timeouts() {
    let summary = FlowSummary {
        timeouts: 10,
        timeouts_non_trigger: 2,
        timeouts_multiple_losses: 3,
        timeouts_lost_retransmission: 4,
        timeouts_backed_off: 1,
        ..summary()
    };
    let panel = Panel { mss: MSS, summary: Some(&summary), ..Panel::default() };
    assert_eq!(
        data(&page(&[panel]))["panels"][0]["results"],
        "unfinished · 6.6 kbit/s · 2 retransmissions · 10 timeouts (2 non-trigger, 3 multiple \
         losses, 4 lost retransmission, 1 backed off)"
    );
}

#[test]
fn the_model_of_a_recovery_and_a_timeout() {
    let events = lossy();
    let summary = summary();
    let data = data(&page(&[Panel {
        name: "reno",
        mss: MSS,
        events: &events,
        summary: Some(&summary),
        ..Panel::default()
    }]));
    assert_eq!(
        data["panels"],
        json!([{
            "name": "reno",
            "mss": 1000,
            "results": "unfinished · 6.6 kbit/s · 2 retransmissions · 1 timeout (1 lost \
             retransmission)",
            "segments": {
                "t": [0.0, 0.0, 0.0, 0.11, 1.11],
                "seq": [0, 1000, 2000, 1000, 1000],
                "len": [1000, 1000, 1000, 1000, 1000],
                "cause": [0, 0, 0, 2, 5],
                "transmission": [1, 1, 1, 2, 3],
                "drop": [null, 0, null, 1, null],
                "cwnd": [3000, 3000, 3000, 2000, 1000],
                "una": [0, 0, 0, 0, 0],
                "nxt": [3000, 3000, 3000, 3000, 3000],
            },
            "drops": { "t": [0.001, 0.111], "link": [1, 1], "why": ["list", "queue"] },
            "acks": {
                "t": [0.1, 0.11],
                "ack": [1000, 1000],
                "dupacks": [0, 1],
                "newly_acked": [1000, 0],
                "newly_sacked": [0, 0],
                "edge": [9000, 9000],
                "sack": [[], [[2000, 3000]]],
            },
            "recoveries": {
                "t0": [0.11],
                "t1": [1.11],
                "by": ["dupack"],
                "recover": [3000],
                "flight": [2000],
                "by_timeout": [true],
            },
            "timeouts": {
                "t": [1.11],
                "seq": [1000],
                "class": ["lost_retransmission"],
                "backoff": [0],
                "flight": [2000],
                "cwnd_before": [2000],
                "rto": [1.0],
            },
            "lost": { "t": [0.11], "seq": [1000], "by": ["dupack"] },
            "undone": { "t": [1.17], "by": ["f_rto"] },
            "reduced": { "t": [1.2], "cwnd_before": [1000] },
            "arrivals": { "t": [1.16], "seq": [1000], "len": [1000], "spurious": [false] },
            "windows": {
                "t": [0.0, 0.1, 0.11, 1.11],
                "cwnd": [3000, 4000, 2000, 1000],
                "ssthresh": [null, null, null, null],
                "flight": [3000, 3000, 3000, 3000],
                "end": 1.21,
            },
            "zero": { "t0": [], "t1": [], "edge": [] },
            "stalls": { "t0": [], "t1": [], "tone": [], "label": [], "why": [] },
            "fates": { "segment": [], "lost": [], "spurious": [] },
            "own": null,
        }])
    );
    // Two percent of 1.21 s and four percent of three segments around; a tenth above the greatest
    // window.
    let view = &data["view"];
    let near = |key: &str, value: f64| {
        assert!((view[key].as_f64().unwrap() - value).abs() < 1e-9, "{key}: {view}")
    };
    near("t0", -0.0242);
    near("t1", 1.2342);
    near("y0", -0.12);
    near("y1", 3.12);
    near("w1", 4.4);
}

#[test]
fn text_cannot_break_out_of_the_page() {
    let evil = "</script><img src=x onerror=alert(1)>&\"'<!--";
    let events = lossy();
    let summary = FlowSummary { strategy: evil.into(), ..summary() };
    let panels = [Panel {
        name: evil,
        mss: MSS,
        events: &events,
        summary: Some(&summary),
        ..Panel::default()
    }];
    let html = Picture {
        title: evil,
        parameters: &[(evil.into(), evil.into())],
        panels: &panels,
        ..Picture::default()
    }
    .to_html();
    assert_eq!(data(&html)["panels"][0]["name"], evil);
    let escaped = "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#39;&lt;!--";
    // Title, heading, both halves of the parameter, and the first cell of the table.
    assert_eq!(html.matches(escaped).count(), 5);
    assert_eq!(html.matches("<img").count(), 0);
    assert_eq!(html.matches("</script>").count(), 2);
}

#[test]
fn the_page_needs_no_network() {
    let events = lossy();
    let html = page(&[Panel { name: "reno", mss: MSS, events: &events, ..Panel::default() }]);
    // A namespace is a name, and `url(#` leads to the page itself.
    let html = html.replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
    for outside in ["http:", "https:", " src=", "@import", "url("] {
        assert_eq!(html.matches(outside).count(), 0, "{outside}");
    }
}

#[test]
fn the_page_says_what_each_class_of_timeout_means() {
    let page = page(&[]);
    for class in TimeoutClass::ALL {
        assert!(page.contains(&format!("\n    {}: \"", class.name())), "{class:?}");
    }
}

#[test]
fn the_svg_of_a_recovery_and_a_timeout() {
    let events = lossy();
    let summary = summary();
    let panels = [
        Panel {
            name: "re<no",
            mss: MSS,
            events: &events,
            summary: Some(&summary),
            ..Panel::default()
        },
        Panel { name: "other", mss: MSS, events: &events[..3], ..Panel::default() },
    ];
    let parameters = [("rate".to_string(), "800kbit & more".to_string())];
    let svg = Picture {
        title: "a \"b\" \u{0}c",
        parameters: &parameters,
        panels: &panels,
        ..Picture::default()
    }
    .to_svg();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = document
        .descendants()
        .filter(|n| n.has_tag_name("text"))
        .filter_map(|n| n.text())
        .collect();
    let count = |wanted: &str| texts.iter().filter(|t| **t == wanted).count();
    assert_eq!(document.root_element().attribute("width"), Some("1260"));
    for (text, times) in [
        ("a \"b\" \u{fffd}c", 1),
        ("rate: 800kbit & more", 1),
        ("re<no", 1),
        ("other", 1),
        // Once in the legend and once beside its bar.
        ("F", 2),
        ("T", 2),
        ("timeout: lost retransmission", 1),
        ("undone by f_rto", 1),
        ("lowered for ECN", 1),
        ("new data", 1),
        ("window edge", 1),
        // No such layer in these flows.
        ("P", 0),
        ("ssthresh", 0),
        ("arrivals", 0),
    ] {
        assert_eq!(count(text), times, "{text:?}");
    }
    // The first panel's bars of new data: segments 0 to 2 at time 0, one upon the other, drawn as
    // one bar. x: 46 + 0.0242 / 1.2584 * 544 = 56.46; y of segment 0: 296 - 0.12 / 3.24 * 240 =
    // 287.1, of 3: 64.9.
    assert_eq!(
        svg.matches("d=\"M56.5 287.1V64.9\" stroke=\"#3b4350\" stroke-width=\"2\"").count(),
        2
    );
}

#[test]
fn nothing_at_all() {
    assert_eq!(data(&page(&[]))["panels"], json!([]));
    check_svg(&[]);
    let panels = [Panel { name: "", mss: 0, events: &[], ..Panel::default() }];
    let data = data(&page(&panels));
    assert_eq!(
        data["view"],
        json!({ "t0": -0.02, "t1": 1.02, "y0": -0.04, "y1": 1.04, "w1": 1.0 })
    );
    check_svg(&panels);
}

#[test]
fn a_single_point() {
    let events = [at(5000, 1000, sent(0, Cause::New, 1))];
    let panels = [Panel { name: "x", mss: MSS, events: &events, ..Panel::default() }];
    let data = data(&page(&panels));
    assert_eq!((&data["view"]["t0"], &data["view"]["t1"]), (&json!(4.5), &json!(5.5)));
    check_svg(&panels);
}

#[test]
fn values_at_the_ends_of_their_ranges() {
    let kinds = [
        EventKind::Sent {
            seq: u64::MAX,
            len: u32::MAX,
            cause: Cause::TailLossProbe,
            transmission: u32::MAX,
            detected_by: None,
        },
        acked(u64::MAX - 9000, u32::MAX, u64::MAX, &[(u64::MAX, 0)]),
        EventKind::RecoveryLeft { by_timeout: false, cwnd_before: 0 },
        EventKind::Dropped { seq: 5, len: 0, transmission: 1, link: u32::MAX, why: "" },
        EventKind::RecoveryEntered { recover: u64::MAX, flight: u64::MAX, pipe: 0, by: "" },
    ];
    let events = kinds.map(|kind| Event {
        at: Time::NEVER,
        cwnd: u64::MAX,
        ssthresh: u64::MAX - 1,
        snd_una: u64::MAX,
        snd_nxt: 0,
        kind,
    });
    for events in [&events[..], &events[..1]] {
        for mss in [0, 1, u32::MAX] {
            let panels = [Panel { name: "x", mss, events, ..Panel::default() }];
            let data = data(&page(&panels));
            assert_eq!(data["panels"][0]["segments"]["seq"], json!([u64::MAX]));
            check_svg(&panels);
        }
    }
}

fn stall(from: u64, to: u64, tone: Tone, label: &str) -> Band {
    Band {
        start: Time(from * 1_000_000),
        end: Time(to * 1_000_000),
        tone,
        label: label.into(),
        why: "why".into(),
    }
}

#[test]
fn findings_are_drawn() {
    let mut events = lossy();
    // The window closes for 100 ms, and for good at the end.
    let closed = |ack, edge| {
        let mut kind = acked(ack, 0, 0, &[]);
        let EventKind::Acked { window_edge, .. } = &mut kind else { unreachable!() };
        *window_edge = edge;
        kind
    };
    events.extend([
        at(1300, 1000, closed(3000, 3000)),
        at(1350, 1000, closed(3000, 3000)),
        at(1400, 1000, closed(3000, 11000)),
        at(1500, 1000, closed(4000, 4000)),
    ]);
    let stalls = [
        stall(110, 1210, Tone::Loss, "1.1 s <lost>"),
        stall(1300, 1305, Tone::Window, "too short for its name"),
    ];
    let fate = |transmission, lost, spurious| {
        let too_big = transmission == 1;
        Fate { seq: 1000, transmission, lost, spurious, too_big }
    };
    let fates = [
        fate(2, true, None),
        fate(3, false, Some("D-SACK")),
        // Of this one only that a router had asked for it, and this one was never sent.
        fate(1, false, None),
        fate(9, true, None),
    ];
    let classes = [(Time(1_110_000_000), "unknown")];
    let findings = Findings { stalls: &stalls, fates: &fates, classes: &classes };
    let panels = [Panel {
        name: "x",
        mss: MSS,
        events: &events,
        note: "a note",
        findings,
        ..Panel::default()
    }];
    let data = data(&page(&panels));
    let panel = &data["panels"][0];
    assert_eq!(panel["results"], "a note");
    assert_eq!(panel["zero"], json!({ "t0": [1.3, 1.5], "t1": [1.4, null], "edge": [3000, 4000] }));
    assert_eq!(
        panel["stalls"],
        json!({
            "t0": [0.11, 1.3],
            "t1": [1.21, 1.305],
            "tone": ["loss", "window"],
            "label": ["1.1 s <lost>", "too short for its name"],
            "why": ["why", "why"],
        })
    );
    assert_eq!(
        panel["fates"],
        json!({ "segment": [3, 4], "lost": [true, false], "spurious": [null, "D-SACK"] })
    );
    assert_eq!(panel["timeouts"]["class"], json!(["unknown"]));
    let keys: Vec<_> = panel["segments"]["cause"].as_array().unwrap().iter().collect();
    let keys: Vec<_> = keys.iter().map(|c| &data["causes"][c.as_u64().unwrap() as usize]).collect();
    let first = keys.iter().position(|cause| cause["key"] == "packet_too_big").unwrap();
    let of_first = ["seq", "transmission"].map(|of| panel["segments"][of][first].clone());
    assert_eq!((of_first, &keys[first]["letter"]), ([json!(1000), json!(1)], &json!("I")));
    assert_eq!(keys.iter().filter(|cause| cause["key"] == "packet_too_big").count(), 1);

    let svg = check_svg(&panels);
    // x(t) = 46 + (t + 0.03) / 1.56 * 544: the view is 0 to 1.5 s with 2 % on either side.
    // The stall from 0.11 s to 1.21 s: 94.8 and 383.6 wider, in the graph and in the strip.
    let band = |top, height| {
        format!(
            "<rect x=\"94.8\" y=\"{top}\" width=\"383.6\" height=\"{height}\" fill=\"#a3005c\" \
             fill-opacity=\"0.18\"/>"
        )
    };
    assert_eq!((svg.matches(&band(56, 240)).count(), svg.matches(&band(322, 80)).count()), (1, 1));
    // Its verdict in the middle, and none for the stall that is 1.7 px wide.
    let verdict = "<text x=\"286.6\" y=\"289\" text-anchor=\"middle\" font-size=\"11\" \
        font-weight=\"bold\" fill=\"#a3005c\" \
                   stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\">1.1 s \
                   &lt;lost&gt;</text>";
    assert_eq!((svg.matches(verdict).count(), svg.matches("too short").count()), (1, 0));
    // Two closed windows along their edges; the last one to the right end. y(n) = 296 - (n + 0.16)
    // / 4.32 * 240.
    assert!(
        svg.contains("<path d=\"M509.8 120.4H544.7\" stroke=\"#d1410c\" stroke-width=\"4\"/>"),
        "{svg}"
    );
    assert!(
        svg.contains("<path d=\"M579.5 64.9H590.0\" stroke=\"#d1410c\" stroke-width=\"4\"/>"),
        "{svg}"
    );
    // A ring around the transmission at 1.11 s, in the middle of segment 1.
    assert!(
        svg.contains("<circle cx=\"443.5\" cy=\"203.8\" r=\"5\" stroke=\"#6a3fc4\"/>"),
        "{svg}"
    );
    // A cross each for the two that the network dropped, one of which was also found lost.
    assert_eq!(svg.matches("l7 7m-7 0l7 -7").count(), 2 * 2);
    assert_eq!(svg.matches(">timeout: unknown</text>").count(), 1);
    for legend in ["lost", "spurious", "zero window", "stall: loss, timer", "stall: window"] {
        assert_eq!(svg.matches(&format!(">{legend}</text>")).count(), 1, "{legend}");
    }
    assert!(!svg.contains("stall: pause, other"));
}

#[test]
fn a_stall_widens_the_view() {
    let stalls = [stall(0, 10_000, Tone::Other, "idle")];
    let findings = Findings { stalls: &stalls, ..Findings::default() };
    let events = [at(5000, 1000, sent(0, Cause::New, 1))];
    for events in [&events[..], &[]] {
        let view = &data(&page(&[Panel { events, findings, ..Panel::default() }]))["view"];
        assert_eq!((&view["t0"], &view["t1"]), (&json!(-0.2), &json!(10.2)));
    }
}

/// The graph of a figure 84 mm wide has room for 26 characters upwards.
#[test]
fn the_label_of_a_short_stall_ends_within_the_graph() {
    let events = [at(0, 1000, sent(0, Cause::New, 1)), at(9000, 1000, sent(1, Cause::New, 1))];
    let stalls = [stall(2000, 3000, Tone::Loss, "1.0 s: spurious timeout, backed off")];
    let findings = Findings { stalls: &stalls, ..Findings::default() };
    let panels = [Panel { mss: MSS, events: &events, findings, ..Panel::default() }];
    let figure = Picture { panels: &panels, ..Picture::default() }.to_figure(84.0);
    let cut = figure.split_once("rotate(-90)\" font-size=\"11\" font-weight=\"bold\"").unwrap().1;
    let cut = cut.split_once('>').unwrap().1.split_once('<').unwrap().0;
    assert_eq!(cut, "1.0 s: spurious timeout, …");
}

#[test]
fn panels_with_scales_of_their_own() {
    let small = [at(0, 2000, sent(0, Cause::New, 1)), at(1000, 1000, sent(1, Cause::New, 1))];
    let large: Vec<Event> = (0..100).map(|n| at(20 * n, 50_000, sent(n, Cause::New, 1))).collect();
    let panel = |events| Panel { mss: MSS, events, ..Panel::default() };
    let panels = [panel(&small), panel(&large)];
    let picture = Picture { panels: &panels, own_scales: true, ..Picture::default() };
    let data = data(&picture.to_html());
    let own = |i: usize, key: &str| data["panels"][i]["own"][key].as_f64().unwrap();
    // Four percent around two and around a hundred segments; a tenth above the greatest window.
    for (i, segments, window) in [(0, 2.0, 3.3), (1, 100.0, 55.0)] {
        let found = [own(i, "y0"), own(i, "y1"), own(i, "w1")];
        let expected = [-0.04 * segments, 1.04 * segments, window];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
    }
    assert_eq!(data["view"]["t1"].as_f64().map(|t| (t * 1e4).round()), Some(20196.0));
    // The second of the two segments reaches up to y = 296 - 2.08 / 2.16 * 240 at x = 46 + 1.0396 /
    // 2.0592 * 544.
    let svg = picture.to_svg();
    assert!(svg.contains("M320.6 176V64.9"), "{svg}");
    // Panels of the same flow share one.
    let summary = FlowSummary::of_sender("sack", 1, 7, &Stats::default());
    let panels = panels.map(|panel| Panel { summary: Some(&summary), ..panel });
    let picture = Picture { panels: &panels, own_scales: true, ..Picture::default() };
    let data = self::data(&picture.to_html());
    assert_eq!(data["panels"][0]["own"]["y1"].as_f64(), Some(104.0));
    assert_eq!(data["panels"][0]["own"], data["panels"][1]["own"]);
}

#[test]
fn a_window_shows_a_part_and_marks_stand_in_it() {
    let events: Vec<Event> = (0..10).map(|n| at(1000 * n, 4000, sent(n, Cause::New, 1))).collect();
    let panels = [Panel { mss: MSS, events: &events, ..Panel::default() }];
    let mark = |at, label: &str| Mark { at, label: label.into() };
    let marks = [mark(4.0, "<third>"), mark(8.5, "later")];
    let picture =
        Picture { panels: &panels, marks: &marks, window: Some((3.0, 5.0)), ..Picture::default() };
    let data = data(&picture.to_html());
    // Segments 3 to 5, and four percent around them.
    let start = ["t0", "t1", "y0", "y1"].map(|key| data["start"][key].as_f64().unwrap());
    assert!(start.iter().zip([3.0, 5.0, 2.88, 6.12]).all(|(a, b)| (a - b).abs() < 1e-9));
    assert_eq!(data["view"]["t1"].as_f64().map(|t| (t * 1e4).round()), Some(91800.0));
    assert_eq!(data["marks"][1], json!({ "at": 8.5, "label": "later" }));
    // The middle of 46 to 590; the other mark is out of view.
    let svg = picture.to_svg();
    assert!(svg.contains("<path d=\"M318.0 56V296\" stroke=\"#5a6675\""), "{svg}");
    assert_eq!((svg.matches("&lt;third&gt;").count(), svg.matches("later").count()), (1, 0));
}

/// A picture of a flow with a recovery, from one time to another.
fn window<'a>(panels: &'a [Panel<'a>], window: Option<(f64, f64)>) -> Picture<'a> {
    Picture { title: "t", panels, window, ..Picture::default() }
}

/// All sizes of text in an SVG for print, in points.
fn points(svg: &str) -> Vec<f64> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let root = document.root_element();
    let width = root.attribute("width").unwrap().strip_suffix("mm").unwrap();
    let pixels = root.attribute("viewBox").unwrap().split(' ').nth(2).unwrap();
    let scale = width.parse::<f64>().unwrap() / pixels.parse::<f64>().unwrap() / 25.4 * 72.0;
    let sizes = document.descendants().filter_map(|node| node.attribute("font-size"));
    sizes.map(|size| size.parse::<f64>().unwrap() * scale).collect()
}

#[test]
fn a_figure_has_its_width_and_legible_text() {
    let events = lossy();
    let flow = Panel { name: "reno", mss: MSS, events: &events, ..Panel::default() };
    for (width, panels) in [(40.0, 1), (84.0, 1), (84.0, 2), (178.0, 2), (400.0, 3)] {
        let panels = vec![flow; panels];
        let svg = window(&panels, None).to_figure(width);
        assert!(svg.contains(&format!(" width=\"{width:.3}mm\"")), "{svg:.200}");
        let sizes = points(&svg);
        assert!(sizes.len() > 3 && sizes.iter().all(|pt| (7.0..=9.0).contains(pt)), "{sizes:?}");
        // The name tells panels apart; one needs none. No heading, no results.
        assert_eq!(
            svg.matches(">reno</text>").count(),
            if panels.len() > 1 { panels.len() } else { 0 }
        );
        assert!(!svg.contains("font-size=\"19\""));
        // Two columns from 150 mm on.
        let beside = svg.matches("translate(4 ").count();
        assert_eq!(beside < panels.len(), width >= 150.0, "{width}");
    }
}

#[test]
fn the_legend_of_a_window_names_what_is_in_it() {
    let events = lossy();
    let panels = [Panel { mss: MSS, events: &events, ..Panel::default() }];
    let legend = |from_to| {
        let svg = window(&panels, from_to).to_figure(84.0);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let all = [
            "new data",
            "fast retransmit",
            "timeout",
            "lost",
            "ACK line",
            "duplicate ACK",
            "in recovery",
            "timer expires",
            "undo",
        ];
        let texts: Vec<&str> = document.descendants().filter_map(|n| n.text()).collect();
        all.into_iter().filter(|name| texts.contains(name)).collect::<Vec<_>>()
    };
    assert_eq!(
        legend(None),
        [
            "new data",
            "fast retransmit",
            "timeout",
            "lost",
            "ACK line",
            "duplicate ACK",
            "in recovery",
            "timer expires",
            "undo"
        ]
    );
    assert_eq!(legend(Some((0.0, 0.05))), ["new data", "lost"]);
    assert_eq!(legend(Some((0.2, 0.3))), ["ACK line", "in recovery"]);
    assert_eq!(legend(Some((1.165, 1.3))), ["ACK line", "undo"]);
}

#[test]
fn the_windows_of_a_window_have_a_scale_of_their_own() {
    let events = lossy();
    let panels = [Panel { mss: MSS, events: &events, ..Panel::default() }];
    // cwnd is 4 segments before the timeout, and 1 after it; flight is 3 all along.
    let top = |from_to| window(&panels, from_to).to_figure(84.0).contains(">4</text>");
    assert!(top(Some((0.0, 1.0))));
    assert!(!top(Some((1.12, 1.2))));
}

#[test]
fn the_data_of_a_picture() {
    let events = lossy();
    let stalls = [stall(111, 1110, Tone::Loss, "1.0 s: \"lost\", again")];
    let findings = Findings { stalls: &stalls, ..Findings::default() };
    let panels = [Panel { name: "reno", mss: MSS, events: &events, findings, ..Panel::default() }];
    let csv = window(&panels, Some((0.105, 1.1))).to_csv();
    assert_eq!(
        csv,
        "panel,mark,time_s,until_s,low_segments,high_segments,detail\n\
         reno,fast_retransmit,0.11,,1,2,\n\
         reno,lost,0.11,,1,2,\n\
         reno,ack,0.11,,1,,\n\
         reno,duplicate_ack,0.11,,1,,\n\
         reno,sack,0.11,,2,3,\n\
         reno,window_edge,0.11,,9,,\n\
         reno,cwnd,0.11,,2,,\n\
         reno,flight,0.11,,3,,\n\
         reno,in_recovery,0.11,1.11,,,dupack\n\
         reno,stall,0.111,1.11,,,\"1.0 s: \"\"lost\"\", again\"\n"
    );
    let rest = window(&panels, Some((1.1101, 2.0))).to_csv();
    assert_eq!(
        rest.lines().skip(1).collect::<Vec<_>>(),
        ["reno,undo,1.17,,,,f_rto", "reno,reduced,1.2,,,,"]
    );
    let all = window(&panels, None).to_csv();
    assert!(all.contains("reno,timer_expired,1.11,,1,,lost_retransmission\n"));
    assert_eq!(window(&panels, None).times(), Some((0.0, 1.21)));
}

#[test]
fn what_stands_between_backticks_is_code() {
    assert_eq!(prose("a `b<c` d `e`"), "a <code>b&lt;c</code> d <code>e</code>");
    assert_eq!(prose("a ` b"), "a ` b");
    assert_eq!(prose("<a>"), "&lt;a&gt;");
}

/// A name as long as this would leave its panel.
#[test]
fn long_names_are_cut_in_drawings() {
    let (name, events) = ("n".repeat(84), lossy());
    let panels = [Panel { name: &name, mss: MSS, events: &events, ..Panel::default() }; 2];
    let title = "t".repeat(200);
    let picture = Picture { title: &title, panels: &panels, ..Picture::default() };
    let ends = |svg: &str, letter: char| -> Vec<usize> {
        let document = roxmltree::Document::parse(svg).unwrap();
        let texts = document.descendants().filter(|n| n.has_tag_name("text"));
        let cut = texts.filter_map(|n| n.text()?.strip_suffix('…'));
        cut.filter(|text| text.chars().all(|c| c == letter)).map(str::len).collect()
    };
    // 592 px of 9.075 px a letter, and 1220 px of 11.495 px.
    assert_eq!(
        (ends(&picture.to_svg(), 'n'), ends(&picture.to_svg(), 't')),
        (vec![64; 2], vec![105])
    );
    // 84 mm are 357.2 px; 341.2 px of 7.865 px a letter.
    assert_eq!(ends(&picture.to_figure(84.0), 'n'), [42; 2]);
}

#[test]
fn timeouts_without_a_trigger_are_called_as_elsewhere() {
    let timed_out = EventKind::TimedOut {
        seq: 0,
        class: TimeoutClass::NonTrigger,
        backoff: 0,
        flight: 1000,
        cwnd_before: 1000,
        rto: 1_000_000_000,
    };
    let events = [at(0, 1000, sent(0, Cause::New, 1)), at(1000, 1000, timed_out)];
    let panels = [Panel { name: "x", mss: MSS, events: &events, ..Panel::default() }];
    assert!(check_svg(&panels).contains(">timeout: non-trigger</text>"));
    assert!(page(&panels).contains("name === \"non_trigger\" ? \"non-trigger\""));
}

/// The axis is the time of the run, and words say why nothing is drawn.
#[test]
fn a_flow_that_sends_nothing_has_the_time_of_the_run() {
    let idle = FlowSummary { segments_sent: 0, ..summary() };
    let view = |events: &[Event], summary: &FlowSummary| {
        let panel = Panel { mss: MSS, events, summary: Some(summary), ..Panel::default() };
        let panels = &[panel];
        let data = data(&Picture { panels, until: Some(10.0), ..Picture::default() }.to_html());
        let view = &data["view"];
        (view["t0"].clone(), view["t1"].clone(), data["panels"][0]["results"].clone())
    };
    let expected = (json!(-0.2), json!(10.2), json!("nothing was sent"));
    assert_eq!(view(&[], &idle), expected);
    // All at once, at 9.9 s.
    let events = [at(9900, 1000, sent(0, Cause::New, 1))];
    let (t0, t1, results) = view(&events, &FlowSummary { segments_sent: 1, ..idle });
    assert_eq!((t0, t1), (json!(-0.2), json!(10.2)));
    assert!(results.as_str().is_some_and(|text| text.starts_with("unfinished")));
}

/// The letter of a retransmission stands on its right, and on its left at the edge of the graph.
#[test]
fn letters_stay_within_the_graph() {
    let letters = |events: &[Event]| {
        let panels = [Panel { name: "x", mss: MSS, events, ..Panel::default() }];
        let svg = check_svg(&panels);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let group = document
            .descendants()
            .find(|n| n.attribute("font-weight") == Some("bold") && n.has_tag_name("g"))
            .unwrap();
        let texts = group.children().filter(|n| n.has_tag_name("text"));
        let place = |n: roxmltree::Node| {
            (n.attribute("x").unwrap().to_string(), n.attribute("text-anchor").map(String::from))
        };
        texts.map(place).collect::<Vec<_>>()
    };
    let first = at(0, 1000, sent(0, Cause::New, 1));
    let again = |millis, segment| at(millis, 1000, sent(segment, Cause::FastRetransmit, 2));
    // 1.04 s are 544 px from 46 to 590.
    let events = [first, again(500, 0), again(1000, 0)];
    let expected = [("323".into(), None), ("574.5".into(), Some("end".into()))];
    assert_eq!(letters(&events), expected);
}
