//! Results as HTML: an index and a page for each experiment. Each page is one file that needs no
//! network.

mod experiment;
mod index;
mod parts;

use crate::outcome::Outcome;
use parts::file_name;

/// File names and their text: `index.html`, and a page for each experiment.
pub fn pages(outcomes: &[Outcome]) -> Vec<(String, String)> {
    let mut files = vec![("index.html".to_string(), index::page(outcomes))];
    files.extend(outcomes.iter().map(|o| (file_name(o), experiment::page(o))));
    files
}
