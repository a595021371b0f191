//! The contract between the laboratory and the programs of a system under test, version 1.
//!
//! A program gets arguments and writes one JSON object per line. `peers/README.md` explains the
//! contract to authors of such programs.

use std::collections::BTreeMap;

pub use feros_lab_contract::{
    CONTRACT, Durability, Executor, Fill, History, LOCK_MEMORY, MessageType, Placement,
    PublishMode, Reliability, Role, Topology,
};
use feros_trace_analysis::PointSeries;
use serde::Deserialize;

/// The exit code of a program, or of a `build`, that lacks a requirement, such as a library or a
/// licence.
pub const EXIT_NOT_INSTALLED: i32 = feros_lab_contract::NOT_INSTALLED as i32;

/// The exit code of a program that does not know one of its arguments.
pub const EXIT_USAGE: i32 = feros_lab_contract::WRONG_ARGUMENTS as i32;

/// A line of a program's output.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The first line.
    Hello(Hello),
    /// The program's entities exist. A talker is also matched, and has published nothing yet.
    Ready {},
    /// The program has what it waited for: a member all of its matches, a newcomer its first
    /// message.
    Settled {
        /// The time since when it has that, on CLOCK_MONOTONIC.
        at_nanos: u64,
    },
    /// The messages that a subscription received since the last such line.
    Samples(Samples),
    /// The messages published since the last such line.
    Published(Published),
    /// The times at which messages passed a trace point. The points of all programs are joined into
    /// layers.
    Points(PointSeries),
    /// Single numbers, by name (which ends in the unit); the numbers of several programs are added
    /// up.
    Values(BTreeMap<String, f64>),
    /// A sentence to show to the person who waits for the result of the run.
    Note {
        /// The sentence.
        text: String,
    },
    /// The last line of a program that ended by itself.
    End(End),
    /// The reason why the program cannot go on.
    Error(ProgramError),
}

/// The program's introduction.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Hello {
    /// [`CONTRACT`].
    pub contract: u32,
    /// The system.
    #[serde(default)]
    pub system: String,
    /// The version of the system and of the libraries below it.
    #[serde(default)]
    pub version: String,
    /// The role that the arguments name.
    #[serde(default)]
    pub role: String,
}

/// Received messages; each list has one element per message.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Samples {
    /// The index of the program's subscription.
    #[serde(default)]
    pub subscription: u32,
    /// The numbers in the messages.
    pub numbers: Vec<u64>,
    /// The time of receipt minus the stamp in the message; negative if a clock was set back.
    #[serde(deserialize_with = "differences")]
    pub nanos: Vec<i64>,
    /// The times of receipt, on CLOCK_MONOTONIC.
    #[serde(default)]
    pub at_nanos: Vec<u64>,
}

/// Published messages; each list has one element per message.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Published {
    /// The numbers in the messages.
    pub numbers: Vec<u64>,
    /// The durations of the calls of publish.
    #[serde(default)]
    pub call_nanos: Vec<u64>,
    /// The times at which the calls began, on CLOCK_MONOTONIC.
    #[serde(default)]
    pub at_nanos: Vec<u64>,
}

/// Counts of all messages, including the warm-up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct End {
    /// The number of messages published.
    #[serde(default)]
    pub sent: u64,
    /// The number of messages that each of the program's subscriptions received.
    #[serde(default)]
    pub received: Vec<u64>,
    /// The number of payload bytes that each subscription received.
    #[serde(default)]
    pub bytes: Vec<u64>,
    /// The time of the first message, CLOCK_MONOTONIC; 0 if there was no message.
    #[serde(default)]
    pub first_nanos: u64,
    /// The time of the last message.
    #[serde(default)]
    pub last_nanos: u64,
}

/// The reason why a program cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ProgramError {
    /// The kind of the reason.
    pub kind: ErrorKind,
    /// The reason, as a sentence.
    #[serde(default)]
    pub text: String,
}

/// Kinds of reasons to give up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The system does not support the request.
    Unsupported,
    /// The system supports the request only with a licence.
    NoLicence,
    /// The other side was not found in time.
    NotMatched,
    /// Any other reason.
    #[serde(other)]
    Failed,
}

/// Reads differences of clock readings. A program may have written a negative difference as a very
/// large unsigned number.
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
