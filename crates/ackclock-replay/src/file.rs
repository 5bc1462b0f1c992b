//! Vectors as JSON lines: written, and read strictly.

use serde::{Deserialize, Serialize};

use crate::vector::{Ack, Changed, FORMAT, Header, Info, Sent, Step, Vector, What};

/// More segments than anybody records; a vector that has more would only take time.
const MOST_SEGMENTS: u64 = 1 << 20;
/// About eleven days, in microseconds.
const LATEST: u64 = 1_000_000_000_000;
/// Ticks a second of a kernel that can be answered.
const HZ: u32 = 250;
/// Congestion controls that can be answered.
const CONGESTION: [&str; 2] = ["cubic", "reno"];
/// Settings that can be answered, the least and the largest value of each. What has one value is
/// not modelled, and that is its default.
const SETTINGS: [(&str, i64, i64); 9] = [
    ("tcp_early_retrans", 0, 4),
    ("tcp_frto", 0, 2),
    ("tcp_max_reordering", 300, 300),
    ("tcp_recovery", 0, 7),
    ("tcp_reordering", 3, 3),
    ("tcp_rto_max_ms", 1_000, 120_000),
    ("tcp_rto_min_us", 1, 1_000_000),
    ("tcp_slow_start_after_idle", 0, 1),
    ("tcp_thin_linear_timeouts", 0, 0),
];
/// SACK blocks that an ACK has room for.
const MOST_BLOCKS: usize = 4;
/// What a line without a `format` may be.
const STEPS: &str =
    "a step is a `write`, an `ack`, `\"close\": true`, an `mss` or `\"timer\": true`";

/// What is wrong with a file of vectors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{line}: {what}")]
pub struct ReadError {
    /// The file.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// A line that is no header.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    write: Option<u64>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    close: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mss: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ack: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timer: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sack: Vec<(u64, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    echo: Option<u32>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    ece: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sent: Vec<Sent>,
    /// Which of these had PSH, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    push: Vec<usize>,
    /// Which of these had CWR.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cwr: Vec<usize>,
    #[serde(default, skip_serializing_if = "is_empty")]
    info: Changed,
}

fn is_empty(changed: &Changed) -> bool {
    *changed == Changed::default()
}

/// Only a header has a format.
#[derive(Deserialize)]
struct Which {
    format: Option<serde_json::Value>,
}

/// The vectors in the text of a file; `name` is what errors call it.
///
/// # Errors
/// The first line that is no part of a vector, and why.
pub fn read(name: &str, text: &str) -> Result<Vec<Vector>, ReadError> {
    let mut vectors: Vec<Vector> = Vec::new();
    let mut reader = Reader::default();
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let at_line = |what: String| ReadError { name: name.into(), line: i + 1, what };
        if !line.trim_start().starts_with('{') {
            return Err(at_line("a line is a JSON object".into()));
        }
        let which: Which = serde_json::from_str(line).map_err(|e| at_line(json(&e)))?;
        if let Some(format) = which.format {
            // Another version has other keys.
            if format != FORMAT {
                return Err(at_line(format!("the format is {format}; this reads \"{FORMAT}\"")));
            }
            let header: Header = serde_json::from_str(line).map_err(|e| at_line(json(&e)))?;
            check(&header).map_err(at_line)?;
            reader = Reader { window: header.window, ..Reader::default() };
            vectors.push(Vector { header, steps: Vec::new() });
            continue;
        }
        let Some(vector) = vectors.last_mut() else {
            return Err(at_line("a vector begins with a header, which has a `format`".into()));
        };
        let line: Line = serde_json::from_str(line).map_err(|e| at_line(json(&e)))?;
        vector.steps.push(reader.step(&vector.header, line).map_err(at_line)?);
    }
    Ok(vectors)
}

/// An error of the parser without the line, which is always the first.
fn json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => format!("column {}: {}", error.column(), &text[..end]),
        None => text,
    }
}

