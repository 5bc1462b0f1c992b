use ackclock_tcp::{Cause, Event, EventKind, Time};
use ackclock_trace::{Kind, Stall, StallCause};
use serde_json::{Value, json};

use super::*;
use crate::explained::Explained;
use crate::fixture;
use crate::text::Known;

/// What the script of a page reads.
fn data(html: &str) -> Value {
    let (_, rest) = html.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn first_page(explained: &Explained) -> String {
    page(&explained.connections[0], explained, &Known::of(explained))
}

/// The text of the first cell of each row of the table that follows `heading`.
fn first_cells(html: &str, heading: &str) -> Vec<String> {
    let (_, rest) = html.split_once(heading).unwrap();
    let (_, rows) = rest.split_once("<tbody>").unwrap();
    let rows = rows.split_once("</tbody>").unwrap().0;
    rows.split("<tr><td")
        .skip(1)
        .map(|row| row.split_once('>').unwrap().1.split_once("</td>").unwrap().0.into())
        .collect()
}

#[test]
fn the_picture_of_a_connection() {
    let data = data(&first_page(&fixture::explained()));
    // What the client sent was not seen to have data, and has no panel.
    assert_eq!(data["panels"].as_array().unwrap().len(), 1);
    let panel = &data["panels"][0];
    assert_eq!(panel["name"], "server [2001:db8::2]:443 sends");
    assert_eq!(
        panel["results"],
        "3000 bytes · 6 segments · 3 retransmissions · 1 timeout · MSS 1000 · round trip 0.10 s \
         (median 0.10 s, 99th 0.10 s) · cwnd estimated"
    );
    // Times are since the start of the connection, exactly.
    assert_eq!(panel["segments"]["t"], json!([0.0, 0.0, 0.0, 0.11, 1.0, 1.05]));
    assert_eq!(
        panel["stalls"],
        json!({
            "t0": [0.11, 1.1],
            "t1": [1.1, 1.5],
            "tone": ["loss", "window"],
            "label": ["0.99 s: timeout, lost retransmission", "0.40 s: zero window"],
            "why": [
                "server stalled 0.99 s at 0.11 s: timeout, lost retransmission of 1000 bytes; \
                 RACK-TLP would have saved 0.75 s (90 %: 0.50 to 0.88 s)",
                "server stalled 0.40 s at 1.10 s: the receiver had closed its window",
            ],
        })
    );
    // The fast retransmission was lost, and the last one spurious.
    assert_eq!(
        panel["fates"],
        json!({ "segment": [3, 5], "lost": [true, false], "spurious": [null, "D-SACK"] })
    );
    assert_eq!(panel["zero"], json!({ "t0": [1.1], "t1": [1.5], "edge": [3000] }));
    assert_eq!(panel["timeouts"]["class"], json!(["lost_retransmission"]));
}

/// What the first connection waited for is known.
fn limited(explained: &mut Explained) {
    let flow = &mut explained.connections[0].connection.from_server;
    flow.lifetime.add(ackclock_trace::Limit::Recovery, ackclock_tcp::Span::from_secs(2));
}

/// Without what a pointer finds on words.
fn without_meanings(html: &str) -> String {
    let mut parts = html.split("<abbr title=\"");
    let mut text = String::from(parts.next().unwrap());
    parts.for_each(|part| text.push_str(part.split_once("\">").unwrap().1));
    text.replace("</abbr>", "")
}

#[test]
fn words_tell_what_they_mean_and_are_listed_at_the_end() {
    let explained = fixture::explained();
    for html in [first_page(&explained), index(&explained, &[0], 0)] {
        let timeout = "<b class=\"loss\"><abbr title=\"the retransmission timer expired (RFC 6298)\">\
            timeout</abbr>, <abbr title=\"a timeout of a segment that had been retransmitted before\">\
            lost retransmission</abbr></b>";
        assert!(html.contains(timeout), "{html}");
        let (_, words) = html.split_once("<summary>What the words mean</summary>").unwrap();
        assert_eq!(words.split_once("</details>").unwrap().0.matches("<tr>").count(), 35);
    }
    let shares = "<abbr title=\"losses are repaired, or a timer is waited for\">recovery</abbr> 60 %, \
        <i> 40 %";
    assert_eq!(words::list("recovery 60 %, <i> 40 %"), shares.replace("<i>", "&lt;i&gt;"));
    let counted = words::list("0 timeouts, 1 undecided (tail loss probe or timeout)");
    assert_eq!(
        counted,
        "0 <abbr title=\"expiries of the retransmission timer (RFC 6298)\">timeouts</abbr>, 1 <abbr \
         title=\"probes or timeouts, which are counted as neither\">undecided</abbr> (tail loss probe \
         or timeout)"
    );
    assert_eq!(without_meanings(&counted), "0 timeouts, 1 undecided (tail loss probe or timeout)");
}

#[test]
fn throughput_and_round_trips_are_drawn() {
    let mut explained = fixture::explained();
    let html = first_page(&explained);
    for what in ["<h2>Over time</h2>", "throughput (Mbit/s)</text>", "round trip (ms)</text>"] {
        assert_eq!(html.matches(what).count(), 1, "{what}");
    }
    explained.connections[0].connection.from_server.events.clear();
    assert!(!first_page(&explained).contains("<h2>Over time</h2>"));
}

#[test]
fn the_verdict_comes_first() {
    let mut explained = fixture::explained();
    let verdict = "<p class=\"verdict\">Lost in stalls 1.4 s of 2.0 s: <b class=\"loss\">timeout, lost \
        retransmission</b> 0.99 s; \
                   <b class=\"window\">zero window</b> 0.40 s.</p>";
    assert!(without_meanings(&first_page(&explained)).contains(verdict));
    let stalls = &mut explained.connections[0].connection.from_server.stalls;
    stalls.iter_mut().for_each(|stall| stall.cause = StallCause::Application);
    let html = first_page(&explained);
    assert!(html.contains("<p class=\"verdict\">No stall; 3 retransmissions.</p>"));
    assert!(
        html.contains(
            "The application had nothing to send for 1.4 s, which is not counted as lost."
        )
    );
    // Away from the server, what it sent may have been lost before the capture.
    explained.connections[0].connection.position.vantage = ackclock_trace::Vantage::Client;
    let html = first_page(&explained);
    assert!(html.contains("\">No data came for 1.4 s, which is not counted as lost."));
}

/// Who reads the page has not seen the warning of the command.
#[test]
fn the_index_begins_with_what_was_not_read() {
    let mut explained = fixture::explained();
    assert!(!index(&explained, &[0], 0).contains("class=\"doubt\""));
    let what = "a record is cut off".into();
    explained.captures[0].damage = Some(ackclock_trace::Damage { offset: 19_960, what });
    let html = index(&explained, &[0], 0);
    let begin = "<h1>Captures explained</h1>\n<div class=\"doubt\">\n<p>Not the whole of the captures is \
        explained. What follows breaks off:</p>\n<ul>\n<li>&lt;slow&gt;.pcap: damaged at byte 19960: \
        a record is cut off</li>\n</ul>\n</div>\n<p class=\"verdict\">";
    assert!(html.contains(begin), "{html}");
    explained.captures = vec![explained.captures[0].clone(); 12];
    assert!(index(&explained, &[0], 0).contains("</ul>\n<p class=\"soft\">And 2 more.</p>"));
}

/// Of nothing there are no shares.
#[test]
fn an_index_without_connections_says_so() {
    let explained = Explained { connections: Vec::new(), ..fixture::explained() };
    let html = index(&explained, &[], 0);
    let says =
        "<h1>Captures explained</h1>\n<p class=\"verdict\">No TCP connection was found.</p>\n";
    assert!(html.contains(says), "{html}");
    assert!(!html.contains("No stall") && !html.contains("went into"), "{html}");
    assert!(html.contains("<summary>Captures (1)</summary>"));
}

#[test]
fn a_spurious_timeout_is_called_so() {
    let mut explained = fixture::explained();
    explained.connections[0].connection.from_server.timeouts[0].spurious =
        Some(ackclock_trace::Spurious::Dsack);
    let label = "spurious timeout";
    let html = first_page(&explained);
    assert_eq!(data(&html)["panels"][0]["stalls"]["label"][0], format!("0.99 s: {label}"));
    assert!(without_meanings(&html).contains(&format!("<b class=\"loss\">{label}</b> 0.99 s")));
    assert!(html.contains(&format!("<td class=\"words loss\">{label}</td>")));
}

/// Both ends repeat what opens the connection. The client's SYN had arrived, but if the server's
/// answer was needed again, it was lost, and that is one cause.
#[test]
fn a_lost_answer_to_a_syn_is_a_loss() {
    let said = |needed: bool| {
        let mut explained = fixture::explained();
        let connection = &mut explained.connections[0].connection;
        let class = ackclock_tcp::TimeoutClass::Handshake;
        let spurious = Some(ackclock_trace::Spurious::Timestamp);
        let server = &mut connection.from_server;
        server.stalls.truncate(1);
        (server.stalls[0].cause, server.timeouts[0].class) = (StallCause::Timeout(class), class);
        let mut client = (server.stalls[0], server.timeouts[0].clone());
        client.0.start = Time(client.0.start.0 - 40_000);
        (client.0.timeout, client.1.spurious) = (Some(0), spurious);
        server.timeouts[0].spurious = if needed { None } else { spurious };
        connection.from_client.stalls = vec![client.0];
        connection.from_client.timeouts = vec![client.1];
        without_meanings(&first_page(&explained))
    };
    let loss = "<b class=\"loss\">timeout, handshake</b> 0.99 s (2 times)";
    assert!(said(true).contains(loss), "{}", said(true));
    assert!(said(false).contains("<b class=\"loss\">spurious timeout, handshake</b> 0.99 s"));
}

#[test]
fn an_unknown_class_is_not_made_up() {
    let mut explained = fixture::explained();
    explained.connections[0].connection.from_server.timeouts[0].class =
        ackclock_tcp::TimeoutClass::Unknown;
    assert_eq!(data(&first_page(&explained))["panels"][0]["timeouts"]["class"], json!(["unknown"]));
}

#[test]
fn the_tables_of_a_connection() {
    let html = first_page(&fixture::explained());
    let row = "<td>1.000000 <button class=\"show\" data-t0=\"0.9\" \
        data-t1=\"1.1\">show</button></td>\
               <td class=\"words\">server</td><td>984</td><td class=\"words loss\">lost \
               retransmission</td>\
               <td class=\"words\">recovery</td><td>2.0</td><td>3.0</td><td data-sort=\"0.9\">0.90 \
               s</td><td class=\"words\"></td>\
               <td class=\"text\">RACK-TLP: 0.75 s (90 %: 0.50 to 0.88 s), lost-retransmission \
               recovery: 0.50 s (90 %: 0.25 to 0.62 s)</td>";
    assert!(html.replace(" data-sort=\"1\"", "").contains(row), "{html}");
    for (heading, rows) in
        [("Stalls (2)", 2), ("Timeouts (1)", 1), ("Recoveries (1)", 1), ("Retransmissions (3)", 3)]
    {
        assert_eq!(first_cells(&html, &format!("<h2>{heading}</h2>")).len(), rows, "{heading}");
    }
}

#[test]
fn why_a_timeout_was_not_replayed() {
    let mut explained = fixture::explained();
    explained.connections[0].saved.clear();
    assert!(
        first_page(&explained).contains("not replayed: what was outstanding was seen only in part")
    );
    let mut explained = fixture::explained();
    explained.connections[0].saved[0].by.iter_mut().for_each(|rescue| rescue.avoided = false);
    assert!(first_page(&explained).contains("none of the 3 strategies tried"));
    // The least that the best would have saved is nothing.
    let mut explained = fixture::explained();
    explained.connections[0].saved[0].by[2].saved_90_s = Some([0.0, 1.0]);
    assert!(
        first_page(&explained).contains(
            "lost-retransmission recovery: 0.50 s (90 %: 0.25 to 0.62 s), perhaps RACK-TLP"
        )
    );
    explained.connections[0].saved[0].by.clear();
    assert!(first_page(&explained).contains("cannot be told: a replay of the sender does not do"));
    assert!(!index(&explained, &[0], 0).contains("What would have avoided timeouts"));
}

#[test]
fn names_cannot_break_out() {
    let mut explained = fixture::explained();
    let evil = "</script><img src=x onerror=alert(1)>&\"'<!--";
    explained.captures[0].path = evil.into();
    explained.captures[0].damage = Some(ackclock_trace::Damage { offset: 7, what: evil.into() });
    explained.connections[0].connection.from_server.doubts = vec![evil.into()];
    let escaped = "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#39;&lt;!--";
    for (html, times, scripts) in
        [(first_page(&explained), 2, 5), (index(&explained, &[0], 0), 4, 1)]
    {
        assert_eq!(html.matches(escaped).count(), times);
        assert_eq!((html.matches("<img").count(), html.matches("</script>").count()), (0, scripts));
        for outside in ["http:", "https:", " src=", "@import", "url("] {
            assert_eq!(
                html.replace("http://www.w3.org/2000/svg", "")
                    .replace("url(#", "")
                    .replace(escaped, "")
                    .matches(outside)
                    .count(),
                0
            );
        }
    }
}

#[test]
fn the_index_sorts_by_time_lost_and_links_what_is_drawn() {
    let mut explained = fixture::explained();
    limited(&mut explained);
    explained.connections.reverse();
    let html = index(&explained, &[0], 0);
    let link = "<a href=\"connection-0.html\">#0</a>";
    // What can be read at once, then what is folded up.
    let (short, tables) = html.split_once("<details class=\"fold\">").unwrap();
    assert!(!short.contains("<table") && tables.contains("<table"));
    let (_, worst) = short.split_once("<h2>Held up for longest</h2>\n<ul>\n").unwrap();
    let (worst, _) = worst.split_once("</ul>").unwrap();
    assert!(worst.starts_with(&format!("<li>{link} 192.0.2.1:40000")), "{worst}");
    assert_eq!(worst.matches("<li>").count(), 2);
    // Below each what the text says of its path and its longest stall.
    let stalled = "<br>\nserver stalled 0.99 s at 0.11 s: timeout, lost retransmission of 1000 bytes; \
        RACK-TLP would have saved 0.75 s (90 %: 0.50 to 0.88 s) [ip.addr == 192.0.2.1";
    assert!(worst.contains(stalled), "{worst}");
    assert_eq!(html.matches("<details").count(), html.matches("</details>").count());
    assert_eq!(first_cells(&html, "<summary>All connections"), [link, "#1"]);
    let stall = |t: &str| format!("<a href=\"connection-0.html#t={t}\">#0</a>");
    assert_eq!(
        first_cells(&html, "<summary>Where most time was lost"),
        [stall("0.11,1.1"), stall("1.1,1.5")]
    );
    // RFC 6675 would have avoided none.
    let helpful = ["lost-retransmission recovery", "RACK-TLP"];
    assert_eq!(first_cells(&html, "<summary>What would have avoided timeouts"), helpful);
    assert_eq!(first_cells(&html, "<summary>Captures"), ["&lt;slow&gt;.pcap"]);
    assert!(html.contains("in stalls</abbr> 1.4 s: "));
    let sums = "<p>2 connections, 3000 bytes in 6 segments; 3 retransmissions, 1 of them proved \
        spurious; 1 timeout. Explained by ackclock";
    assert!(without_meanings(&html).contains(sums));
    assert!(!html.contains("left out"));
    for title in ["<div class=\"figure\"><svg", "Table 1", "Table 2", "Table 3"] {
        assert_eq!(html.matches(title).count(), 1, "{title}");
    }
    let html = index(&explained, &[0], 5);
    assert!(html.contains("1 that were held up have a page; 5 more are left out"));
}

/// What the text says of the capture and of probes that may be timeouts, and that a list goes on.
#[test]
fn the_index_begins_as_the_text_does() {
    let mut explained = fixture::explained();
    limited(&mut explained);
    explained.connections[1].connection.copies = 2;
    let flow = &mut explained.connections[0].connection.from_server;
    flow.retransmissions[0].kind = ackclock_trace::Kind::ProbeOrTimeout;
    let html = without_meanings(&index(&explained, &[0], 0));
    for text in [
        "; 1 timeout, 1 undecided (tail loss probe or timeout). Explained by",
        "<p>11.1 % of the packets are copies of others, ",
    ] {
        assert!(html.contains(text), "{text}");
    }
    assert!(!html.contains("more: the text has all"));
    let one = explained.connections[1].clone();
    explained.connections.resize(12, one);
    let html = index(&explained, &[0], 0);
    assert!(html.contains("And 2 more: the text has all with <code>--top 0</code>."));
}

#[test]
fn rows_of_zeros_are_not_shown() {
    let mut explained = fixture::explained();
    let kinds = [
        "retransmissions of recoveries",
        "timeout retransmits",
        "timeout in Recovery",
        "slow start retransmits",
    ];
    let html = index(&explained, &[0], 0);
    let table = "<h3>Table 2: retransmissions by kind, of all retransmissions";
    assert_eq!(first_cells(&html, table), kinds);
    let found = &mut explained.connections[0];
    found.saved[0].by.truncate(1);
    found.connection.from_server.recoveries.clear();
    found.connection.from_server.retransmissions.drain(..1);
    found.connection.from_server.dsacks = 0;
    let html = index(&explained, &[0], 0);
    assert!(html.contains("<p>What was tried would have avoided none of them.</p>"));
    assert!(html.contains("<h3>Table 2") && !html.contains("<h3>Table 3"));
}

#[test]
fn nothing_at_all() {
    let html = index(&Explained::default(), &[], 0);
    assert!(html.contains("<p class=\"verdict\">No TCP connection was found.</p>"));
    assert!(!html.contains("figure 1"));
}

/// A million events, all of them retransmissions far apart, and a thousand stalls.
#[test]
fn pages_are_bounded() {
    let mut explained = fixture::explained();
    let flow = &mut explained.connections[0].connection.from_server;
    let event = |n: u64| Event {
        at: fixture::at(n),
        kind: EventKind::Sent {
            seq: n * 7919 % 1_000_003 * 1000,
            len: 1000,
            cause: Cause::ALL[n as usize % 8],
            transmission: 2,
            detected_by: None,
        },
        ..flow.events[0]
    };
    let events = (0..1_000_000).map(event).collect();
    flow.events = events;
    let (stall, retransmission) = (flow.stalls[1], flow.retransmissions[0]);
    let stalls = (0..100_000).map(|n| Stall {
        start: fixture::at(n),
        end: fixture::at(n + 1 + n % 7),
        ..stall
    });
    flow.stalls = stalls.collect();
    let again = |n: u64| ackclock_trace::Retransmission { position: n * 1000, ..retransmission };
    flow.retransmissions = (0..1_000_000).map(again).collect();
    flow.bytes = 1;
    let html = first_page(&explained);
    assert!(html.len() < 8_000_000, "{}", html.len());
    let segments = data(&html)["panels"][0]["segments"]["t"].as_array().unwrap().len();
    assert!(html.contains(&format!("{segments} marks stand for 1000000 events")));
    assert!(html.contains(
        "<h2>Retransmissions (1000000)</h2>\n<p class=\"soft\">The first 1000; the \
            JSON has all.</p>"
    ));
    assert_eq!(first_cells(&html, "<h2>Retransmissions (1000000)</h2>").len(), 1000);
    assert!(segments > 10_000, "{segments}");
}

#[test]
fn times_before_the_start_are_the_start() {
    let mut explained = fixture::explained();
    let c = &mut explained.connections[0].connection;
    c.start = fixture::at(500);
    c.from_server.retransmissions[0].at = Time(0);
    assert_eq!(data(&first_page(&explained))["panels"][0]["segments"]["t"][0], 0.0);
}

/// The page of a connection says what to change about it, and nothing about others.
#[test]
fn a_connection_has_advice_of_its_own() {
    use ackclock_tcp::Span;
    use ackclock_trace::{Lifetime, Limit, LossCause, Losses};
    let mut explained = fixture::explained();
    assert!(!first_page(&explained).contains("<h2>What to change</h2>"));
    let mut other = explained.connections[0].clone();
    (other.number, other.connection.number) = (1, 1);
    let flow = &mut other.connection.from_server;
    let cause = LossCause::Policer { rate_bps: 5e6, burst: Some(65_536) };
    flow.losses = Losses { counted: 40, episodes: 9, cause: Some(cause) };
    // The path was busy all the time: nothing else says what to change.
    flow.lifetime = Lifetime::default();
    flow.lifetime.add(Limit::Path, Span::from_millis(1900));
    flow.lifetime.add(Limit::Recovery, Span::from_millis(100));
    explained.connections[1] = other;
    let known = Known::of(&explained);
    let advice = "<h2>What to change</h2>\n<ul>\n<li>2001:db8::2 to 192.0.2.1: a policer drops \
        what exceeds 5.0 Mbit/s; shape or pace below that rate, or raise its burst of 64.0 KiB \
        (recovery: 0.10 s)</li>\n</ul>\n";
    let html = page(&explained.connections[1], &explained, &known);
    assert!(html.contains(advice), "{}", &html[html.find("What to change").unwrap_or(0)..][..400]);
    assert!(!page(&explained.connections[0], &explained, &known).contains("What to change"));
}

/// A FIN that goes again, by what nobody knows, is no data. What has data stays undecided, and what
/// a router had asked for is none of an engine's causes.
#[test]
fn a_fin_that_goes_again_is_no_data() {
    let causes = |len: u32, kind: Kind| {
        let mut explained = fixture::explained();
        let flow = &mut explained.connections[0].connection.from_server;
        let (position, transmission) = {
            let r = &mut flow.retransmissions[2];
            r.kind = kind;
            (r.position, r.transmission)
        };
        for event in &mut flow.events {
            if let EventKind::Sent { seq, len: sent, cause, transmission: n, .. } = &mut event.kind
                && (*seq, *n) == (position, transmission)
            {
                (*sent, *cause) = (len, Cause::Unknown);
            }
        }
        let data = data(&first_page(&explained));
        let cause = data["panels"][0]["segments"]["cause"][5].as_u64().unwrap() as usize;
        data["causes"][cause]["letter"].clone()
    };
    let unknown = Kind::Unknown;
    let all = [causes(0, unknown), causes(1000, unknown), causes(1000, Kind::TooBig)];
    assert_eq!(all, ["H", "?", "I"]);
}

/// Of a thousand stalls and more those are shaded that are longest where they are, and the
/// application's pauses beside them; the table leaves out the application's pauses first.
#[test]
fn the_longest_of_many_stalls() {
    let page = |stalls: u64| {
        let mut explained = fixture::explained();
        let flow = &mut explained.connections[0].connection.from_server;
        let cause = |n| match n % 2 {
            0 => StallCause::Recovery,
            _ => StallCause::Application,
        };
        // Two thirds of a thousandth of the time each, which is 2 s; some of it are longer.
        let stall = |n: u64| {
            let begin = Time(fixture::at(0).0 + n * 1_333_333);
            let long = if n.is_multiple_of(2) { 10_000 + n } else { 1_000_000 };
            fixture::stall(begin, Time(begin.0 + long), cause(n))
        };
        flow.stalls = (0..stalls).map(stall).collect();
        first_page(&explained)
    };
    let shaded = |html: &str, tone: &str| {
        let tones = data(html)["panels"][0]["stalls"]["tone"].as_array().unwrap().clone();
        tones.iter().filter(|one| *one == tone).count()
    };
    let html = page(1000);
    assert_eq!([shaded(&html, "loss"), shaded(&html, "other")], [500, 500]);
    assert!(!html.contains("are shaded") && !html.contains("pauses of the application last"));
    let html = page(1500);
    assert_eq!([shaded(&html, "loss"), shaded(&html, "other")], [750, 750]);
    assert!(!html.contains("are shaded"));
    assert!(html.contains("<p class=\"soft\">1000 of them, pauses of the application last; the"));
    let table = html.split_once("<h2>Stalls (1500)</h2>").unwrap().1;
    let table = table.split_once("</tbody>").unwrap().0;
    let rows = |class: &str| table.matches(&format!("<td class=\"words {class}\">")).count();
    assert_eq!([rows("loss"), rows("other")], [750, 250]);
}

/// What share a part of the time, the longest stands for.
#[test]
fn stalls_that_share_a_pixel() {
    let mut explained = fixture::explained();
    let flow = &mut explained.connections[0].connection.from_server;
    // Three in each thousandth of 2 s; the second one is the longest.
    let stall = |n: u64| {
        let begin = Time(fixture::at(0).0 + n * 666_000);
        let end = Time(begin.0 + if n % 3 == 1 { 5000 } else { 1000 });
        fixture::stall(begin, end, StallCause::Network)
    };
    flow.stalls = (0..3000).map(stall).collect();
    let html = first_page(&explained);
    let stalls = &data(&html)["panels"][0]["stalls"];
    let times = |key: &str| stalls[key].as_array().unwrap().clone();
    let long = |(t0, t1): (Value, Value)| {
        ((t1.as_f64().unwrap() - t0.as_f64().unwrap()) * 1e6).round() as u64
    };
    let longs: Vec<u64> = times("t0").into_iter().zip(times("t1")).map(long).collect();
    let shaded = longs.len();
    assert!((995..=1000).contains(&shaded), "{shaded}");
    assert!(longs.iter().filter(|long| **long == 5).count() > 990);
    let said = format!(
        "<p class=\"soft\">Of 3000 stalls of the server, {shaded} are shaded: the longest of each \
         thousandth of the time, and the application's longest pause in it.</p>"
    );
    assert!(html.contains(&said));
}

/// What may be a probe or a timeout is counted beside the timeouts of a panel.
#[test]
fn what_is_undecided_is_counted() {
    let mut explained = fixture::explained();
    let flow = &mut explained.connections[0].connection.from_server;
    flow.retransmissions[0].kind = ackclock_trace::Kind::ProbeOrTimeout;
    let note = data(&first_page(&explained))["panels"][0]["results"].clone();
    let counts = " · 1 timeout · 1 undecided (tail loss probe or timeout) · MSS 1000 · ";
    assert!(note.as_str().unwrap().contains(counts), "{note}");
}

/// The cells of the first row of the table that follows `heading`.
fn first_row(html: &str, heading: &str) -> Vec<String> {
    let (_, rest) = html.split_once(heading).unwrap();
    let (_, row) = rest.split_once("<tbody>\n<tr>").unwrap();
    let cells = row.split_once("</tr>").unwrap().0.split("<td").skip(1);
    cells
        .map(|cell| cell.split_once('>').unwrap().1.split_once("</td>").unwrap().0.into())
        .collect()
}

/// Where one direction was captured, nothing says what anything waited for, and no count is zero.
#[test]
fn what_is_not_known_is_not_zero() {
    let mut explained = fixture::explained();
    explained.connections.remove(1);
    limited(&mut explained);
    assert!(!index(&explained, &[0], 0).contains("is not known"));
    let connection = &mut explained.connections[0].connection;
    connection.one_way = true;
    let server = &mut connection.from_server;
    server.lifetime = Default::default();
    server.timeouts.clear();
    server.stalls.clear();
    let html = without_meanings(&index(&explained, &[0], 0));
    assert!(
        html.contains("<p class=\"verdict\">What the connections waited for is not known.</p>")
    );
    assert!(html.contains("spurious; timeouts not known. Explained by"), "{html}");
    assert!(!html.contains("No stall") && !html.contains("went into"));
    let row = first_row(&html, "<summary>All connections");
    let counts = ["-", "3", "-", "-", "-", "-"];
    assert_eq!((&row[1][..], &row[8..]), ("-", &counts.map(String::from)[..]));
}

/// The application's pauses are no stalls there, as no time was lost in them.
#[test]
fn pauses_are_not_counted_as_stalls() {
    let mut explained = fixture::explained();
    explained.connections.truncate(1);
    let server = &mut explained.connections[0].connection.from_server;
    server.stalls[1].cause = StallCause::Application;
    limited(&mut explained);
    let row = first_row(&index(&explained, &[0], 0), "<summary>All connections");
    assert_eq!(row[8..], ["1", "3", "1", "0", "1", "1"]);
}

/// Of several captures the index says in which a connection is.
#[test]
fn which_capture_has_a_connection() {
    let mut explained = fixture::explained();
    let one = index(&explained, &[0], 0);
    let mut other = explained.captures[0].clone();
    other.path = "fast.pcap".into();
    explained.captures.push(other);
    explained.connections[1].capture = 1;
    let two = index(&explained, &[0], 0);
    let ends = "192.0.2.1:40000 → [2001:db8::2]:443";
    let places = [
        format!("</a> {ends} in &lt;slow&gt;.pcap: "),
        format!("#1 {ends} in fast.pcap: "),
        format!("<td class=\"words\">{ends} in &lt;slow&gt;.pcap</td>"),
        "<th class=\"words\">capture</th>".into(),
        "<td class=\"words\">fast.pcap</td></tr>".into(),
    ];
    for place in places {
        assert!(two.contains(&place) && !one.contains(&place), "{place}");
    }
}
