//! Work that Ctrl-C ends, with the interpreter free for other threads meanwhile.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ackclock_run::Cancel;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// How long Ctrl-C may go unnoticed.
const LOOK: Duration = Duration::from_millis(50);

thread_local! {
    /// What says that the run of this thread has to end.
    static RUNNING: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

/// Unwinds if the run of this thread has to end. For what a run calls that may never return to it.
pub fn check() {
    if RUNNING.with_borrow(|now| now.as_ref().is_some_and(Cancel::is_cancelled)) {
        resume_unwind(Box::new(Stopped));
    }
}

/// What a run has unwound with, as the exception to raise where Python called it.
pub fn unwound(payload: Box<dyn Any + Send>) -> PyErr {
    match payload.downcast::<PyErr>() {
        Ok(raised) => *raised,
        // Why it was stopped is known already, and counts.
        Err(payload) if payload.is::<Stopped>() => PyKeyboardInterrupt::new_err(()),
        Err(payload) => resume_unwind(payload),
    }
}

/// Says that work has to end, and why.
#[derive(Default)]
pub struct Stop {
    /// What runs look at.
    pub cancel: Cancel,
    why: Mutex<Option<PyErr>>,
}

/// What a run unwinds with that was stopped.
struct Stopped;

impl Stop {
    /// The first one counts.
    fn because(&self, why: PyErr) {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.cancel.cancel();
    }

    /// Does `run`, unless there is no use any more. A Python mechanism that raised, or that saw the
    /// stop, unwinds up to here; `None` then.
    pub fn guard<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        if self.cancel.is_cancelled() {
            return None;
        }
        RUNNING.set(Some(self.cancel.clone()));
        let result = catch_unwind(AssertUnwindSafe(run));
        RUNNING.set(None);
        match result {
            Ok(done) => Some(done),
            Err(payload) => {
                self.caught(payload);
                None
            }
        }
    }

    fn caught(&self, payload: Box<dyn Any + Send>) {
        match payload.downcast::<PyErr>() {
            Ok(raised) => self.because(*raised),
            Err(payload) if payload.is::<Stopped>() => {}
            Err(payload) => resume_unwind(payload),
        }
    }
}

/// Does `work` on a thread of its own, and looks for signals meanwhile, which Python handles on the
/// calling thread if that is its main one.
///
/// # Errors
/// What a signal or a mechanism raised.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce(&Stop) -> T + Send) -> PyResult<T> {
    let stop = Stop::default();
    let done = py.detach(|| {
        thread::scope(|scope| {
            let (working, over) = channel::<()>();
            let stop = &stop;
            let worker = scope.spawn(move || {
                let _working = working;
                work(stop)
            });
            while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if let Err(signal) = Python::attach(|py| py.check_signals()) {
                    stop.because(signal);
                }
            }
            worker.join()
        })
    });
    let done = done.map_err(|payload| stop.caught(payload));
    match (stop.why.into_inner().unwrap_or_else(PoisonError::into_inner), done) {
        (Some(why), _) => Err(why),
        (None, Ok(done)) => Ok(done),
        (None, Err(())) => unreachable!("only what is told stops"),
    }
}