fn check(h: &Header) -> Result<(), String> {
    let within = |what: &str, value: u64, from: u64, to: u64| {
        let right = (from..=to).contains(&value);
        right.then_some(()).ok_or(format!("{what} is {value}, not {from} to {to}"))
    };
    if h.hz != HZ {
        return Err(format!("hz is {}; the mechanisms of Linux have ticks of {HZ} Hz", h.hz));
    }
    if !CONGESTION.contains(&h.congestion.as_str()) {
        let [one, other] = CONGESTION;
        let name = &h.congestion;
        return Err(format!("the congestion control is `{name}`, neither `{one}` nor `{other}`"));
    }
    for (name, &value) in &h.settings {
        match SETTINGS.iter().find(|(known, ..)| known == name) {
            None => return Err(format!("the setting `{name}` is not modelled")),
            Some(&(_, from, to)) if from == to && value != from => {
                return Err(format!(
                    "the setting `{name}` is modelled as {from} alone, not {value}"
                ));
            }
            Some((_, from, to)) if !(from..=to).contains(&&value) => {
                return Err(format!("the setting `{name}` is {value}, not {from} to {to}"));
            }
            Some(_) => {}
        }
    }
    within("mss", h.mss.into(), 1, 65_535)?;
    within("initial_window", h.initial_window.into(), 1, 1000)?;
    within("window_scale", h.window_scale.into(), 0, 14)?;
    within("window", h.window, 0, 65_535)?;
    within("syn_at", h.syn_at, 0, LATEST)?;
    if h.syn_spurious && (h.syn_retransmissions == 0 || !h.timestamps) {
        return Err("`syn_spurious` takes `timestamps` and `syn_retransmissions`".into());
    }
    if h.syn_retransmissions > 1 && !h.syn_spurious && h.initial_window != 1 {
        return Err("SYNs that were lost leave an `initial_window` of 1".into());
    }
    match h.round_trip {
        Some(span) => within("round_trip", span, 1, LATEST),
        None if h.syn_retransmissions > 0 => Ok(()),
        None => Err("only `syn_retransmissions` leave no `round_trip`".into()),
    }
}

/// What lines before this one have said.
#[derive(Default)]
struct Reader {
    at: u64,
    written: u64,
    /// The least MSS of a step.
    mss: Option<u32>,
    closed: bool,
    window: u64,
    inputs: usize,
    info: Info,
}

impl Reader {
    fn step(&mut self, header: &Header, mut line: Line) -> Result<Step, String> {
        if line.at < self.at {
            return Err(format!("`at` goes back from {} to {}", self.at, line.at));
        }
        if line.at > LATEST {
            return Err(format!("`at` is {}, more than {LATEST}", line.at));
        }
        self.at = line.at;
        let of_ack =
            line.window.is_some() || !line.sack.is_empty() || line.echo.is_some() || line.ece;
        let what = match (line.write, line.ack, line.close, line.mss, line.timer) {
            (None, Some(to), false, None, None) => self.ack(header, to, &line)?,
            (Some(bytes), None, false, None, None) => self.write(header, bytes)?,
            (None, None, true, None, None) => self.close(header)?,
            (None, None, false, Some(mss @ 1..=65_535), None) => self.cut(header, mss)?,
            (None, None, false, None, Some(true)) if self.inputs == 0 => {
                return Err("a timer needs an input before it".into());
            }
            (None, None, false, None, Some(true)) => What::Timer,
            (None, None, false, Some(mss), None) => {
                return Err(format!("mss is {mss}, not 1 to 65535"));
            }
            _ => return Err(STEPS.into()),
        };
        if of_ack && !matches!(what, What::Ack(_)) {
            return Err("`window`, `sack`, `echo` and `ece` belong to an `ack`".into());
        }
        if what != What::Timer {
            self.inputs += 1;
        }
        if let Some(s) =
            line.sent.iter().find(|s| s.position.saturating_add(s.len.into()) > self.written)
        {
            return Err(format!("{} bytes from {} were never written", s.len, s.position));
        }
        if !line.sack.is_empty() && !header.sack {
            return Err("`sack` needs `sack` in the header".into());
        }
        if line.echo.is_some() && !header.timestamps {
            return Err("`echo` needs `timestamps` in the header".into());
        }
        if !line.push.is_empty() && !header.offload {
            return Err("`push` needs `offload` in the header".into());
        }
        if (line.ece || !line.cwr.is_empty()) && !header.ecn {
            return Err("`ece` and `cwr` need `ecn` in the header".into());
        }
        note(&mut line.sent, "push", &line.push, |sent| &mut sent.push)?;
        note(&mut line.sent, "cwr", &line.cwr, |sent| &mut sent.cwr)?;
        line.info.apply(&mut self.info);
        Ok(Step { at: line.at, what, sent: line.sent, info: self.info })
    }

