//! `ackclock recv`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use ackclock_live::Host;
use ackclock_report::{Align, align_within, counted, rate};
use ackclock_stack::{Error as StackError, ListenerId, Ready, SocketId};
use ackclock_tcp::connection::TcpState;
use ackclock_tcp::{Registry, Span, Time};
use clap::Args;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::connection::story;
use super::live::{Live, bytes_text};
use super::pattern::Pattern;
use super::wait::wait;
use super::{DEFAULT_STRATEGY, Interrupt, WireArgs, open_host, strategy};
use crate::args::{Format, file};
use crate::error::Error;
use crate::output::{json_text, print, width};

/// Connections that may wait for us to take them.
const BACKLOG: usize = 1024;
/// Bytes read in one go.
const CHUNK: usize = 1 << 18;
/// How long peers may take to acknowledge our FIN, which they have no reason to hurry with.
const LINGER: Span = Span::from_secs(2);

#[derive(Debug, Args)]
pub(crate) struct RecvArgs {
    /// The port to listen on, on all addresses of our stack.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub listen: u16,
    /// End after this many connections. Default: run until Ctrl-C, which then is no error.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub count: Option<u32>,
    /// End after one connection.
    #[arg(long, conflicts_with = "count")]
    pub once: bool,
    /// Write the received data to this file. This takes --once.
    #[arg(long, value_name = "OUT", requires = "once", value_parser = file())]
    pub file: Option<PathBuf>,
    /// Fail unless each connection delivers the data that `ackclock send` generates, at least one
    /// byte. The length is not checked.
    #[arg(long)]
    pub check: bool,
    /// Do not hash or compare the received data. This is faster.
    #[arg(long, conflicts_with_all = ["file", "check"])]
    pub discard: bool,
    /// How to print the results. JSON is an array with one object per connection.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    #[command(flatten)]
    pub wire: WireArgs,
}

/// What came on a connection.
#[derive(Serialize)]
struct Received {
    peer: SocketAddr,
    bytes: u64,
    /// From the end of the handshake to the peer's FIN.
    seconds: f64,
    rate_bps: f64,
    /// Whether the peer's FIN came, and everything before it.
    complete: bool,
    /// Why it did not.
    error: Option<String>,
    /// Whether it is what `ackclock send` generates, and the first byte that is not.
    pattern: Option<bool>,
    first_mismatch: Option<u64>,
    sha256: Option<String>,
}

/// A connection that brings data.
struct Incoming {
    peer: SocketAddr,
    began: Time,
    bytes: u64,
    hash: Sha256,
    mismatch: Option<u64>,
}

struct Receiver<'a> {
    args: &'a RecvArgs,
    host: Host,
    pattern: Pattern,
    buffer: Vec<u8>,
    file: Option<(PathBuf, BufWriter<File>)>,
    incoming: HashMap<SocketId, Incoming>,
    /// Those that brought everything, and wait for the acknowledgment of our FIN.
    closing: HashMap<SocketId, Time>,
    received: Vec<Received>,
}

pub(crate) fn recv(args: &RecvArgs, registry: &Registry) -> Result<String, Error> {
    // First the file: of a FIFO nobody may have the other end, and signals end the wait for it only
    // as long as they are not blocked.
    let create =
        |path: &PathBuf| File::create(path).map(|file| (path.clone(), BufWriter::new(file)));
    let file = match &args.file {
        Some(path) => Some(create(path).map_err(Error::write(path))?),
        None => None,
    };
    let mut interrupt = Interrupt::new()?;
    let mut receiver = Receiver {
        args,
        host: open_host(&args.wire)?,
        pattern: Pattern::new(),
        buffer: vec![0; CHUNK],
        file,
        incoming: HashMap::new(),
        closing: HashMap::new(),
        received: Vec::new(),
    };
    receiver.listen(registry)?;
    let end = receiver.run(&mut interrupt);
    let text = receiver.text();
    // What was measured is worth something anyway.
    match end {
        Ok(()) => Ok(text),
        Err(error) => print(&text).and(Err(error)),
    }
}

