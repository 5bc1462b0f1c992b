//! Reads captures on all cores.

use std::io;
use std::path::Path;
use std::sync::Arc;

use ackclock_run::{Cancel, Progress, in_parallel};
use ackclock_tcp::Time;
use ackclock_trace::{
    Connection, Damage, Detail, Filter, Fragments, Frame, Ignored, Packet, Settings, TooBig,
    Tracker, decode, hosts, translated,
};

use crate::clock::Clock;
use crate::error::Error;
use crate::explained::{Capture, Explained, Found};
use crate::others;
use crate::source::Source;

/// How to read.
pub struct Options {
    /// How many captures at the same time; 0 for one per processor. It does not change any result.
    pub jobs: u16,
    /// Look at these frames only.
    pub filter: Option<Filter>,
    /// Of a stream, which cannot be read again: keep the events of its connections until there are
    /// so many.
    pub events_of_streams: usize,
}

/// Frames between looks at the progress and at connections that have ended.
const TURN: u64 = 1 << 12;

/// Reads all of them, but files only until `cancel` is set. What goes wrong with one is noted in
/// its [`Capture`].
///
/// # Errors
/// [`Error::Usage`] if there can be no such threads, or the filter cannot be applied.
pub fn read(sources: &[Source], options: &Options, cancel: &Cancel) -> Result<Explained, Error> {
    let progress = Progress::until(sources.iter().map(Source::len).sum(), cancel);
    let results = in_parallel(sources, options.jobs, |source| {
        let detail = match source {
            Source::Stream(_) if options.events_of_streams > 0 => {
                Detail::UpTo(options.events_of_streams)
            }
            _ => Detail::None,
        };
        Ok(one(source, options, detail, &progress))
    });
    let results = results.map_err(|e| Error::Usage(format!("--jobs: {e}")))?;
    if let Some(error) = options.filter.as_ref().and_then(Filter::refused_for_all) {
        return Err(Error::Filter(error.to_string()));
    }
    let mut explained = Explained::default();
    for result in results {
        let (capture, connections) = result?;
        let (index, first) = (explained.captures.len(), explained.connections.len());
        explained.captures.push(capture);
        let set_ahead = explained.captures[index].set_ahead();
        let again = translated::again(&connections);
        let found = connections.into_iter().zip(again).enumerate();
        explained.connections.extend(found.map(|(i, (connection, again))| Found {
            number: first + i,
            capture: index,
            same_as: again.map(|again| first + again),
            connection,
            set_ahead: Arc::clone(&set_ahead),
            saved: Vec::new(),
            got_through: Vec::new(),
        }));
        others::look(&mut explained.connections[first..]);
    }
    Ok(explained)
}

/// These connections with their events, of which the first reading of a file has kept none: reads
/// again what they were found in, until `cancel` is set.
///
/// # Errors
/// [`Error::Read`], [`Error::Usage`] if there can be no such threads, and [`Error::Interrupted`] if
/// `cancel` is set.
pub fn with_events(
    sources: &[Source],
    wanted: &[&Found],
    options: &Options,
    cancel: &Cancel,
) -> Result<Vec<Connection>, Error> {
    let mut captures: Vec<usize> = wanted.iter().map(|found| found.capture).collect();
    captures.sort_unstable();
    captures.dedup();
    let steps = captures.iter().filter_map(|c| sources.get(*c)).map(Source::len).sum();
    let progress = Progress::until(steps, cancel);
    let again = in_parallel(&captures, options.jobs, |&capture| {
        let numbers = wanted
            .iter()
            .filter(|found| found.capture == capture)
            .map(|found| found.connection.number);
        Ok(match sources.get(capture) {
            Some(source) if !source.is_stream() => {
                one(source, options, Detail::Of(numbers.collect()), &progress)
                    .map(|(_, connections)| connections)
            }
            _ => Ok(Vec::new()),
        })
    });
    let again = again.map_err(|e| Error::Usage(format!("--jobs: {e}")))?;
    let again: Vec<Vec<Box<Connection>>> = again.into_iter().collect::<Result<_, _>>()?;
    if cancel.is_cancelled() {
        return Err(Error::Interrupted);
    }
    let find = |found: &&Found| {
        let read = captures
            .iter()
            .position(|capture| *capture == found.capture)
            .and_then(|i| again.get(i));
        let number = found.connection.number;
        let same =
            read.and_then(|all| all.get(all.binary_search_by_key(&number, |c| c.number).ok()?));
        // Of a stream the events are there already.
        Connection::clone(same.unwrap_or(&found.connection))
    };
    Ok(wanted.iter().map(find).collect())
}

/// One capture. Each connection in a box, so that it can take the place that it had while it was
/// open.
#[expect(clippy::vec_box)]
fn one(
    source: &Source,
    options: &Options,
    detail: Detail,
    progress: &Progress,
) -> Result<(Capture, Vec<Box<Connection>>), Error> {
    let tracker = Tracker::new(Settings { detail, ..Settings::default() });
    let mut tracked = Tracked { tracker, connections: Vec::new() };
    let mut capture = segments(source, options.filter.clone(), progress, &mut tracked)?;
    let Tracked { mut tracker, mut connections } = tracked;
    tracker.flush();
    capture.tracked(&tracker);
    connections.extend(tracker.finish().map(Box::new));
    connections.sort_by_key(|c| c.number);
    hosts::decide(connections.iter_mut().map(Box::as_mut));
    Ok((capture, connections))
}

