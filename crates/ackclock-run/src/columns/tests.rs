use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};

use super::*;

/// A text, and a number that may be missing.
type Row = (&'static str, Option<f64>);

fn columns() -> Columns<Row> {
    Columns::new()
        .text("link[1].rate, of all", |row: &Row| Some(row.0.into()))
        .number("share", |row| row.1)
        .int("length", |row| Some(row.0.len() as u64))
}

const ROWS_OF_IT: [Row; 3] =
    [("plain", Some(0.5)), ("a,\"b\"", None), ("two\nlines", Some(f64::NAN))];

#[test]
fn csv_quotes_what_would_be_read_as_something_else() {
    let expected = "\"link[1].rate, of all\",share,length\nplain,0.5,5\n\"a,\"\"b\"\"\",,5\n\
                    \"two\nlines\",,9\n";
    assert_eq!(columns().to_csv(ROWS_OF_IT), expected);
}

#[test]
fn parquet_has_the_columns_with_their_types_and_names() {
    let path =
        std::env::temp_dir().join(format!("ackclock-columns-{}.parquet", std::process::id()));
    columns().write_parquet(&path, "rows", ROWS_OF_IT).unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let rows: Vec<String> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().get_column_iter().map(|(k, v)| format!("{k}={v};")).collect())
        .collect();
    std::fs::remove_file(&path).unwrap();
    let name = "link[1].rate, of all";
    assert_eq!(
        rows,
        [
            format!("{name}=\"plain\";share=0.5;length=5;"),
            format!("{name}=\"a,\"b\"\";share=null;length=5;"),
            format!("{name}=\"two\nlines\";share=null;length=9;"),
        ]
    );
}
