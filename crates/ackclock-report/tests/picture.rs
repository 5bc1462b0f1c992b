//! Pictures as HTML and as SVG.

use ackclock_report::{FlowSummary, Panel, Picture};
use ackclock_tcp::{Cause, Event, EventKind, SackRanges, Time, TimeoutClass};
use serde_json::{Value, json};

const MSS: u32 = 1000;

fn at(millis: u64, cwnd: u64, kind: EventKind) -> Event {
    Event { at: Time(millis * 1_000_000), cwnd, ssthresh: u64::MAX, snd_una: 0, snd_nxt: 3000, kind }
}

fn sent(segment: u64, cause: Cause, transmission: u32) -> EventKind {
    EventKind::Sent { seq: segment * 1000, len: MSS, cause, transmission }
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
    let dropped = |transmission, why| EventKind::Dropped { seq: 1000, len: MSS, transmission, link: 1, why };
    vec![
        at(0, 3000, sent(0, Cause::New, 1)),
        at(0, 3000, sent(1, Cause::New, 1)),
        at(0, 3000, sent(2, Cause::New, 1)),
        at(1, 3000, dropped(1, "list")),
        at(100, 4000, acked(1000, 0, 1000, &[])),
        at(110, 4000, acked(1000, 1, 0, &[(2000, 3000)])),
        at(110, 4000, EventKind::Lost { seq: 1000, len: MSS, transmission: 1, by: "dupack" }),
        at(110, 2000, EventKind::RecoveryEntered { recover: 3000, flight: 2000, pipe: 1000, by: "dupack" }),
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
        at(1160, 1000, EventKind::Arrived { seq: 1000, len: MSS, needless: false }),
        at(1170, 1000, EventKind::Undone { by: "f_rto" }),
        at(1210, 1000, EventKind::AckDropped { ack: 3000, link: 2, why: "bernoulli" }),
    ]
}

fn summary() -> FlowSummary {
    FlowSummary {
        strategy: "re<no".into(),
        seed: 1,
        flow: 0,
        bytes_acked: 1000,
        segments_sent: 5,
        retransmissions: 2,
        fast_retransmissions: 1,
        timeouts: 1,
        timeouts_non_trigger: 0,
        timeouts_multiple_losses: 0,
        timeouts_lost_retransmission: 1,
        recoveries: 1,
        drops: Some(2),
        spurious_retransmissions: Some(0),
        goodput_bps: 6611.6,
        completion_s: None,
        mean_rtt_s: None,
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

#[test]
fn the_model_of_a_recovery_and_a_timeout() {
    let events = lossy();
    let summary = summary();
    let data = data(&page(&[Panel { name: "reno", mss: MSS, events: &events, summary: Some(&summary), ..Panel::default() }]));
    assert_eq!(
        data["panels"],
        json!([{
            "name": "reno",
            "mss": 1000,
            "results": "unfinished · 6.6kbit · 2 retransmissions · 1 timeout (1 lost retransmission)",
            "segments": {
                "t": [0.0, 0.0, 0.0, 0.11, 1.11],
                "seq": [0, 1000, 2000, 1000, 1000],
                "len": [1000, 1000, 1000, 1000, 1000],
                "cause": [0, 0, 0, 1, 4],
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
            "arrivals": { "t": [1.16], "seq": [1000], "len": [1000], "needless": [false] },
            "windows": {
                "t": [0.0, 0.1, 0.11, 1.11],
                "cwnd": [3000, 4000, 2000, 1000],
                "ssthresh": [null, null, null, null],
                "flight": [3000, 3000, 3000, 3000],
                "end": 1.21,
            },
        }])
    );
    // Two percent of 1.21 s and four percent of three segments around; a tenth above the greatest window.
    let view = &data["view"];
    let near = |key: &str, value: f64| assert!((view[key].as_f64().unwrap() - value).abs() < 1e-9, "{key}: {view}");
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
    let panels = [Panel { name: evil, mss: MSS, events: &events, summary: Some(&summary), ..Panel::default() }];
    let html = Picture { title: evil, parameters: &[(evil.into(), evil.into())], panels: &panels, ..Picture::default() }.to_html();
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
    for outside in ["http:", "https:", " src=", "@import", "url("] {
        assert_eq!(html.matches(outside).count(), 0, "{outside}");
    }
}

#[test]
fn the_svg_of_a_recovery_and_a_timeout() {
    let events = lossy();
    let summary = summary();
    let panels = [
        Panel { name: "re<no", mss: MSS, events: &events, summary: Some(&summary), ..Panel::default() },
        Panel { name: "other", mss: MSS, events: &events[..3], ..Panel::default() },
    ];
    let parameters = [("rate".to_string(), "800kbit & more".to_string())];
    let svg = Picture { title: "a \"b\" \u{0}c", parameters: &parameters, panels: &panels, ..Picture::default() }.to_svg();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = document.descendants().filter(|n| n.has_tag_name("text")).filter_map(|n| n.text()).collect();
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
        ("new data", 1),
        ("window edge", 1),
        // No such layer in these flows.
        ("P", 0),
        ("ssthresh", 0),
        ("arrivals", 0),
    ] {
        assert_eq!(count(text), times, "{text:?}");
    }
    // The first panel's bars of new data: segments 0 to 2 at time 0, one upon the other, drawn as one bar.
    // x: 46 + 0.0242 / 1.2584 * 544 = 56.46; y of segment 0: 296 - 0.12 / 3.24 * 240 = 287.1, of 3: 64.9.
    assert_eq!(svg.matches("d=\"M56.5 287.1V64.9\" stroke=\"#3b4350\" stroke-width=\"2\"").count(), 2);
}

#[test]
fn nothing_at_all() {
    assert_eq!(data(&page(&[]))["panels"], json!([]));
    check_svg(&[]);
    let panels = [Panel { name: "", mss: 0, events: &[], ..Panel::default() }];
    let data = data(&page(&panels));
    assert_eq!(data["view"], json!({ "t0": -0.02, "t1": 1.02, "y0": -0.04, "y1": 1.04, "w1": 1.0 }));
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
        EventKind::Sent { seq: u64::MAX, len: u32::MAX, cause: Cause::Probe, transmission: u32::MAX },
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
