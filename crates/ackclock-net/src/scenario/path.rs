//! Paths from the root of a document to a value, such as `link[0].rate`.

/// One step from the root of a document to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Step::Key(key.into())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Step::Index(index)
    }
}

/// Writes the steps of a path: `steps!["link", 0, "rate"]`.
macro_rules! steps {
    ($($step:expr),* $(,)?) => { [$($crate::scenario::path::Step::from($step)),*] };
}
pub(super) use steps;

/// The path as it is shown: `link[0].rate`.
pub(super) fn display(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.extend([".", key]),
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

/// `path` and one more step.
pub(super) fn child(path: &[Step], step: impl Into<Step>) -> Vec<Step> {
    let mut path = path.to_vec();
    path.push(step.into());
    path
}