/// Who takes the segments of a capture.
pub(crate) trait Sink {
    /// The next one.
    fn packet(&mut self, packet: &Packet);
    /// A router says that a segment was too big.
    fn too_big(&mut self, _message: &TooBig) {}
    /// A frame of that time has none.
    fn other(&mut self, _at: Time) {}
    /// Now and then, for what does not have to be done at once.
    fn turn(&mut self) {}
}

struct Tracked {
    tracker: Tracker,
    #[expect(clippy::vec_box)]
    connections: Vec<Box<Connection>>,
}

impl Sink for Tracked {
    // As `Tracker::packet`.
    #[inline(always)]
    fn packet(&mut self, packet: &Packet) {
        self.tracker.packet(packet);
    }

    fn too_big(&mut self, message: &TooBig) {
        self.tracker.too_big(message);
    }

    fn other(&mut self, at: Time) {
        self.tracker.other(at);
    }

    fn turn(&mut self) {
        self.connections.extend(std::iter::from_fn(|| self.tracker.poll_ended()).map(Box::new));
    }
}

/// Hands the segments of a capture to `sink`. What goes wrong is noted in what is returned.
///
/// # Errors
/// The filter cannot be applied.
pub(crate) fn segments(
    source: &Source,
    filter: Option<Filter>,
    progress: &Progress,
    sink: &mut impl Sink,
) -> Result<Capture, Error> {
    let mut capture = Capture { path: source.name(), ..Capture::default() };
    // A stream has no length that a bar could be a part of.
    let progress = (!source.is_stream()).then_some(progress);
    match frames(source, &mut capture, sink, filter, progress) {
        Ok(()) => {}
        Err(Error::Read { error, .. }) if error.kind() == io::ErrorKind::InvalidData => {
            capture.damage = Some(Damage { offset: 0, what: error.to_string() });
        }
        Err(Error::Read { error, .. }) => capture.failed = Some(error.to_string()),
        Err(other) => return Err(other),
    }
    Ok(capture)
}

/// A packet that came in fragments goes to `sink`.
#[cold]
fn put_together(packet: &Packet, sink: &mut impl Sink) {
    sink.packet(packet);
}

/// A frame has no segment, but may say something of one.
#[cold]
fn without_segment(frame: &Frame<'_>, why: Ignored, capture: &mut Capture, sink: &mut impl Sink) {
    sink.other(frame.at);
    if let Some(message) = capture.without_segment(frame, why) {
        sink.too_big(&message);
    }
}

fn frames(
    source: &Source,
    capture: &mut Capture,
    sink: &mut impl Sink,
    mut filter: Option<Filter>,
    progress: Option<&Progress>,
) -> Result<(), Error> {
    let name = source.name();
    let failed = Error::read(Path::new(&name));
    let mut reader = source.frames().map_err(&failed)?;
    let advance = |bytes| progress.into_iter().for_each(|progress| progress.advance(bytes));
    let cancelled = || progress.is_some_and(Progress::is_cancelled);
    let mut fragments = Fragments::default();
    let mut clock = Clock::default();
    let (mut read, mut ended) = (0, Ok(()));
    capture.interrupted = cancelled();
    while !capture.interrupted {
        let frame = match reader.next() {
            Ok(Some(frame)) => frame,
            Ok(None) => break,
            Err(error) => {
                ended = Err(failed(error));
                break;
            }
        };
        capture.packets += 1;
        clock.frame(frame.number, frame.at);
        capture.start = capture.start.or(Some(frame.at));
        let wanted = match &mut filter {
            None => true,
            Some(filter) => {
                let matches = filter.matches(&{ frame });
                matches.map_err(|error| Error::Filter(error.to_string()))?
            }
        };
        if !wanted {
            capture.filtered += 1;
            sink.other(frame.at);
        } else {
            // A packet by reference, since it is large. Frames that need more are handed on as a
            // copy, so that the others stay in registers.
            match &decode(&frame) {
                Ok(packet) => {
                    capture.segments += 1;
                    sink.packet(packet);
                }
                Err(Ignored::Fragment) => {
                    if let Some(packet) = &fragments.put(&{ frame }) {
                        capture.segments += 1;
                        put_together(packet, sink);
                    }
                }
                Err(why) => {
                    without_segment(&{ frame }, *why, capture, sink);
                }
            }
        }
        if capture.packets.is_multiple_of(TURN) {
            sink.turn();
            advance(reader.consumed().saturating_sub(read));
            read = reader.consumed();
            capture.interrupted = cancelled();
        }
    }
    advance(reader.consumed().saturating_sub(read));
    capture.fragmented(&fragments);
    (capture.set_back, capture.out_of_order) = clock.end();
    capture.damage = reader.damage();
    capture.dropped_by_capture = reader.dropped_by_capture();
    ended
}