impl Receiver<'_> {
    fn listen(&mut self, registry: &Registry) -> Result<(), Error> {
        // What we send are ACKs, so that no strategy has anything to decide.
        let strategy = strategy(DEFAULT_STRATEGY, registry)?;
        for own in &self.args.wire.addr {
            let all = if own.addr.is_ipv4() {
                IpAddr::V4(Ipv4Addr::UNSPECIFIED)
            } else {
                Ipv6Addr::UNSPECIFIED.into()
            };
            let tcp = self.args.wire.tcp(&strategy);
            match self.host.stack().listen(SocketAddr::new(all, self.args.listen), tcp, BACKLOG) {
                // Two addresses of one family share their listener.
                Ok(_) | Err(StackError::InUse) => {}
                Err(e) => return Err(Error::Usage(format!("--listen {}: {e}", self.args.listen))),
            }
            let _ = writeln!(
                io::stderr(),
                "listening at {}",
                SocketAddr::new(own.addr, self.args.listen)
            );
        }
        Ok(())
    }

    fn run(&mut self, interrupt: &mut Interrupt) -> Result<(), Error> {
        let most = if self.args.once { Some(1) } else { self.args.count };
        let mut live = Live::new();
        loop {
            while let Some(ready) = self.host.stack().poll_ready() {
                match ready {
                    Ready::Accept(listener) => self.accept(listener, most)?,
                    Ready::Socket(socket) => self.read(socket)?,
                }
            }
            self.host.flush();
            let now = self.host.now();
            let stack = self.host.stack();
            self.closing.retain(|&socket, until| {
                let waits = *until > now;
                if !waits {
                    stack.close(now, socket);
                }
                waits
            });
            if most.is_some_and(|most| self.received.len() >= most as usize)
                && self.closing.is_empty()
            {
                return self.verdict();
            }
            if interrupt.taken() > 0 {
                // Without a count, Ctrl-C is how it ends.
                let verdict = if most.is_some() { Err(Error::Interrupted) } else { self.verdict() };
                self.give_up();
                return verdict;
            }
            live.show(|| {
                let bytes = self.incoming.values().map(|i| i.bytes).sum();
                format!("{} open, {} so far", self.incoming.len(), bytes_text(bytes))
            });
            let closed =
                self.closing.values().min().map(|until| Duration::from_nanos(until.since(now).0));
            wait(
                &mut self.host,
                interrupt,
                None,
                [live.timeout(), closed].into_iter().flatten().min(),
            )?;
        }
    }

    fn accept(&mut self, listener: ListenerId, most: Option<u32>) -> Result<(), Error> {
        while let Ok(socket) = self.host.stack().accept(listener) {
            let began = self.host.now();
            let all = self.received.len() + self.incoming.len();
            let Ok(status) = self.host.stack().status(socket) else { continue };
            if most.is_some_and(|most| all >= most as usize) {
                self.host.stack().abort(began, socket);
                continue;
            }
            let incoming = Incoming {
                peer: status.remote,
                began,
                bytes: 0,
                hash: Sha256::new(),
                mismatch: None,
            };
            self.incoming.insert(socket, incoming);
            self.read(socket)?;
        }
        Ok(())
    }

    /// Takes what is there.
    fn read(&mut self, socket: SocketId) -> Result<(), Error> {
        let now = self.host.now();
        let Some(incoming) = self.incoming.get_mut(&socket) else {
            self.see_off(socket);
            return Ok(());
        };
        let error = loop {
            match self.host.stack().read(now, socket, &mut self.buffer) {
                Err(StackError::WouldBlock) => return Ok(()),
                Ok(0) => break None,
                Ok(n) => {
                    let bytes = self.buffer.get(..n).unwrap_or_default();
                    if !self.args.discard {
                        incoming.mismatch = incoming
                            .mismatch
                            .or_else(|| self.pattern.mismatch(incoming.bytes, bytes));
                        incoming.hash.update(bytes);
                    }
                    incoming.bytes += n as u64;
                    if let Some((path, file)) = &mut self.file {
                        file.write_all(bytes).map_err(Error::write(path))?;
                    }
                }
                Err(StackError::Closed(reason)) => {
                    let bytes = counted(incoming.bytes, "byte");
                    break Some(format!("{} after {bytes}", story(reason)));
                }
                Err(e) => break Some(e.to_string()),
            }
        };
        if error.is_none() {
            let _ = self.host.stack().shutdown(now, socket);
            self.closing.insert(socket, Time(now.0.saturating_add(LINGER.0)));
        } else {
            self.host.stack().close(now, socket);
        }
        self.end(socket, error);
        self.see_off(socket);
        Ok(())
    }

    /// Lets a socket go whose peer knows that we have everything.
    fn see_off(&mut self, socket: SocketId) {
        let state = self.host.stack().status(socket).map(|status| status.state);
        if self.closing.contains_key(&socket)
            && !matches!(state, Ok(TcpState::LastAck | TcpState::CloseWait))
        {
            self.closing.remove(&socket);
            let now = self.host.now();
            self.host.stack().close(now, socket);
        }
    }

    /// Nothing more will come on this connection.
    fn end(&mut self, socket: SocketId, error: Option<String>) {
        let Some(incoming) = self.incoming.remove(&socket) else { return };
        let Incoming { peer, began, bytes, hash, mismatch } = incoming;
        let seconds = self.host.now().since(began).secs_f64();
        let looked = !self.args.discard;
        let received = Received {
            peer,
            bytes,
            seconds,
            rate_bps: if seconds > 0.0 { 8.0 * bytes as f64 / seconds } else { 0.0 },
            complete: error.is_none(),
            error,
            pattern: looked.then_some(mismatch.is_none()),
            first_mismatch: mismatch,
            sha256: looked
                .then(|| hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
        };
        if !self.args.once && self.args.format == Format::Table {
            let (bytes, rate) = (counted(bytes, "byte"), rate(received.rate_bps, 3));
            let _ = writeln!(io::stderr(), "{peer}: {bytes}, {rate}");
        }
        self.received.push(received);
    }

    /// Ctrl-C: what came so far counts, and the peers hear that nobody takes the rest.
    fn give_up(&mut self) {
        let now = self.host.now();
        for socket in self.incoming.keys().copied().collect::<Vec<_>>() {
            self.host.stack().abort(now, socket);
            self.end(socket, Some("interrupted".into()));
        }
        self.host.flush();
    }

    fn verdict(&mut self) -> Result<(), Error> {
        if let Some((path, file)) = &mut self.file {
            file.flush().map_err(Error::write(path))?;
        }
        let failed = |r: &&Received| {
            r.error.is_some() || self.args.check && (r.pattern == Some(false) || r.bytes == 0)
        };
        match self.received.iter().find(failed) {
            None if self.args.check && self.received.is_empty() => {
                Err(Error::Connection("nobody sent anything".into()))
            }
            None => Ok(()),
            Some(Received { peer, error: Some(error), .. }) => {
                Err(Error::Connection(format!("{peer}: {error}")))
            }
            Some(Received { peer, first_mismatch: Some(at), .. }) => Err(Error::Connection(
                format!("{peer}: byte {at} is not what `ackclock send` generates"),
            )),
            Some(Received { peer, .. }) => Err(Error::Connection(format!("{peer}: nothing came"))),
        }
    }

    fn text(&self) -> String {
        if self.args.format == Format::Json {
            return json_text(&self.received);
        }
        let heading = ["peer", "bytes", "seconds", "rate", "pattern", "complete", "sha256"]
            .map(String::from)
            .to_vec();
        let line = |r: &Received| {
            let yes = |yes: bool| if yes { "yes" } else { "no" }.to_string();
            vec![
                r.peer.to_string(),
                r.bytes.to_string(),
                format!("{:.3}", r.seconds),
                rate(r.rate_bps, 3),
                r.pattern.map_or_else(|| "-".into(), yes),
                yes(r.complete),
                r.sha256.clone().unwrap_or_else(|| "-".into()),
            ]
        };
        align_within(
            &std::iter::once(heading).chain(self.received.iter().map(line)).collect::<Vec<_>>(),
            Align::Right,
            width(),
        )
    }
}
