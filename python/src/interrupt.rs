//! Work that Ctrl-C ends, with the interpreter free for other threads meanwhile.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ackclock_run::Cancel;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// How long Ctrl-C may go unnoticed.
const LOOK: Duration = Duration::from_millis(50);

thread_local! {
    /// The run of this thread.
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// The threads whose runs have called Python, as Python calls them.
type Callers = Arc<Mutex<HashSet<u64>>>;

struct Running {
    cancel: Cancel,
    callers: Callers,
    thread: Option<u64>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(thread) = self.thread {
            self.callers.lock().unwrap_or_else(PoisonError::into_inner).remove(&thread);
        }
    }
}

/// Notes that the run of this thread calls Python, where [`Stop`] has to end it.
pub fn calls(py: Python<'_>) -> PyResult<()> {
    RUNNING.with_borrow_mut(|now| {
        if let Some(now) = now.as_mut().filter(|now| now.thread.is_none()) {
            let thread = py.import("threading")?.call_method0("get_ident")?.extract()?;
            now.callers.lock().unwrap_or_else(PoisonError::into_inner).insert(thread);
            now.thread = Some(thread);
        }
        Ok(())
    })
}

/// Unwinds if the run of this thread has to end. For what a run calls that may never return to it.
pub fn check() {
    if RUNNING.with_borrow(|now| now.as_ref().is_some_and(|now| now.cancel.is_cancelled())) {
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
    callers: Callers,
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
        let (cancel, callers) = (self.cancel.clone(), self.callers.clone());
        RUNNING.set(Some(Running { cancel, callers, thread: None }));
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

    /// Raises KeyboardInterrupt where a mechanism is under way, which may never end by itself.
    fn end_python(&self, py: Python<'_>) -> PyResult<()> {
        let callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if callers.is_empty() {
            return Ok(());
        }
        let ctypes = py.import("ctypes")?;
        let raise = ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?;
        let kind = ctypes.call_method1("py_object", (py.get_type::<PyKeyboardInterrupt>(),))?;
        for thread in callers {
            raise.call1((ctypes.call_method1("c_ulong", (thread,))?, &kind))?;
        }
        Ok(())
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
                Python::attach(|py| {
                    if let Err(signal) = py.check_signals() {
                        stop.because(signal);
                    }
                    if stop.cancel.is_cancelled()
                        && let Err(failed) = stop.end_python(py)
                    {
                        stop.because(failed);
                    }
                });
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
