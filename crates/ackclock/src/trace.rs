//! `ackclock trace`: traces of links in Mahimahi's format.

use std::path::PathBuf;

use ackclock_net::Trace;
use clap::Args;

use crate::error::Error;
use crate::input::text_of;

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// Comma-separated values with the columns `time_s`, seconds, and `rate_bps`, the bits per
    /// second from then on. Other columns play no part.
    #[arg(value_name = "RATES.csv")]
    pub rates: PathBuf,
}

pub(crate) fn trace(args: &TraceArgs) -> Result<String, Error> {
    let text = text_of(&args.rates)?;
    let trace = Trace::from_csv(&text)
        .map_err(|error| Error::Usage(format!("{}:{error}", args.rates.display())))?;
    Ok(trace.to_text())
}
