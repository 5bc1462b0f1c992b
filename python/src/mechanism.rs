//! Mechanisms written in Python. What a class does not define is as the trait of its axis has it.

mod answers;
mod axes;
mod law;

use std::cell::Cell;
use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};

use ackclock_tcp::recovery::Row;
use ackclock_tcp::recovery::ambiguity::Ambiguity;
use ackclock_tcp::recovery::detect::Detect;
use ackclock_tcp::recovery::fill::Fill;
use ackclock_tcp::recovery::pacing::Pacing;
use ackclock_tcp::recovery::probe::Probe;
use ackclock_tcp::recovery::regulate::Regulate;
use ackclock_tcp::recovery::response::Response;
use ackclock_tcp::recovery::retransmission::DetectRetransmission;
use ackclock_tcp::recovery::segmentation::Segmentation;
use ackclock_tcp::recovery::select::Select;
use ackclock_tcp::recovery::timer::Timer;
use ackclock_tcp::recovery::undo::Undo;
use ackclock_tcp::recovery::window::Window;
use ackclock_tcp::strategy::Refused;
use ackclock_tcp::{Registry, Span, Time};
use pyo3::call::PyCallArgs;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::error::plain;
use crate::interrupt;

pub use law::Law;

/// A class that is registered.
struct Spec {
    name: &'static str,
    axis: String,
    class: Py<PyAny>,
    /// The methods that it defines.
    methods: HashSet<String>,
    summary: String,
    needs_sack: bool,
    without_sack: Option<String>,
}

/// One names only earlier ones.
static SPECS: Mutex<Vec<Arc<Spec>>> = Mutex::new(Vec::new());

/// The mechanism of one connection.
struct Object {
    spec: Arc<Spec>,
    object: Py<PyAny>,
    /// A time, and how many deadlines have passed since.
    passed: Cell<(Time, u32)>,
}

/// More deadlines within [`AT_ONCE`] mean that time goes on by hardly anything, for ever.
const MOST_AT_ONCE: u32 = 10_000;
const AT_ONCE: Span = Span::from_millis(1);

/// The mechanisms and presets of the engine, and what is registered.
pub fn registry() -> Registry {
    let specs = SPECS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut registry = Registry::default();
    for spec in specs {
        // What was registered was accepted.
        let _ = add(&mut registry, &spec);
    }
    registry
}

/// Puts each behind those that it names: one that is replaced may name others than before.
fn in_order(mut specs: Vec<Arc<Spec>>) -> Result<Vec<Arc<Spec>>, Refused> {
    let (mut registry, mut ordered) = (Registry::default(), Vec::new());
    while let Some(first) = specs.first() {
        match specs.iter().position(|spec| add(&mut registry, spec).is_ok()) {
            Some(next) => ordered.push(specs.remove(next)),
            None => add(&mut registry, first)?,
        }
    }
    Ok(ordered)
}

fn add(registry: &mut Registry, spec: &Arc<Spec>) -> Result<(), Refused> {
    macro_rules! row {
        ($axis:ident) => {{
            let made = spec.clone();
            let mut row = Row::<dyn $axis>::new(spec.name, move || Box::new(Object::new(&made)))
                .source("own", "")
                .summary(spec.summary.clone())
                .file("Python");
            if spec.needs_sack {
                row = row.needs_sack();
            }
            if let Some(name) = &spec.without_sack {
                row = row.without_sack(name.clone());
            }
            registry.add(row)
        }};
    }
    match spec.axis.as_str() {
        "detect" => row!(Detect),
        "ambiguity" => row!(Ambiguity),
        "retransmission" => row!(DetectRetransmission),
        "response" => row!(Response),
        "select" => row!(Select),
        "fill" => row!(Fill),
        "regulate" => row!(Regulate),
        "probe" => row!(Probe),
        "undo" => row!(Undo),
        "window" => row!(Window),
        "timer" => row!(Timer),
        "pacing" => row!(Pacing),
        _ => row!(Segmentation),
    }
}

