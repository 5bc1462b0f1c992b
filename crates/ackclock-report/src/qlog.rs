//! Events as qlog, which qvis and other tools for QUIC draw.
//!
//! Version 0.3: draft-ietf-quic-qlog-main-schema-02 section 3 has the file and the traces,
//! draft-ietf-quic-qlog-quic-events-01 sections 4 and 5 the events. TCP has no packet numbers: the
//! number of a packet is that of the transmission, counted over all segments of a flow. An ACK of
//! TCP does not say which transmission arrived. It stands for the last one of each segment that it
//! covers for the first time.

use std::collections::BTreeMap;
use std::io::{self, Write};

use ackclock_tcp::{Event, EventKind, Time};
use serde_json::{Value, json};

/// The trace of one flow, as its sender sees it.
///
/// ```
/// use ackclock_report::{QlogTrace, write_qlog};
///
/// let mut file = Vec::new();
/// write_qlog(&mut file, "two flows", &[QlogTrace::new("a"), QlogTrace::new("b")])?;
/// assert!(file.starts_with(b"{\"qlog_version\":\"0.3\""));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct QlogTrace {
    title: String,
    /// JSON objects with commas between them.
    events: String,
    /// Segments by their first byte.
    segments: BTreeMap<u64, Segment>,
    /// The number of the next packet, and of the next ACK.
    packets: u64,
    acks: u64,
    /// The greatest number acknowledged.
    largest: u64,
    /// Windows and flight as they were last.
    metrics: Option<[u64; 3]>,
}

/// A segment that is not acknowledged as a whole.
#[derive(Clone, Debug, Default)]
struct Segment {
    len: u32,
    /// The numbers of its transmissions, by which one it is.
    numbers: BTreeMap<u32, u64>,
    acked: bool,
}

impl QlogTrace {
    /// A trace without events.
    pub fn new(title: &str) -> QlogTrace {
        QlogTrace {
            title: title.into(),
            events: String::new(),
            segments: BTreeMap::new(),
            packets: 0,
            acks: 0,
            largest: 0,
            metrics: None,
        }
    }

    /// Adds an event. They come in the order of time, and times count from the first byte of the
    /// run or the capture.
    pub fn record(&mut self, event: &Event) {
        let at = event.at;
        match event.kind {
            EventKind::Sent { seq, len, transmission, .. } => self.sent(at, seq, len, transmission),
            EventKind::Acked { ack, sack, sacks, .. } => {
                self.acked(at, ack, sack.get(..sacks.into()).unwrap_or_default());
            }
            EventKind::Lost { seq, transmission, by, .. } => self.lost(at, seq, transmission, by),
            EventKind::RecoveryEntered { .. } => self.state(at, "recovery"),
            EventKind::RecoveryLeft { by_timeout: false, .. } => {
                self.state(at, "congestion_avoidance");
            }
            EventKind::TimedOut { .. } => {
                let data = json!({ "event_type": "expired", "timer_type": "pto" });
                self.event(at, "recovery:loss_timer_updated", &data);
                self.state(at, "slow_start");
            }
            EventKind::RecoveryLeft { by_timeout: true, .. }
            | EventKind::Written { .. }
            | EventKind::Undone { .. }
            | EventKind::Reduced { .. }
            | EventKind::MssChanged { .. }
            | EventKind::Arrived { .. }
            | EventKind::Dropped { .. }
            | EventKind::AckDropped { .. } => {}
        }
        self.windows(event);
    }

    fn sent(&mut self, at: Time, seq: u64, len: u32, transmission: u32) {
        let number = self.packets;
        self.packets += 1;
        let segment = self.segments.entry(seq).or_default();
        segment.len = len;
        segment.numbers.insert(transmission, number);
        let data = json!({
            "header": { "packet_type": "1RTT", "packet_number": number },
            "raw": { "length": len },
            "frames": [{ "frame_type": "stream", "stream_id": 0, "offset": seq, "length": len }],
        });
        self.event(at, "transport:packet_sent", &data);
    }

