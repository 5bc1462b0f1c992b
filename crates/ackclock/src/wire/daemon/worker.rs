//! The event loop of one queue: its stack, the service's connections, and the kernel's sockets.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use ackclock_live::Stray;
use ackclock_stack::{ListenerId, Ready, SocketId, TcpConfig};
use ackclock_tcp::{Span, Time};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::super::split::Split;
use super::log_file::LogFile;
use super::mail::{Errand, Mailbox, Post};
use super::net::{Listening, Net, SERVICE};
use super::service::Service;
use crate::error::Error;

const HOST: u64 = 0;
const MAIL: u64 = 1;

/// How often a service looks for what has waited too long.
const SWEEP: Span = Span::from_secs(1);

/// A queue's thread, and all that is its own.
pub(super) struct Worker<S: Service> {
    queue: usize,
    pub net: Net,
    pub service: S,
    listeners: Vec<(Listening, ListenerId)>,
    /// How connections of listeners behave.
    config: TcpConfig,
    mail: Mailbox<Worker<S>>,
    /// The worker of the next queue, and how many there are.
    next: Option<(Post<Worker<S>>, usize)>,
    /// Packets that came to the queue of another one.
    pub handed_over: u64,
    /// It has said that no connection is left after a signal.
    drained: bool,
    stopped: bool,
    /// Packets lie in the device, and nobody waits for them.
    rests: bool,
}

impl<S: Service> Worker<S> {
    pub fn new(
        queue: usize,
        net: Net,
        config: TcpConfig,
        service: S,
        mail: Mailbox<Worker<S>>,
    ) -> Result<Worker<S>, Error> {
        let register = |source: &dyn AsFd, number| {
            epoll::add(&net.epoll, source, EventData::new_u64(number), EventFlags::IN)
                .map_err(|e| Error::system("epoll")(e.into()))
        };
        register(&net.host, HOST)?;
        register(mail.bell(), MAIL)?;
        Ok(Worker {
            queue,
            net,
            service,
            listeners: Vec::new(),
            config,
            mail,
            next: None,
            handed_over: 0,
            drained: false,
            stopped: false,
            rests: false,
        })
    }

    pub fn queue(&self) -> usize {
        self.queue
    }

    /// Listens at these addresses and no others, and gives new clients these strategies.
    pub fn listen(&mut self, listen: &[Listening], split: &Split) -> Result<(), Error> {
        self.net.listen(&mut self.listeners, &self.config, listen)?;
        // Strategies are numbered in their order, which is to be one for all queues.
        self.listeners.sort_unstable_by_key(|((address, _), _)| *address);
        self.net.split(&self.listeners, split);
        Ok(())
    }

    /// From now on hands packets of connections that it does not have over to `next`, one of so
    /// many workers in a ring.
    pub fn hand_over(&mut self, workers: usize, next: Post<Worker<S>>) {
        let post = next.clone();
        self.net.host.set_others(Box::new(move |stray| post.try_leave(passed(stray, 1))));
        self.next = Some((next, workers));
    }

    /// Takes a packet that so many workers have not taken. If it is no one's, the worker to which
    /// it came answers it: the kernel leads a flow to the queue of the last answer.
    fn take(&mut self, stray: Stray, asked: usize) {
        let Some((next, workers)) = &self.next else { return };
        if asked == *workers {
            self.net.host.receive(&stray);
        } else if self.net.host.offer(&stray) {
            self.handed_over += 1;
        } else {
            next.try_leave(passed(stray, asked + 1));
        }
    }