/// Registers a class with the methods that it defines; one of the same name that was registered
/// before is replaced.
#[pyfunction]
pub fn register(
    axis: String,
    name: String,
    class_: Py<PyAny>,
    methods: HashSet<String>,
    summary: String,
    needs_sack: bool,
    without_sack: Option<String>,
) -> PyResult<()> {
    if !ackclock_tcp::strategy::Axis::ALL.iter().any(|known| known.name() == axis) {
        return Err(PyValueError::new_err(format!("there is no axis `{axis}`")));
    }
    let mut specs = SPECS.lock().unwrap_or_else(PoisonError::into_inner);
    let before = specs.iter().position(|spec| spec.name == name);
    // Events hold names for ever; a name is kept once.
    let name = before.map_or_else(|| &*name.leak(), |at| specs[at].name);
    let spec = Spec { name, axis, class: class_, methods, summary, needs_sack, without_sack };
    let mut next = specs.clone();
    match before {
        Some(at) => next[at] = Arc::new(spec),
        None => next.push(Arc::new(spec)),
    }
    *specs = in_order(next).map_err(plain)?;
    Ok(())
}

/// What is registered: names, classes, and the options of each.
#[pyfunction]
pub fn registered(py: Python<'_>) -> Vec<(&'static str, Py<PyAny>, bool, Option<String>)> {
    let specs = SPECS.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |s: &Arc<Spec>| (s.name, s.class.clone_ref(py), s.needs_sack, s.without_sack.clone());
    specs.iter().map(of).collect()
}

/// A mechanism returns no errors, so that an exception unwinds to the run
/// ([`interrupt::Stop::guard`]).
fn raise(error: PyErr) -> ! {
    resume_unwind(Box::new(error))
}

/// What a method has to return, as the class of the axis says.
fn answer(class: &Bound<'_, PyType>, method: &str) -> String {
    let mut answer = String::new();
    for base in class.mro() {
        // The last one is the axis itself; those of the user may have no annotations.
        let annotations = base.getattr(method).and_then(|it| it.getattr("__annotations__"));
        if let Ok(returned) = annotations.and_then(|it| it.get_item("return")) {
            answer = format!("; it has to return {returned}");
        }
    }
    answer
}

impl Object {
    fn new(spec: &Arc<Spec>) -> Object {
        let made = Python::attach(|py| spec.class.call0(py));
        let object = made.unwrap_or_else(|error| raise(error));
        Object { spec: spec.clone(), object, passed: Cell::new((Time::ZERO, 0)) }
    }

    /// `at`, a deadline of this method. One that is not after `now` has passed.
    fn after(&self, method: &str, now: Time, at: Time) -> Time {
        let (since, count) = self.passed.get();
        if at > now || now.since(since) >= AT_ONCE {
            self.passed.set((now, 1));
            return at;
        }
        self.passed.set((since, count + 1));
        if count >= MOST_AT_ONCE {
            let name = self.spec.name;
            let at = now.nanos() as f64 / 1e9;
            raise(PyRuntimeError::new_err(format!(
                "`{name}`: {MOST_AT_ONCE} deadlines passed within a millisecond, at {at} s; \
                 `{method}` has to return a later time once one has passed"
            )));
        }
        at
    }

    /// Whether the class defines any of these methods.
    fn defines(&self, methods: &[&str]) -> bool {
        methods.iter().any(|method| self.spec.methods.contains(*method))
    }

    /// What the method of this name returns; `None` if the class does not define it.
    fn call<A, R>(&self, method: &str, args: impl FnOnce() -> A) -> Option<R>
    where
        A: for<'py> PyCallArgs<'py>,
        R: for<'py> FromPyObjectOwned<'py>,
    {
        if !self.spec.methods.contains(method) {
            return None;
        }
        interrupt::check();
        let returned = Python::attach(|py| {
            interrupt::calls(py)?;
            let value = self.object.bind(py).call_method1(method, args())?;
            value.extract::<R>().map_err(|error| {
                let error: PyErr = error.into();
                let class = self.object.bind(py).get_type();
                let name = class.qualname().map(|name| name.to_string()).unwrap_or_default();
                let shown = value.repr().map(|shown| shown.to_string()).unwrap_or_default();
                if error.is_instance_of::<PyValueError>(py) {
                    let told = format!("{name}.{method} returned {shown}; {}", error.value(py));
                    return PyValueError::new_err(told);
                }
                let right = answer(&class, method);
                let whole = ["int", "Lost", "Next"].iter().any(|part| right.contains(part));
                let range = if whole { ", with whole numbers from 0 to 2^64 - 1" } else { "" };
                PyTypeError::new_err(format!("{name}.{method} returned {shown}{right}{range}"))
            })
        });
        Some(returned.unwrap_or_else(|error| raise(error)))
    }

    /// As [`call`](Self::call), of a method that answers nothing.
    fn notify<A>(&self, method: &str, args: impl FnOnce() -> A)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        let _: Option<Py<PyAny>> = self.call(method, args);
    }
}