    fn acked(&mut self, at: Time, ack: u64, sack: &[(u64, u64)]) {
        let mut numbers = Vec::new();
        let mut cover = |segment: &mut Segment| {
            if !segment.acked {
                segment.acked = true;
                numbers.extend(segment.numbers.values().last());
            }
        };
        let ends = |(seq, segment): (&u64, &Segment)| seq.saturating_add(segment.len.into());
        while let Some(mut first) = self.segments.first_entry() {
            if ends((first.key(), first.get())) > ack {
                break;
            }
            cover(first.get_mut());
            first.remove();
        }
        for (left, right) in sack.iter().filter(|(left, right)| left < right) {
            for (seq, segment) in self.segments.range_mut(left..right) {
                if ends((seq, segment)) <= *right {
                    cover(segment);
                }
            }
        }
        numbers.sort_unstable();
        self.largest = self.largest.max(numbers.last().copied().unwrap_or(0));
        if numbers.is_empty() {
            // An ACK names the greatest number at least.
            numbers.push(self.largest);
        }
        let runs = numbers.chunk_by(|one, other| one + 1 == *other);
        let ranges: Vec<[u64; 2]> = runs.map(|run| [run[0], run[run.len() - 1]]).collect();
        let data = json!({
            "header": { "packet_type": "1RTT", "packet_number": self.acks },
            "raw": { "length": 0 },
            "frames": [{ "frame_type": "ack", "acked_ranges": ranges }],
        });
        self.acks += 1;
        self.event(at, "transport:packet_received", &data);
    }

    fn lost(&mut self, at: Time, seq: u64, transmission: u32, by: &str) {
        let number = self.segments.get(&seq).and_then(|s| s.numbers.get(&transmission));
        let Some(number) = number else { return };
        // Of all mechanisms those of RACK go by time.
        let trigger = if by.contains("rack") { "time_threshold" } else { "reordering_threshold" };
        let header = json!({ "packet_type": "1RTT", "packet_number": number });
        self.event(at, "recovery:packet_lost", &json!({ "header": header, "trigger": trigger }));
    }

    fn state(&mut self, at: Time, new: &str) {
        self.event(at, "recovery:congestion_state_updated", &json!({ "new": new }));
    }

    /// cwnd, ssthresh and flight where one of them has changed.
    fn windows(&mut self, event: &Event) {
        let flight = event.snd_nxt.saturating_sub(event.snd_una);
        let now = [event.cwnd, flight, event.ssthresh];
        if self.metrics.replace(now) == Some(now) {
            return;
        }
        let mut data = json!({ "congestion_window": event.cwnd, "bytes_in_flight": flight });
        if event.ssthresh != u64::MAX {
            data["ssthresh"] = event.ssthresh.into();
        }
        self.event(event.at, "recovery:metrics_updated", &data);
    }

    fn event(&mut self, at: Time, name: &str, data: &Value) {
        if !self.events.is_empty() {
            self.events.push_str(",\n");
        }
        // Milliseconds.
        let time = at.0 as f64 / 1e6;
        self.events.push_str(&json!({ "time": time, "name": name, "data": data }).to_string());
    }
}

/// Writes a file with these traces. Its name should end in `.qlog`.
///
/// # Errors
/// What writing to `out` returns.
pub fn write_qlog(mut out: impl Write, title: &str, traces: &[QlogTrace]) -> io::Result<()> {
    let title = json!(title);
    write!(
        out,
        "{{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON\",\"title\":{title},\"traces\":["
    )?;
    for (i, QlogTrace { title, events, .. }) in traces.iter().enumerate() {
        let title = json!(title);
        write!(
            out,
            "{}\n{{\"title\":{title},\"vantage_point\":{{\"name\":\"sender\",\"type\":\"server\"}},\
             \"common_fields\":{{\"time_format\":\"relative\",\"reference_time\":0,\
             \"protocol_type\":[\"TCP\"]}},\"events\":[\n{events}\n]}}",
            if i == 0 { "" } else { "," }
        )?;
    }
    writeln!(out, "]}}")?;
    out.flush()
}
