//! Captures of the kernel explained, beside what was true of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use ackclock_tcp::{Time, TimeoutClass};
use ackclock_trace::{
    Connection, Flow, Kind, Limit, Reader, Settings, State, Tracker, decode, hosts,
};
use serde_json::{Value, json};

use super::truth::{self, Info, Truth};
use crate::captures;
use crate::matrix::{Matrix, Score};
use crate::places::PLACES;
use crate::shares;
use crate::truth::{Expiry, Retransmitted};
use crate::ways::TrueWays;

/// How captures of the kernel were explained.
#[derive(Clone, Debug)]
pub struct KernelScore {
    /// As of the simulator's captures. A receiver reports spurious ones where D-SACK or
    /// timestamps are in use. Of those that were lost themselves nobody reports anything, but for
    /// the echo of an older timestamp.
    pub score: Score,
    /// Expiries of the timer beside fast retransmissions.
    pub apart: Matrix,
    /// Spurious ones that were reported: by a D-SACK that came back, or the echo of an older
    /// timestamp.
    pub reported: Matrix,
    /// Shares of the lifetime beside those that the kernel tells.
    pub told: Told,
    /// What was wrong where, by capture.
    pub mistakes: BTreeMap<String, Vec<String>>,
}

impl Default for KernelScore {
    fn default() -> Self {
        KernelScore {
            score: Score::default(),
            apart: Matrix::new(
                &["timeout", "fast_retransmit"],
                &["timeout", "fast_retransmit", "other"],
            ),
            reported: Matrix::new(&["yes", "no"], &["yes", "no", "unknown"]),
            told: Told::default(),
            mistakes: BTreeMap::new(),
        }
    }
}

/// All captures of a directory, as [`take`](super::take) writes them, by [`PLACES`]. A place of
/// which there are none counts nothing.
///
/// # Errors
/// What reading returns, and [`io::ErrorKind::InvalidData`] where a truth or a capture is none.
pub fn score(directory: &Path) -> io::Result<[KernelScore; 3]> {
    let mut all: [KernelScore; 3] = Default::default();
    let mut files: Vec<_> =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "json")) {
        let truth: Truth = serde_json::from_slice(&fs::read(file)?)?;
        for (place, all) in all.iter_mut().enumerate() {
            let captures = ["pcap", "pcap.zst"]
                .map(|end| file.with_extension(format!("{}.{end}", PLACES[place])));
            let there = captures.iter().find(|capture| capture.exists() && truth.has(place));
            let Some(capture) = there else { continue };
            all.add(&truth, place, &connections(capture, None)?);
            for info in truth.tcp_info.iter().filter(|_| place == 0) {
                all.told(&truth, info, &connections(capture, Some(Time(info.t_ns)))?);
            }
        }
    }
    Ok(all)
}

/// The connections of a capture `until` then.
///
/// # Errors
/// What reading it returns.
pub fn connections(capture: &Path, until: Option<Time>) -> io::Result<Vec<Connection>> {
    let mut reader = Reader::new(Box::new(File::open(capture)?))?;
    let mut tracker = Tracker::new(Settings::default());
    while let Some(frame) = reader.next()? {
        if let Ok(packet) = decode(&frame)
            && until.is_none_or(|until| packet.at <= until)
        {
            tracker.packet(&packet);
        }
    }
    let mut found: Vec<Connection> = std::iter::from_fn(|| tracker.poll_ended()).collect();
    found.extend(tracker.finish());
    hosts::decide(&mut found);
    Ok(found)
}

/// Connections whose shares of the lifetime were found to within 5 % of it: until `TCP_INFO` was
/// asked for, by what it says then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// All.
    pub connections: u64,
    /// Those whose time with nothing outstanding was found: neither `tcpi_busy_time` nor handshake.
    pub idle: u64,
    /// Those whose time limited by the receiver's window was found (`tcpi_rwnd_limited`).
    pub receive_window: u64,
}

/// A segment in a capture: its frame and first byte.
type Place = (u64, u32);

/// A retransmission that came to the capture.
struct Seen<'a> {
    frame: u64,
    again: &'a truth::Retransmission,
}

