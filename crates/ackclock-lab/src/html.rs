//! Results as one HTML file that needs no network.

use std::fmt::Write;

use ackclock_report::{Bars, Chart, Estimate, Plot, escape, html_table, page, prose};

use crate::outcome::{Cell, Outcome, RowOutcome};

impl Outcome {
    /// The page.
    pub fn to_html(&self) -> String {
        let mut body = format!("<main class=\"report\">\n<h1>{}</h1>\n", escape(&self.title));
        let place = if self.place.is_empty() { String::new() } else { format!("{}; ", self.place) };
        // Writing into a String cannot fail.
        let _ = writeln!(
            body,
            "<p class=\"ran\">{}{}; run by ackclock {}</p>",
            escape(&place),
            escape(&self.ran()),
            env!("CARGO_PKG_VERSION")
        );
        body.push_str(&self.chart().to_html());
        self.verdicts(&mut body);
        for paragraph in [&self.notes, &self.why]
            .into_iter()
            .flat_map(|text| text.split("\n\n"))
            .filter(|p| !p.is_empty())
        {
            let _ = writeln!(body, "<p>{}</p>", prose(paragraph));
        }
        for cell in &self.cells {
            let _ = writeln!(body, "<h3>{}</h3>", escape(&cell.name));
            html_table(&mut body, &cell.table_rows());
        }
        body.push_str("</main>\n");
        page(&self.title, &body)
    }

    /// Whether wire and simulation agree, and each aim.
    fn verdicts(&self, html: &mut String) {
        html.push_str(
            "<table class=\"claims\">\n<tr><th>verdict</th><th>aim</th><th>missed by</th></tr>\n",
        );
        for cell in &self.cells {
            let (Some(text), Some(a)) = (cell.agreement_text(), &cell.agreement) else { continue };
            let all = a.agree == a.rows && a.same_order == a.pairs;
            let differ = cell.rows.iter().filter(|row| row.agrees() == Some(false));
            let missed: Vec<String> = differ.map(|row| row.name.clone()).collect();
            line(html, all, if all { "agree" } else { "do not agree" }, &text, &missed);
        }
        for aim in &self.aims {
            line(html, aim.reached, &aim.verdict(), &aim.says, &aim.missed);
        }
        html.push_str("</table>\n");
    }

    /// Bars of a measure: rows over cells, or of the only cell rows beside their simulation and the
    /// paper.
    fn chart(&self) -> Chart {
        let estimate = |row: &RowOutcome, measure| {
            row.get(measure).map(|mean| Estimate { mean, half_width: None })
        };
        let names = |cell: &Cell| cell.rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
        let (categories, bars) = match &self.cells[..] {
            [cell] => {
                let values = |measure| cell.rows.iter().map(|row| estimate(row, measure)).collect();
                let paper = cell.rows.iter().map(|row| row.paper).collect();
                let mut bars =
                    vec![Bars { name: "wire".into(), values: values(self.chart), paper }];
                if cell.agreement.is_some() {
                    let values = cell.rows.iter().map(RowOutcome::simulation).collect();
                    bars.push(Bars { name: "simulation".into(), values, paper: Vec::new() });
                }
                (names(cell), bars)
            }
            cells => {
                let rows = cells.first().map(names).unwrap_or_default().into_iter().enumerate();
                let bar = |(r, name): (usize, String)| Bars {
                    name,
                    values: cells
                        .iter()
                        .map(|cell| estimate(cell.rows.get(r)?, self.chart))
                        .collect(),
                    paper: Vec::new(),
                };
                // The row that others are held against has no ratio.
                let bars = rows.map(bar).filter(|bars| bars.values.iter().any(Option::is_some));
                (cells.iter().map(|cell| cell.name.clone()).collect(), bars.collect())
            }
        };
        Chart {
            title: self.title.clone(),
            x: String::new(),
            y: self.chart.axis().into(),
            plot: Plot::Bars { categories, bars },
        }
    }
}

fn line(html: &mut String, good: bool, verdict: &str, says: &str, missed: &[String]) {
    let (class, symbol) = if good { ("holds", "✓") } else { ("fails", "✗") };
    let missed = missed.iter().map(|m| escape(m).to_string()).collect::<Vec<_>>().join("<br>");
    let _ = writeln!(
        html,
        "<tr><td class=\"{class}\">{symbol} {}</td><td>{}</td>\
         <td class=\"measured\">{missed}</td></tr>",
        escape(verdict),
        prose(says)
    );
}

#[cfg(test)]
mod tests;
