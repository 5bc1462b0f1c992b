//! Ctrl-C.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::resume_unwind;
use std::process;
use std::thread;

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use ackclock_run::Cancel;

use crate::error::Error;
use crate::exit;

/// SIGINT and SIGTERM.
fn both() -> SigSet {
    let mut both = SigSet::empty();
    both.add(Signal::SIGINT);
    both.add(Signal::SIGTERM);
    both
}

/// The flag that SIGINT or SIGTERM sets, for runs that look at it. The second one ends the process.
/// To be made before any thread, which would take the signals otherwise.
pub(crate) fn cancel_on_signals() -> Result<Cancel, Error> {
    let cancel = Cancel::default();
    block(both())?;
    heed_signals(cancel.clone());
    Ok(cancel)
}

/// Has the signals, which are blocked already, set this flag. The second one ends the process.
pub(crate) fn heed_signals(cancel: Cancel) {
    thread::spawn(move || {
        while both().wait().is_ok() {
            if cancel.is_cancelled() {
                process::exit(exit::INTERRUPTED.code.into());
            }
            cancel.cancel();
        }
    });
}

fn block(signals: SigSet) -> Result<(), Error> {
    signals.thread_block().map_err(|error| Error::system("signals")(error.into()))
}

/// SIGINT and SIGTERM, to be waited for like a file instead of ending the process. To be made
/// before any thread, which would take the signals otherwise.
pub(crate) struct Interrupt {
    signals: SignalFd,
    taken: u32,
    hangups: u32,
}

impl Interrupt {
    pub fn new() -> Result<Interrupt, Error> {
        Interrupt::of(both())
    }

    /// SIGHUP too, which asks a server to read its files again.
    pub fn with_hangup() -> Result<Interrupt, Error> {
        let mut signals = both();
        signals.add(Signal::SIGHUP);
        Interrupt::of(signals)
    }

    fn of(set: SigSet) -> Result<Interrupt, Error> {
        block(set)?;
        let signals = SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
            .map_err(|error| Error::system("signals")(error.into()))?;
        Ok(Interrupt { signals, taken: 0, hangups: 0 })
    }

    /// How many SIGINT and SIGTERM have come so far; two of one kind that come at once count as
    /// one.
    pub fn taken(&mut self) -> u32 {
        while let Ok(Some(signal)) = self.signals.read_signal() {
            let hangup = signal.ssi_signo == Signal::SIGHUP as u32;
            *(if hangup { &mut self.hangups } else { &mut self.taken }) += 1;
        }
        self.taken
    }

    /// Does some work that may take long, with the signals blocked in all its threads. SIGINT or
    /// SIGTERM ends the process meanwhile, which has done nothing yet; SIGHUP waits.
    pub fn during<T: Send>(&mut self, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        let failed = Error::system("signals");
        // The end of the pipe says that the work is done, also where it panics.
        let (done, open) = io::pipe().map_err(Error::system("signals"))?;
        thread::scope(|scope| {
            let working = scope.spawn(move || {
                let _open = open;
                work()
            });
            loop {
                let mut fds = [PollFd::new(&done, PollFlags::IN), PollFd::new(self, PollFlags::IN)];
                match poll(&mut fds, None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(failed(error.into())),
                }
                let is_done = !fds[0].revents().is_empty();
                if self.taken() > 0 {
                    process::exit(exit::DONE.code.into());
                }
                if is_done {
                    break;
                }
            }
            Ok(working.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// How many SIGHUP [`Interrupt::taken`] has found since this was asked.
    pub fn hangups(&mut self) -> u32 {
        std::mem::take(&mut self.hangups)
    }
}

impl AsFd for Interrupt {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }
}
