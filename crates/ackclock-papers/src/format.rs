//! The keys of experiments, and of `paper.toml`.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use ackclock_net::scenario::Scenario;
use ackclock_report::Mark;
use ackclock_run::Axis;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

/// `paper.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its title.
    pub title: String,
    /// Who wrote it.
    pub authors: Vec<String>,
    /// Where and when it was published.
    pub published: String,
    /// One sentence: what of it holds here, and what does not.
    pub outcome: String,
}

/// An experiment.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What it shows.
    pub title: String,
    /// Where it stands in the paper.
    #[serde(default)]
    pub place: String,
    /// What the reader has to know: what the paper leaves open, what was assumed.
    #[serde(default)]
    pub notes: String,
    /// Why claims without a reason of their own do not hold, where that is known.
    pub(crate) why: Option<String>,
    /// Another experiment of the paper, which says all that this one leaves out. Of several, each
    /// says what is left out here and in those before it.
    #[serde(default, deserialize_with = "one_or_more")]
    #[schemars(with = "OneOrMore")]
    pub(crate) like: Vec<String>,
    /// It shows how much the results of another experiment depend on what was assumed. Its claims
    /// are counted apart.
    #[serde(default)]
    pub(crate) sensitivity: bool,
    /// How many runs of each strategy in each cell; seeds count up from the scenario's.
    #[serde(default = "one")]
    pub(crate) runs: u32,
    /// The same with `--quick`.
    pub(crate) quick_runs: Option<u32>,
    /// Record the first flow of the first run of each strategy: steps, and the time-sequence
    /// picture.
    #[serde(default)]
    pub(crate) sequence: bool,
    /// What its pictures show at first, from and to, in seconds.
    pub(crate) window: Option<(f64, f64)>,
    /// Times that the paper names, drawn into its pictures.
    #[serde(default, rename = "mark")]
    pub(crate) marks: Vec<Mark>,
    /// Measures that the table shows for each strategy, beside `row`.
    #[serde(default)]
    pub(crate) show: Vec<String>,
    #[serde(default, rename = "chart")]
    pub(crate) charts: Vec<ChartSpec>,
    #[serde(default, rename = "strategy")]
    pub(crate) strategies: Vec<Strategy>,
    #[serde(default)]
    pub(crate) vary: Vec<Axis>,
    /// Each run is many transfers, each over a path drawn from this.
    pub(crate) population: Option<Population>,
    #[serde(default, rename = "step")]
    pub(crate) steps: Vec<StepName>,
    #[serde(default, rename = "row")]
    pub(crate) rows: Vec<RowSpec>,
    #[serde(default, rename = "table")]
    pub(crate) tables: Vec<TableSpec>,
    #[serde(default, rename = "claim")]
    pub(crate) claims: Vec<Claim>,
    pub(crate) scenario: Option<Scenario>,
    /// A scenario that experiments of the paper share, instead of `scenario`. Its `runs` are those
    /// of `ackclock run`; the experiment has its own.
    pub(crate) scenario_file: Option<String>,
    /// Keys of the scenario and their values here.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub(crate) set: BTreeMap<String, toml::Value>,
}

impl Experiment {
    /// The JSON Schema of the files of experiments.
    pub fn json_schema() -> serde_json::Value {
        schemars::schema_for!(Experiment).to_value()
    }

    /// Whether an axis, a draw or `set` gives this key of the scenario a value.
    pub(crate) fn sets(&self, key: &str) -> bool {
        let mut draws = self.population.iter().flat_map(|population| &population.draw);
        self.set.contains_key(key)
            || self.vary.iter().any(|axis| axis.key == key)
            || draws.any(|draw| draw.key == key)
    }

    /// Whether the first run of each strategy is recorded.
    pub(crate) fn records(&self) -> bool {
        self.sequence || !self.steps.is_empty()
    }

