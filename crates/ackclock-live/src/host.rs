//! A stack on a device, in its owner's event loop.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use ackclock_stack::{Outgoing, Stack, StackConfig};
use ackclock_tcp::{Span, Time};

use crate::tun::{Gso, Tun};

/// Packets read in one turn: enough to keep what a turn costs apart from them small, few enough
/// that others get their turn.
const BATCH: usize = 64;

/// Packets after which timers do not wait any longer for what the device has: as many as it holds.
const MOST_WAITING: usize = 10_000;

/// How long to wait for room in the device, which tells of it only by taking packets again.
const FULL: Duration = Duration::from_millis(1);

/// A packet on its way between a host and its device.
#[derive(Clone, Copy, Debug)]
pub enum Crossing<'a> {
    /// It is sent.
    Sent(&'a Outgoing<'a>),
    /// It arrived.
    Received(&'a [u8]),
}

/// Sees packets when they cross.
type Tap = Box<dyn FnMut(Time, Crossing<'_>) + Send>;

/// A packet that may be for a connection of another host with the same addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// The IP packet.
    pub packet: Vec<u8>,
    /// Its checksum need not be looked at.
    pub trusted: bool,
}

/// A stack on a TUN device. Its owner's loop waits until [`Host::as_fd`](AsFd) is readable or
/// [`Host::timeout`] has passed, and then calls [`Host::turn`]; after using [`Host::stack`] it
/// calls [`Host::flush`]. While [`Host::rests`], it better waits for [`Host::timeout`] only: then
/// one turn takes several packets.
pub struct Host {
    tun: Tun,
    stack: Stack,
    start: Instant,
    buffer: Vec<u8>,
    /// Packets read since a deadline was found to be over.
    read_since_due: usize,
    /// Until when packets may lie in the device.
    rest: Option<Time>,
    waiting: Option<Waiting>,
    unsent: u64,
    tap: Option<Tap>,
    others: Option<Box<dyn FnMut(Stray) + Send>>,
}

/// A packet that the device had no room for.
struct Waiting {
    headers: Vec<u8>,
    payload: Vec<u8>,
    gso: Gso,
}

impl Host {
    /// A host on a device, whose `mtu` and `offload` take the place of those in `config`.
    pub fn new(tun: Tun, config: StackConfig) -> Host {
        let stack = Stack::new(StackConfig { mtu: tun.mtu(), offload: tun.offload(), ..config });
        Host {
            tun,
            stack,
            start: Instant::now(),
            buffer: vec![0; Tun::BUFFER],
            read_since_due: 0,
            rest: None,
            waiting: None,
            unsent: 0,
            tap: None,
            others: None,
        }
    }

    /// A host on each queue of a device ([`Tun::open_queues`]), with one clock, one secret, and one
    /// memory of paths for all. To be given [`Host::set_others`], as packets may come to another
    /// queue than that of their connection.
    pub fn on_queues(queues: Vec<Tun>, config: &StackConfig) -> Vec<Host> {
        let start = Instant::now();
        let host = |tun| Host { start, ..Host::new(tun, config.clone()) };
        let mut hosts: Vec<Host> = queues.into_iter().map(host).collect();
        if let Some((first, others)) = hosts.split_first_mut() {
            others.iter_mut().for_each(|other| other.stack.share_paths(&first.stack));
        }
        hosts
    }

    /// The time now, as the stack counts it: since the host was made.
    pub fn now(&self) -> Time {
        since(self.start)
    }

    /// The stack.
    pub fn stack(&mut self) -> &mut Stack {
        &mut self.stack
    }

    /// Packets that the device refused, as it does while it is down: they are lost, as if the cable
    /// had been pulled.
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// The device.
    pub fn tun(&self) -> &Tun {
        &self.tun
    }