impl KernelScore {
    /// Adds a capture of this one of [`PLACES`]. Only what came to it counts.
    fn add(&mut self, truth: &Truth, place: usize, found: &[Connection]) {
        let mut mistakes = Vec::new();
        let (mut were, mut are) = (0, 0);
        for connection in &truth.connections {
            // Ports may be used again.
            let ends = [connection.sender, connection.receiver];
            let theirs = found.iter().filter_map(|c| Some((c, of(c, ends)?)));
            let nearest = theirs.min_by_key(|(c, _)| c.start.0.abs_diff(connection.t_ns));
            let Some((found, flow)) = nearest else {
                mistakes.push(format!("connection {} not found", connection.receiver));
                continue;
            };
            let seen: Vec<Seen> = connection
                .retransmissions
                .iter()
                .filter_map(|again| Some(Seen { frame: again.frame(place)?, again }))
                .collect();
            were += seen.len() as u64;
            are += flow.retransmissions.len() as u64;
            let sends = found.client == connection.sender;
            self.score.places.add(PLACES[place], captures::place(found.position.vantage, sends));
            self.retransmissions(truth, &seen, flow, &mut mistakes);
            let wrong = self.score.ways.add(&TrueWays::kernel(&truth.plan), &flow.ways);
            if !wrong.is_empty() {
                mistakes.push(format!("ways: {wrong:?} wrong: {:?}", flow.ways));
            }
            if truth.traced {
                self.timeouts(connection, &seen, flow, &mut mistakes);
            }
        }
        // What the kernel counted, which is what the truth has unless the trace had gaps.
        let counted = truth.counters.get("RetransSegs").copied().filter(|_| place == 0);
        self.score.capture(counted.unwrap_or(were), are);
        if were != are {
            mistakes.push(format!("{were} retransmissions, {are} found"));
        }
        if !mistakes.is_empty() {
            self.mistakes.insert(truth.plan.name.clone(), mistakes);
        }
    }

    /// Adds what the kernel said of a connection, of which no more than until then was found.
    fn told(&mut self, truth: &Truth, info: &Info, found: &[Connection]) {
        let found = found.iter().rev();
        let mut found = found.filter_map(|c| Some((c, of(c, [info.sender, info.receiver])?)));
        let Some((connection, flow)) = found.next() else { return };
        let seconds = |limit| flow.lifetime.of(limit).secs_f64();
        // With something outstanding it has been busy since the last packet.
        let since = Time(info.t_ns).since(connection.end);
        let since = if info.queued > 0 { since.secs_f64() } else { 0.0 };
        let whole = flow.lifetime.whole().secs_f64() + since;
        let busy = whole - seconds(Limit::Application) - seconds(Limit::Handshake);
        let told = &mut self.told;
        told.connections += 1;
        for (name, found, ms, right) in [
            ("busy", busy, info.busy_ms, &mut told.idle),
            (
                "receive window",
                seconds(Limit::ReceiveWindow),
                info.receive_window_ms,
                &mut told.receive_window,
            ),
        ] {
            let truly = ms as f64 / 1e3;
            if (found - truly).abs() <= shares::WITHIN * whole {
                *right += 1;
            } else {
                self.mistakes.entry(truth.plan.name.clone()).or_default().push(format!(
                    "{name} of {}: {truly:.3} s of {whole:.3}, found {found:.3}",
                    info.receiver
                ));
            }
        }
    }

