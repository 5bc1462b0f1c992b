//! `ackclock explain --interface`: connections explained as they end, and metrics of all.

use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use ackclock_explain::{
    Filter, FilterError, Found, Ignored, Kind, Limit, LinkType, Monitor, Reader,
};
use ackclock_impair::exposition::Exposition;
use ackclock_run::Cancel;
use ackclock_tcp::{Time, TimeoutClass};
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::process::{Pid, Signal, kill_process};

use super::metrics::Endpoint;
use super::{Interrupt, heed_signals};
use crate::error::Error;
use crate::output::{print, write_out};

/// What to watch, and how to tell of it.
pub(crate) struct Watch<'a> {
    pub interface: &'a str,
    /// In the language of tcpdump.
    pub filter: Option<&'a str>,
    pub metrics: Option<SocketAddr>,
    pub json: bool,
}

/// Bytes kept of each packet: all headers, also in tunnels.
const SNAPLEN: &str = "256";

/// How often ended connections are told of.
const TICK: Duration = Duration::from_secs(1);

const SIGNALS: u64 = 0;

/// What tcpdump says once it captures.
const LISTENS: &str = "listening on ";

type Shared = Arc<Mutex<Monitor>>;

/// Watches until a signal comes. Returns what is left to say.
pub(crate) fn watch(watch: &Watch<'_>) -> Result<String, Error> {
    // Before threads.
    let mut interrupt = Interrupt::new()?;
    let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(failed)?;
    epoll::add(&epoll, &interrupt, EventData::new_u64(SIGNALS), EventFlags::IN).map_err(failed)?;
    let mut endpoint = listen(watch, &epoll)?;
    let monitor: Shared = Arc::new(Mutex::new(Monitor::new(watch.interface)));
    let capture = Capture::start(watch, &monitor)?;
    let mut gone = false;
    let (mut events, mut tick) = (Vec::with_capacity(64), Instant::now() + TICK);
    let teller = Teller::start();
    while interrupt.taken() == 0 && !gone {
        wait_until(tick, &epoll, &mut events)?;
        for event in &events {
            let number = event.data.u64();
            if let (Some(endpoint), true) = (&mut endpoint, number != SIGNALS) {
                endpoint.on_event(&epoll, number, || text(&locked(&monitor), capture.missed()));
            }
        }
        if Instant::now() >= tick {
            tick = Instant::now() + TICK;
            let mut monitor = locked(&monitor);
            let bad = monitor.turn(now());
            teller.tell(&monitor, &bad, watch.json);
            drop(monitor);
            if teller.thread.is_finished() {
                return teller.end().map(|()| String::new());
            }
            if let Some(endpoint) = &mut endpoint {
                endpoint.sweep();
                capture.ask_what_is_missed();
            }
            gone = capture.reading.is_finished();
        }
    }
    end(watch, &monitor, capture, teller, gone)
}

fn failed(error: rustix::io::Errno) -> Error {
    Error::system("epoll")(error.into())
}

/// Whoever asks for metrics comes here.
fn listen(watch: &Watch<'_>, epoll: &impl AsFd) -> Result<Option<Endpoint>, Error> {
    let Some(address) = watch.metrics else { return Ok(None) };
    let failed = Error::system(format!("--metrics {address}"));
    let endpoint = Endpoint::listen(address).map_err(failed)?;
    endpoint.register(epoll).map_err(Error::system("epoll"))?;
    Ok(Some(endpoint))
}

