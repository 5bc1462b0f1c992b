//! Results as Arrow tables.

use std::sync::Arc;

use ackclock_run::ROWS;
use arrow_array::builder::{FixedSizeListBuilder, Int64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, TimestampNanosecondType};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray, TimestampNanosecondArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};

use crate::error::plain;

/// Rows in columns, which `polars.DataFrame`, `pandas.DataFrame.from_arrow`, `pyarrow.table` and
/// DuckDB take without a copy.
#[pyclass(frozen, module = "ackclock")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// First position, and the one after the last.
type Range = (u64, u64);

/// How a column is had of a row.
pub enum Get<T> {
    /// A whole number.
    Int(fn(&T) -> Option<u64>),
    /// A number.
    Number(fn(&T) -> Option<f64>),
    /// Yes or no.
    Flag(fn(&T) -> Option<bool>),
    /// A text.
    Text(fn(&T) -> Option<&str>),
    /// Ranges of positions.
    Ranges(fn(&T) -> Option<&[Range]>),
}

/// Columns of rows of this type.
pub type Columns<T> = Vec<(&'static str, Get<T>)>;

impl<T> Get<T> {
    fn array(&self, rows: &[T]) -> ArrayRef {
        match self {
            Get::Int(get) => {
                Arc::new(rows.iter().map(|r| get(r).map(signed)).collect::<Int64Array>())
            }
            Get::Number(get) => Arc::new(rows.iter().map(get).collect::<Float64Array>()),
            Get::Flag(get) => Arc::new(rows.iter().map(get).collect::<BooleanArray>()),
            Get::Text(get) => Arc::new(rows.iter().map(get).collect::<StringArray>()),
            Get::Ranges(get) => {
                let pair = FixedSizeListBuilder::new(Int64Builder::new(), 2);
                let mut list = ListBuilder::new(pair);
                for row in rows {
                    let ranges = get(row);
                    for (left, right) in ranges.into_iter().flatten() {
                        list.values().values().append_value(signed(*left));
                        list.values().values().append_value(signed(*right));
                        list.values().append(true);
                    }
                    list.append(ranges.is_some());
                }
                Arc::new(list.finish())
            }
        }
    }
}

fn array<T>(get: &ackclock_run::Get<T>, rows: &[T]) -> ArrayRef {
    use ackclock_run::Get;
    match get {
        Get::Int(get) => Arc::new(rows.iter().map(|r| get(r).map(signed)).collect::<Int64Array>()),
        Get::Number(get) => Arc::new(rows.iter().map(get).collect::<Float64Array>()),
        Get::Flag(get) => Arc::new(rows.iter().map(get).collect::<BooleanArray>()),
        Get::Text(get) => Arc::new(rows.iter().map(get).collect::<StringArray>()),
        Get::Time(get) => {
            let nanos = rows.iter().map(|r| get(r).map(|time| signed(time.nanos())));
            Arc::new(nanos.collect::<TimestampNanosecondArray>().with_timezone("UTC"))
        }
    }
}

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

impl Table {
    /// Of rows.
    pub fn new<T>(columns: &Columns<T>, rows: impl Iterator<Item = T>) -> PyResult<Table> {
        let array = |rows: &[T]| {
            let arrays = columns.iter().map(|(name, get)| (*name, get.array(rows), true));
            RecordBatch::try_from_iter_with_nullable(arrays).map_err(plain)
        };
        Table::in_batches(rows, array)
    }

    /// Of columns that CSV and Parquet know too.
    pub fn of_columns<T>(
        columns: &ackclock_run::Columns<T>,
        rows: impl Iterator<Item = T>,
    ) -> PyResult<Table> {
        let of = |rows: &[T]| {
            let arrays = columns.0.iter().map(|c| (c.name.as_str(), array(&c.get, rows), true));
            RecordBatch::try_from_iter_with_nullable(arrays).map_err(plain)
        };
        Table::in_batches(rows, of)
    }

    fn in_batches<T>(
        mut rows: impl Iterator<Item = T>,
        of: impl Fn(&[T]) -> PyResult<RecordBatch>,
    ) -> PyResult<Table> {
        let schema = of(&[])?.schema();
        let mut batches = Vec::new();
        loop {
            let some: Vec<T> = rows.by_ref().take(ROWS).collect();
            if some.is_empty() {
                return Ok(Table { schema, batches });
            }
            batches.push(of(&some)?);
        }
    }

    /// Of columns that are there already.
    pub fn of_arrays(arrays: Vec<(String, ArrayRef)>) -> PyResult<Table> {
        let fields: Vec<Field> = arrays
            .iter()
            .map(|(name, array)| Field::new(name, array.data_type().clone(), true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let arrays = arrays.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(plain)?;
        Ok(Table { schema, batches: vec![batch] })
    }

    fn parquet(&self) -> PyResult<Vec<u8>> {
        let properties = WriterProperties::builder().set_created_by("ackclock".into()).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), self.schema.clone(), Some(properties))
            .map_err(plain)?;
        for batch in &self.batches {
            writer.write(batch).map_err(plain)?;
        }
        writer.into_inner().map_err(plain)
    }
}

/// The table that [`Table::to_parquet`] wrote, for pickles.
#[pyfunction]
pub fn from_parquet(bytes: Vec<u8>) -> PyResult<Table> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).map_err(plain)?;
    let schema = builder.schema().clone();
    let reader = builder.with_batch_size(ROWS).build().map_err(plain)?;
    let batches = reader.collect::<Result<_, _>>().map_err(plain)?;
    Ok(Table { schema, batches })
}