    fn retransmissions(
        &mut self,
        truth: &Truth,
        seen: &[Seen<'_>],
        flow: &Flow,
        mistakes: &mut Vec<String>,
    ) {
        let is_on =
            |key: &str| truth.plan.sysctl.get(key).and_then(toml::Value::as_integer) != Some(0);
        let can_report = is_on("tcp_timestamps") || is_on("tcp_sack") && is_on("tcp_dsack");
        let mut places: BTreeMap<Place, (Option<usize>, Option<usize>)> = BTreeMap::new();
        for (i, t) in seen.iter().enumerate() {
            places.entry((t.frame, t.again.seq)).or_default().0 = Some(i);
        }
        for (i, f) in flow.retransmissions.iter().enumerate() {
            places.entry((f.frame, f.seq.0)).or_default().1 = Some(i);
        }
        for ((frame, seq), (was, is)) in places {
            let was = was.map(|i| seen[i].again);
            let is = is.map(|i| &flow.retransmissions[i]);
            let kind = was.and_then(|was| kind(was.kind.as_deref()?));
            let vain = was.is_some_and(|was| was.spurious && was.lost && !was.reported);
            let can_report = can_report && !vain;
            let again = was.map(|was| Retransmitted {
                kind: kind.unwrap_or(Kind::Unknown),
                spurious: Some(was.spurious),
                reported: can_report,
                lost: Some(was.lost),
            });
            if truth.traced && (was.is_none() || kind.is_some()) {
                self.score.retransmission(again.as_ref(), is);
            }
            let names = (kind.map_or("none", Kind::name), is.map_or("none", |is| is.kind.name()));
            if truth.traced && names.0 != names.1 {
                mistakes
                    .push(format!("frame {frame}, seq {seq}: {} found as {}", names.0, names.1));
            }
            self.apart.add(apart(names.0), apart(names.1));
            if let (Some(was), Some(is)) = (was, is) {
                let said = match (is.spurious, is.known) {
                    (Some(_), _) => "yes",
                    (None, true) => "no",
                    (None, false) => "unknown",
                };
                if was.reported || !was.spurious {
                    self.reported.add(if was.spurious { "yes" } else { "no" }, said);
                }
                if was.spurious && said != "yes" && can_report {
                    let reported = if was.reported { "reported" } else { "not reported" };
                    mistakes.push(format!(
                        "frame {frame}, seq {seq}: spurious and {reported}, found {said}"
                    ));
                }
                if !was.spurious && said == "yes" {
                    mistakes.push(format!(
                        "frame {frame}, seq {seq}: not spurious, found so by {:?}",
                        is.spurious
                    ));
                }
                if is.lost.is_some_and(|lost| lost != was.lost) {
                    mistakes.push(format!(
                        "frame {frame}, seq {seq}: lost {}, found {:?}",
                        was.lost, is.lost
                    ));
                }
            }
        }
    }

    fn timeouts(
        &mut self,
        connection: &truth::Connection,
        seen: &[Seen<'_>],
        flow: &Flow,
        mistakes: &mut Vec<String>,
    ) {
        let mut places: BTreeMap<Place, (Option<usize>, Option<usize>)> = BTreeMap::new();
        for (i, t) in connection.timeouts.iter().enumerate() {
            let sent = seen.iter().find(|s| (s.again.t_ns, s.again.seq) == (t.t_ns, t.seq));
            if let Some(Seen { frame, .. }) = sent {
                places.entry((*frame, t.seq)).or_default().0 = Some(i);
            }
        }
        for (i, f) in flow.timeouts.iter().enumerate() {
            let frame = flow.retransmissions.get(f.retransmission).map_or(0, |r| r.frame);
            places.entry((frame, f.seq.0)).or_default().1 = Some(i);
        }
        for ((frame, seq), (was, is)) in places {
            let was = was.map(|i| &connection.timeouts[i]);
            let is = is.map(|i| &flow.timeouts[i]);
            let expiry = was.map(|was| Expiry {
                class: TimeoutClass::ALL
                    .into_iter()
                    .find(|c| c.name() == was.class)
                    .unwrap_or(TimeoutClass::Unknown),
                state: State::ALL.into_iter().find(|s| s.name() == was.state),
            });
            self.score.timeout(expiry.as_ref(), is);
            let names =
                (was.map_or("none", |was| &was.class), is.map_or("none", |is| is.class.name()));
            if names.0 != names.1 {
                mistakes.push(format!(
                    "timeout in frame {frame}, seq {seq}: {} found as {}",
                    names.0, names.1
                ));
            }
            if let (Some(was), Some(is)) = (was, is)
                && was.state != is.state.name()
            {
                mistakes.push(format!(
                    "timeout in frame {frame}, seq {seq}: in {}, found {}",
                    was.state,
                    is.state.name()
                ));
            }
        }
    }

    /// As aligned tables.
    pub fn table(&self, title: &str) -> String {
        let mut out = self.score.table(title);
        let Told { connections, idle, receive_window } = self.told;
        if connections > 0 {
            let _ = writeln!(
                out,
                "\nshares within 5 % of the lifetime of what TCP_INFO says, of {connections} \
                 connections: idle {idle}, receive window {receive_window}"
            );
        }
        for (name, matrix) in
            [("timeout or fast", &self.apart), ("spurious, report seen", &self.reported)]
        {
            let _ = write!(out, "\n{}", matrix.table(name));
        }
        out
    }

    /// The counts.
    pub fn json(&self) -> Value {
        let mut out = self.score.json();
        out["timeout_or_fast"] = self.apart.json();
        out["spurious_report_seen"] = self.reported.json();
        out["tcp_info"] = json!({
            "connections": self.told.connections,
            "idle": self.told.idle,
            "receive_window": self.told.receive_window,
        });
        out["mistakes"] = json!(self.mistakes);
        out
    }
}

/// What `sender` sent to `receiver` on this connection, if it is of theirs.
fn of(c: &Connection, [sender, receiver]: [SocketAddr; 2]) -> Option<&Flow> {
    match (c.client, c.server) {
        ends if ends == (sender, receiver) => Some(&c.from_client),
        ends if ends == (receiver, sender) => Some(&c.from_server),
        _ => None,
    }
}

fn kind(name: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name)
}

fn apart(kind: &str) -> &str {
    match kind {
        "timeout" | "backed_off_timeout" => "timeout",
        "fast_retransmit" => kind,
        _ => "other",
    }
}
