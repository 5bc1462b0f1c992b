//! What is wrong with a scenario: where, which key, and what would be right.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::path::{Step, display};

/// What is wrong with a scenario.
///
/// Its text is `LINE: KEY: message (help)`, so that a caller who prefixes `FILE:` gets what editors
/// and compilers use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScenarioError {
    /// The line, from 1; `None` if the scenario was not read from a text.
    pub line: Option<usize>,
    /// The key as a path such as `link[0].rate`, tables of an array counted from 0; empty if no
    /// key is concerned.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What would be right, if the message does not say it.
    pub help: Option<Box<str>>,
    /// A file that the value names could not be read.
    pub unread: bool,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "{line}: ")?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

impl std::error::Error for ScenarioError {}

impl ScenarioError {
    /// What is wrong with the value of a key.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        let (key, message) = (key.into(), message.into());
        ScenarioError { line: None, key, message, help: None, unread: false }
    }

    /// The same, with what would be right.
    pub fn help(self, help: impl Into<Box<str>>) -> Self {
        ScenarioError { help: Some(help.into()), ..self }
    }

    /// The same, for a scenario that is the table `table` of another file. Its line there is not
    /// known.
    pub fn within(self, table: &str) -> Self {
        ScenarioError { key: format!("{table}.{}", self.key), line: None, ..self }
    }

    /// A value that parsed but makes no sense.
    pub(super) fn at(path: &[Step], message: impl Into<String>) -> Self {
        ScenarioError::new(display(path), message)
    }

    /// The same, with the line of its key in `text`.
    pub fn located(mut self, text: &str) -> Self {
        let Ok(root) = DeTable::parse(text) else { return self };
        let mut best = None;
        walk(&root, &mut |path, place, _| {
            let shown = display(path);
            // The key itself, or the closest table around it that was written down.
            let rest = self.key.strip_prefix(&shown);
            if !shown.is_empty() && rest.is_some_and(|r| r.is_empty() || r.starts_with(['.', '[']))
            {
                best = Some(place.start);
            }
        });
        self.line = best.map(|at| line_of(text, at));
        self
    }

    /// What the TOML reader says of `text`, in this project's words.
    pub fn from_toml(text: &str, error: &toml::de::Error) -> Self {
        let message = error.message().trim().to_string();
        let span = error.span().unwrap_or(0..0);
        let root = DeTable::parse(text).ok();
        let path = root.as_ref().map(|root| key_at(root, &span)).unwrap_or_default();
        let key = display(&path);
        let line = line_of(text, span.start);
        let given = root.map(|root| keys_of(&root, &path)).unwrap_or_default();
        let kind = plain_kind(&message, &path, &given).filter(|_| unknown_name(&message).is_none());
        let (message, help) = match kind {
            _ if message == "duplicate key" => twice(text.lines().nth(line - 1).unwrap_or("")),
            Some((message, help)) => (message, Some(help)),
            None => in_words(&message),
        };
        let help = help.map(String::into);
        ScenarioError { line: Some(line), key, message, help, unread: false }
    }

    /// What serde says of the value of a key, in this project's words.
    pub fn from_serde(key: impl Into<String>, message: &str) -> Self {
        let (message, help) = in_words(message.trim());
        let help = help.map(String::into);
        ScenarioError { line: None, key: key.into(), message, help, unread: false }
    }
}

/// What a check says.
pub(super) type Checked = Result<(), ScenarioError>;

/// The value at a path makes no sense.
pub(super) fn fail(path: &[Step], message: impl Into<String>) -> Checked {
    Err(ScenarioError::at(path, message))
}

/// What serde says in terms of Rust, in terms of the file: what is wrong, and what would be right.
fn in_words(message: &str) -> (String, Option<String>) {
    if let Some((name, known)) = unknown_name(message) {
        let what = if message.starts_with("unknown field") { "key " } else { "" };
        let list = known.join("`, `");
        let help = match nearest(&name, &known) {
            Some(near) => format!("did you mean `{near}`? There are `{list}`"),
            None => format!("there are `{list}`"),
        };
        return (format!("there is no {what}`{name}` here"), Some(help));
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return (format!("the key {name} is missing"), None);
    }
    if let Some((found, _)) = message.split_once("` as i128").or(message.split_once("` as u128")) {
        let (_, number) = found.rsplit_once('`').unwrap_or_default();
        return (format!("{number} is too large"), Some(format!("at most {}", i64::MAX)));
    }
    if let Some((found, expected)) = message.rsplit_once("expected ") {
        let expected = match expected {
            "u8" => "a whole number, 0 to 255",
            "u32" => "a whole number, 0 to 4294967295",
            "u64" => "a whole number, 0 or more",
            "a boolean" => "true or false",
            "socket address" => "an address and a port such as \"10.77.0.2:80\"",
            _ if expected.starts_with("struct ") => "a table",
            _ => expected,
        };
        return (format!("{found}expected {expected}"), None);
    }
    if message.contains("socket address") {
        let help = "an address and a port are expected, such as `10.77.0.2:80` or `[fd00::2]:80`";
        return (help.into(), None);
    }
    (message.into(), None)
}

/// What is wrong with a line whose key is there already: the name of a table, or a key in it.
fn twice(line: &str) -> (String, Option<String>) {
    let name = line.trim().trim_start_matches('[').split(']').next().unwrap_or_default().trim();
    let table =
        name.rsplit('.').next().filter(|last| line.trim().starts_with('[') && is_list(last));
    let help = match table {
        Some(_) => format!("tables of which there may be several are written `[[{name}]]`"),
        None => "leave one of the two out".into(),
    };
    ("this key is set already".into(), Some(help))
}

