//! Tables with a column for each strategy, as papers that compare strategies have them.

use std::collections::BTreeMap;
use std::iter;

use serde::{Deserialize, Serialize};

use crate::format::{NumberOrText, RowSpec, Strategy};
use crate::outcome::Row;

/// `[[table]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableSpec {
    pub title: String,
    pub rows: Vec<TableRow>,
}

/// A line of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableRow {
    pub measure: String,
    /// The measure's name if left out.
    pub label: Option<String>,
    /// The paper's numbers by strategy.
    #[serde(default)]
    pub paper: BTreeMap<String, NumberOrText>,
}

impl TableRow {
    /// The row of each strategy.
    pub fn rows<'a>(&'a self, title: &'a str, strategies: &'a [Strategy]) -> impl Iterator<Item = RowSpec> + 'a {
        strategies.iter().map(move |s| RowSpec {
            measurement: format!("{}/{}", self.measure, s.name),
            label: Some(self.label.as_ref().unwrap_or(&self.measure).clone()),
            paper: self.paper.get(&s.name).cloned(),
            scale: 1.0,
            unit: None,
            place: title.into(),
        })
    }
}

/// A table with a column for each strategy.
#[derive(Debug, Serialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Of each line, the rows of the strategies in their order.
    pub lines: Vec<Vec<Row>>,
}

impl Table {
    /// The heading and all lines. The paper's numbers stand before ours, where it has any for a strategy.
    pub(crate) fn cells(&self, strategies: &[String]) -> Vec<Vec<String>> {
        let has_paper = |i: usize| self.lines.iter().filter_map(|line| line.get(i)).any(|row| row.paper.is_some());
        let of = |i: usize, paper: String, ours: String| has_paper(i).then_some(paper).into_iter().chain([ours]);
        let columns = strategies.iter().enumerate().flat_map(|(i, s)| of(i, format!("{s} (paper)"), s.clone()));
        let heading = ["measured", "unit"].map(String::from).into_iter().chain(columns).collect();
        let lines = self.lines.iter().map(|line| {
            let first = line.iter().take(1).flat_map(|row| [row.label.clone(), row.unit.clone()]);
            let columns = line.iter().enumerate().flat_map(|(i, row)| of(i, row.papers(), row.shown.clone()));
            first.chain(columns).collect()
        });
        iter::once(heading).chain(lines).collect()
    }
}