/// Waits for events until this time.
fn wait_until(at: Instant, epoll: &impl AsFd, events: &mut Vec<Event>) -> Result<(), Error> {
    let wait = Timespec::try_from(at.saturating_duration_since(Instant::now())).ok();
    events.clear();
    match epoll::wait(epoll, rustix::buffer::spare_capacity(events), wait.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// Ends the capture, and tells of all connections that are left. `gone`: it has ended by itself.
fn end(
    watch: &Watch<'_>,
    monitor: &Shared,
    capture: Capture,
    teller: Teller,
    gone: bool,
) -> Result<String, Error> {
    // Nobody may read what is left to say: another signal ends the process.
    let over = Cancel::default();
    over.cancel();
    heed_signals(over);
    let Stopped { says, status, read, missed } = capture.stop();
    let mut monitor = locked(monitor);
    let mut bad = monitor.turn(now());
    bad.extend(monitor.finish());
    teller.tell(&monitor, &bad, watch.json);
    teller.end()?;
    if missed > 0 {
        let _ = writeln!(io::stderr(), "warning: tcpdump missed {missed} packets");
    }
    let captured = says.contains(LISTENS);
    let headline = if watch.json || !captured { String::new() } else { monitor.headline() };
    if gone {
        print(&headline)?;
        return Err(refused(watch.filter, &says).unwrap_or_else(|| why(&says, status, read)));
    }
    Ok(headline)
}

/// How many packets tcpdump has missed so far, if it says so: at its end, or when it is asked.
fn missed(line: &str) -> Option<u64> {
    let part = line.split(", ").find(|part| part.ends_with(" dropped by kernel"))?;
    part.trim_start_matches("tcpdump: ").split_once(" packet")?.0.parse().ok()
}

/// That tcpdump has ended because it refuses the filter: it says the same where it only compiles.
fn refused(filter: Option<&str>, says: &str) -> Option<Error> {
    const ETHERNET: LinkType = LinkType(1);
    match Filter::new(filter?).compile(ETHERNET) {
        Err(FilterError::Refused { expression, says: why, .. }) if says.contains(&why) => {
            Some(Error::Usage(format!("--filter: filter `{expression}`: {why}")))
        }
        _ => None,
    }
}

/// Why tcpdump has ended by itself, or is read no more: the last thing that it says, but for where
/// it listens; or what is wrong with what it has written.
fn why(says: &str, status: Option<ExitStatus>, read: io::Result<()>) -> Error {
    let mut lines = says.lines().rev().filter_map(|line| line.strip_prefix("tcpdump: "));
    let last = lines.find(|line| !line.starts_with(LISTENS));
    let ended = || status.map_or("it has ended".into(), |status| format!("it has ended: {status}"));
    let wrong = || read.err().map(|error| format!("what it writes cannot be read: {error}"));
    let last = last.map(str::to_owned).or_else(wrong).unwrap_or_else(ended);
    Error::System { what: "tcpdump".into(), error: io::Error::other(last) }
}

/// Nobody panics with it.
fn locked(monitor: &Shared) -> MutexGuard<'_, Monitor> {
    monitor.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// tcpdump, which has the rights and the filters, and the threads that read what it writes and what
/// it says.
struct Capture {
    tcpdump: Child,
    reading: JoinHandle<io::Result<()>>,
    listening: JoinHandle<String>,
    heard: Arc<Heard>,
}

/// What tcpdump has said so far.
#[derive(Default)]
struct Heard {
    /// It captures.
    begun: AtomicBool,
    /// So many packets it has missed.
    missed: AtomicU64,
}

/// How a capture ended.
struct Stopped {
    /// What tcpdump has said, but for counts.
    says: String,
    status: Option<ExitStatus>,
    read: io::Result<()>,
    missed: u64,
}

impl Capture {
    fn start(watch: &Watch<'_>, monitor: &Shared) -> Result<Capture, Error> {
        let mut tcpdump = Command::new("tcpdump")
            .args(["-i", watch.interface, "-n", "-s", SNAPLEN, "-U", "-w", "-"])
            .args(["--time-stamp-precision", "nano", "--"])
            .args(watch.filter)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(Error::system("--interface needs tcpdump, which cannot be run"))?;
        let (Some(output), Some(errors)) = (tcpdump.stdout.take(), tcpdump.stderr.take()) else {
            return Err(Error::system("tcpdump")(io::Error::other("it has no output")));
        };
        let (monitor, heard) = (Arc::clone(monitor), Arc::<Heard>::default());
        let reading = thread::spawn(move || read(output, &monitor));
        let hears = Arc::clone(&heard);
        let listening = thread::spawn(move || listen_to(errors, &hears));
        Ok(Capture { tcpdump, reading, listening, heard })
    }

    /// How many packets were missed, by what was last asked for.
    fn missed(&self) -> u64 {
        self.heard.missed.load(Ordering::Relaxed)
    }

    /// tcpdump says what it has missed when SIGUSR1 comes, which would end it before it captures.
    fn ask_what_is_missed(&self) {
        if self.heard.begun.load(Ordering::Relaxed) {
            let _ = kill_process(Pid::from_child(&self.tcpdump), Signal::USR1);
        }
    }

    /// Ends it, and takes what it has still written.
    fn stop(mut self) -> Stopped {
        // Then it says how many packets it has missed. It takes SIGPIPE as it takes SIGINT, and
        // that is blocked in it as it is in us. It has ended already if the device is gone.
        let _ = kill_process(Pid::from_child(&self.tcpdump), Signal::PIPE);
        let read = self.reading.join().unwrap_or(Ok(()));
        let says = self.listening.join().unwrap_or_default();
        let missed = self.heard.missed.load(Ordering::Relaxed);
        Stopped { says, status: self.tcpdump.wait().ok(), read, missed }
    }
}

/// Returns what tcpdump has said by its end, but for counts, of which many come.
fn listen_to(errors: ChildStderr, heard: &Heard) -> String {
    let mut says = String::new();
    for line in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        if let Some(missed) = missed(&line) {
            heard.missed.store(missed, Ordering::Relaxed);
        } else {
            heard.begun.fetch_or(line.contains(LISTENS), Ordering::Relaxed);
            says.push_str(&line);
            says.push('\n');
        }
    }
    says
}

fn read(output: ChildStdout, monitor: &Shared) -> io::Result<()> {
    let mut reader = Reader::new(Box::new(output))?;
    while let Some(frame) = reader.next()? {
        locked(monitor).frame(&frame);
    }
    match reader.damage() {
        Some(damage) => Err(io::Error::other(format!("byte {}: {}", damage.offset, damage.what))),
        None => Ok(()),
    }
}

/// Writes to standard output in a thread of its own: whoever reads it may pause.
struct Teller {
    lines: Sender<String>,
    /// Ends before the rest where nobody reads any more: then nobody is there to watch for.
    thread: JoinHandle<Result<(), Error>>,
}

impl Teller {
    fn start() -> Teller {
        let (lines, told) = mpsc::channel::<String>();
        let write = |line: String| write_out(|out| out.write_all(line.as_bytes()));
        Teller { lines, thread: thread::spawn(move || told.iter().try_for_each(write)) }
    }

    fn tell(&self, monitor: &Monitor, bad: &[Found], json: bool) {
        for found in bad {
            let line = match json {
                true => monitor.json(found).unwrap_or_default(),
                false => Monitor::line(found),
            };
            // If the thread has ended, that is looked at.
            let _ = self.lines.send(line);
        }
    }

    /// Waits until all is written.
    fn end(self) -> Result<(), Error> {
        drop(self.lines);
        self.thread.join().unwrap_or(Ok(()))
    }
}

/// The metrics. `missed`: packets that were not seen.
fn text(monitor: &Monitor, missed: u64) -> String {
    let mut to = Exposition::plain();
    let (all, bad, capture) = (monitor.all(), monitor.bad(), monitor.capture());
    let counts = &all.counts;
    to.gauge("ackclock_explain_open", "Connections that are open.", monitor.open() as u64);
    to.counter("ackclock_explain_ended_total", "Connections that have ended.", all.connections);
    to.counter(
        "ackclock_explain_bad_total",
        "Of those, connections that were told of.",
        bad.connections,
    );
    to.counter("ackclock_explain_bytes_total", "Payload of ended connections.", counts.bytes);
    to.counter(
        "ackclock_explain_segments_total",
        "Segments of ended connections, retransmissions included.",
        counts.segments,
    );
    to.counters(
        "ackclock_explain_retransmissions_total",
        "Retransmissions of ended connections by kind.",
        "kind",
        &Kind::ALL.map(|kind| (kind.name(), counts.of(kind))),
    );
    to.counter(
        "ackclock_explain_spurious_total",
        "Of the retransmissions, those proved spurious.",
        counts.spurious,
    );
    to.counters(
        "ackclock_explain_timeouts_total",
        "Retransmission timeouts of ended connections by class.",
        "class",
        &TimeoutClass::ALL.map(|class| (class.name(), counts.timeouts_of(class))),
    );
    to.counters(
        "ackclock_explain_limited_seconds_total",
        "Lifetimes of ended connections by what limited their senders.",
        "limit",
        &Limit::ALL.map(|limit| (limit.name(), all.lifetime.of(limit).secs_f64())),
    );
    to.counter(
        "ackclock_explain_lost_seconds_total",
        "Time lost in stalls by ended connections.",
        counts.lost_time().secs_f64(),
    );
    to.counter("ackclock_explain_packets_total", "Packets seen.", capture.packets);
    to.counter("ackclock_explain_missed_packets_total", "Packets that tcpdump missed.", missed);
    to.counter(
        "ackclock_explain_tcp_packets_total",
        "Of those, packets with TCP.",
        capture.segments,
    );
    let ignored = Ignored::ALL.iter().map(|why| why.name());
    let frames = |why| (why, capture.ignored.get(why).copied().unwrap_or(0));
    let ignored: Vec<(&str, u64)> = ignored.map(frames).collect();
    to.counters(
        "ackclock_explain_left_out_packets_total",
        "Packets left out, by reason.",
        "reason",
        &ignored,
    );
    to.finish()
}

#[cfg(test)]
mod tests;
