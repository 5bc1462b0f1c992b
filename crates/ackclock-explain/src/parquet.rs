//! Four tables as Parquet, for analysts: connections, retransmissions, timeouts and stalls. The
//! last three name the connection of each row by its `number` and the end that sent by `from`.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;

use ackclock_tcp::{Time, TimeoutClass};
use ackclock_trace::{Kind, Retransmission, Stall, Timeout};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::error::Error;
use crate::explained::{Counts, End, Explained, Found, sent_by, spurious};
use crate::names;

/// Rows that are held in memory at the same time.
const ROWS: usize = 1 << 16;

/// Writes `connections.parquet`, `retransmissions.parquet`, `timeouts.parquet` and `stalls.parquet`
/// into a folder, which is made if it is not there.
///
/// # Errors
/// [`Error::Write`].
pub fn write_parquet(explained: &Explained, folder: &Path) -> std::result::Result<(), Error> {
    fs::create_dir_all(folder).map_err(Error::write(folder))?;
    let all = &explained.connections;
    let connections = all.iter().map(|found| {
        let capture = explained.captures.get(found.capture).map_or("", |c| &c.path);
        ConnectionRow { capture, found, counts: found.counts() }
    });
    table(folder, "connections", &connection_columns(), connections)?;
    let rows = all
        .iter()
        .flat_map(|f| f.retransmissions().into_iter().map(|(from, what)| Row::of(f, from, what)));
    table(folder, "retransmissions", &retransmission_columns(), rows)?;
    let rows = all
        .iter()
        .flat_map(|f| f.timeouts().into_iter().map(|(from, _, what)| Row::of(f, from, what)));
    table(folder, "timeouts", &timeout_columns(), rows)?;
    let rows =
        all.iter().flat_map(|f| f.stalls().into_iter().map(|(from, what)| Row::of(f, from, what)));
    table(folder, "stalls", &stall_columns(), rows)
}

/// How a column is had of a row. All columns are nullable.
enum Get<T> {
    Int(fn(&T) -> Option<u64>),
    Number(fn(&T) -> Option<f64>),
    Flag(fn(&T) -> Option<bool>),
    Text(fn(&T) -> Option<String>),
    Time(fn(&T) -> Time),
}

type Columns<T> = Vec<(&'static str, Get<T>)>;

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
    vec![
        ("number", Get::Int(|r| Some(r.found.number as u64))),
        ("capture", Get::Text(|r| Some(r.capture.into()))),
        ("client", Get::Text(|r| Some(r.found.connection.client.to_string()))),
        ("server", Get::Text(|r| Some(r.found.connection.server.to_string()))),
        ("start", Get::Time(|r| r.found.connection.start)),
        (
            "duration_s",
            Get::Number(|r| {
                Some(r.found.connection.end.since(r.found.connection.start).secs_f64())
            }),
        ),
        ("packets", Get::Int(|r| Some(r.found.connection.packets))),
        ("begun", Get::Flag(|r| Some(r.found.connection.begun))),
        ("ended", Get::Text(|r| Some(names::ended(r.found.connection.ended).into()))),
        (
            "vantage",
            Get::Text(|r| Some(names::vantage(r.found.connection.position.vantage).into())),
        ),
        ("confidence", Get::Number(|r| Some(r.found.connection.position.confidence))),
        ("rtt_min_s", Get::Number(|r| r.found.rtt().map(|rtt| rtt.min.secs_f64()))),
        ("rtt_mean_s", Get::Number(|r| r.found.rtt().map(|rtt| rtt.mean.secs_f64()))),
        ("bytes_from_client", Get::Int(|r| Some(r.found.connection.from_client.bytes))),
        ("bytes_from_server", Get::Int(|r| Some(r.found.connection.from_server.bytes))),
        ("segments", Get::Int(|r| Some(r.counts.segments))),
        ("retransmissions", Get::Int(|r| Some(r.counts.all_retransmissions()))),
        ("fast_retransmissions", Get::Int(|r| Some(r.counts.of(Kind::FastRetransmit)))),
        ("recovery_retransmissions", Get::Int(|r| Some(r.counts.of(Kind::Recovery)))),
        ("slow_start_retransmissions", Get::Int(|r| Some(r.counts.of(Kind::SlowStart)))),
        ("timeouts", Get::Int(|r| Some(r.counts.all_timeouts()))),
        ("backed_off_timeouts", Get::Int(|r| Some(r.counts.timeouts_of(TimeoutClass::BackedOff)))),
        ("tail_loss_probes", Get::Int(|r| Some(r.counts.tail_loss_probes()))),
        ("spurious_retransmissions", Get::Int(|r| Some(r.counts.spurious))),
        ("lost_retransmissions", Get::Int(|r| Some(r.counts.lost))),
        ("dsacks", Get::Int(|r| Some(r.counts.dsacks))),
        ("recoveries", Get::Int(|r| Some(r.counts.recoveries))),
        ("stalls", Get::Int(|r| Some(r.counts.stalls))),
        ("stalls_s", Get::Number(|r| Some(r.counts.stalled.secs_f64()))),
    ]
}

