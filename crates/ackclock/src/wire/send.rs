//! `ackclock send`.

use std::path::PathBuf;

use ackclock_net::scenario::units::{Duration, Size};
use ackclock_tcp::Composition;
use clap::Args;

use super::{DEFAULT_STRATEGY, WireArgs, open_host, strategy};
use crate::cli::RecordArgs;
use crate::error::Error;

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// The peer: something that reads until the end, such as `nc -l` or `ackclock recv`.
    #[arg(value_name = "HOST:PORT")]
    pub peer: String,
    /// The strategies, one after the other over new connections; `+` joins mechanisms: `sack+lt`.
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = strategy, default_value = DEFAULT_STRATEGY)]
    pub strategy: Vec<Composition>,
    /// How much to send on each connection. Default: 10mib.
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["seconds", "file"])]
    pub bytes: Option<Size>,
    /// Send for so long, and then finish what was written.
    #[arg(long, value_name = "TIME", conflicts_with = "file")]
    pub seconds: Option<Duration>,
    /// Send this file; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How many connections at the same time, each with all the data.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub parallel: u16,
    #[command(flatten)]
    pub records: RecordArgs,
    /// Also print of each connection its ends, its handshake and its segment size, the seconds of CPU and the peak memory.
    #[arg(long)]
    pub stats: bool,
    #[command(flatten)]
    pub wire: WireArgs,
}

pub(crate) fn send(args: &SendArgs) -> Result<String, Error> {
    let _ = (open_host(&args.wire)?, args.wire.tcp(&args.strategy[0]));
    Err(Error::Connection("not yet".into()))
}
