//! Fewer events for the same picture: what would share a pixel is drawn once.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::mem::{Discriminant, discriminant};

use ackclock_tcp::{Cause, Event, EventKind, Time};

/// How many events on either side of anything but new data and its ACKs are kept as well: the most
/// for which there is room.
const NEAR: [usize; 4] = [64, 16, 4, 0];

/// Columns and rows of the coarsest raster at which a picture still looks the same unless one zooms
/// in: as many as a wide screen has pixels.
const COLUMNS: u64 = 2000;
const ROWS: u64 = 1000;

/// The most events of a panel on a page: some 2 MB.
pub const MOST_OF_PANEL: usize = 30_000;

/// At most `most` events of which the picture looks as that of `events`, which are in order of
/// time.
///
/// First only new data and their ACKs are thinned where nothing else happens, so that whoever zooms
/// in on a loss sees every segment. A segment that the network dropped is no such data. Only if
/// that is not enough, everything is. What shares a cell of the raster and is of one kind becomes
/// one mark. The raster is as fine as `most` allows.
pub fn thin(events: &[Event], most: usize) -> Cow<'_, [Event]> {
    if events.len() <= most {
        return Cow::Borrowed(events);
    }
    let raster = Raster::new(events, ROWS.min(most as u64 / 8));
    let finest = (raster.span / most.max(1) as u64).max(1);
    let widths = || std::iter::successors(Some(finest), |width| width.checked_mul(2));
    let fits = |width, keep: &[bool]| raster.thin(events, most, width, keep);
    let coarsest = (raster.span / COLUMNS).max(finest);
    let with_trouble = |near| {
        let keep = around(events, near, |event| !quiet(event) || raster.is_dropped(&event.kind));
        widths().take_while(|width| *width <= coarsest).find_map(|width| fits(width, &keep))
    };
    let thinned = NEAR.into_iter().find_map(with_trouble).or_else(|| {
        let all = events.iter().filter(|event| bounds(event)).count();
        let keep = around(events, 0, |event| all <= most / 4 && bounds(event));
        widths().find_map(|width| fits(width, &keep))
    });
    // The last width is one column; only a tiny `most` is still exceeded then.
    Cow::Owned(thinned.unwrap_or_else(|| events[..most].to_vec()))
}

/// For each event whether it or one of the `near` ones on either side is `chosen`.
fn around(events: &[Event], near: usize, chosen: impl Fn(&Event) -> bool) -> Vec<bool> {
    let mut marks = vec![false; events.len()];
    let mut marked = 0;
    for (i, _) in events.iter().enumerate().filter(|(_, event)| chosen(event)) {
        let end = (i + near + 1).min(events.len());
        marks[marked.max(i.saturating_sub(near))..end].fill(true);
        marked = end;
    }
    marks
}

/// New data, and ACKs that leave the window open.
fn quiet(event: &Event) -> bool {
    match event.kind {
        EventKind::Sent { cause, .. } => cause == Cause::New,
        EventKind::Arrived { spurious, .. } => !spurious,
        EventKind::Acked { ack, window_edge, .. } => window_edge > ack,
        EventKind::Written { .. } => true,
        _ => false,
    }
}

/// Where a time begins or ends that is shaded.
fn bounds(event: &Event) -> bool {
    matches!(event.kind, EventKind::RecoveryEntered { .. } | EventKind::RecoveryLeft { .. })
}

/// Of what only one is kept in a cell: kind, and what else tells marks apart.
type Lane = (Discriminant<EventKind>, u8);

struct Raster {
    start: Time,
    /// Nanoseconds.
    span: u64,
    /// Bytes in a row.
    row: u64,
    /// First bytes and transmissions of what the network dropped.
    dropped: HashSet<(u64, u32)>,
}