    /// Serves until it is told to stop.
    pub fn run(mut self) -> Result<(), Error> {
        // Also when this panics.
        let shared = self.net.shared.clone();
        let _end = OnDrop(|| {
            shared.ended.store(true, Ordering::Release);
            shared.bell.ring();
        });
        let mut events = Vec::with_capacity(256);
        let mut ready = VecDeque::new();
        let mut next_sweep = self.net.now() + SWEEP;
        while !self.stopped {
            let busy = self.service.open() > 0
                || self.net.host.stack().waiting() > 0
                || self.net.access.as_ref().is_some_and(|access| !access.is_flushed());
            let at_once = !ready.is_empty() || !self.net.again.is_empty();
            let timeout = self.timeout(at_once, if busy { next_sweep } else { Time::NEVER });
            self.rest().map_err(Error::system("epoll"))?;
            events.clear();
            match wait(&self.net.epoll, timeout.as_ref(), &mut events) {
                Ok(()) | Err(Errno::INTR) => {}
                Err(error) => return Err(Error::system("epoll")(error.into())),
            }
            let mut due = self.net.host.timeout().is_some_and(|t| t.is_zero());
            for event in &events {
                match event.data.u64() {
                    HOST => due = true,
                    MAIL => {
                        for errand in self.mail.take() {
                            errand(&mut self);
                        }
                    }
                    number => {
                        self.service.kernel_ready(&mut self.net, number - SERVICE, event.flags);
                    }
                }
            }
            if due && let Err(error) = self.net.host.turn() {
                return self.wait_for_the_end(Error::system("the TUN device is gone")(error));
            }
            self.collect(&mut ready);
            // Those that let others go first have their turn now, once.
            ready.extend(std::mem::take(&mut self.net.again));
            for socket in ready.drain(..) {
                self.service.ready(&mut self.net, socket);
            }
            if self.net.now() >= next_sweep {
                next_sweep = self.net.now() + SWEEP;
                self.sweep();
            }
            // What has just gone may have made room for those that wait.
            self.accept();
            self.net.host.flush();
            self.collect(&mut ready);
            if self.net.draining && !self.drained && self.service.open() == 0 {
                self.drained = true;
                shared.drained.fetch_add(1, Ordering::AcqRel);
                shared.bell.ring();
            }
        }
        Ok(())
    }

    /// There is nothing more to serve by: does what it is asked for, such as to say what it has
    /// counted, until it is told to stop.
    fn wait_for_the_end(mut self, error: Error) -> Result<(), Error> {
        self.net.shared.ended.store(true, Ordering::Release);
        self.net.shared.bell.ring();
        while !self.stopped {
            match poll(&mut [PollFd::new(self.mail.bell(), PollFlags::IN)], None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(Error::system("poll")(error.into())),
            }
            for errand in self.mail.take() {
                errand(&mut self);
            }
        }
        Err(error)
    }

    /// Does not wait for packets while the host rests.
    fn rest(&mut self) -> io::Result<()> {
        let rests = self.net.host.rests();
        if std::mem::replace(&mut self.rests, rests) != rests {
            let wanted = if rests { EventFlags::empty() } else { EventFlags::IN };
            epoll::modify(&self.net.epoll, &self.net.host, EventData::new_u64(HOST), wanted)?;
        }
        Ok(())
    }

    /// How long to wait: until `until` or what the stack has due, and not at all if there is
    /// something to do.
    fn timeout(&self, at_once: bool, until: Time) -> Option<Timespec> {
        if at_once {
            return Some(Timespec::default());
        }
        let until = (until < Time::NEVER)
            .then(|| std::time::Duration::from_nanos(until.since(self.net.now()).nanos()));
        let least = [until, self.net.host.timeout()].into_iter().flatten().min()?;
        Timespec::try_from(least).ok()
    }

    /// Takes what the stack says changed.
    fn collect(&mut self, ready: &mut VecDeque<SocketId>) {
        while let Some(change) = self.net.host.stack().poll_ready() {
            if let Ready::Socket(socket) = change {
                ready.push_back(socket);
            }
        }
    }

    /// What is to be done once a second.
    fn sweep(&mut self) {
        self.service.sweep(&mut self.net);
        if self.net.host.stack().waiting() > 0 && !self.net.has_room(1) {
            // Who has gone meanwhile needs none that others have.
            let waiting = self.net.host.stack().waiting_alive();
            self.make_room(waiting, 1);
        }
        let now = self.net.now();
        self.net.sweep_sources(now);
        self.net.host.stack().trim();
        if let Some(access) = &mut self.net.access {
            access.flush();
        }
        if let Some(error) = self.net.shared.log.as_ref().and_then(LogFile::error) {
            self.net.shared.notices.access_log(now, &error);
        }
    }

