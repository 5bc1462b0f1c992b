//! Rows as columns with names and types: CSV, Parquet, and whoever takes columns.

use std::io;
use std::path::Path;
use std::sync::Arc;

use ackclock_report::csv_line;
use ackclock_tcp::Time;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::WholeFile;

/// Rows that are held in memory at the same time.
pub const ROWS: usize = 1 << 16;

/// The columns of a table whose rows are `T`.
pub struct Columns<T>(pub Vec<Column<T>>);

/// A column of a table whose rows are `T`. Each value may be missing.
pub struct Column<T> {
    /// Its name.
    pub name: String,
    /// How its values are had.
    pub get: Get<T>,
}

/// How a value is had of a row.
pub type Value<T, V> = Box<dyn Fn(&T) -> Option<V>>;

/// The type of a column.
pub enum Get<T> {
    /// Whole numbers.
    Int(Value<T, u64>),
    /// Numbers; NaN is missing.
    Number(Value<T, f64>),
    /// Yes or no.
    Flag(Value<T, bool>),
    /// Text.
    Text(Value<T, String>),
    /// Times since 1970.
    Time(Value<T, Time>),
}

impl<T> Default for Columns<T> {
    fn default() -> Self {
        Columns(Vec::new())
    }
}

impl<T> Columns<T> {
    /// None yet.
    pub fn new() -> Self {
        Columns::default()
    }

    fn and(mut self, name: impl Into<String>, get: Get<T>) -> Self {
        self.0.push(Column { name: name.into(), get });
        self
    }

    /// And a column of whole numbers.
    pub fn int(self, name: impl Into<String>, get: impl Fn(&T) -> Option<u64> + 'static) -> Self {
        self.and(name, Get::Int(Box::new(get)))
    }

    /// And a column of numbers. NaN counts as missing.
    pub fn number(
        self,
        name: impl Into<String>,
        get: impl Fn(&T) -> Option<f64> + 'static,
    ) -> Self {
        self.and(name, Get::Number(Box::new(move |row| get(row).filter(|n| !n.is_nan()))))
    }

    /// And a column of truths.
    pub fn flag(self, name: impl Into<String>, get: impl Fn(&T) -> Option<bool> + 'static) -> Self {
        self.and(name, Get::Flag(Box::new(get)))
    }

    /// And a column of text.
    pub fn text(
        self,
        name: impl Into<String>,
        get: impl Fn(&T) -> Option<String> + 'static,
    ) -> Self {
        self.and(name, Get::Text(Box::new(get)))
    }

    /// And a column of times since 1970.
    pub fn time(self, name: impl Into<String>, get: impl Fn(&T) -> Time + 'static) -> Self {
        self.and(name, Get::Time(Box::new(move |row| Some(get(row)))))
    }

    /// The table as CSV (RFC 4180, with line feeds), a heading first. A value that is missing is
    /// empty.
    pub fn to_csv(&self, rows: impl IntoIterator<Item = T>) -> String {
        let mut text = csv_line(self.0.iter().map(|column| &column.name));
        for row in rows {
            text.push_str(&csv_line(self.0.iter().map(|column| column.shown(&row))));
        }
        text
    }

    /// Writes the table as a Parquet file whose message is called `name`.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_parquet(
        &self,
        path: &Path,
        name: &str,
        rows: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        let mut file = WholeFile::create(path)?;
        write(&mut file, name, &self.0, rows.into_iter()).map_err(|error| match error {
            ParquetError::External(error) => io::Error::other(error),
            error => io::Error::other(error),
        })?;
        file.finish()
    }
}

impl<T> Column<T> {
    /// The value in a row as text; empty if it is missing.
    fn shown(&self, row: &T) -> String {
        let shown = match &self.get {
            Get::Int(get) => get(row).map(|n| n.to_string()),
            Get::Number(get) => get(row).map(|n| n.to_string()),
            Get::Flag(get) => get(row).map(|flag| flag.to_string()),
            Get::Text(get) => get(row),
            Get::Time(get) => get(row).map(|time| time.nanos().to_string()),
        };
        shown.unwrap_or_default()
    }

    fn parquet(&self) -> Result<TypePtr> {
        use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
        let (physical, logical) = match &self.get {
            Get::Int(_) => (Physical::INT64, None),
            Get::Number(_) => (Physical::DOUBLE, None),
            Get::Flag(_) => (Physical::BOOLEAN, None),
            Get::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Get::Time(_) => {
                let time = LogicalType::timestamp(true, TimeUnit::NANOS);
                (Physical::INT64, Some(time))
            }
        };
        Type::primitive_type_builder(&self.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    }
}

fn write<T>(
    file: &mut WholeFile,
    name: &str,
    columns: &[Column<T>],
    mut rows: impl Iterator<Item = T>,
) -> Result<()> {
    let fields = columns.iter().map(Column::parquet).collect::<Result<_>>()?;
    let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
    let properties =
        Arc::new(WriterProperties::builder().set_created_by("ackclock".into()).build());
    let mut writer = SerializedFileWriter::new(file, schema, properties)?;
    loop {
        let some: Vec<T> = rows.by_ref().take(ROWS).collect();
        if some.is_empty() {
            break;
        }
        let mut group = writer.next_row_group()?;
        for column in columns {
            let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
            match &column.get {
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
                    let nanos = |r| get(r).map(|time| signed(time.nanos()));
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
    group: &mut SerializedRowGroupWriter<'_, &mut WholeFile>,
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

#[cfg(test)]
mod tests;
