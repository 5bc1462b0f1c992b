//! The data of a picture as CSV: a line for each mark.

use super::panel::Picture;
use super::style::CAUSES;
use super::trace::Trace;
use crate::csv::csv_line;

const HEADING: [&str; 7] =
    ["panel", "mark", "time_s", "until_s", "low_segments", "high_segments", "detail"];

/// A mark: its time, until when it lasts, from where to where it reaches in segments, and words.
#[derive(Default)]
struct Row<'a> {
    mark: &'a str,
    time: f64,
    until: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    detail: &'a str,
}

pub(super) fn render(picture: &Picture, traces: &[Trace]) -> String {
    let (from, to) = picture.window.unwrap_or((f64::MIN, f64::MAX));
    let mut text = csv_line(HEADING);
    for trace in traces {
        let mut rows = rows(trace);
        for mark in picture.marks {
            rows.push(Row { mark: "mark", time: mark.at, detail: &mark.label, ..Row::default() });
        }
        rows.retain(|row| row.time <= to && row.until.unwrap_or(row.time) >= from);
        // Of the same time, in the order of the kinds of marks.
        rows.sort_by(|a, b| a.time.total_cmp(&b.time));
        for Row { mark, time, until, low, high, detail } in rows {
            let number = |n: Option<f64>| n.map(|n| n.to_string()).unwrap_or_default();
            text.push_str(&csv_line([
                &trace.name,
                mark,
                &time.to_string(),
                &number(until),
                &number(low),
                &number(high),
                detail,
            ]));
        }
    }
    text
}

fn rows(trace: &Trace) -> Vec<Row<'_>> {
    let segments = |bytes: u64| Some(bytes as f64 / trace.mss as f64);
    let mut rows = Vec::new();
    let (s, f) = (&trace.segments, &trace.fates);
    let mut lost: Vec<bool> = s.drop.iter().map(Option::is_some).collect();
    f.segment.iter().zip(&f.lost).for_each(|(i, is)| lost[*i] |= is);
    for (i, time) in s.t.iter().enumerate() {
        let cause = CAUSES.get(usize::from(s.cause[i])).map_or("", |cause| cause.key);
        let (low, high) = (segments(s.seq[i]), segments(s.seq[i].saturating_add(s.len[i].into())));
        let row = |mark| Row { mark, time: *time, low, high, ..Row::default() };
        rows.push(row(cause));
        rows.extend(lost[i].then(|| row("lost")));
    }
    for (i, proof) in f.segment.iter().zip(&f.spurious) {
        let (low, high) = (segments(s.seq[*i]), segments(s.seq[*i] + u64::from(s.len[*i])));
        let row = |detail| Row { mark: "spurious", time: s.t[*i], low, high, detail, until: None };
        rows.extend(proof.map(row));
    }
    let a = &trace.acks;
    for (i, time) in a.t.iter().enumerate() {
        let row = |mark, bytes| Row { mark, time: *time, low: segments(bytes), ..Row::default() };
        rows.push(row("ack", a.ack[i]));
        if a.dupacks[i] > 0 && a.newly_acked[i] == 0 {
            rows.push(row("duplicate_ack", a.ack[i]));
        }
        for (low, high) in &a.sack[i] {
            rows.push(Row { high: segments(*high), ..row("sack", *low) });
        }
        rows.push(row("window_edge", a.edge[i]));
    }
    let w = &trace.windows;
    for (i, time) in w.t.iter().enumerate() {
        let row = |mark, bytes| Row { mark, time: *time, low: segments(bytes), ..Row::default() };
        rows.push(row("cwnd", w.cwnd[i]));
        rows.extend(w.ssthresh[i].map(|bytes| row("ssthresh", bytes)));
        rows.push(row("flight", w.flight[i]));
    }
    let end = w.end;
    let (r, z, l) = (&trace.recoveries, &trace.zero, &trace.stalls);
    for (i, time) in r.t0.iter().enumerate() {
        let row = Row { mark: "in_recovery", time: *time, detail: r.by[i], ..Row::default() };
        rows.push(Row { until: r.t1[i].or(end), ..row });
    }
    for (i, time) in z.t0.iter().enumerate() {
        let row =
            Row { mark: "zero_window", time: *time, low: segments(z.edge[i]), ..Row::default() };
        rows.push(Row { until: z.t1[i].or(end), ..row });
    }
    for (i, time) in l.t0.iter().enumerate() {
        let row = Row { mark: "stall", time: *time, detail: &l.label[i], ..Row::default() };
        rows.push(Row { until: Some(l.t1[i]), ..row });
    }
    let o = &trace.timeouts;
    for (i, time) in o.t.iter().enumerate() {
        let low = segments(o.seq[i]);
        rows.push(Row {
            mark: "timer_expired",
            time: *time,
            low,
            detail: o.class[i],
            ..Row::default()
        });
    }
    let u = &trace.undone;
    for (time, by) in u.t.iter().zip(&u.by) {
        rows.push(Row { mark: "undo", time: *time, detail: by, ..Row::default() });
    }
    let reduced = trace.reduced.t.iter();
    rows.extend(reduced.map(|time| Row { mark: "reduced", time: *time, ..Row::default() }));
    rows
}
