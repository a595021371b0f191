//! Statements about the cells of a scenario, which a report checks: the goals of systems, and the
//! conclusions of documents.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::Value;

/// A statement about some numbers of a scenario: a `[[goal]]` or a `[[verdict]]` of its file.
///
/// At least one of `at_most`, `at_least`, `flat`, `power`, `trend` and `order` says what the
/// numbers should show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The statement for people, as a sentence or its subject.
    pub title: String,
    /// The systems with the number. If a document's conclusion names several, the first that was
    /// measured decides.
    #[serde(default, deserialize_with = "one_or_several")]
    pub system: Vec<String>,
    /// Systems that are shown too, but do not decide.
    #[serde(default)]
    pub also: Vec<String>,
    /// The filter: only cells whose dimensions have one of these values.
    #[serde(default)]
    pub only: BTreeMap<String, Vec<Value>>,
    /// The dimensions in which the reference differs from the cell: the number is divided by that
    /// of the reference in the same repetition. If empty, the number itself counts.
    #[serde(default, deserialize_with = "system_or_cell")]
    pub reference: BTreeMap<String, Value>,
    /// The metric, as in [`Figure::y`](super::Figure::y).
    #[serde(default = "latency")]
    pub metric: String,
    /// The largest number that fits the statement.
    pub at_most: Option<f64>,
    /// The smallest number that fits the statement.
    pub at_least: Option<f64>,
    /// The limit on the ratio of the largest to the smallest number, over all values of the
    /// dimension `across`.
    pub flat: Option<f64>,
    /// The limit on the power with which the number grows along the dimension `across`: 1 is a
    /// straight line through zero, 2 a square.
    pub power: Option<f64>,
    /// The change of the number along the dimension `across`.
    pub trend: Option<Trend>,
    /// Values of the dimension `across`, by ascending number.
    #[serde(default)]
    pub order: Vec<Value>,
    /// The dimension along which `flat`, `power`, `trend` and `order` compare the numbers.
    #[serde(default = "size_bytes")]
    pub across: String,
    /// The figure or table from which a document draws the conclusion, such as `Figure 7`. Empty if
    /// the check is not a conclusion of a document.
    #[serde(default)]
    pub item: String,
    /// The numbers that the document prints for its conclusion. Empty if the check is not a
    /// conclusion of a document.
    #[serde(default)]
    pub paper: String,
}

/// How a number changes along a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// The last number is smaller than the first.
    Falls,
    /// The last number is larger than the first.
    Rises,
    /// All numbers lie on a straight line.
    Linear,
    /// The number grows faster than a straight line.
    Faster,
}

impl Default for Check {
    fn default() -> Self {
        Self {
            title: String::new(),
            system: Vec::new(),
            also: Vec::new(),
            only: BTreeMap::new(),
            reference: BTreeMap::new(),
            metric: latency(),
            at_most: None,
            at_least: None,
            flat: None,
            power: None,
            trend: None,
            order: Vec::new(),
            across: size_bytes(),
            item: String::new(),
            paper: String::new(),
        }
    }
}

impl Check {
    /// Whether the statement asks for anything that numbers can show.
    pub(crate) fn has_bound(&self) -> bool {
        let Self { at_most, at_least, flat, power, trend, order, .. } = self;
        let numbers = [at_most, at_least, flat, power];
        numbers.iter().any(|bound| bound.is_some()) || trend.is_some() || !order.is_empty()
    }

    /// Whether the statement compares systems with each other.
    pub(crate) fn is_across_systems(&self) -> bool {
        self.across == "system"
    }
}

fn size_bytes() -> String {
    "size_bytes".to_owned()
}

fn latency() -> String {
    "latency".to_owned()
}

/// Reads the name of one system, or a list of names.
fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected the name of a system, or a list of names")]
    enum Names {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Names::deserialize(deserializer)? {
        Names::One(name) => vec![name],
        Names::Several(names) => names,
    })
}

/// Reads the dimensions of a reference, or the name of a system for another system in the same
/// cell.
fn system_or_cell<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Value>, D::Error> {
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "expected the name of a system, or dimensions such as { placement = \"local\" }"
    )]
    enum Reference {
        System(String),
        Cell(BTreeMap<String, Value>),
    }
    // Runs of earlier versions have `null` for no reference.
    Ok(match Option::<Reference>::deserialize(deserializer)? {
        None => BTreeMap::new(),
        Some(Reference::System(name)) => [("system".to_owned(), Value::Text(name))].into(),
        Some(Reference::Cell(cell)) => cell,
    })
}
