//! The page: what came out, with pictures of the smallest counterexamples.

use ackclock_net::scenario::{BuildOptions, ScenarioError};
use ackclock_net::{FlowId, Recorder};
use ackclock_report::{Panel, Picture, escape, html_table};
use ackclock_tcp::{Event, Registry, Span, Time};

use crate::report::{CONDITION, LEGEND, Swept};
use crate::schedule::Schedule;
use crate::space::Case;

const TITLE: &str = "Every fate of a window";

/// How `Case` writes what is lost.
const NOTATION: &str = "<p>A case is what is lost of the window, whose first segment is 20: \
    <code>20</code> is the first transmission of segment 20, <code>20:2</code> its first \
    retransmission as well, <code>20-22</code> three segments. With \
    <code>late:20</code> that one is late, and with <code>ack:21</code> ACK 21 is lost.</p>\n";

/// A case to be drawn.
struct Drawn {
    name: String,
    note: &'static str,
    mss: u32,
    events: Vec<Event>,
}

/// Takes the events from a time on.
struct From {
    at: Time,
    events: Vec<Event>,
}

impl Recorder for From {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, _: FlowId, event: &Event) {
        if event.at >= self.at {
            self.events.push(*event);
        }
    }
}

/// One HTML file. Of each strategy it shows the smallest case in which the paper's condition holds
/// and a timeout comes, or else the smallest timeout.
///
/// # Errors
/// If the scenario of a case cannot be run.
pub fn page(all: &[Swept], registry: &Registry) -> Result<String, ScenarioError> {
    let mut intro = String::from(NOTATION);
    for swept in all {
        intro += &format!("<h2>{}</h2>\n", escape(&swept.title()));
        html_table(&mut intro, &swept.counts());
        // Line by line, since in attributes and titles an escaped text has to be one line.
        let legend: Vec<String> = LEGEND.lines().map(escape).collect();
        intro += &format!(
            "<pre class=\"wide\" tabindex=\"0\">{}</pre>\n<h3>{CONDITION}</h3>\n<ul>\n",
            legend.join("\n")
        );
        for sentence in swept.verdict() {
            intro += &format!("<li>{}</li>\n", escape(&sentence));
        }
        intro += "</ul>\n<h3>The smallest case of each kind</h3>\n";
        html_table(&mut intro, &swept.smallest());
    }
    intro += "<h2>The smallest counterexamples</h2>\n";
    let mut drawn = Vec::new();
    for swept in all {
        for row in &swept.strategies {
            let alive = row.tally.alive_timed_out.smallest.as_deref();
            let (case, note) = match (alive, row.tally.timed_out.smallest.as_deref()) {
                (Some(case), _) => (case, "a packet is alive in each round trip, and it times out"),
                (None, Some(case)) => (case, "the smallest timeout"),
                (None, None) => continue,
            };
            drawn.extend(draw(swept, &row.strategy, case, note, registry)?);
        }
    }
    let panels: Vec<Panel<'_>> = drawn
        .iter()
        .map(|Drawn { name, note, mss, events }| Panel {
            name,
            note,
            mss: *mss,
            events,
            ..Panel::default()
        })
        .collect();
    let picture = Picture { title: TITLE, panels: &panels, ..Picture::default() };
    Ok(picture.to_html_with(&format!("<div class=\"report\">\n{intro}</div>\n"), ""))
}

fn draw(
    swept: &Swept,
    strategy: &str,
    text: &str,
    note: &'static str,
    registry: &Registry,
) -> Result<Option<Drawn>, ScenarioError> {
    let Ok(case) = text.parse::<Case>() else { return Ok(None) };
    let connection = swept.after.connection(swept.window, swept.mss);
    let mut schedule = Schedule::default();
    case.schedule(&mut schedule);
    let scenario = connection.scenario(strategy, registry, &schedule);
    let options = BuildOptions::new(registry, scenario.seed).events(true);
    let mut simulation = scenario.build(&options)?;
    let at = Time(connection.written_at().0 - Span::from_millis(1).0);
    let mut recorder = From { at, events: Vec::new() };
    simulation.run(&mut recorder).map_err(|e| scenario.explain(&e))?;
    let name = format!("{strategy}, {}: {case}", swept.after.name());
    Ok(Some(Drawn { name, note, mss: swept.mss, events: recorder.events }))
}

#[cfg(test)]
mod tests;
