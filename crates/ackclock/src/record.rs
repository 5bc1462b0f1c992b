//! What is recorded of a run: events as lines, captures, pictures. Of each strategy the first run
//! is.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use ackclock_net::scenario::{BuiltFlow, Scenario};
use ackclock_net::{FlowId, LinkId, Place, Recorder, Visit};
use ackclock_report::{
    CaptureFormat, CaptureWriter, EventWriter, FlowSummary, MOST_OF_PANEL, PacketWriter, Panel,
    Picture, QlogTrace, are_named, escape, printable, thin, write_qlog,
};
use ackclock_run::{Job, Outcome, RecoveryRecorder, WholeFile, handshake, panels_of_each};
use ackclock_tcp::{Event, EventKind, Sighting, Time};

use crate::args::{RECEIVER, RecordArgs, SENDER};
use crate::error::Error;
use crate::queues::Queues;

/// The most events of all panels of a page: some 15 MB.
const MOST_OF_PAGE: usize = 240_000;

/// A capture of packets as they are.
pub(crate) type Capture = PacketWriter<BufWriter<File>>;

/// The files to write and what they need.
pub(crate) struct Records {
    asked: RecordArgs,
    /// The file of events, and what became of those that have been written.
    lines: Option<(PathBuf, EventWriter<WholeFile>, io::Result<()>)>,
    /// Where the capture is taken, and its name.
    place: (Place, String),
    /// When the longest run ends; zero on the wire, where that is not known before.
    until: Time,
    pub queues: Queues,
    /// Whether each run gets statistics of recovery.
    pub recovery: bool,
    /// The seed of the first run.
    seed: u64,
    /// Runs whose recording has begun and not ended.
    unfinished: usize,
    /// How many flows of each run become panels.
    share: usize,
    /// The flows of all recorded runs. In a capture this is their number, since each strategy has
    /// its own connections.
    flows: Vec<BuiltFlow>,
    /// Numbers of the hosts of each flow in the capture.
    hosts: Vec<[u32; 2]>,
    /// The trace of each flow, if they are written.
    traces: Vec<QlogTrace>,
    /// Flows that become panels.
    panels: Vec<Drawn>,
    /// What was seen at `place`, by number of the flow.
    packets: Vec<(u32, Sighting)>,
}

/// A flow to be drawn: its index in `Records::flows`, and what happened.
struct Drawn {
    flow: usize,
    events: Vec<Event>,
    summary: Option<FlowSummary>,
}

impl Records {
    /// Looks whether there can be these files, so that a bad path is found before a long run.
    /// `recovery` asks for statistics of recovery.
    pub fn new(
        args: &RecordArgs,
        recovery: bool,
        seed: u64,
        strategies: usize,
    ) -> Result<Self, Error> {
        args.figure.check()?;
        args.takes_stdout()?;
        args.check_endings()?;
        args.files().try_for_each(|path| WholeFile::check(path).map_err(Error::write(path)))?;
        let lines = |path: &PathBuf| {
            let out = WholeFile::create(path).map_err(Error::write(path))?;
            Ok::<_, Error>((path.clone(), EventWriter::new(out), Ok(())))
        };
        Ok(Records {
            lines: args.events.as_ref().map(lines).transpose()?,
            asked: args.clone(),
            place: (Place::Sender, SENDER.into()),
            until: Time::ZERO,
            queues: Queues::new(args.html.is_some()),
            recovery,
            seed,
            unfinished: 0,
            share: panels_of_each(strategies),
            flows: Vec::new(),
            hosts: Vec::new(),
            traces: Vec::new(),
            panels: Vec::new(),
            packets: Vec::new(),
        })
    }

