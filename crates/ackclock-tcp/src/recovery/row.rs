//! One row of the registry: what a mechanism is called, where it comes from, and how it is made.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;

/// How a mechanism whose trait is `T` is made for a new connection.
pub(crate) enum Make<T: ?Sized> {
    /// On its own.
    New(Arc<dyn Fn() -> Box<T> + Send + Sync>),
    /// Around the mechanism that a composition names before it on the same axis.
    Around(Arc<dyn Fn(Box<T>) -> Box<T> + Send + Sync>),
}

impl<T: ?Sized> Clone for Make<T> {
    fn clone(&self) -> Self {
        match self {
            Make::New(make) => Make::New(make.clone()),
            Make::Around(make) => Make::Around(make.clone()),
        }
    }
}

/// What becomes of a mechanism where SACK was not negotiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WithoutSack {
    /// It works all the same.
    Stays,
    /// The mechanism of this name, of the same axis, takes its place.
    Becomes(Cow<'static, str>),
    /// Nothing takes its place.
    Off,
}

/// A mechanism of the axis whose trait is `T`, as the registry lists it.
///
/// ```
/// use ackclock_tcp::recovery::Row;
/// use ackclock_tcp::recovery::detect::{Detect, Lost};
/// use ackclock_tcp::{AckSummary, Registry, State};
///
/// /// The second duplicate is enough.
/// struct SecondDuplicate;
///
/// impl Detect for SecondDuplicate {
///     fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
///         if a.duplicate && s.dupacks == 2 { Lost::Head } else { Lost::Nothing }
///     }
/// }
///
/// let mut registry = Registry::default();
/// let row = Row::<dyn Detect>::new("second-duplicate", || Box::new(SecondDuplicate))
///     .source("own", "the second duplicate ACK is enough")
///     .summary("the second duplicate ACK means that the first unacknowledged segment is lost");
/// registry.add(row).unwrap();
/// assert!(registry.parse("newreno+second-duplicate").is_ok());
/// ```
pub struct Row<T: ?Sized> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) file: Cow<'static, str>,
    pub(crate) source: Cow<'static, str>,
    pub(crate) sentence: Cow<'static, str>,
    pub(crate) summary: Cow<'static, str>,
    pub(crate) needs_sack: bool,
    pub(crate) without_sack: WithoutSack,
    pub(crate) make: Make<T>,
}

impl<T: ?Sized> Row<T> {
    fn with(name: Cow<'static, str>, make: Make<T>) -> Self {
        let file = Cow::Owned(name.replace('-', "_"));
        let empty = Cow::Borrowed("");
        Row {
            name,
            file,
            source: empty.clone(),
            sentence: empty.clone(),
            summary: empty,
            needs_sack: false,
            without_sack: WithoutSack::Stays,
            make,
        }
    }

    /// A mechanism that takes the place of the one named before it on its axis. Probes and undo
    /// mechanisms work side by side instead. `make` is called for each new connection.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        make: impl Fn() -> Box<T> + Send + Sync + 'static,
    ) -> Self {
        Row::with(name.into(), Make::New(Arc::new(make)))
    }

    /// A mechanism that wraps the one named before it on its axis. On an axis where mechanisms work
    /// side by side it wraps the last one. Where there is none, it adds nothing.
    pub fn around(
        name: impl Into<Cow<'static, str>>,
        make: impl Fn(Box<T>) -> Box<T> + Send + Sync + 'static,
    ) -> Self {
        Row::with(name.into(), Make::Around(Arc::new(make)))
    }

    /// Where it is specified, and the one sentence of that source that it implements, at most 30
    /// words. A sentence in quotation marks is the source's own, `[...]` where words are left out.
    /// One without them says in other words what the source has.
    pub fn source(
        mut self,
        source: impl Into<Cow<'static, str>>,
        sentence: impl Into<Cow<'static, str>>,
    ) -> Self {
        (self.source, self.sentence) = (source.into(), sentence.into());
        self
    }

    /// What it does, in a line.
    pub fn summary(mut self, summary: impl Into<Cow<'static, str>>) -> Self {
        self.summary = summary.into();
        self
    }

    /// The file that implements it; `file!()` outside this crate. Inside, the name without its
    /// folder and `.rs`, where it is not the mechanism's own.
    pub fn file(mut self, file: impl Into<Cow<'static, str>>) -> Self {
        self.file = file.into();
        self
    }

    /// It makes use of SACK, so that a connection negotiates SACK for it.
    pub fn needs_sack(mut self) -> Self {
        self.needs_sack = true;
        self
    }

    /// Where SACK was not negotiated, the mechanism of this name takes its place, which is one of
    /// the same axis.
    pub fn without_sack(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.without_sack = WithoutSack::Becomes(name.into());
        self
    }

    /// Where SACK was not negotiated, it is left out, and what it wraps stays.
    pub fn off_without_sack(mut self) -> Self {
        self.without_sack = WithoutSack::Off;
        self
    }
}
