//! The window law that some questions are asked with.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ackclock_tcp::recovery::window::Window;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;

use crate::interrupt;
use crate::state::{Ack, State};

scoped_thread_local!(
    /// The law of the question that this thread asks of Python.
    static mut ASKED: for<'a> &'a mut dyn Window
);

/// Does `ask` with a [`Law`] that answers meanwhile.
pub fn with_law<R>(law: &mut dyn Window, ask: impl FnOnce(Law) -> R) -> R {
    ASKED.set(law, || ask(Law))
}

/// The window law of a connection, during the call that it is passed to.
#[pyclass(frozen, module = "ackclock")]
pub struct Law;

impl Law {
    /// A law in Python may raise, which must not unwind through the interpreter.
    fn ask<R>(question: impl FnOnce(&mut dyn Window) -> R) -> PyResult<R> {
        if !ASKED.is_set() {
            let text = "the window law answers only during the call that it is passed to";
            return Err(PyRuntimeError::new_err(text));
        }
        catch_unwind(AssertUnwindSafe(|| ASKED.with(question))).map_err(interrupt::unwound)
    }
}

#[pymethods]
impl Law {
    fn initial(&self, mss: u64) -> PyResult<u64> {
        Law::ask(|law| law.initial(mss))
    }

    fn on_ack(&self, state: &State, ack: &Ack) -> PyResult<u64> {
        Law::ask(|law| law.on_ack(&state.0, &ack.0))
    }

    fn on_loss(&self, state: &State, flight: u64) -> PyResult<u64> {
        Law::ask(|law| law.on_loss(&state.0, flight))
    }

    fn on_timeout(&self, state: &State, flight: u64, repeated: bool) -> PyResult<u64> {
        Law::ask(|law| law.on_timeout(&state.0, flight, repeated))
    }
}