    /// Has the capture taken at [`SENDER`], [`RECEIVER`], or a node of the scenario.
    pub fn capture_at(&mut self, name: &str, scenario: &Scenario) -> Result<(), Error> {
        let place = match name {
            SENDER => Some(Place::Sender),
            RECEIVER => Some(Place::Receiver),
            node => scenario.node(node).map(Place::Node),
        };
        let unknown = || {
            Error::Usage(format!(
                "--pcap-at: `{name}` is none of {SENDER}, {RECEIVER} and the scenario's nodes"
            ))
        };
        self.place = (place.ok_or_else(unknown)?, name.into());
        Ok(())
    }

    /// Whether this run is recorded.
    pub fn wants(&self, job: &Job) -> bool {
        job.seed == self.seed && self.paths().next().is_some()
    }

    /// The files to write.
    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.asked.recordings().map(|(_, path)| path).chain(self.queues.path())
    }

    fn draws(&self) -> bool {
        let RecordArgs { html, svg, figure, .. } = &self.asked;
        html.is_some() || svg.is_some() || !figure.figures.is_empty()
    }

    /// Whether anything needs the events of a run that is recorded.
    pub fn wants_events(&self) -> bool {
        self.lines.is_some() || self.asked.qlog.is_some() || self.draws() || self.recovery
    }

    /// The capture, for who has packets as they are; the packets that recorders get are none from
    /// then on. Times count from `origin`, nanoseconds since 1970.
    pub fn take_capture(&mut self, origin: u64) -> Result<Option<Capture>, Error> {
        let Some(path) = self.asked.pcap.take() else { return Ok(None) };
        let out = File::create(&path).map(BufWriter::new);
        let writer =
            out.and_then(|out| PacketWriter::new(out, CaptureFormat::for_path(&path), origin));
        writer.map(Some).map_err(Error::write(&path))
    }

    /// The recorder of a run of these flows until then.
    pub fn begin(&mut self, flows: &[BuiltFlow], until: Time) -> RunRecorder<'_> {
        let (first_flow, first_panel) = (self.flows.len(), self.panels.len());
        self.flows.extend_from_slice(flows);
        self.until = self.until.max(until);
        // Hosts of another run are others: what they send does not meet.
        let before = self
            .hosts
            .iter()
            .fold([0; 2], |most, hosts| [0, 1].map(|end: usize| most[end].max(hosts[end] + 1)));
        let mut numbers = [HashMap::new(), HashMap::new()];
        self.hosts.extend(flows.iter().map(|flow| {
            [0, 1].map(|end: usize| {
                let next = before[end] + numbers[end].len() as u32;
                *numbers[end].entry(flow.ends[end]).or_insert(next)
            })
        }));
        if self.asked.qlog.is_some() {
            let trace =
                |flow: &BuiltFlow| QlogTrace::new(&format!("{}: {}", flow.strategy, flow.name));
            self.traces.extend(flows.iter().map(trace));
        }
        let share = if self.draws() { self.share } else { 0 };
        let drawn = |flow| Drawn { flow, events: Vec::new(), summary: None };
        self.panels.extend((first_flow..self.flows.len()).take(share).map(drawn));
        let recovery = self.recovery.then(|| RecoveryRecorder::new(flows, until));
        self.unfinished += 1;
        RunRecorder { records: self, first_flow, first_panel, recovery }
    }

    /// Writes the files: each, whatever becomes of the others. If a run was interrupted, there are
    /// none.
    ///
    /// # Errors
    /// The first one.
    pub fn finish(mut self, title: &str, parameters: &[(String, String)]) -> Result<(), Error> {
        if self.unfinished > 0 {
            for path in self.paths() {
                let _ = writeln!(io::stderr(), "note: {}: not written", printable(path.display()));
            }
            return Ok(());
        }
        let written = [
            self.finish_lines(),
            self.queues.finish_file(),
            self.write_capture(),
            self.write_traces(title),
            self.draw(title, parameters),
        ];
        written.into_iter().collect()
    }

    fn finish_lines(&mut self) -> Result<(), Error> {
        let Some((path, lines, written)) = self.lines.take() else { return Ok(()) };
        let finished = written.and_then(|()| lines.finish()).and_then(WholeFile::finish);
        finished.map_err(Error::write(&path))
    }

    fn write_traces(&self, title: &str) -> Result<(), Error> {
        let Some(path) = &self.asked.qlog else { return Ok(()) };
        let written = WholeFile::create(path).and_then(|mut out| {
            write_qlog(&mut out, title, &self.traces)?;
            out.finish()
        });
        written.map_err(Error::write(path))
    }

    /// Draws the pictures.
    fn draw(&self, title: &str, parameters: &[(String, String)]) -> Result<(), Error> {
        if !self.draws() {
            return Ok(());
        }
        let names: Vec<String> = self.panels.iter().map(|d| self.panel_name(d)).collect();
        let panels: Vec<Panel<'_>> = self
            .panels
            .iter()
            .zip(&names)
            .map(|(d, name)| {
                let mss = self.flows.get(d.flow).map_or(1, |f| f.mss);
                Panel {
                    name,
                    mss,
                    events: &d.events,
                    summary: d.summary.as_ref(),
                    ..Panel::default()
                }
            })
            .collect();
        let mut parameters = parameters.to_vec();
        let (shown, all) = (self.panels.len(), self.flows.len());
        if shown < all {
            // Each run has as many flows.
            let runs = shown / self.share.max(1);
            let of = |n: usize| n / runs.max(1);
            let each = if runs > 1 { " of each strategy" } else { "" };
            parameters.push((
                "flows shown".into(),
                format!("the first {} of {}{each}", of(shown), of(all)),
            ));
        }
        let own_scales = differ_tenfold(&panels);
        let parameters = &parameters;
        let known = Time::ZERO < self.until && self.until < Time::NEVER;
        let until = known.then(|| self.until.secs_f64());
        let picture =
            Picture { title, parameters, panels: &panels, own_scales, until, ..Picture::default() };
        let RecordArgs { html, svg, figure, .. } = &self.asked;
        let write = |path: &Option<PathBuf>, content: &dyn Fn() -> String| {
            let write =
                |path: &PathBuf| WholeFile::write(path, content()).map_err(Error::write(path));
            path.as_ref().map_or(Ok(()), write)
        };
        let drawn = match figure.figures[..] {
            [] => Ok(()),
            _ => figure.draw(&picture),
        };
        let written =
            [write(html, &|| self.page(&picture)), write(svg, &|| picture.to_svg()), drawn];
        if shown < all {
            let _ = writeln!(io::stderr(), "note: the picture shows {shown} of {all} flows");
        }
        written.into_iter().collect()
    }

    /// The page of the picture. With more than two panels it begins with the two of the flow in
    /// which strategies differ most.
    fn page(&self, picture: &Picture<'_>) -> String {
        let (thinned, notes) = thinned(picture);
        let mut panels = picture.panels.to_vec();
        panels.iter_mut().zip(&thinned).for_each(|(panel, events)| panel.events = events);
        let Some([worst, best]) = self.contrast().filter(|_| picture.panels.len() > 2) else {
            let picture = Picture { panels: &panels, ..picture.clone() };
            return picture.to_html_with(&notes, &self.queues.to_html());
        };
        panels.sort_by_key(|panel| match panel.name {
            name if name == picture.panels[worst].name => 0,
            name if name == picture.panels[best].name => 1,
            _ => 2,
        });
        let done = |i: usize| match self.panels[i].summary.as_ref().and_then(|s| s.completion_s) {
            Some(seconds) => format!("is done after {seconds:.3} s"),
            None => "is not done".into(),
        };
        let [slow, fast] = [worst, best].map(|i| escape(picture.panels[i].name));
        let timeouts = self.panels[worst].summary.as_ref().is_some_and(|s| s.timeouts > 0);
        let look = if timeouts {
            &format!(
                "The lines of dots and dashes are timeouts of {slow}: before each, nothing was sent \
                 for long."
            )
        } else {
            "Crosses are losses. Letters are retransmissions; the legend says of what kind."
        };
        let intro = format!(
            "<p class=\"verdict\">Most apart: {slow} {}, {fast} {}.</p>\n<p>Both stand first. {look} \
             The table of all is at the end.</p>\n{notes}",
            done(worst),
            done(best)
        );
        Picture { panels: &panels, ..picture.clone() }.to_html_with(&intro, &self.queues.to_html())
    }

    /// Of the flow in which strategies differ most, the panels of the slowest and of the fastest
    /// one.
    fn contrast(&self) -> Option<[usize; 2]> {
        let done = |i: &usize| {
            let summary = self.panels[*i].summary.as_ref();
            summary.and_then(|s| s.completion_s).unwrap_or(f64::INFINITY)
        };
        let number = |i: &usize| self.panels[*i].summary.as_ref().map(|s| s.flow);
        let pairs = (0..self.panels.len()).filter_map(|first| {
            let alike = || (0..self.panels.len()).filter(|i| number(i) == number(&first));
            let worst = alike().max_by(|a, b| done(a).total_cmp(&done(b)))?;
            let best = alike().min_by(|a, b| done(a).total_cmp(&done(b)))?;
            (done(&worst) > done(&best)).then_some([worst, best])
        });
        // Of equal differences the first.
        let apart = |[worst, best]: &[usize; 2]| done(worst) - done(best);
        pairs.reduce(|one, other| if apart(&other) > apart(&one) { other } else { one })
    }

    /// The strategy, and the flow where a strategy has several, or where the table names it.
    fn panel_name(&self, drawn: &Drawn) -> String {
        let Some(flow) = self.flows.get(drawn.flow) else { return String::new() };
        let alike = self
            .panels
            .iter()
            .filter_map(|d| self.flows.get(d.flow))
            .filter(|f| f.strategy == flow.strategy);
        let names = self.flows.iter().map(|flow| (flow.id.0, flow.name.as_str()));
        if alike.count() > 1 || are_named(names) {
            format!("{}: {}", flow.strategy, flow.name)
        } else {
            flow.strategy.clone()
        }
    }

    fn write_capture(&mut self) -> Result<(), Error> {
        let Some(path) = self.asked.pcap.take() else { return Ok(()) };
        if self.packets.is_empty() && matches!(self.place.0, Place::Node(_)) {
            let name = &self.place.1;
            let _ = writeln!(io::stderr(), "warning: --pcap-at: no packet came to `{name}`");
        }
        self.write_packets(&path).map_err(Error::write(&path))
    }

    fn write_packets(&mut self, path: &Path) -> io::Result<()> {
        // Runs follow each other, and each begins at zero; the sort keeps the order of packets at
        // the same time.
        self.packets.sort_by_key(|(_, seen)| seen.at);
        let mut capture = CaptureWriter::new(
            WholeFile::create(path)?,
            CaptureFormat::for_path(path),
            &self.place.1,
        )?;
        for ((number, flow), hosts) in (0..).zip(&self.flows).zip(&self.hosts) {
            capture.connection(number, *hosts, handshake(flow));
        }
        for (flow, seen) in &self.packets {
            capture.packet(*flow, seen)?;
        }
        capture.finish()?.finish()
    }
}

