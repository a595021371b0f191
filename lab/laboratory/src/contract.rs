//! The contract between the laboratory and the programs of a system under test, version 1.
//!
//! Arguments in, one JSON object a line out; `peers/README.md` is the page for who writes such a
//! program.

use std::collections::BTreeMap;

pub use feros_lab_contract::{
    CONTRACT, Durability, Executor, Fill, History, LOCK_MEMORY, MessageType, Placement,
    PublishMode, Reliability, Role,
};
use feros_trace_analysis::PointSeries;
use serde::Deserialize;

/// Exit code of a program, or of a `build`, that lacks what it stands on: a library, a licence.
pub const EXIT_NOT_INSTALLED: i32 = feros_lab_contract::NOT_INSTALLED as i32;

/// Exit code of a program that does not know one of its arguments.
pub const EXIT_USAGE: i32 = feros_lab_contract::WRONG_ARGUMENTS as i32;

/// A line of a program's output.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The first.
    Hello(Hello),
    /// Its entities exist; of a talker: matched, nothing published yet.
    Ready {},
    /// What a subscription received since the last such line.
    Samples(Samples),
    /// What was published since the last such line.
    Published(Published),
    /// The time in a layer, per message.
    Layers(LayerSamples),
    /// When messages passed a point of their way; the points of all programs are joined into
    /// layers.
    Points(PointSeries),
    /// What is one number, by name with unit; those of several programs are added up.
    Values(BTreeMap<String, f64>),
    /// A sentence for the person who waits for the result.
    Note {
        /// The sentence.
        text: String,
    },
    /// The last.
    End(End),
    /// Why it cannot go on.
    Error(ProgramError),
}

/// Who speaks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Hello {
    /// [`CONTRACT`].
    pub contract: u32,
    /// The system.
    #[serde(default)]
    pub system: String,
    /// Its version and those below it.
    #[serde(default)]
    pub version: String,
    /// As the program was asked.
    #[serde(default)]
    pub role: String,
}

/// Received messages, an element each.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Samples {
    /// Which of the program's subscriptions.
    #[serde(default)]
    pub subscription: u32,
    /// Number in the message.
    pub numbers: Vec<u64>,
    /// Time of receipt less the stamp in the message; negative where a clock went back.
    #[serde(deserialize_with = "differences")]
    pub nanos: Vec<i64>,
    /// Time of receipt, CLOCK_MONOTONIC.
    #[serde(default)]
    pub at_nanos: Vec<u64>,
}

/// Published messages, an element each.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Published {
    /// Number in the message.
    pub numbers: Vec<u64>,
    /// How long the call took.
    #[serde(default)]
    pub call_nanos: Vec<u64>,
    /// When it began, CLOCK_MONOTONIC.
    #[serde(default)]
    pub at_nanos: Vec<u64>,
}

/// The time in a layer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct LayerSamples {
    /// The layer.
    pub name: String,
    /// Number in the message.
    #[serde(default)]
    pub numbers: Vec<u64>,
    /// Per message.
    pub nanos: Vec<u64>,
}

/// Counts of everything, warm-up included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct End {
    /// Messages published.
    #[serde(default)]
    pub sent: u64,
    /// Messages received by each of the program's subscriptions.
    #[serde(default)]
    pub received: Vec<u64>,
    /// Payload received by each.
    #[serde(default)]
    pub bytes: Vec<u64>,
    /// Of the first message, CLOCK_MONOTONIC; 0 where there was none.
    #[serde(default)]
    pub first_nanos: u64,
    /// Of the last.
    #[serde(default)]
    pub last_nanos: u64,
}

/// Why a program cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ProgramError {
    /// What kind of.
    pub kind: ErrorKind,
    /// A sentence.
    #[serde(default)]
    pub text: String,
}

/// Kinds of reasons to give up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The system has no such thing.
    Unsupported,
    /// It has it for who has a licence.
    NoLicence,
    /// The other side was not found in time.
    NotMatched,
    /// Anything else.
    #[serde(other)]
    Failed,
}

/// Differences of clocks; one that a program wrote without a sign and that is below 0 comes as a
/// very large number.
fn differences<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<i64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Difference {
        Signed(i64),
        Unsigned(u64),
    }
    let values = Vec::<Difference>::deserialize(deserializer)?;
    Ok(values
        .into_iter()
        .map(|value| match value {
            Difference::Signed(nanos) => nanos,
            Difference::Unsigned(nanos) => nanos.cast_signed(),
        })
        .collect())
}
