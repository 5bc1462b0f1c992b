//! All that was measured, a row for each number of each run.

use ackclock_run::Columns;

use crate::measurement::Measurement;
use crate::measures::{measures, unit};
use crate::outcome::{Cell, Outcome};

/// One number of one run, or a word of it.
pub struct Sample<'a> {
    outcome: &'a Outcome,
    cell: &'a Cell,
    /// The measure; of a step `STEP/ASPECT`.
    measure: String,
    strategy: &'a str,
    /// The flow or the group of flows; `None` over all of them.
    flow: Option<&'a str>,
    seed: u64,
    value: Option<f64>,
    text: Option<&'a str>,
}

/// Everything that was measured, experiment by experiment and cell by cell.
pub fn samples(outcomes: &[Outcome]) -> impl Iterator<Item = Sample<'_>> {
    let known: Vec<&str> = measures().map(|measure| measure.name).collect();
    let cells = outcomes.iter().flat_map(|outcome| outcome.cells.iter().map(move |c| (outcome, c)));
    cells.flat_map(move |(outcome, cell)| {
        let mut all = Vec::new();
        for (name, measurement) in &cell.measured {
            let mut parts = name.splitn(3, '/');
            let [first, strategy] = [(); 2].map(|()| parts.next().unwrap_or_default());
            let last = parts.next();
            let (measure, flow) = match last {
                Some(aspect) if !known.contains(&first) => (format!("{first}/{aspect}"), None),
                flow => (first.to_string(), flow),
            };
            let mut add = |seed, value, text| {
                let measure = measure.clone();
                all.push(Sample { outcome, cell, measure, strategy, flow, seed, value, text });
            };
            match measurement {
                Measurement::Text(text) => add(cell.seed, None, Some(text.as_str())),
                Measurement::Samples(values) => (cell.seed..)
                    .zip(values)
                    .for_each(|(seed, value)| add(seed, Some(*value), None)),
            }
        }
        all
    })
}

/// The columns of [`samples`]. Each axis of an experiment has one, with the labels.
pub fn sample_columns<'a>(outcomes: &[Outcome]) -> Columns<Sample<'a>> {
    const OWN: [&str; 8] =
        ["experiment", "strategy", "flow", "seed", "measure", "unit", "value", "text"];
    let mut columns = Columns::<Sample<'a>>::new().text(OWN[0], |s| Some(s.outcome.id.clone()));
    let mut axes: Vec<&str> = Vec::new();
    for place in outcomes.iter().flat_map(|o| &o.cells).flat_map(|cell| &cell.labels) {
        if axes.contains(&place.axis.as_str()) {
            continue;
        }
        axes.push(&place.axis);
        let axis = place.axis.clone();
        let taken = if OWN.contains(&axis.as_str()) { " (axis)" } else { "" };
        columns = columns.text(format!("{axis}{taken}"), move |s| {
            s.cell.labels.iter().find(|at| at.axis == axis).map(|at| at.label.clone())
        });
    }
    columns
        .text(OWN[1], |s| Some(s.strategy.into()))
        .text(OWN[2], |s| s.flow.map(String::from))
        .int(OWN[3], |s| Some(s.seed))
        .text(OWN[4], |s| Some(s.measure.clone()))
        .text(OWN[5], |s| Some(unit(&s.measure).into()))
        .number(OWN[6], |s| s.value)
        .text(OWN[7], |s| s.text.map(String::from))
}