/// Whether the longest flow has at least ten times the data of the shortest one that has any. Of a
/// flow the strategy counts that got furthest: how far others got is to be compared.
fn differ_tenfold(panels: &[Panel<'_>]) -> bool {
    let end = |event: &Event| match event.kind {
        EventKind::Sent { seq, len, .. } => seq.saturating_add(len.into()),
        _ => 0,
    };
    let mut sent: HashMap<Option<u32>, u64> = HashMap::new();
    for panel in panels {
        let end = panel.events.iter().map(end).max().unwrap_or(0);
        let segments = sent.entry(panel.summary.map(|summary| summary.flow)).or_default();
        *segments = end.div_ceil(panel.mss.max(1).into()).max(*segments);
    }
    let sent = || sent.values().filter(|segments| **segments > 0);
    sent().min().is_some_and(|least| sent().max() >= Some(&least.saturating_mul(10)))
}

/// The events of each panel, as many as a page has room for, and what the page says about it.
fn thinned<'a>(picture: &Picture<'a>) -> (Vec<Cow<'a, [Event]>>, String) {
    let panels = picture.panels;
    let mut most = MOST_OF_PANEL;
    while panels.iter().map(|panel| panel.events.len().min(most)).sum::<usize>() > MOST_OF_PAGE {
        most /= 2;
    }
    let events: Vec<Cow<'_, [Event]>> = panels.iter().map(|p| thin(p.events, most)).collect();
    let all: usize = panels.iter().map(|panel| panel.events.len()).sum();
    let kept: usize = events.iter().map(|events| events.len()).sum();
    let mut notes = String::new();
    if kept < all {
        notes.push_str(&format!(
            "<p class=\"soft\">The graphs are thinned: {kept} marks stand for {all} events. What \
             shares a pixel is one mark; around losses and retransmissions everything is there as \
             far as there is room. <code>--events</code> writes every event.</p>\n"
        ));
    }
    if picture.own_scales {
        notes.push_str(
            "<p class=\"soft\">The flows differ tenfold in length or more, so the graphs of \
             each flow have a scale of segments of their own.</p>\n",
        );
    }
    (events, notes)
}