    /// The measures that rows, tables, claims and `show` name; of a measurement its first part.
    pub(crate) fn measures(&self) -> impl Iterator<Item = &str> {
        let compared = self.claims.iter().filter_map(|claim| match claim.relation() {
            Some((_, NumberOrText::Text(name))) => Some(name),
            _ => None,
        });
        let measurements = self
            .rows
            .iter()
            .map(|row| &row.measurement)
            .chain(self.claims.iter().map(|claim| &claim.measurement))
            .chain(compared);
        let of_tables = self.tables.iter().flat_map(|table| &table.rows).map(|row| &row.measure);
        measurements
            .filter_map(|name| name.split('/').next())
            .chain(self.show.iter().chain(of_tables).map(String::as_str))
    }
}

/// A strategy under the name that the paper has for it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Strategy {
    /// The paper's name.
    pub name: String,
    /// What it is here; the name if left out.
    pub composition: Option<String>,
    /// Each flow has the strategy that the scenario gives it.
    #[serde(default)]
    pub of_flows: bool,
}

impl Strategy {
    /// The composition of all flows; `None` if each flow has its own.
    pub fn composition(&self) -> Option<&str> {
        (!self.of_flows).then(|| self.composition.as_deref().unwrap_or(&self.name))
    }
}

/// `[population]`: each run is many transfers, each over a path of its own.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Population {
    /// Transfers of a run.
    pub transfers: u32,
    /// The title of a figure with the classes and windows of the timeouts; none if left out.
    pub chart: Option<String>,
    pub draw: Vec<Draw>,
}

/// A key of the scenario that takes one of these values for each transfer.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Draw {
    pub key: String,
    #[schemars(with = "Vec<serde_json::Value>")]
    pub values: Vec<toml::Value>,
    /// How likely each value is beside the others; all alike if left out.
    #[serde(default)]
    pub weights: Vec<f64>,
}

/// A name for one step of a sequence.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepName {
    pub name: String,
    pub when: When,
    /// Which of several such steps, from 1.
    #[serde(default = "one")]
    pub nth: u32,
    /// The step from which its `time` counts; the beginning of the run if left out.
    pub since: Option<String>,
}

/// What happens in a step. Segments count from 0, as in drop lists.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum When {
    /// The ACK with which the duplicates of segment `of` count `count`.
    Dupack { of: u64, count: u32 },
    /// The ACK that covers this segment.
    Acked(u64),
    /// A transmission of a segment, 1 being the first.
    Sent { segment: u64, transmission: u32 },
    /// The retransmission timer expires.
    Timeout,
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowSpec {
    pub measurement: String,
    /// The measurement's name if left out.
    pub label: Option<String>,
    pub paper: Option<NumberOrText>,
    /// Ours is multiplied by this: 10 for a total over ten runs.
    #[serde(default = "unit")]
    pub scale: f64,
    #[serde(default)]
    pub unit: Option<String>,
    #[serde(default)]
    pub place: String,
}

/// A table with a column for each strategy.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableSpec {
    pub title: String,
    pub rows: Vec<TableRow>,
}

/// A line of it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableRow {
    pub measure: String,
    /// The measure's name if left out.
    pub label: Option<String>,
    /// The paper's numbers by strategy.
    #[serde(default)]
    pub paper: BTreeMap<String, NumberOrText>,
}

/// A figure of the rows of one measure, or of the distribution behind measures that are quantiles.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChartSpec {
    pub title: String,
    #[serde(default)]
    pub measure: String,
    /// The distribution of which the measures `QUANTILES-pNN` are the quantiles of NN %, instead
    /// of `measure`.
    pub quantiles: Option<String>,
    /// The axis of the grid that goes to the right, whose labels begin with numbers; bars if left
    /// out. Labels with several units, such as `20ms` and `1s`, are drawn in the base unit.
    pub axis: Option<String>,
    /// Not with a label of 0.
    #[serde(default)]
    pub log_x: bool,
    /// What the x axis shows; the axis' name and the unit of its labels if left out.
    #[serde(default)]
    pub x: String,
    /// The cells that it draws, as axis and label; all if left out.
    #[serde(default, rename = "where")]
    pub cells: BTreeMap<String, String>,
    /// The strategies that it draws; all if left out.
    #[serde(default)]
    pub strategies: Vec<String>,
    /// What bars call the flows; by their names in the scenario if left out.
    #[serde(default)]
    pub flows: BTreeMap<String, String>,
}