fn retransmission_columns<'a>() -> Columns<Row<'a, Retransmission>> {
    vec![
        ("connection", Get::Int(Row::number)),
        ("from", Get::Text(Row::from)),
        ("t", Get::Time(|r| r.what.at)),
        ("frame", Get::Int(|r| Some(r.what.frame))),
        ("seq", Get::Int(|r| Some(r.what.seq.0.into()))),
        ("position", Get::Int(|r| Some(r.what.position))),
        ("len", Get::Int(|r| Some(r.what.len.into()))),
        ("kind", Get::Text(|r| Some(r.what.kind.name().into()))),
        ("spurious", Get::Flag(|r| spurious(r.what))),
        ("spurious_by", Get::Text(|r| r.what.spurious.map(|by| names::spurious(by).into()))),
        ("lost", Get::Flag(|r| r.what.lost)),
        ("transmission", Get::Int(|r| Some(r.what.transmission.into()))),
    ]
}

fn timeout_columns<'a>() -> Columns<Row<'a, Timeout>> {
    vec![
        ("connection", Get::Int(Row::number)),
        ("from", Get::Text(Row::from)),
        ("t", Get::Time(|r| r.what.at)),
        ("seq", Get::Int(|r| Some(r.what.seq.0.into()))),
        ("position", Get::Int(|r| Some(r.what.position))),
        ("class", Get::Text(|r| Some(r.what.class.name().into()))),
        ("state", Get::Text(|r| Some(r.what.state.name().into()))),
        ("flight", Get::Int(|r| Some(r.what.flight))),
        ("cwnd", Get::Int(|r| Some(r.what.cwnd))),
        ("waited_s", Get::Number(|r| Some(r.what.waited.secs_f64()))),
        ("spurious", Get::Flag(|r| sent_by(r.found.flow(r.from), r.what).and_then(spurious))),
        ("spurious_by", Get::Text(|r| r.what.spurious.map(|by| names::spurious(by).into()))),
    ]
}

fn stall_columns<'a>() -> Columns<Row<'a, Stall>> {
    vec![
        ("connection", Get::Int(Row::number)),
        ("from", Get::Text(Row::from)),
        ("t", Get::Time(|r| r.what.start)),
        ("duration_s", Get::Number(|r| Some(r.what.end.since(r.what.start).secs_f64()))),
        ("cause", Get::Text(|r| Some(names::cause(r.what.cause).into()))),
        ("class", Get::Text(|r| names::cause_class(r.what.cause).map(String::from))),
        ("frame", Get::Int(|r| Some(r.what.frame))),
    ]
}

/// Writes one file.
fn table<T>(
    folder: &Path,
    name: &str,
    columns: &[(&str, Get<T>)],
    rows: impl Iterator<Item = T>,
) -> std::result::Result<(), Error> {
    let path = folder.join(name).with_extension("parquet");
    let file = File::create(&path).map_err(Error::write(&path))?;
    write(file, name, columns, rows).map_err(|e| {
        let error = match e {
            ParquetError::External(e) => io::Error::other(e),
            e => io::Error::other(e),
        };
        Error::Write { path: path.clone(), error }
    })
}

fn write<T>(
    file: File,
    name: &str,
    columns: &[(&str, Get<T>)],
    mut rows: impl Iterator<Item = T>,
) -> Result<()> {
    let column = |(name, get): &(&str, Get<T>)| match get {
        Get::Int(_) => format!("optional int64 {name};"),
        Get::Number(_) => format!("optional double {name};"),
        Get::Flag(_) => format!("optional boolean {name};"),
        Get::Text(_) => format!("optional binary {name} (UTF8);"),
        Get::Time(_) => format!("optional int64 {name} (TIMESTAMP(NANOS,true));"),
    };
    let schema = format!("message {name} {{ {} }}", columns.iter().map(column).collect::<String>());
    let schema = Arc::new(parse_message_type(&schema)?);
    let properties =
        Arc::new(WriterProperties::builder().set_created_by("ackclock".into()).build());
    let mut writer = SerializedFileWriter::new(BufWriter::new(file), schema, properties)?;
    loop {
        let some: Vec<T> = rows.by_ref().take(ROWS).collect();
        if some.is_empty() {
            break;
        }
        let mut group = writer.next_row_group()?;
        for (_, get) in columns {
            let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
            match get {
                Get::Int(get) => {
                    values::<Int64Type>(&mut group, some.iter().map(|r| get(r).map(signed)))?
                }
                Get::Number(get) => values::<DoubleType>(&mut group, some.iter().map(get))?,
                Get::Flag(get) => values::<BoolType>(&mut group, some.iter().map(get))?,
                Get::Text(get) => {
                    let text = |r| get(r).map(|text| ByteArray::from(text.into_bytes()));
                    values::<ByteArrayType>(&mut group, some.iter().map(text))?;
                }
                Get::Time(get) => {
                    let nanos = |r| Some(signed(get(r).nanos()));
                    values::<Int64Type>(&mut group, some.iter().map(nanos))?;
                }
            }
        }
        group.close()?;
    }
    writer.close().map(|_| ())
}

/// The next column of a row group.
fn values<D: DataType>(
    group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    cells: impl Iterator<Item = Option<D::T>>,
) -> Result<()> {
    let mut levels = Vec::new();
    let mut values = Vec::new();
    for cell in cells {
        levels.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    if let Some(mut column) = group.next_column()? {
        column.typed::<D>().write_batch(&values, Some(&levels), None)?;
        column.close()?;
    }
    Ok(())
}
