//! Four tables, also as Parquet, for analysts: connections, retransmissions, timeouts and stalls.
//! The last three name the connection of each row by its `number` and the end that sent by `from`.

use std::fs;
use std::path::Path;

use ackclock_run::Columns;
use ackclock_tcp::TimeoutClass;
use ackclock_trace::{Kind, Limit, Retransmission, Stall, Timeout};

use crate::error::Error;
use crate::explained::{Counts, End, Explained, Found, sent_by, spurious};
use crate::names;
use crate::slow::Rates;

/// Writes `connections.parquet`, `retransmissions.parquet`, `timeouts.parquet` and `stalls.parquet`
/// into a folder, which is made if it is not there.
///
/// # Errors
/// [`Error::Write`].
pub fn write_parquet(explained: &Explained, folder: &Path) -> Result<(), Error> {
    struct Files<'a>(&'a Path);

    impl TakeTable for Files<'_> {
        type Error = Error;

        fn take<T>(
            &mut self,
            name: &str,
            columns: &Columns<T>,
            rows: impl Iterator<Item = T>,
        ) -> Result<(), Error> {
            let path = self.0.join(name).with_extension("parquet");
            columns.write_parquet(&path, name, rows).map_err(Error::write(&path))
        }
    }

    fs::create_dir_all(folder).map_err(Error::write(folder))?;
    tables(explained, &mut Files(folder))
}

/// Who takes tables whose rows differ in type.
pub trait TakeTable {
    /// What can go wrong.
    type Error;

    /// The next table.
    ///
    /// # Errors
    /// Ends the passing on.
    fn take<T>(
        &mut self,
        name: &str,
        columns: &Columns<T>,
        rows: impl Iterator<Item = T>,
    ) -> Result<(), Self::Error>;
}

/// Passes the tables on: `connections`, `retransmissions`, `timeouts` and `stalls`.
///
/// # Errors
/// What `to` returns.
pub fn tables<T: TakeTable>(explained: &Explained, to: &mut T) -> Result<(), T::Error> {
    let all = &explained.connections;
    let connections = all.iter().map(|found| {
        let capture = explained.captures.get(found.capture).map_or("", |c| &c.path);
        ConnectionRow { capture, found, counts: found.counts() }
    });
    to.take("connections", &connection_columns(), connections)?;
    let rows = all
        .iter()
        .flat_map(|f| f.retransmissions().into_iter().map(|(from, what)| Row::of(f, from, what)));
    to.take("retransmissions", &retransmission_columns(), rows)?;
    let rows = all
        .iter()
        .flat_map(|f| f.timeouts().into_iter().map(|(from, _, what)| Row::of(f, from, what)));
    to.take("timeouts", &timeout_columns(), rows)?;
    let rows =
        all.iter().flat_map(|f| f.stalls().into_iter().map(|(from, what)| Row::of(f, from, what)));
    to.take("stalls", &stall_columns(), rows)
}

struct ConnectionRow<'a> {
    capture: &'a str,
    found: &'a Found,
    counts: Counts,
}

/// Something that an end of a connection did.
struct Row<'a, T> {
    found: &'a Found,
    from: End,
    what: &'a T,
}

impl<'a, T> Row<'a, T> {
    fn of(found: &'a Found, from: End, what: &'a T) -> Self {
        Row { found, from, what }
    }

    fn number(&self) -> Option<u64> {
        Some(self.found.number as u64)
    }

    fn from(&self) -> Option<String> {
        Some(self.from.name().into())
    }
}

