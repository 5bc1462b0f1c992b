//! Metrics in the text format of Prometheus (exposition format 0.0.4), and the kernel's TCP sockets
//! on which they are fetched.

use std::collections::HashMap;
use std::fmt::{Display, Write as _};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant, SystemTime};

use ackclock_tcp::{Stats, TimeoutClass};
use rustix::event::epoll::{self, EventData, EventFlags};

use super::histogram::Histogram;
use crate::http::{Inbox, Method, Refusal, Request, Status, head, refuse};

/// Fetches at the same time. For a further one the oldest ends: of those that have said nothing, or
/// else have not asked yet, or else do not read their answer.
const MAX_FETCHES: usize = 32;

/// How long a fetch may take.
const LONGEST: Duration = Duration::from_secs(10);

/// Fetches have this bit in an epoll, and the listener has all bits. So the numbers of whoever has
/// the epoll are small.
const FETCH: u64 = 1 << 63;
const LISTENER: u64 = u64::MAX;

/// Metrics as text.
pub(crate) struct Exposition {
    /// A label that every sample carries.
    label: Option<String>,
    /// The family that is being written.
    family: String,
    text: String,
}

impl Exposition {
    /// Begins with what we are. No sample carries a label that is not its own.
    pub fn plain() -> Exposition {
        let mut to = Exposition { label: None, family: String::new(), text: String::new() };
        let name = "ackclock_build_info";
        to.family(name, "1, with the version of the command.", "gauge");
        to.sample(name, Some(label("version", env!("CARGO_PKG_VERSION"))), 1);
        to
    }

    /// Writes a family for each strategy, whose label its samples carry.
    pub fn each<T>(&mut self, of: &[(&str, T)], write: impl Fn(&mut Exposition, &T)) {
        let own = self.label.take();
        for (strategy, values) in of {
            self.label = Some(label("strategy", strategy));
            write(self, values);
        }
        self.label = own;
    }

    /// A value that goes up and down.
    pub fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, help, "gauge");
        self.sample(name, None, value);
    }

    /// A value that only grows.
    pub fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, help, "counter");
        self.sample(name, None, value);
    }

    /// A counter for each value of a label.
    pub fn counters(&mut self, name: &str, help: &str, key: &str, values: &[(&str, impl Display)]) {
        self.family(name, help, "counter");
        for (value_of_label, value) in values {
            self.sample(name, Some(label(key, value_of_label)), value);
        }
    }

    /// A number of observations and their sum in seconds.
    pub fn seconds(&mut self, name: &str, help: &str, count: u64, sum: f64) {
        self.family(name, help, "summary");
        self.sample(&format!("{name}_sum"), None, sum);
        self.sample(&format!("{name}_count"), None, count);
    }

    /// How times are spread.
    pub fn histogram(&mut self, name: &str, help: &str, times: &Histogram) {
        self.family(name, help, "histogram");
        let bucket = format!("{name}_bucket");
        for (bound, count) in times.buckets() {
            self.sample(&bucket, Some(label("le", &bound.to_string())), count);
        }
        self.sample(&bucket, Some(label("le", "+Inf")), times.count);
        self.sample(&format!("{name}_sum"), None, times.sum);
        self.sample(&format!("{name}_count"), None, times.count);
    }

    /// What the senders of each strategy counted.
    pub fn senders(&mut self, of: &[(&str, Stats)]) {
        self.each(of, |to, s| {
            let help = "Segments with payload sent.";
            to.counter("ackclock_segments_sent_total", help, s.segments_sent);
        });
        self.each(of, |to, s| {
            let help = "Of those, retransmissions.";
            to.counter("ackclock_retransmissions_total", help, s.retransmissions);
        });
        self.each(of, |to, s| {
            let help = "Of the retransmissions, those that began a recovery.";
            to.counter("ackclock_fast_retransmissions_total", help, s.fast_retransmissions);
        });
        self.each(of, |to, s| {
            let classes =
                TimeoutClass::ALL.map(|class| (class.name(), s.timeouts_by_class[class as usize]));
            let help = "Retransmission timeouts by class.";
            to.counters("ackclock_timeouts_total", help, "class", &classes);
        });
        self.each(of, |to, s| {
            let help = "Recoveries, begun by an ACK or by the timer of RACK.";
            to.counter("ackclock_recoveries_total", help, s.recoveries);
        });
        self.each(of, |to, s| {
            let help = "ACKs with ECN-Echo.";
            to.counter("ackclock_ecn_echoes_total", help, s.ecn_echoes);
        });
        self.each(of, |to, s| {
            let help = "Reductions of the window that ECN-Echo began.";
            to.counter("ackclock_ecn_reductions_total", help, s.ecn_reductions);
        });
        self.each(of, |to, s| {
            let (count, sum) = (s.rtt_samples, s.rtt_sum.secs_f64());
            to.seconds("ackclock_rtt_seconds", "Round trips measured.", count, sum);
        });
    }

    /// The text.
    pub fn finish(self) -> String {
        self.text
    }

    fn family(&mut self, name: &str, help: &str, kind: &str) {
        if self.family == name {
            return;
        }
        self.family = name.to_string();
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, own: Option<String>, value: impl Display) {
        let labels: Vec<&str> = [&self.label, &own].into_iter().flatten().map(|l| &**l).collect();
        let _ = match &labels[..] {
            [] => writeln!(self.text, "{name} {value}"),
            labels => writeln!(self.text, "{name}{{{}}} {value}", labels.join(",")),
        };
    }
}

