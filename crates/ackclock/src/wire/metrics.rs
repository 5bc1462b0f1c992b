//! The kernel's TCP sockets on which metrics are fetched.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant, SystemTime};

use ackclock_impair::exposition::MEDIA_TYPE;
use rustix::event::epoll::{self, EventData, EventFlags};

use crate::http::{Inbox, Method, Refusal, Request, Status, head, refuse};

/// Fetches at the same time. For a further one the oldest ends: of those that have said nothing, or
/// else have not asked yet, or else do not read their answer.
pub(super) const MAX_FETCHES: usize = 32;

/// How long a fetch may take.
const LONGEST: Duration = Duration::from_secs(10);

/// Fetches have this bit in an epoll, and the listener has all bits. So the numbers of whoever has
/// the epoll are small.
const FETCH: u64 = 1 << 63;
const LISTENER: u64 = u64::MAX;

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
            let fields =
                format!("Content-Type: {MEDIA_TYPE}\r\nContent-Length: {}\r\n", body.len());
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