/// What the paper says, and how it is judged: exactly one of the relations.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// The paper's sentence in short.
    pub says: String,
    /// Where it stands.
    #[serde(default)]
    pub place: String,
    pub measurement: String,
    pub equals: Option<NumberOrText>,
    pub above: Option<NumberOrText>,
    pub below: Option<NumberOrText>,
    pub at_least: Option<NumberOrText>,
    pub at_most: Option<NumberOrText>,
    pub near: Option<NumberOrText>,
    /// How far above or below: a number, or a share of the other (`10%`). A negative one says how
    /// far on the other side it may be.
    #[schemars(with = "Option<NumberOrText>")]
    pub by: Option<Margin>,
    /// Of how many runs the paper says that all were so. The claim holds if so many of ours would
    /// be, with a probability of at least 5 %.
    pub in_runs: Option<u32>,
    /// How far off `near` may be.
    #[schemars(with = "Option<NumberOrText>")]
    pub tolerance: Option<Margin>,
    /// The paper found it somewhere only ("up to"): it holds if it holds in one cell.
    #[serde(default)]
    pub somewhere: bool,
    /// The cells that it is about, as axis and label; all if left out.
    #[serde(default, rename = "where")]
    pub cells: BTreeMap<String, String>,
    /// Why it does not hold, where that is known.
    pub why: Option<String>,
}

impl Claim {
    /// The name of the relation, and what is compared with; `None` unless there is exactly one.
    pub fn relation(&self) -> Option<(&'static str, &NumberOrText)> {
        let all = [
            ("equals", &self.equals),
            ("above", &self.above),
            ("below", &self.below),
            ("at_least", &self.at_least),
            ("at_most", &self.at_most),
            ("near", &self.near),
        ];
        let mut given = all.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let first = given.next()?;
        given.next().is_none().then_some(first)
    }
}

/// A number, or a text or the name of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum NumberOrText {
    Number(f64),
    Text(String),
}

impl<'de> Deserialize<'de> for NumberOrText {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(d)? {
            toml::Value::Integer(n) => Ok(NumberOrText::Number(n as f64)),
            toml::Value::Float(x) if x.is_finite() => Ok(NumberOrText::Number(x)),
            toml::Value::String(text) => Ok(NumberOrText::Text(text)),
            other => {
                Err(de::Error::custom(format!("`{other}` is neither a finite number nor a text")))
            }
        }
    }
}

/// A margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Margin {
    /// In the measurement's unit.
    Absolute(f64),
    /// A share of what is compared with.
    Share(f64),
}

impl Margin {
    pub(crate) fn is_below_zero(self) -> bool {
        let (Margin::Absolute(n) | Margin::Share(n)) = self;
        n < 0.0
    }
}

/// How far it goes, on whichever side.
impl Display for Margin {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Margin::Absolute(n) => write!(f, "{}", n.abs()),
            Margin::Share(share) => write!(f, "{} %", (100.0 * share.abs() * 1e6).round() / 1e6),
        }
    }
}

impl<'de> Deserialize<'de> for Margin {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let bad = |shown: String| {
            de::Error::custom(format!("`{shown}` is no margin; for example 0.1 or \"10%\""))
        };
        match NumberOrText::deserialize(d)? {
            NumberOrText::Number(n) => Ok(Margin::Absolute(n)),
            NumberOrText::Text(text) => {
                match text.strip_suffix('%').map(|n| n.trim().parse::<f64>()) {
                    Some(Ok(percent)) if percent.is_finite() => Ok(Margin::Share(percent / 100.0)),
                    _ => Err(bad(text)),
                }
            }
        }
    }
}

/// One name, or a list of names.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a name or a list of names is expected")]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

fn one_or_more<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<String>, D::Error> {
    Ok(match OneOrMore::deserialize(d)? {
        OneOrMore::One(name) => vec![name],
        OneOrMore::More(names) => names,
    })
}

fn one() -> u32 {
    1
}

fn unit() -> f64 {
    1.0
}