    fn write(&mut self, header: &Header, bytes: u64) -> Result<What, String> {
        if self.closed {
            return Err("nothing is written after `close`".into());
        }
        self.written = self.written.saturating_add(bytes);
        self.check_segments(header)?;
        Ok(What::Write(bytes))
    }

    /// What is outstanding becomes so many more segments.
    fn cut(&mut self, header: &Header, mss: u32) -> Result<What, String> {
        self.mss = Some(self.mss.map_or(mss, |least| least.min(mss)));
        self.check_segments(header)?;
        Ok(What::Mss(mss))
    }

    fn check_segments(&self, header: &Header) -> Result<(), String> {
        let mss = self.mss.map_or(header.mss, |least| least.min(header.mss));
        if self.written > u64::from(mss) * MOST_SEGMENTS {
            return Err(format!("more than {MOST_SEGMENTS} segments are written"));
        }
        Ok(())
    }

    /// The FIN is a byte.
    fn close(&mut self, header: &Header) -> Result<What, String> {
        self.write(header, 1)?;
        self.closed = true;
        Ok(What::Close)
    }

    fn ack(&mut self, header: &Header, to: u64, line: &Line) -> Result<What, String> {
        if to > self.written {
            return Err(format!("`ack` is {to}, but {} bytes were written", self.written));
        }
        self.window = line.window.unwrap_or(self.window);
        let scale = u64::from(header.window_scale);
        if self.window > 65_535 << scale
            || self.window & ((1 << scale) - 1) != 0 && line.window.is_some()
        {
            return Err(format!("`window` is {}, which no ACK says at scale {scale}", self.window));
        }
        if line.sack.len() > MOST_BLOCKS {
            return Err(format!("an ACK has room for {MOST_BLOCKS} SACK blocks"));
        }
        if let Some((left, right)) =
            line.sack.iter().find(|(left, right)| left >= right || *right > self.written)
        {
            return Err(format!("`sack` has {left} to {right}, which is no data that was written"));
        }
        let (sack, echo, ece) = (line.sack.clone(), line.echo, line.ece);
        Ok(What::Ack(Ack { to, window: self.window, sack, echo, ece }))
    }
}

/// Takes note of which segments had a flag.
fn note(
    sent: &mut [Sent],
    key: &str,
    which: &[usize],
    flag: fn(&mut Sent) -> &mut bool,
) -> Result<(), String> {
    for &i in which {
        match sent.get_mut(i) {
            Some(sent) => *flag(sent) = true,
            None => return Err(format!("`{key}` has {i}, but `sent` no such segment")),
        }
    }
    Ok(())
}

/// Vectors as the text of a file.
pub fn write(vectors: &[Vector]) -> String {
    let mut out = String::new();
    for vector in vectors {
        out += &text(&vector.header);
        let (mut info, mut window) = (Info::default(), vector.header.window);
        for step in &vector.steps {
            let mut line = Line {
                at: step.at,
                write: None,
                close: step.what == What::Close,
                mss: None,
                ack: None,
                timer: None,
                window: None,
                sack: Vec::new(),
                echo: None,
                ece: false,
                sent: step.sent.clone(),
                push: (0..step.sent.len()).filter(|&i| step.sent[i].push).collect(),
                cwr: (0..step.sent.len()).filter(|&i| step.sent[i].cwr).collect(),
                info: Changed::between(&info, &step.info),
            };
            match &step.what {
                What::Write(bytes) => line.write = Some(*bytes),
                What::Mss(mss) => line.mss = Some(*mss),
                What::Close => {}
                What::Timer => line.timer = Some(true),
                What::Ack(ack) => {
                    line.ack = Some(ack.to);
                    line.window = (ack.window != window).then_some(ack.window);
                    line.sack.clone_from(&ack.sack);
                    line.echo = ack.echo;
                    line.ece = ack.ece;
                    window = ack.window;
                }
            }
            info = step.info;
            out += &text(&line);
        }
    }
    out
}

fn text(value: &impl Serialize) -> String {
    // Nothing in these types can fail to be JSON: maps have text for keys.
    serde_json::to_string(value).map(|line| line + "\n").unwrap_or_default()
}