/// `key="value"`.
fn label(key: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{key}=\"{value}\"")
}

/// Where metrics are fetched: `GET /metrics` on a socket of the kernel.
pub(crate) struct Endpoint {
    listener: TcpListener,
    fetches: HashMap<u64, Fetch>,
    next: u64,
}

struct Fetch {
    stream: TcpStream,
    inbox: Inbox,
    /// The response, once there is one, and how much of it is sent.
    response: Option<(Vec<u8>, usize)>,
    since: Instant,
}

impl Endpoint {
    pub fn listen(address: SocketAddr) -> io::Result<Endpoint> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Endpoint { listener, fetches: HashMap::new(), next: 0 })
    }

    /// Has an epoll tell of fetches. Where no more files can be opened, a fetch waits for the next
    /// one instead of waking us again and again.
    pub fn register(&self, epoll: impl AsFd) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::ET;
        Ok(epoll::add(epoll, &self.listener, EventData::new_u64(LISTENER), flags)?)
    }

    /// The epoll has told of this number; `text` makes the metrics.
    pub fn on_event(&mut self, epoll: impl AsFd, number: u64, text: impl FnOnce() -> String) {
        match number {
            LISTENER => self.accept(epoll),
            number => self.ready(number, text),
        }
    }

    /// Takes the fetches that wait.
    fn accept(&mut self, epoll: impl AsFd) {
        let both = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                // Of a single connection: others may wait behind it, for whom no event would come.
                Err(e)
                    if matches!(
                        e.kind(),
                        ErrorKind::ConnectionAborted
                            | ErrorKind::ConnectionReset
                            | ErrorKind::HostUnreachable
                            | ErrorKind::NetworkUnreachable
                            | ErrorKind::NetworkDown
                            | ErrorKind::Interrupted
                    ) =>
                {
                    continue;
                }
                Err(_) => return,
            };
            let number = self.next | FETCH;
            self.next += 1;
            self.make_room();
            if stream.set_nonblocking(true).is_ok()
                && epoll::add(&epoll, &stream, EventData::new_u64(number), both).is_ok()
            {
                let fetch = Fetch {
                    stream,
                    inbox: Inbox::default(),
                    response: None,
                    since: Instant::now(),
                };
                self.fetches.insert(number, fetch);
            }
        }
    }

    /// Whoever connects and says nothing, or does not read, keeps nobody from the metrics.
    fn make_room(&mut self) {
        let oldest = self
            .fetches
            .iter()
            .map(|(number, f)| (f.response.is_some(), !f.inbox.is_empty(), *number))
            .min();
        if let Some((.., number)) = oldest.filter(|_| self.fetches.len() >= MAX_FETCHES) {
            self.fetches.remove(&number);
        }
    }

    /// A fetch can go on.
    fn ready(&mut self, number: u64, text: impl FnOnce() -> String) {
        let Some(fetch) = self.fetches.get_mut(&number) else { return };
        match fetch.go_on(text) {
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            _ => drop(self.fetches.remove(&number)),
        }
    }

    /// Closes what takes too long.
    pub fn sweep(&mut self) {
        self.fetches.retain(|_, fetch| fetch.since.elapsed() < LONGEST);
    }

    /// Whether nobody fetches.
    pub fn is_idle(&self) -> bool {
        self.fetches.is_empty()
    }
}

impl Fetch {
    /// Reads and writes until that would block; `Ok` when it is over.
    fn go_on(&mut self, text: impl FnOnce() -> String) -> io::Result<()> {
        let mut text = Some(text);
        let mut buffer = [0; 4096];
        loop {
            if let Some((bytes, sent)) = &mut self.response {
                while *sent < bytes.len() {
                    *sent += self.stream.write(&bytes[*sent..])?;
                }
                self.stream.shutdown(Shutdown::Write)?;
                // What still comes is read, so that no reset overtakes the response.
                while self.stream.read(&mut buffer)? > 0 {}
                return Ok(());
            }
            if let Some(request) = self.inbox.next_request() {
                self.response =
                    Some((response(request, || text.take().map(|t| t()).unwrap_or_default()), 0));
                continue;
            }
            let room = self.inbox.room().min(buffer.len());
            match self.stream.read(&mut buffer[..room])? {
                0 => return Ok(()),
                n => self.inbox.push(&buffer[..n]),
            }
        }
    }
}

fn response(request: Result<Request, Refusal>, text: impl FnOnce() -> String) -> Vec<u8> {
    let now = SystemTime::now();
    match request {
        Ok(request) if request.path == b"metrics" => {
            let body = text();
            let fields = format!(
                "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n",
                body.len()
            );
            let head = head(Status::Ok, &fields, false, now);
            if request.method == Method::Get {
                (head + &body).into_bytes()
            } else {
                head.into_bytes()
            }
        }
        Ok(request) => {
            refuse(Refusal { status: Status::NotFound, head: request.method == Method::Head }, now)
                .bytes
        }
        Err(refusal) => refuse(refusal, now).bytes,
    }
}