impl Raster {
    fn new(events: &[Event], rows: u64) -> Raster {
        let time = |event: Option<&Event>| event.map_or(Time::ZERO, |e| e.at);
        let start = time(events.first());
        let ends = events.iter().filter_map(|e| extent(&e.kind));
        let (low, high) =
            ends.fold((u64::MAX, 0), |(low, high), (from, to)| (low.min(from), high.max(to)));
        let dropped = |event: &Event| match event.kind {
            EventKind::Dropped { seq, transmission, .. } => Some((seq, transmission)),
            _ => None,
        };
        Raster {
            dropped: events.iter().filter_map(dropped).collect(),
            start,
            span: time(events.last()).0.saturating_sub(start.0),
            row: (high.saturating_sub(low) / rows.max(1)).max(1),
        }
    }

    /// Whether this is the sending of what was dropped, over which the picture has a cross.
    fn is_dropped(&self, kind: &EventKind) -> bool {
        match *kind {
            EventKind::Sent { seq, transmission, .. } => {
                self.dropped.contains(&(seq, transmission))
            }
            _ => false,
        }
    }

    fn lane(&self, kind: &EventKind) -> Lane {
        let more = match *kind {
            EventKind::Sent { cause, .. } => cause as u8 | u8::from(self.is_dropped(kind)) << 7,
            EventKind::Arrived { spurious, .. } => spurious.into(),
            EventKind::Acked { ack, window_edge, dupacks, sacks, .. } => {
                u8::from(dupacks > 0) | u8::from(sacks > 0) << 1 | u8::from(window_edge <= ack) << 2
            }
            _ => 0,
        };
        (discriminant(kind), more)
    }

    /// Merges what shares a column of `width` nanoseconds, a row and a lane, but for what `keep`
    /// marks. `None` if more than `most` are left.
    fn thin(&self, events: &[Event], most: usize, width: u64, keep: &[bool]) -> Option<Vec<Event>> {
        let mut kept: Vec<Event> = Vec::new();
        let mut cells: HashMap<(Lane, u64), usize> = HashMap::new();
        let mut column = 0;
        for (i, event) in events.iter().enumerate() {
            let now = event.at.0.saturating_sub(self.start.0) / width;
            if now != column {
                column = now;
                cells.clear();
            }
            let cell = (
                self.lane(&event.kind),
                extent(&event.kind).map_or(0, |(from, _)| from / self.row),
            );
            let whole = keep.get(i).is_some_and(|k| *k);
            match cells.get(&cell).filter(|_| !whole) {
                Some(first) => merge(&mut kept[*first], event),
                None if kept.len() == most => return None,
                None => {
                    if !whole {
                        cells.insert(cell, kept.len());
                    }
                    kept.push(*event);
                }
            }
        }
        // An ACK stands where the last one of its cell was.
        kept.sort_by_key(|event| event.at);
        Some(kept)
    }
}

/// From where to where a mark goes; `None` if it is none of a row.
fn extent(kind: &EventKind) -> Option<(u64, u64)> {
    match *kind {
        EventKind::Sent { seq, len, .. } | EventKind::Arrived { seq, len, .. } => {
            Some((seq, seq.saturating_add(len.into())))
        }
        _ => None,
    }
}

/// One mark in place of two of the same kind. Data stand where the first one was, ACKs where the
/// last one was; of all else the first stays.
fn merge(one: &mut Event, other: &Event) {
    match (&mut one.kind, other.kind) {
        (EventKind::Sent { seq, len, .. }, EventKind::Sent { seq: from, len: more, .. })
        | (EventKind::Arrived { seq, len, .. }, EventKind::Arrived { seq: from, len: more, .. }) => {
            let end = seq.saturating_add((*len).into()).max(from.saturating_add(more.into()));
            *seq = (*seq).min(from);
            *len = u32::try_from(end - *seq).unwrap_or(u32::MAX);
        }
        (
            EventKind::Acked { newly_acked: before, newly_sacked: sacked_before, .. },
            EventKind::Acked { .. },
        ) => {
            let (before, sacked_before) = (*before, *sacked_before);
            *one = *other;
            if let EventKind::Acked { newly_acked, newly_sacked, .. } = &mut one.kind {
                *newly_acked = newly_acked.saturating_add(before);
                *newly_sacked = newly_sacked.saturating_add(sacked_before);
            }
        }
        _ => {}
    }
}
