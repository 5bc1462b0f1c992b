//! Metrics in the text format of Prometheus (exposition format 0.0.4).

use std::fmt::{Display, Write};

use ackclock_stack::Timeouts;
use ackclock_tcp::TimeoutClass;

/// What this text is (exposition format 0.0.4).
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Metrics as text.
pub struct Exposition {
    /// Labels that every sample carries.
    labels: Vec<String>,
    /// The family that is being written.
    family: String,
    text: String,
}

impl Exposition {
    /// Begins with what we are. No sample carries a label that is not its own.
    pub fn plain() -> Exposition {
        let mut to = Exposition { labels: Vec::new(), family: String::new(), text: String::new() };
        let name = "ackclock_build_info";
        to.family(name, "1, with the version of the command.", "gauge");
        to.sample(name, Some(label("version", env!("CARGO_PKG_VERSION"))), 1);
        to
    }

    /// Writes one family, with samples for each of these, which carry this label and that value of
    /// it. `write` writes no second family: its head would come again for each.
    pub fn each<T>(&mut self, key: &str, of: &[(&str, T)], write: impl Fn(&mut Exposition, &T)) {
        for (value, one) in of {
            self.labels.push(label(key, value));
            write(self, one);
            self.labels.pop();
        }
    }

    /// A value that goes up and down.
    pub fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, help, "gauge");
        self.sample(name, None, value);
    }

    /// A value that only grows.
    pub fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, help, "counter");
        self.sample(name, None, value);
    }

    /// A counter for each value of a label.
    pub fn counters(&mut self, name: &str, help: &str, key: &str, values: &[(&str, impl Display)]) {
        self.family(name, help, "counter");
        for (value_of_label, value) in values {
            self.sample(name, Some(label(key, value_of_label)), value);
        }
    }

    /// Timeouts by class, in the order of [`TimeoutClass::ALL`].
    pub fn timeouts(&mut self, help: &str, counts: &Timeouts) {
        let classes = TimeoutClass::ALL.map(|class| (class.name(), counts[class as usize]));
        self.counters("ackclock_timeouts_total", help, "class", &classes);
    }

    /// A number of observations and their sum in seconds.
    pub fn seconds(&mut self, name: &str, help: &str, count: u64, sum: f64) {
        self.family(name, help, "summary");
        self.sample(&format!("{name}_sum"), None, sum);
        self.sample(&format!("{name}_count"), None, count);
    }

    /// How times are spread: upper bounds with the number of times up to each, and the number and
    /// the sum of all.
    pub fn histogram(
        &mut self,
        name: &str,
        help: &str,
        buckets: impl Iterator<Item = (f64, u64)>,
        (count, sum): (u64, f64),
    ) {
        self.family(name, help, "histogram");
        let bucket = format!("{name}_bucket");
        for (bound, up_to_it) in buckets {
            self.sample(&bucket, Some(label("le", &bound.to_string())), up_to_it);
        }
        self.sample(&bucket, Some(label("le", "+Inf")), count);
        self.sample(&format!("{name}_sum"), None, sum);
        self.sample(&format!("{name}_count"), None, count);
    }

    /// The text.
    pub fn finish(self) -> String {
        self.text
    }

    fn family(&mut self, name: &str, help: &str, kind: &str) {
        if self.family == name {
            return;
        }
        self.family = name.to_string();
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, own: Option<String>, value: impl Display) {
        self.text.push_str(name);
        let mut before = '{';
        for label in self.labels.iter().chain(&own) {
            self.text.push(before);
            self.text.push_str(label);
            before = ',';
        }
        let end = if before == ',' { "}" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{end} {value}");
    }
}

/// `key="value"`.
fn label(key: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{key}=\"{value}\"")
}

#[cfg(test)]
mod tests;
