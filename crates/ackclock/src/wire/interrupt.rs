//! Ctrl-C.

use std::os::fd::{AsFd, BorrowedFd};
use std::process;
use std::thread;

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

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
