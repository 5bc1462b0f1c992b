//! The thread that heeds signals and serves metrics, while workers serve.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ackclock_impair::names;
use ackclock_report::counted;
use ackclock_tcp::{Span, Stats};
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use sd_notify::NotifyState;

use super::super::interrupt::Interrupt;
use super::super::metrics::Endpoint;
use super::Shared;
use super::counters::{Counters, text};
use super::mail::{self, Post};
use super::manager::{self, Manager};
use super::net::add;
use super::service::{Again, Found, Reload, Service, Why};
use super::worker::{OnDrop, Worker};
use crate::error::Error;

const SIGNALS: u64 = 0;
const BELL: u64 = 1;

/// How often to look for fetches of metrics that do not go on.
const TICK: Duration = Duration::from_secs(1);

/// How long the end may take once connections have had their time to finish.
const LINGER: Duration = Duration::from_secs(5);

/// What speaks with the workers.
pub(super) struct Control<S: Service> {
    posts: Vec<Post<Worker<S>>>,
    shared: Arc<Shared>,
    epoll: OwnedFd,
    interrupt: Interrupt,
    endpoint: Option<Endpoint>,
    manager: Manager,
    /// How long connections may take to finish once a signal has come, and when that is over.
    drain: Duration,
    draining: bool,
    end: Option<Instant>,
    /// What SIGHUP has read again, once it has.
    reading: Option<Reading<S::Plan>>,
    /// Another SIGHUP has come meanwhile.
    once_more: bool,
    /// Names that are being looked up without SIGHUP.
    looking: Vec<(Vec<String>, Reading<S::Plan>)>,
    /// When names were last looked up without SIGHUP, and what came of it the last time.
    looked_up: HashMap<String, Instant>,
    found: HashMap<String, String>,
    /// Whether the access log is open anew, to be said with what was read.
    reopened: Option<io::Result<()>>,
    /// The last SIGHUP could not open it.
    log_is_old: bool,
}

type Read<P> = Result<Again<P>, Error>;

/// From a thread that reads.
type Reading<P> = Receiver<Read<P>>;

/// Reads again what there is to be read.
pub(super) type Reread<P> = Arc<dyn Fn(Why) -> Read<P> + Send + Sync + 'static>;

impl<S: Service> Control<S> {
    pub fn new(
        posts: Vec<Post<Worker<S>>>,
        shared: Arc<Shared>,
        interrupt: Interrupt,
        endpoint: Option<Endpoint>,
        drain: Span,
    ) -> Result<Control<S>, Error> {
        let failed = |error: rustix::io::Errno| Error::system("epoll")(error.into());
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(failed)?;
        let add = |source: &dyn AsFd, number| {
            epoll::add(&epoll, source, EventData::new_u64(number), EventFlags::IN).map_err(failed)
        };
        add(&interrupt, SIGNALS)?;
        add(&shared.bell, BELL)?;
        if let Some(endpoint) = &endpoint {
            endpoint.register(&epoll).map_err(Error::system("epoll"))?;
        }
        let drain = Duration::from_nanos(drain.nanos());
        Ok(Control {
            posts,
            shared,
            epoll,
            interrupt,
            endpoint,
            manager: Manager::new(),
            drain,
            draining: false,
            end: None,
            reading: None,
            once_more: false,
            looking: Vec::new(),
            looked_up: HashMap::new(),
            found: HashMap::new(),
            reopened: None,
            log_is_old: false,
        })
    }