/// The columns `strategy` and `runs` of sums.
pub fn named<T>(sums: &[(String, u64, T)]) -> Vec<(String, ArrayRef)> {
    let names: StringArray =
        sums.iter().map(|(name, ..)| Some(name).filter(|name| !name.is_empty())).collect();
    let runs: Int64Array = sums.iter().map(|(_, runs, _)| Some(signed(*runs))).collect();
    vec![("strategy".into(), Arc::new(names)), ("runs".into(), Arc::new(runs))]
}

/// A column of numbers.
pub fn numbers<T>(rows: &[T], of: impl FnMut(&T) -> Option<f64>) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<Float64Array>())
}

#[pymethods]
impl Table {
    /// The rows as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // "The producer may ignore it": there is one way to lay these columns out.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("<ackclock.Table of {} rows: {}>", self.__len__(), self.columns().join(", "))
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The rows as dictionaries, for who has no library for tables at hand.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for batch in &self.batches {
            for row in 0..batch.num_rows() {
                let values = PyDict::new(py);
                for (field, array) in self.schema.fields().iter().zip(batch.columns()) {
                    values.set_item(field.name(), value(py, array, row)?)?;
                }
                rows.append(values)?;
            }
        }
        Ok(rows)
    }

    /// A pickle: other processes get the rows.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let restore = py.import("ackclock._native")?.getattr("from_parquet")?;
        Ok((restore, (self.to_parquet(py)?,)))
    }

    /// The rows as the bytes of a Parquet file.
    fn to_parquet<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.parquet())?;
        Ok(PyBytes::new(py, &bytes))
    }
}

fn value<'py>(py: Python<'py>, array: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match array.data_type() {
        DataType::Int64 => {
            array.as_primitive::<Int64Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Timestamp(..) => {
            array.as_primitive::<TimestampNanosecondType>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Float64 => {
            array.as_primitive::<Float64Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Boolean => array.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any(),
        DataType::Utf8 => array.as_string::<i32>().value(row).into_pyobject(py)?.into_any(),
        DataType::List(_) => list(py, &array.as_list::<i32>().value(row))?,
        DataType::FixedSizeList(..) => list(py, &array.as_fixed_size_list().value(row))?,
        other => return Err(PyTypeError::new_err(format!("a column of type {other}"))),
    })
}

fn list<'py>(py: Python<'py>, items: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    let items: PyResult<Vec<_>> = (0..items.len()).map(|i| value(py, items, i)).collect();
    Ok(PyList::new(py, items?)?.into_any())
}
