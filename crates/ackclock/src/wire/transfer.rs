//! Connections that send, at the same time and to one peer, until all of it is acknowledged.

mod flow;

use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ackclock_live::Host;
use ackclock_net::scenario::BuiltFlow;
use ackclock_net::{FlowId, Recorder};
use ackclock_report::{FlowSummary, rate};
use ackclock_run::{Outcome, Unmet, thread_cpu_s};
use ackclock_stack::{Ready, SocketId, TcpConfig};
use ackclock_tcp::{Event, Span, Time};

use super::Interrupt;
use super::connection::WireConnection;
use super::live::{Live, bytes_text};
use super::pattern::Pattern;
use super::source::{Pumped, Source};
use super::wait::wait;
use crate::error::Error;
use crate::record::{Records, RunRecorder};
use ackclock_report::counted;
use flow::{Flow, News};

/// How long peers may take to close their side once they have acknowledged everything.
const LINGER: Span = Span::from_secs(2);

/// What to do.
pub(crate) struct Plan {
    pub peer: SocketAddr,
    pub tcp: TcpConfig,
    /// One connection each.
    pub sources: Vec<Source>,
    /// How long to write.
    pub stop_after: Option<Span>,
    /// What the sources read, for errors.
    pub file: Option<PathBuf>,
}

/// What came out of it.
pub(crate) struct Transferred {
    pub outcome: Outcome,
    pub connections: Vec<WireConnection>,
    pub ended: Ended,
}

/// How it ended.
pub(crate) enum Ended {
    Whole,
    Interrupted,
    /// The first connection that failed, and why.
    Broken(String),
}

struct Transfer<'a> {
    host: &'a mut Host,
    interrupt: &'a mut Interrupt,
    plan: Plan,
    pattern: Pattern,
    flows: Vec<Flow>,
    numbers: HashMap<SocketId, usize>,
    /// Flows that may take more data, by number.
    queue: VecDeque<usize>,
    /// The source waits for what it reads.
    starved: bool,
    /// When the connections were opened, and when they all were established and data began to
    /// flow.
    opened: Time,
    began: Time,
    /// Everything that will be sent has been acknowledged since then.
    acked_since: Option<Time>,
    interrupts: u32,
    ended: Ended,
    live: Live,
    /// When the line was last shown, and the bytes acknowledged by then.
    shown: (Time, u64),
}

/// Opens the connections, sends, and waits until all is acknowledged and closed.
///
/// # Errors
/// If connections cannot be established, or a file cannot be read or written. What goes wrong later
/// is in [`Ended`].
pub(crate) fn transfer(
    host: &mut Host,
    plan: Plan,
    interrupt: &mut Interrupt,
    records: &mut Records,
) -> Result<Transferred, Error> {
    let cpu = thread_cpu_s();
    let mut transfer = Transfer::open(host, plan, interrupt)?;
    if let Err(error) = transfer.establish() {
        transfer.abort();
        return Err(error);
    }
    let flows = transfer.built();
    let mut recorder = records.begin(&flows, Time::ZERO);
    let result = transfer.run(&mut recorder);
    transfer.let_go();
    result?;
    let (flows, connections) = transfer.results(&flows);
    let mut outcome = Outcome {
        flows,
        links: Vec::new(),
        cpu_s: thread_cpu_s() - cpu,
        recovery: None,
        unmet: Unmet::default(),
    };
    recorder.end(&mut outcome);
    Ok(Transferred { outcome, connections, ended: transfer.ended })
}

