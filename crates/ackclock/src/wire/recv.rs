//! `ackclock recv`.

use std::path::PathBuf;

use clap::Args;

use super::WireArgs;
use crate::cli::Format;
use crate::error::Error;

#[derive(Debug, Args)]
pub(crate) struct RecvArgs {
    /// The port to listen on, at all addresses of our stack.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub listen: u16,
    /// End after this many connections. Default: with Ctrl-C.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub count: Option<u32>,
    /// End after one connection.
    #[arg(long, conflicts_with = "count")]
    pub once: bool,
    /// Write what the connection brings into this file; takes --once.
    #[arg(long, value_name = "OUT", requires = "once")]
    pub file: Option<PathBuf>,
    /// Neither hash nor compare what comes: for speed.
    #[arg(long, conflicts_with = "file")]
    pub discard: bool,
    /// How to print the results. JSON is an array with one object per connection.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    #[command(flatten)]
    pub wire: WireArgs,
}

pub(crate) fn recv(_args: &RecvArgs) -> Result<String, Error> {
    Err(Error::Connection("not yet".into()))
}
