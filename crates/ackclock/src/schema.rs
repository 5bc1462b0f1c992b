//! `ackclock schema`.

use ackclock_net::scenario::Scenario;
use ackclock_papers::Experiment;
use clap::Args;

use crate::error::Error;
use crate::output::json_text;
use crate::wire::listeners_schema;

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Print the schema of files of experiments, which `ackclock experiment` runs.
    #[arg(long)]
    pub experiment: bool,
    /// Print the schema of files of listeners, for `ackclock proxy --listeners`.
    #[arg(long, conflicts_with = "experiment")]
    pub listeners: bool,
}

pub(crate) fn schema(args: &SchemaArgs) -> Result<String, Error> {
    let schema = match args {
        SchemaArgs { experiment: true, .. } => Experiment::json_schema(),
        SchemaArgs { listeners: true, .. } => listeners_schema(),
        _ => Scenario::json_schema(),
    };
    Ok(json_text(&schema))
}