/// Whether there may be several tables of this name.
fn is_list(name: &str) -> bool {
    let lists = [
        "node", "link", "fate", "loss", "spikes", "change", "outage", "flow", "cbr", "listener",
        "split",
    ];
    lists.contains(&name)
}

/// The same where a key has one of several kinds, or there may be several of it. Its table has the
/// keys `given`.
fn plain_kind(message: &str, path: &[Step], given: &[String]) -> Option<(String, String)> {
    let last = path.iter().rev().find_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Index(_) => None,
    });
    let kind = match last {
        Some("queue") => Some("{ droptail = { packets = 20 } }"),
        Some("source") => Some("{ segments = 100 }"),
        Some("loss") => Some("{ drop = { segments = [14] } }"),
        _ => None,
    };
    let of_kind = ["newtype variant", "wanted exactly 1 element", "wanted string or table"];
    if let (Some(example), true) = (kind, of_kind.iter().any(|t| message.contains(t))) {
        return Some(match given {
            [first, second, ..] => (
                format!("either `{first}` or `{second}`, not both"),
                "to change the kind, set all of it".into(),
            ),
            _ => (
                "one kind with its settings is expected here".into(),
                format!("for example `{example}`"),
            ),
        });
    }
    let example = match last {
        Some("bernoulli") => Some("{ p = \"1%\" }"),
        Some("delayed_ack") => Some("\"off\""),
        _ => None,
    };
    if let (Some(example), true) = (example, message.starts_with("invalid type")) {
        return Some((in_words(message).0, format!("for example `{example}`")));
    }
    let list = last.filter(|name| is_list(name) && message.contains("a sequence"));
    if let Some(name) = list {
        let inner = match name {
            "fate" | "loss" | "spikes" | "change" | "outage" => format!("link.{name}"),
            _ => name.into(),
        };
        return Some(("there may be several of these".into(), format!("write `[[{inner}]]`")));
    }
    None
}

/// Takes apart serde's `unknown field `x`, expected one of `a`, `b`` and `unknown variant ...`.
fn unknown_name(message: &str) -> Option<(String, Vec<String>)> {
    if !message.starts_with("unknown field") && !message.starts_with("unknown variant") {
        return None;
    }
    // The name comes first and may itself hold backticks; the known names hold none.
    let (name, known) =
        message.rsplit_once(", expected ").or_else(|| message.rsplit_once(", there are no "))?;
    let name = name.split_once('`')?.1.strip_suffix('`')?;
    Some((name.to_string(), known.split('`').skip(1).step_by(2).map(str::to_string).collect()))
}

/// The known name that is most like `name`, if one is.
pub fn nearest(name: &str, known: &[impl AsRef<str>]) -> Option<String> {
    let distance = |k: &str| strsim::damerau_levenshtein(&name.to_lowercase(), k);
    let best = known.iter().map(AsRef::as_ref).min_by_key(|k| distance(k))?;
    let length = name.chars().count();
    // If all letters change, the names have nothing in common.
    let close = distance(best) <= 1 + length / 4 && distance(best) < length.max(best.len());
    let part = name.len() >= 3 && (best.contains(name) || name.contains(best));
    (close || part).then(|| best.to_string())
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|b| *b == b'\n').count() + 1
}

/// Calls `visit` for everything in the document, with its path, the place of its key (for an
/// element of an array, of itself) and the place of its value.
fn walk(root: &Spanned<DeTable<'_>>, visit: &mut Visit<'_>) {
    fn table(t: &DeTable<'_>, path: &mut Vec<Step>, visit: &mut Visit<'_>) {
        for (key, value) in t.iter() {
            path.push(Step::Key(key.get_ref().to_string()));
            visit(path, key.span(), value.span());
            inner(value, path, visit);
            path.pop();
        }
    }
    fn inner(v: &Spanned<DeValue<'_>>, path: &mut Vec<Step>, visit: &mut Visit<'_>) {
        match v.get_ref() {
            DeValue::Table(t) => table(t, path, visit),
            DeValue::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push(Step::Index(index));
                    visit(path, item.span(), item.span());
                    inner(item, path, visit);
                    path.pop();
                }
            }
            _ => {}
        }
    }
    table(root.get_ref(), &mut Vec::new(), visit);
}

type Visit<'a> = dyn FnMut(&[Step], Range<usize>, Range<usize>) + 'a;

/// The keys of the table at this path.
fn keys_of(root: &Spanned<DeTable<'_>>, path: &[Step]) -> Vec<String> {
    let mut keys = Vec::new();
    walk(root, &mut |inner, _, _| {
        if let Some([Step::Key(key)]) = inner.strip_prefix(path) {
            keys.push(key.clone());
        }
    });
    keys
}

/// The path of what `span` is: a value, or else the last thing that begins at or before it.
fn key_at(root: &Spanned<DeTable<'_>>, span: &Range<usize>) -> Vec<Step> {
    if *span == root.span() {
        return Vec::new();
    }
    let mut exact = None;
    let mut best = (0, Vec::new());
    walk(root, &mut |path, key, value| {
        if value == *span {
            exact = Some(path.to_vec());
        }
        // `>=`: of an array's element and the first key in it, which begin together, the key.
        if key.start <= span.start && key.start >= best.0 {
            best = (key.start, path.to_vec());
        }
    });
    exact.unwrap_or(best.1)
}