    /// Shows all packets from now on to `tap`, as for captures.
    pub fn set_tap(&mut self, tap: Box<dyn FnMut(Time, Crossing<'_>) + Send>) {
        self.tap = Some(tap);
    }

    /// From now on gives `others` what comes and is for no connection of this host, instead of
    /// answering it: segments other than SYNs for a listener, and errors of ICMP about such
    /// segments. Each is to be shown to the other hosts by [`Host::offer`]; where none of them
    /// takes it, it is for [`Host::receive`] of this one.
    pub fn set_others(&mut self, others: Box<dyn FnMut(Stray) + Send>) {
        self.others = Some(others);
    }

    /// Takes a packet of another host if it is for a connection of this one: whether it was.
    pub fn offer(&mut self, stray: &Stray) -> bool {
        let now = self.now();
        let taken = self.stack.offer(now, &stray.packet, stray.trusted);
        self.transmit(now);
        taken
    }

    /// Takes a packet as if no other host could have its connection.
    pub fn receive(&mut self, stray: &Stray) {
        let now = self.now();
        self.stack.on_packet(now, &stray.packet, stray.trusted);
        self.transmit(now);
    }

    /// When [`Host::turn`] is due even if nothing arrives; [`Time::NEVER`] if it is not.
    pub fn deadline(&self) -> Time {
        let full = match self.waiting {
            Some(_) => Time(self.now().nanos() + FULL.as_nanos() as u64),
            None => Time::NEVER,
        };
        self.stack.next_deadline().min(full).min(self.rest.unwrap_or(Time::NEVER))
    }

    /// Whether what arrives before [`Host::deadline`] may lie in the device until then: for at most
    /// 2 ms and a twentieth of the round-trip time, while much is sent and nothing is lost
    /// ([`Stack::patience`]).
    pub fn rests(&self) -> bool {
        self.rest.is_some()
    }

    /// How long until the next deadline; `None` if there is none.
    pub fn timeout(&self) -> Option<Duration> {
        match self.deadline() {
            Time::NEVER => None,
            deadline => Some(Duration::from_nanos(deadline.since(self.now()).nanos())),
        }
    }

    /// Takes the packets that wait (a bounded number), does what is due, and sends what there is to
    /// send.
    ///
    /// # Errors
    /// What reading the device returns, other than that nothing waits.
    pub fn turn(&mut self) -> io::Result<()> {
        self.rest = None;
        let mut read = 0;
        while read < BATCH {
            let Some(frame) = self.tun.receive(&mut self.buffer)? else { break };
            read += 1;
            let now = since(self.start);
            if let Some(tap) = &mut self.tap {
                tap(now, Crossing::Received(frame.packet));
            }
            // The kernel leaves out the checksum of what it has made itself: no wire can have
            // harmed it.
            let trusted = frame.partial_checksum;
            match &mut self.others {
                None => self.stack.on_packet(now, frame.packet, trusted),
                Some(others) => {
                    if !self.stack.offer(now, frame.packet, trusted) {
                        others(Stray { packet: frame.packet.to_vec(), trusted });
                    }
                }
            }
            // What comes at once is answered at once: with offload, in fewer writes.
            self.transmit_each(now, Stack::poll_transmit_full);
        }
        let now = self.now();
        if self.stack.next_deadline() <= now {
            // The ACK that a timer waits for may wait in the device. What came before the timer
            // expired is read first; that is no more than the device holds, or the flood goes on.
            self.read_since_due += read;
            if read < BATCH || self.read_since_due >= MOST_WAITING {
                self.read_since_due = 0;
                self.stack.on_deadline(now);
            }
        }
        self.transmit(now);
        let patience = self.stack.patience(now);
        // A full batch has left more behind.
        self.rest = (read < BATCH && patience > Span::ZERO).then(|| now + patience);
        Ok(())
    }

    /// Sends what there is to send.
    pub fn flush(&mut self) {
        self.transmit(self.now());
    }

    fn transmit(&mut self, now: Time) {
        self.transmit_each(now, Stack::poll_transmit);
    }

    fn transmit_each(
        &mut self,
        mut now: Time,
        poll: for<'a> fn(&'a mut Stack, Time) -> Option<Outgoing<'a>>,
    ) {
        if let Some(Waiting { headers, payload, gso }) = &self.waiting {
            match self.tun.send(headers, [payload, &[]], *gso) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                result => self.unsent += u64::from(result.is_err()),
            }
            self.waiting = None;
        }
        while let Some(packet) = poll(&mut self.stack, now) {
            if let Some(tap) = &mut self.tap {
                tap(now, Crossing::Sent(&packet));
            }
            let Outgoing { header, payload, ip_header, segment, partial_checksum, .. } = packet;
            let gso = Gso { ip_header, segment, partial_checksum };
            match self.tun.send(header, payload, gso) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.waiting =
                        Some(Waiting { headers: header.to_vec(), payload: payload.concat(), gso });
                    return;
                }
                result => self.unsent += u64::from(result.is_err()),
            }
            // A full window takes longer to write than a round trip on a local network.
            now = since(self.start);
        }
    }
}

fn since(start: Instant) -> Time {
    Time(start.elapsed().as_nanos() as u64)
}

impl AsFd for Host {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}
