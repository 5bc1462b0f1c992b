//! A capture explained, as `ackclock explain` does it.

use std::io::Read;

use ackclock_explain::{
    Error, Explained, Options, Source, connection_page, eventful, index_page, read, save,
};
use ackclock_run::Cancel;

/// The most connections that have pages: those in which most time was lost.
const TOP: usize = 50;

/// How many events are kept for the pictures: about 200 MB.
const EVENTS: usize = 1_000_000;

/// What was found in a capture.
pub struct Explanation {
    explained: Explained,
    drawn: Vec<usize>,
    left_out: usize,
}

impl Explanation {
    /// Reads a capture and replays its timeouts.
    ///
    /// # Errors
    /// What cannot be read, and what is no capture. One that is damaged is explained up to the
    /// damage.
    pub fn new(capture: impl Read + Send + 'static, name: &str) -> Result<Explanation, String> {
        let options = Options { jobs: 0, filter: None, events_of_streams: EVENTS };
        let text = |error: Error| error.to_string();
        let explained = read(&[Source::stream(capture)], &options, &Cancel::default());
        let mut explained = explained.map_err(text)?;
        for capture in &mut explained.captures {
            capture.path = name.into();
            if let Some(failed) = &capture.failed {
                return Err(format!("{name}: cannot be read: {failed}"));
            }
            if let (0, Some(damage)) = (capture.packets, &capture.damage) {
                return Err(format!("{name}: {}", damage.what));
            }
        }
        save(&mut explained, 0).map_err(text)?;
        let mut drawn: Vec<usize> = eventful(&explained).iter().map(|f| f.number).collect();
        let left_out = drawn.len().saturating_sub(TOP);
        drawn.truncate(TOP);
        Ok(Explanation { explained, drawn, left_out })
    }

    /// The page with all that was found, whose links are `connection-NUMBER.html`.
    pub fn index(&self) -> String {
        index_page(&self.explained, &self.drawn, self.left_out)
    }

    /// The page of a connection; `None` if it has none.
    pub fn page(&self, number: usize) -> Option<String> {
        let found = self.explained.connections.iter().find(|found| found.number == number)?;
        Some(connection_page(&self.explained, found))
    }

    /// Where the capture stops making sense, and why: what comes before is explained. Empty if it
    /// is whole.
    pub fn damage(&self) -> String {
        let damaged = self.explained.captures.iter().filter_map(|capture| capture.damage.as_ref());
        let said = damaged.map(|damage| format!("byte {}: {}", damage.offset, damage.what));
        said.collect::<Vec<_>>().join("; ")
    }

    /// Packets read.
    pub fn packets(&self) -> u64 {
        self.explained.captures.iter().map(|capture| capture.packets).sum()
    }
}
