//! What is recorded of a run: events as lines, captures, pictures. Of each strategy the first run is.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use ackclock_net::scenario::{BuiltFlow, Simulation};
use ackclock_net::{Direction, FlowId, Recorder};
use ackclock_report::{CaptureFormat, CapturedFlow, EventWriter, FlowSummary, Panel, Picture, write_capture};
use ackclock_tcp::{Cause, Event, Segment, Time};

use crate::cli::OutputArgs;
use crate::error::Error;
use crate::execute::{Job, Outcome};

/// The most panels in a picture.
const PANELS: usize = 16;

/// The files to write and what they need.
pub(crate) struct Records {
    lines: Option<(PathBuf, EventWriter<BufWriter<File>>)>,
    pcap: Option<PathBuf>,
    html: Option<PathBuf>,
    svg: Option<PathBuf>,
    /// The seed of the first run.
    seed: u64,
    /// Flows whose events are kept, in the order of panels.
    kept: Vec<Kept>,
}

struct Kept {
    flow: BuiltFlow,
    /// Its number in a capture, where each strategy has its own connections.
    number: u32,
    events: Vec<Event>,
    summary: Option<FlowSummary>,
}

impl Records {
    /// Creates the files, so that a bad path is found before a long run.
    pub fn new(args: &OutputArgs, seed: u64) -> Result<Self, Error> {
        let create = |path: &PathBuf| File::create(path).map_err(Error::write(path));
        for path in [&args.pcap, &args.html, &args.svg].into_iter().flatten() {
            create(path)?;
        }
        let lines = match &args.events {
            Some(path) => Some((path.clone(), EventWriter::new(BufWriter::new(create(path)?)))),
            None => None,
        };
        Ok(Records {
            lines,
            pcap: args.pcap.clone(),
            html: args.html.clone(),
            svg: args.svg.clone(),
            seed,
            kept: Vec::new(),
        })
    }

    /// Whether this run is recorded.
    pub fn wants(&self, job: &Job) -> bool {
        job.seed == self.seed
            && (self.lines.is_some() || self.pcap.is_some() || self.html.is_some() || self.svg.is_some())
    }

    /// The recorder of a run.
    pub fn begin(&mut self, _job: &Job, simulation: &Simulation) -> Result<RunRecorder<'_>, Error> {
        let first = self.kept.len();
        let pictures = if self.html.is_some() || self.svg.is_some() { PANELS } else { 0 };
        let keep = if self.pcap.is_some() { usize::MAX } else { pictures.saturating_sub(first) };
        for flow in simulation.flows.iter().take(keep) {
            let number = self.kept.len() as u32;
            self.kept.push(Kept { flow: flow.clone(), number, events: Vec::new(), summary: None });
        }
        Ok(RunRecorder { records: self, first, flows: simulation.flows.clone(), failed: None })
    }

    /// Writes what needs all runs.
    pub fn finish(self, title: &str, parameters: &[(String, String)]) -> Result<(), Error> {
        if let Some((path, lines)) = self.lines {
            lines.finish().map_err(Error::write(&path))?;
        }
        if let Some(path) = &self.pcap {
            let flows: Vec<CapturedFlow<'_>> = self
                .kept
                .iter()
                .map(|k| CapturedFlow {
                    flow: k.number,
                    mss: k.flow.mss,
                    sack: k.flow.sack,
                    timestamps: k.flow.timestamps,
                    events: &k.events,
                })
                .collect();
            let write = || {
                let out = BufWriter::new(File::create(path)?);
                write_capture(out, CaptureFormat::for_path(path), &flows)
            };
            write().map_err(Error::write(path))?;
        }
        pictures(&self.kept, self.html.as_deref(), self.svg.as_deref(), title, parameters)
    }
}

fn pictures(
    kept: &[Kept],
    html: Option<&Path>,
    svg: Option<&Path>,
    title: &str,
    parameters: &[(String, String)],
) -> Result<(), Error> {
    let shown = kept.get(..PANELS).unwrap_or(kept);
    let several = |k: &Kept| shown.iter().filter(|o| o.flow.strategy == k.flow.strategy).count() > 1;
    let names: Vec<String> = shown
        .iter()
        .map(|k| if several(k) { format!("{} {}", k.flow.strategy, k.flow.name) } else { k.flow.strategy.clone() })
        .collect();
    let panels: Vec<Panel<'_>> = shown
        .iter()
        .zip(&names)
        .map(|(k, name)| Panel { name, mss: k.flow.mss, events: &k.events, summary: k.summary.as_ref() })
        .collect();
    let picture = Picture { title, parameters, panels: &panels };
    if let Some(path) = html {
        std::fs::write(path, picture.to_html()).map_err(Error::write(path))?;
    }
    if let Some(path) = svg {
        std::fs::write(path, picture.to_svg()).map_err(Error::write(path))?;
    }
    if kept.len() > PANELS && (html.is_some() || svg.is_some()) {
        let _ = writeln!(io::stderr(), "note: the picture shows the first {PANELS} of {} flows", kept.len());
    }
    Ok(())
}

/// Records one run.
pub(crate) struct RunRecorder<'a> {
    records: &'a mut Records,
    /// Where the run's flows begin in `kept`.
    first: usize,
    flows: Vec<BuiltFlow>,
    /// The first error of writing a line.
    failed: Option<io::Error>,
}

impl RunRecorder<'_> {
    /// The run is over.
    pub fn end(self, outcome: &Outcome) -> Result<(), Error> {
        if let (Some(error), Some((path, _))) = (self.failed, &self.records.lines) {
            return Err(Error::Write { path: path.clone(), error });
        }
        let kept = self.records.kept.get_mut(self.first..).unwrap_or_default();
        for (kept, summary) in kept.iter_mut().zip(&outcome.flows) {
            kept.summary = Some(summary.clone());
        }
        Ok(())
    }
}

impl Recorder for RunRecorder<'_> {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        let number = flow.0 as usize;
        // Streams without TCP come after the flows and are not recorded.
        let Some(built) = self.flows.get(number) else { return };
        if let (Some((_, lines)), None) = (&mut self.records.lines, &self.failed) {
            self.failed = lines.record(flow.0, &built.strategy, event).err();
        }
        if let Some(kept) = self.records.kept.get_mut(self.first + number) {
            kept.events.push(*event);
        }
    }

    fn packet(&mut self, _: FlowId, _: Time, _: Direction, _: &Segment, _: Option<(Cause, u32)>) {}
}