fn connection_columns<'a>() -> Columns<ConnectionRow<'a>> {
    let columns = Columns::<ConnectionRow<'a>>::new()
        .int("number", |r| Some(r.found.number as u64))
        .text("capture", |r| Some(r.capture.into()))
        .text("client", |r| Some(r.found.connection.client.to_string()))
        .text("server", |r| Some(r.found.connection.server.to_string()))
        .time("start", |r| r.found.connection.start)
        .number("duration_s", |r| {
            Some(r.found.connection.end.since(r.found.connection.start).secs_f64())
        })
        .int("packets", |r| Some(r.found.connection.packets))
        .int("copies", |r| Some(r.found.connection.copies))
        .int("same_as", |r| r.found.same_as.map(|number| number as u64))
        .flag("begun", |r| Some(r.found.connection.begun))
        .flag("one_way", |r| Some(r.found.connection.one_way))
        .flag("unanswered", |r| Some(r.found.connection.unanswered))
        .flag("whole_seconds", |r| Some(r.found.connection.whole_seconds))
        .text("ended", |r| Some(names::ended(r.found.connection.ended).into()))
        .text("reset_by", |r| names::reset_by(r.found.connection.ended).map(String::from))
        .flag("cut_off", |r| Some(names::cut_off(r.found.connection.ended)))
        .text("vantage", |r| Some(names::vantage(r.found.connection.position.vantage).into()))
        .number("confidence", |r| Some(r.found.connection.position.confidence))
        .number("rtt_min_s", |r| r.found.rtt().map(|rtt| rtt.min.secs_f64()))
        .number("rtt_median_s", |r| r.found.rtt().map(|rtt| rtt.median.secs_f64()))
        .number("rtt_p99_s", |r| r.found.rtt().map(|rtt| rtt.p99.secs_f64()))
        .number("rtt_mean_s", |r| r.found.rtt().map(|rtt| rtt.mean.secs_f64()))
        .int("bytes_from_client", |r| Some(r.found.connection.from_client.bytes))
        .int("bytes_from_server", |r| Some(r.found.connection.from_server.bytes))
        .int("segments", |r| Some(r.counts.segments))
        .int("retransmissions", |r| Some(r.counts.all_retransmissions()))
        .int("fast_retransmissions", |r| Some(r.counts.of(Kind::FastRetransmit)))
        .int("recovery_retransmissions", |r| Some(r.counts.of(Kind::Recovery)))
        .int("slow_start_retransmissions", |r| Some(r.counts.of(Kind::SlowStart)))
        .int("timeouts", |r| Some(r.counts.all_timeouts()))
        .int("backed_off_timeouts", |r| Some(r.counts.timeouts_of(TimeoutClass::BackedOff)))
        .int("tail_loss_probes", |r| Some(r.counts.tail_loss_probes()))
        .int("packet_too_big_retransmissions", |r| Some(r.counts.of(Kind::TooBig)))
        .flag("asked_shorter_ignored", |r| {
            let asked = r.found.flows().filter_map(|(_, flow)| flow.asked_shorter.as_deref());
            asked.map(|asked| asked.ignored).reduce(|one, other| one || other)
        })
        .int("spurious_retransmissions", |r| Some(r.counts.spurious))
        .int("lost_retransmissions", |r| Some(r.counts.lost))
        .int("dsacks", |r| Some(r.counts.dsacks))
        .int("recoveries", |r| Some(r.counts.recoveries))
        .int("stalls", |r| Some(r.counts.stalls))
        .number("stalls_s", |r| Some(r.counts.stalled.secs_f64()))
        .text("sender", |r| Some(r.found.sender().name().into()))
        .text("limited_by", |r| r.found.main().map(|limit| limit.name().into()));
    let columns = Limit::ALL.into_iter().fold(columns, |columns, limit| {
        let name = format!("{}_s", limit.name());
        columns.number(name, move |r| Some(r.found.lifetime().of(limit).secs_f64()))
    });
    columns
        .number("throughput_bps", |r| rates(r).throughput)
        .number("goodput_bps", |r| rates(r).goodput)
        .number("retransmission_rate", |r| rates(r).retransmitted)
}

fn rates(r: &ConnectionRow<'_>) -> Rates {
    Rates::of(&r.found.connection, r.found.flow(r.found.sender()))
}

fn retransmission_columns<'a>() -> Columns<Row<'a, Retransmission>> {
    Columns::<Row<'a, Retransmission>>::new()
        .int("connection", Row::number)
        .text("from", Row::from)
        .time("t", |r| r.what.at)
        .int("frame", |r| Some(r.what.frame))
        .int("seq", |r| Some(r.what.seq.0.into()))
        .int("position", |r| Some(r.what.position))
        .int("len", |r| Some(r.what.len.into()))
        .text("kind", |r| Some(r.what.kind.name().into()))
        .number("probability", |r| r.what.probability)
        .flag("spurious", |r| spurious(r.what))
        .text("spurious_by", |r| r.what.spurious.map(|by| names::spurious(by).into()))
        .flag("lost", |r| r.what.lost)
        .int("transmission", |r| Some(r.what.transmission.into()))
        .flag("too_big", |r| Some(r.what.too_big))
}

fn timeout_columns<'a>() -> Columns<Row<'a, Timeout>> {
    Columns::<Row<'a, Timeout>>::new()
        .int("connection", Row::number)
        .text("from", Row::from)
        .time("t", |r| r.what.at)
        .int("seq", |r| Some(r.what.seq.0.into()))
        .int("position", |r| Some(r.what.position))
        .text("class", |r| Some(r.what.class.name().into()))
        .text("state", |r| Some(r.what.state.name().into()))
        .int("flight", |r| Some(r.what.flight))
        .int("cwnd", |r| Some(r.what.cwnd))
        .number("waited_s", |r| Some(r.what.waited.secs_f64()))
        .flag("spurious", |r| sent_by(r.found.flow(r.from), r.what).and_then(spurious))
        .text("spurious_by", |r| r.what.spurious.map(|by| names::spurious(by).into()))
}

fn stall_columns<'a>() -> Columns<Row<'a, Stall>> {
    Columns::<Row<'a, Stall>>::new()
        .int("connection", Row::number)
        .text("from", Row::from)
        .time("t", |r| r.what.start)
        .number("duration_s", |r| Some(r.what.end.since(r.what.start).secs_f64()))
        .text("cause", |r| Some(names::cause(r.what.cause).into()))
        .text("class", |r| names::cause_class(r.what.cause).map(String::from))
        .int("frame", |r| Some(r.what.frame).filter(|frame| *frame > 0))
}