impl<'a> Transfer<'a> {
    fn open(
        host: &'a mut Host,
        mut plan: Plan,
        interrupt: &'a mut Interrupt,
    ) -> Result<Transfer<'a>, Error> {
        let opened = host.now();
        let mut flows = Vec::new();
        for source in std::mem::take(&mut plan.sources) {
            let socket = host.stack().connect(opened, plan.peer, plan.tcp.clone());
            let socket = socket.map_err(|e| Error::Connection(format!("{}: {e}", plan.peer)))?;
            flows.push(Flow::new(socket, source));
        }
        host.flush();
        Ok(Transfer {
            interrupts: interrupt.taken(),
            host,
            interrupt,
            plan,
            pattern: Pattern::new(),
            numbers: (0..).zip(&flows).map(|(n, flow)| (flow.socket, n)).collect(),
            flows,
            queue: VecDeque::new(),
            starved: false,
            opened,
            began: opened,
            acked_since: None,
            ended: Ended::Whole,
            live: Live::new(),
            shown: (opened, 0),
        })
    }

    /// Waits until all connections are established, so that all begin at the same time.
    fn establish(&mut self) -> Result<(), Error> {
        loop {
            self.look();
            match &self.ended {
                Ended::Whole => {}
                Ended::Interrupted => return Err(Error::Interrupted),
                Ended::Broken(why) => return Err(Error::Connection(why.clone())),
            }
            if self.flows.iter().all(|flow| flow.handshake.is_some()) {
                self.began = self.host.now();
                self.shown.0 = self.began;
                return Ok(());
            }
            self.live.show(|| format!("connecting to {}", self.plan.peer));
            self.wait(None)?;
            if self.interrupt.taken() > self.interrupts {
                self.ended = Ended::Interrupted;
            }
        }
    }

    fn run(&mut self, recorder: &mut RunRecorder<'_>) -> Result<(), Error> {
        let stop = self.plan.stop_after.map(|after| Time(self.began.0.saturating_add(after.0)));
        let mut stopped = false;
        (0..self.flows.len()).for_each(|n| self.enqueue(n));
        loop {
            self.write()?;
            self.host.flush();
            self.look();
            self.record(recorder);
            if self.flows.iter().all(|flow| flow.over) {
                return Ok(());
            }
            self.show();
            let now = self.host.now();
            let linger = self.acked_since.map(|since| Time(since.0.saturating_add(LINGER.0)));
            if linger.is_some_and(|end| now >= end) {
                let peer = self.plan.peer;
                let _ = writeln!(
                    io::stderr(),
                    "note: {peer} has everything, and has not closed its side"
                );
                return Ok(());
            }
            if !stopped && stop.is_some_and(|stop| now >= stop) {
                stopped = true;
                self.stop();
            }
            self.wait([linger, stop.filter(|_| !stopped)].into_iter().flatten().min())?;
            self.heed_interrupt();
        }
    }

    /// The first ends what is written, the second the connections.
    fn heed_interrupt(&mut self) {
        let taken = self.interrupt.taken();
        if taken == self.interrupts {
            return;
        }
        let again = matches!(self.ended, Ended::Interrupted) || taken > self.interrupts + 1;
        self.interrupts = taken;
        self.ended = Ended::Interrupted;
        if again {
            self.abort();
        } else {
            let _ = writeln!(
                io::stderr(),
                "note: finishing what is under way; Ctrl-C again resets the connections"
            );
            self.stop();
        }
    }

    /// What is written so far is all.
    fn stop(&mut self) {
        for n in 0..self.flows.len() {
            self.flows[n].source.end();
            self.enqueue(n);
        }
    }

    fn enqueue(&mut self, n: usize) {
        if !std::mem::replace(&mut self.flows[n].queued, true) {
            self.queue.push_back(n);
        }
    }

    /// Writes to the flows in the queue, each once.
    fn write(&mut self) -> Result<(), Error> {
        let now = self.host.now();
        for _ in 0..self.queue.len() {
            let Some(n) = self.queue.pop_front() else { break };
            let flow = &mut self.flows[n];
            flow.queued = false;
            if flow.finished || flow.over {
                continue;
            }
            let (stack, socket) = (self.host.stack(), flow.socket);
            let pumped = flow.source.pump(&self.pattern, |bytes| stack.write(now, socket, bytes));
            let path = || self.plan.file.clone().unwrap_or_default();
            match pumped.map_err(|error| Error::Read { path: path(), error })? {
                Pumped::Paused => self.enqueue(n),
                Pumped::Starved => self.starved = true,
                Pumped::End => {
                    flow.finished = true;
                    let _ = self.host.stack().shutdown(now, socket);
                }
                // The socket tells what happened, and when it can be written again.
                Pumped::Full | Pumped::Gone => {}
            }
        }
        Ok(())
    }

    /// Takes note of what happened to sockets.
    fn look(&mut self) {
        while let Some(ready) = self.host.stack().poll_ready() {
            let Ready::Socket(socket) = ready else { continue };
            let Some(&n) = self.numbers.get(&socket) else { continue };
            if !self.flows[n].over {
                self.look_at(n);
            }
        }
    }

    fn look_at(&mut self, n: usize) {
        let now = self.host.now();
        let flow = &mut self.flows[n];
        let was_done = flow.done;
        match flow.look(self.host.stack(), now, self.opened, self.began) {
            News::None => return,
            News::Failed(reason) => {
                if matches!(self.ended, Ended::Whole) {
                    self.ended = Ended::Broken(flow.story(self.plan.peer, &self.plan.tcp, reason));
                }
                return;
            }
            News::Open => {}
        }
        if !was_done && flow.done && self.flows.iter().all(|flow| flow.done || flow.over) {
            self.acked_since = Some(now);
        }
        self.enqueue(n);
    }

    fn record(&mut self, recorder: &mut RunRecorder<'_>) {
        while let Some((socket, event)) = self.host.stack().poll_event() {
            if let Some(&n) = self.numbers.get(&socket) {
                // Each run begins at zero.
                let event = Event { at: Time(event.at.since(self.began).0), ..event };
                recorder.event(FlowId(n as u32), &event);
            }
        }
    }

    /// Until a packet, a signal, what a source waits for, a deadline of the host, or this one.
    fn wait(&mut self, until: Option<Time>) -> Result<(), Error> {
        let until = until.map(|until| Duration::from_nanos(until.since(self.host.now()).0));
        let now = (!self.queue.is_empty()).then_some(Duration::ZERO);
        let timeout = [self.live.timeout(), until, now].into_iter().flatten().min();
        // What comes once is for the first and only connection.
        let input = self.flows[0].source.waits_for().filter(|_| self.starved);
        if wait(self.host, self.interrupt, input, timeout)? {
            self.starved = false;
            self.flows[0].source.ready();
            self.enqueue(0);
        }
        Ok(())
    }

    fn show(&mut self) {
        let Transfer { host, flows, live, shown, began, plan, .. } = self;
        live.show(|| {
            let now = host.now();
            let stack = host.stack();
            let senders: Vec<_> =
                flows.iter().filter_map(|flow| stack.sender(flow.socket).ok()).collect();
            let acked: u64 = senders.iter().map(|sender| sender.acked()).sum();
            let retransmissions: u64 =
                senders.iter().map(|sender| sender.stats().retransmissions).sum();
            let bps = 8.0 * acked.saturating_sub(shown.1) as f64
                / now.since(shown.0).secs_f64().max(1e-9);
            *shown = (now, acked);
            let first = senders.first().map(|sender| sender.state());
            let (cwnd, srtt) =
                first.map_or((0, 0.0), |s| (s.cwnd / s.mss.max(1), 1e3 * s.srtt.secs_f64()));
            format!(
                "{} {:.0} s  {}  {}  cwnd {}  srtt {srtt:.1} ms  {}",
                plan.tcp.strategy.name(),
                now.since(*began).secs_f64(),
                bytes_text(acked),
                rate(bps, 3),
                counted(cwnd, "segment"),
                counted(retransmissions, "retransmission"),
            )
        });
    }

    /// Resets all connections.
    fn abort(&mut self) {
        let now = self.host.now();
        for n in 0..self.flows.len() {
            if !self.flows[n].over {
                let flow = &mut self.flows[n];
                if !flow.done {
                    flow.settle(self.host.stack(), now, self.began);
                }
                flow.over = true;
                self.host.stack().abort(now, flow.socket);
            }
        }
        self.host.flush();
    }

    /// Whatever is left of the connections closes by itself while others are under way.
    fn let_go(&mut self) {
        let now = self.host.now();
        for flow in &self.flows {
            self.host.stack().close(now, flow.socket);
        }
        self.host.flush();
    }

    /// The flows as recorders know them.
    fn built(&mut self) -> Vec<BuiltFlow> {
        let (stack, tcp) = (self.host.stack(), &self.plan.tcp);
        (0..).zip(&self.flows).map(|(n, flow)| flow.built(n, stack, tcp)).collect()
    }

    fn results(&self, built: &[BuiltFlow]) -> (Vec<FlowSummary>, Vec<WireConnection>) {
        let flows = || self.flows.iter().zip(built);
        let peer = self.plan.peer;
        (
            flows().map(|(flow, built)| flow.summary(built)).collect(),
            flows().filter_map(|(flow, built)| flow.connection(built, peer)).collect(),
        )
    }
}