    /// Makes room for so many clients of any queue; so many workers are asked with this one. What
    /// is missing the next one may have, unless it is memory: each has its own.
    fn make_room(&mut self, clients: usize, asked: usize) {
        let missing = clients.saturating_sub(self.service.make_room(&mut self.net, clients));
        if let Some((next, workers)) = &self.next
            && missing > 0
            && asked < *workers
            && !self.net.shared.room.has(1)
        {
            next.try_leave(Box::new(move |worker| worker.make_room(missing, asked + 1)));
        }
    }

    /// Takes the clients that wait, as long as there may be more.
    pub fn accept(&mut self) {
        let waiting = |net: &mut Net| net.host.stack().waiting();
        // Most turns end here, and touch nothing that is shared.
        if waiting(&mut self.net) == 0 {
            return;
        }
        let shared = self.net.shared.clone();
        while waiting(&mut self.net) > 0 && self.net.has_memory(1) && shared.room.take() {
            let taken = self.listeners.iter().zip(1..).find_map(|(((address, own), l), next)| {
                Some((self.net.host.stack().accept(*l).ok()?, *address, own.limits, next))
            });
            // Where there is seldom room, the first of all that have clients would get all of it.
            let admitted = taken.map(|(socket, address, limits, next)| {
                self.listeners.rotate_left(next);
                (socket, address, limits, self.net.admit(socket, address, limits))
            });
            match admitted {
                Some((socket, address, _, Ok(()))) => {
                    self.service.opened(&mut self.net, socket, address);
                }
                Some((_, _, own, Err((source, why)))) => {
                    shared.room.give_back();
                    shared.notices.refused(self.net.now(), source, why, own);
                }
                None => return shared.room.give_back(),
            }
        }
        let waiting = waiting(&mut self.net);
        if waiting > 0 && !self.net.draining {
            let queue = self.next.is_some().then_some(self.queue);
            let most = self.net.has_memory(1).then_some(shared.budget.connections);
            shared.notices.waiting(self.net.now(), waiting, queue, most);
        }
    }

    /// Takes no more connections than there is room for; those there are may finish.
    pub fn begin_to_drain(&mut self) {
        self.net.draining = true;
        self.accept();
        for (_, listener) in self.listeners.drain(..) {
            self.net.unlisten(listener);
        }
        self.service.drain(&mut self.net);
    }

    /// Resets what is left. Returns how many connections that was.
    pub fn cut_off(&mut self) -> usize {
        let left = self.service.sockets();
        for &socket in &left {
            self.net.drop(socket, "cut_off");
        }
        if let Some(access) = &mut self.net.access {
            access.flush();
        }
        self.net.host.flush();
        left.len()
    }

    pub fn stop(&mut self) {
        self.stopped = true;
    }
}

/// The errand of taking a packet that so many workers have not taken.
fn passed<S: Service>(stray: Stray, asked: usize) -> Errand<Worker<S>> {
    Box::new(move |worker| worker.take(stray, asked))
}

/// Does something at the end of a block, however that comes.
pub(super) struct OnDrop<F: FnMut()>(pub(super) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Waits for events, for `timeout` at most. `epoll_wait` would round it up to milliseconds, where a
/// host rests for fractions of one, and a paced segment is due in less.
fn wait(
    epoll: &OwnedFd,
    timeout: Option<&Timespec>,
    events: &mut Vec<epoll::Event>,
) -> Result<(), Errno> {
    let none = Timespec::default();
    if timeout.is_some_and(|timeout| *timeout != none)
        && poll(&mut [PollFd::new(epoll, PollFlags::IN)], timeout)? == 0
    {
        return Ok(());
    }
    let timeout = timeout.map(|_| &none);
    epoll::wait(epoll, rustix::buffer::spare_capacity(events), timeout).map(drop)
}

#[cfg(test)]
mod tests;