    /// Heeds signals until everything is done, or a worker cannot go on. Returns what there was, in
    /// a line.
    pub fn run(&mut self, reread: &Reread<S::Plan>) -> Result<String, Error> {
        let mut events = Vec::with_capacity(64);
        // SIGHUP may have come before there was anything to be read again.
        self.on_signal(reread);
        loop {
            let fetches = self.endpoint.as_ref().is_some_and(|e| !e.is_idle()).then_some(TICK);
            let end = self.end.map(|end| end.saturating_duration_since(Instant::now()));
            let timeouts = [fetches, end, self.manager.timeout()];
            let timeout = timeouts.into_iter().flatten().min();
            let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
            events.clear();
            let buffer = rustix::buffer::spare_capacity(&mut events);
            match epoll::wait(&self.epoll, buffer, timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Error::system("epoll")(error.into())),
            }
            for event in &events {
                match event.data.u64() {
                    SIGNALS => self.on_signal(reread),
                    BELL => {
                        self.shared.bell.silence();
                        self.take_read(reread);
                        self.take_found();
                        self.look_up_again(reread);
                    }
                    number => self.fetch(number),
                }
            }
            if let Some(endpoint) = &mut self.endpoint {
                endpoint.sweep();
            }
            // That we are alive is said only once every queue's loop has turned.
            self.manager.tell(|| drop(mail::ask(&self.posts, |_| ())));
            // Of a worker that has ended there is an error; what it did is told all the same.
            let ended = self.shared.ended.load(Ordering::Acquire);
            let drained = self.shared.drained.load(Ordering::Acquire) == self.posts.len();
            if ended || drained || self.end.is_some_and(|end| end <= Instant::now()) {
                return Ok(self.finish());
            }
        }
    }

    /// Ends the workers.
    pub fn stop(&self) {
        mail::ask(&self.posts, Worker::stop);
    }

    /// Waits for the access log to be written, and says what is not in it.
    pub fn finish_log(&self) {
        let Some(log) = &self.shared.log else { return };
        log.finish();
        if let Some(error) = log.error() {
            self.shared.notices.log_ended(log.lost(), &error);
        }
    }

    fn on_signal(&mut self, reread: &Reread<S::Plan>) {
        let taken = self.interrupt.taken();
        if self.interrupt.hangups() > 0 {
            self.on_hangup(reread);
        }
        if taken > 0 && !self.draining {
            self.draining = true;
            self.manager.stopping(self.drain.saturating_add(LINGER));
            self.end = Instant::now().checked_add(self.drain);
            mail::ask(&self.posts, Worker::begin_to_drain);
        }
        if taken > 1 {
            self.end = Some(Instant::now());
        }
    }

    /// Opens the access log anew at once, and reads again what there is to be read.
    fn on_hangup(&mut self, reread: &Reread<S::Plan>) {
        if !self.draining
            && let Ok(now) = NotifyState::monotonic_usec_now()
        {
            manager::tell(&[NotifyState::Reloading, now]);
        }
        if let Some(log) = &self.shared.log {
            mail::ask(&self.posts, |worker| worker.net.access.as_mut().map(|a| a.flush()));
            let reopened = log.reopen();
            self.log_is_old = reopened.is_err();
            self.reopened = Some(reopened);
        }
        if self.draining {
            self.say_that_it_ends();
        } else if self.reading.is_some() {
            self.once_more = true;
        } else {
            self.read_again(reread);
        }
    }

    /// Looks up names where no backend takes clients, unless that has just been done. No name waits
    /// for others.
    fn look_up_again(&mut self, reread: &Reread<S::Plan>) {
        self.looked_up.retain(|_, at| at.elapsed() < names::PAUSE);
        let is_under_way =
            |name: &String| self.looking.iter().any(|(names, _)| names.contains(name));
        let mut asked = self.shared.look_up.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|name| !is_under_way(name));
        let recent: Vec<String> =
            asked.extract_if(.., |name| self.looked_up.contains_key(name)).collect();
        let names = std::mem::take(&mut *asked);
        drop(asked);
        if !recent.is_empty() {
            self.tell_found(not_found(&recent, "it has just been looked up"));
        }
        if names.is_empty() {
            return;
        }
        self.looked_up.extend(names.iter().map(|name| (name.clone(), Instant::now())));
        match self.begin(Why::NoBackend(names.clone()), reread) {
            Ok(looking) => self.looking.push((names, looking)),
            Err(error) => self.follow_names(&names, Err(error)),
        }
    }

    /// Takes what has been found of names.
    fn take_found(&mut self) {
        for (names, looking) in std::mem::take(&mut self.looking) {
            match looking.try_recv() {
                Err(TryRecvError::Empty) => self.looking.push((names, looking)),
                Err(TryRecvError::Disconnected) => self.follow_names(&names, Ok(Again::Nothing)),
                Ok(read) => self.follow_names(&names, read),
            }
        }
    }

    /// Has all workers do what was found of these names, and says what is new.
    fn follow_names(&mut self, names: &[String], read: Read<S::Plan>) {
        let found = match read {
            Ok(Again::Names(found)) => found,
            Ok(_) => not_found(names, "the look-up ended early"),
            Err(error) => not_found(names, &error.to_string()),
        };
        let again = found.iter().filter(|(_, to)| to.is_ok());
        again.for_each(|(name, _)| drop(self.found.remove(name)));
        for (name, text) in self.tell_found(found) {
            if self.found.get(&name) != Some(&text) {
                self.shared.notices.looked_up(&text);
                self.found.insert(name, text);
            }
        }
    }

    /// Answers whoever waits for these names. Returns what there is to say of it.
    fn tell_found(&self, found: Vec<Found>) -> Vec<(String, String)> {
        let look_up =
            move |worker: &mut Worker<S>| worker.service.looked_up(&mut worker.net, &found);
        mail::ask(&self.posts, look_up).into_iter().next().unwrap_or_default()
    }

    /// Reads what SIGHUP is for.
    fn read_again(&mut self, reread: &Reread<S::Plan>) {
        match self.begin(Why::Hangup, reread) {
            Ok(reading) => self.reading = Some(reading),
            Err(error) => self.follow(Err(error)),
        }
    }

    /// Reads in a thread of its own: to find the address of a name may take long, and signals and
    /// metrics do not wait for it.
    fn begin(&self, why: Why, reread: &Reread<S::Plan>) -> Result<Reading<S::Plan>, Error> {
        let (shared, reread) = (self.shared.clone(), reread.clone());
        let (read, reading) = sync_channel(1);
        let work = move || {
            // Also when this panics, and then with nothing read.
            let _ring = OnDrop(|| shared.bell.ring());
            let read = read;
            let _ = read.send(reread(why));
        };
        let begun = thread::Builder::new().name("reading".into()).spawn(work);
        begun.map(|_| reading).map_err(Error::system("threads"))
    }

    /// Says what SIGHUP has come to, also to the service manager.
    fn say_read(&mut self, said: Result<Option<String>, Error>) {
        let is_done = said.is_ok() && !self.log_is_old;
        self.shared.reloaded.store(is_done, Ordering::Relaxed);
        self.shared.notices.hangup(self.reopened.take(), said);
        if !self.once_more {
            manager::tell(&[NotifyState::Ready]);
        }
    }

    /// Says that SIGHUP has come too late to have something read.
    fn say_that_it_ends(&mut self) {
        let said = "the end has begun; nothing is read again";
        self.shared.notices.hangup(self.reopened.take(), Ok(Some(said.into())));
    }

    /// Takes what was read again, if it was.
    fn take_read(&mut self, reread: &Reread<S::Plan>) {
        let read = match self.reading.as_ref().map(Receiver::try_recv) {
            None | Some(Err(TryRecvError::Empty)) => return,
            Some(Err(TryRecvError::Disconnected)) => Ok(Again::Nothing),
            Some(Ok(read)) => read,
        };
        self.reading = None;
        // Who ends listens nowhere any more.
        if self.draining {
            self.say_that_it_ends();
        } else {
            self.follow(read);
        }
        if std::mem::take(&mut self.once_more) && !self.draining {
            self.read_again(reread);
        }
    }

    /// Has all workers do what was read again, and says what came of it.
    fn follow(&mut self, read: Read<S::Plan>) {
        let said = read.and_then(|read| {
            let Again::Reload(Reload { listen, split, plan, said }) = read else { return Ok(None) };
            // They all have the same addresses and listeners, so what one can do all can.
            let done = mail::ask(&self.posts, move |worker| {
                // Whoever waits at a listener that goes is taken first.
                worker.accept();
                worker.listen(&listen, &split)?;
                worker.service.follow(&plan);
                Ok(())
            });
            done.into_iter().collect::<Result<(), Error>>()?;
            Ok(Some(said))
        });
        self.say_read(said);
    }

    /// Resets what is left, and says what there was.
    fn finish(&self) -> String {
        let ended = mail::ask(&self.posts, |worker| {
            let left = worker.cut_off();
            let sum = |count: fn(&super::net::Arm) -> u64| worker.net.arms.iter().map(count).sum();
            let bytes = [sum(|arm| arm.bytes[0]), sum(|arm| arm.bytes[1])];
            let mut gone = Stats::default();
            worker.net.arms.iter().for_each(|arm| add(&mut gone, &arm.gone));
            (left, sum(|arm| arm.accepted), bytes, gone)
        });
        let (mut all, mut connections, mut read, mut acked) = (0, 0, 0, 0);
        let mut stats = Stats::default();
        for (left, accepted, bytes, gone) in &ended {
            all += left;
            connections += accepted;
            read += bytes[0];
            acked += bytes[1];
            add(&mut stats, gone);
        }
        format!(
            "{}, {all} cut off; {} in, {acked} out; {} sent, {} retransmitted, {}\n",
            counted(connections, "connection"),
            counted(read, "byte"),
            counted(stats.segments_sent, "segment"),
            stats.retransmissions,
            counted(stats.timeouts, "timeout")
        )
    }

    fn fetch(&mut self, number: u64) {
        let Control { posts, shared, endpoint, epoll, .. } = self;
        let Some(endpoint) = endpoint else { return };
        endpoint.on_event(epoll, number, || {
            let counted =
                mail::ask(posts, |worker| (Counters::of(worker), worker.service.counts()));
            let (counters, services): (Vec<_>, Vec<_>) = counted.into_iter().unzip();
            text(&counters, &services, shared)
        });
    }
}

/// The answer where these names are not looked up.
fn not_found(names: &[String], why: &str) -> Vec<Found> {
    names.iter().map(|name| (name.clone(), Err(format!("{name}: {why}")))).collect()
}