/// Records one run.
pub(crate) struct RunRecorder<'a> {
    records: &'a mut Records,
    /// Where the run's flows begin.
    first_flow: usize,
    first_panel: usize,
    recovery: Option<RecoveryRecorder>,
}

impl RunRecorder<'_> {
    /// The run is over.
    pub fn end(self, outcome: &mut Outcome) {
        self.records.unfinished -= 1;
        let panels = self.records.panels.get_mut(self.first_panel..).unwrap_or_default();
        for (panel, summary) in panels.iter_mut().zip(&outcome.flows) {
            panel.summary = Some(summary.clone());
        }
        outcome.recovery = self.recovery.map(RecoveryRecorder::finish);
    }
}

impl Recorder for RunRecorder<'_> {
    fn wants_events(&self) -> bool {
        self.records.wants_events()
    }

    fn wants_packets(&self) -> bool {
        self.records.asked.pcap.is_some()
    }

    fn wants_queues(&self) -> bool {
        self.records.queues.wanted()
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        let number = flow.0 as usize;
        // Streams without TCP come after the flows and are not recorded.
        let Some(built) = self.records.flows.get(self.first_flow + number) else { return };
        if let Some(recovery) = &mut self.recovery {
            recovery.event(flow, event);
        }
        if let Some((_, lines, written @ Ok(()))) = &mut self.records.lines {
            *written = lines.record(flow.0, &built.name, &built.strategy, event);
        }
        if let Some(trace) = self.records.traces.get_mut(self.first_flow + number) {
            trace.record(event);
        }
        if let Some(panel) = self.records.panels.get_mut(self.first_panel + number) {
            panel.events.push(*event);
        }
    }

    fn packet(&mut self, flow: FlowId, place: Place, sighting: &Sighting) {
        let flow = self.first_flow + flow.0 as usize;
        let Some(built) = self.records.flows.get(flow) else { return };
        let node = match place {
            Place::Sender => built.ends[0],
            Place::Receiver => built.ends[1],
            Place::Node(node) => node,
        };
        // A node sees what begins or ends there, too.
        let here = match self.records.place.0 {
            Place::Node(of_capture) => node == of_capture,
            of_capture => place == of_capture,
        };
        if here {
            self.records.packets.push((flow as u32, *sighting));
        }
    }

    fn queue(&mut self, link: LinkId, visit: &Visit) {
        self.records.queues.visit(link, visit);
    }
}
