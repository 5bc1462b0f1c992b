//! Network namespaces without names.

use std::fs::File;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use nix::sched::{CloneFlags, setns, unshare};

use crate::link::{self, Change};

/// A network namespace without a name, gone with the last thread, socket or device in it: nothing
/// is left behind even by a process that is killed.
#[derive(Clone, Debug)]
pub struct Namespace {
    file: Arc<File>,
}

impl Namespace {
    /// A new, empty namespace with its loopback device up.
    ///
    /// # Errors
    /// What the kernel says: it takes `CAP_SYS_ADMIN`.
    pub fn new() -> io::Result<Namespace> {
        // A thread that leaves its namespace cannot always come back, so one is made for it.
        let file = thread::scope(|scope| {
            let made = scope.spawn(|| {
                unshare(CloneFlags::CLONE_NEWNET)?;
                File::open("/proc/thread-self/ns/net")
            });
            made.join().unwrap_or_else(|panic| resume_unwind(panic))
        })?;
        let namespace = Namespace { file: Arc::new(file) };
        namespace.set_link("lo", true)?;
        // Addresses count from the start: nobody else can have them (RFC 4862 section 5.4).
        for key in ["net/ipv6/conf/all/accept_dad", "net/ipv6/conf/default/accept_dad"] {
            match namespace.sysctl(key, "0") {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(namespace)
    }

    /// One that `ip netns add` made.
    ///
    /// # Errors
    /// What opening it returns.
    pub fn named(name: &str) -> io::Result<Namespace> {
        Ok(Namespace { file: Arc::new(File::open(format!("/run/netns/{name}"))?) })
    }

    /// Does `work` in it, in a thread of its own, and waits for it. Sockets, devices and processes
    /// that it makes stay in the namespace.
    ///
    /// # Errors
    /// What entering the namespace returns.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let done = scope.spawn(|| self.enter().map(|()| work()));
            done.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// As [`Namespace::run`], without waiting.
    ///
    /// # Errors
    /// What making the thread returns; the thread returns what entering the namespace returns.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<JoinHandle<io::Result<T>>> {
        let namespace = self.clone();
        thread::Builder::new().spawn(move || namespace.enter().map(|()| work()))
    }

    /// Sets a sysctl in it, by its path below `/proc/sys`, such as `net/ipv4/ip_forward`.
    ///
    /// # Errors
    /// What writing returns.
    pub fn sysctl(&self, key: &str, value: &str) -> io::Result<()> {
        self.run(|| std::fs::write(format!("/proc/sys/{key}"), value))?
    }

    /// Brings a device in it up or down.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_link(&self, name: &str, up: bool) -> io::Result<()> {
        self.run(|| link::change(name, Change::Up(up)))?
    }

    fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.file, CloneFlags::CLONE_NEWNET)?)
    }
}
