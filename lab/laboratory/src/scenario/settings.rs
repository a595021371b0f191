//! The settings of a scenario file, before they are resolved for a grid.

use serde::Deserialize;
use toml::Spanned;

use super::experiment::{StartOrder, Workload};
use super::quantity::{HowMany, Megabits, Messages, Micros, Percent, Rate, Seconds, Size};
use crate::contract::{Executor, Fill, MessageType, Placement, PublishMode, Topology};
use crate::document::{Document, DocumentError};

impl Settings {
    /// Reads settings of a command line, each `KEY=VALUE`; the values of lists are separated by
    /// commas.
    ///
    /// # Errors
    /// If a key or value is unknown; the error lists the allowed keys or values.
    pub(crate) fn of_words(words: &[String]) -> Result<Self, DocumentError> {
        let mut lines = String::new();
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let values: Vec<String> = value.split(',').map(toml_value).collect();
            let value = match values.as_slice() {
                [only] if SINGLE.contains(&key) => only.clone(),
                values => format!("[{}]", values.join(", ")),
            };
            lines += &format!("{key} = {value}\n");
        }
        Document::new("command line", &lines).parse()
    }
}

/// The settings that are not lists.
const SINGLE: &[&str] = &[
    "part",
    "workload",
    "awake",
    "apart",
    "realtime",
    "count",
    "seconds",
    "warm_up",
    "matched",
    "one_listener",
    "samples",
    "memory",
    "settle_seconds",
    "timeout_seconds",
    "repetitions",
];

/// Keeps a number or a boolean as it is, and quotes all other values as text.
fn toml_value(text: &str) -> String {
    let is_plain = text.parse::<f64>().is_ok() || ["true", "false"].contains(&text);
    if is_plain { text.to_owned() } else { format!("{text:?}") }
}

/// The settings of a scenario; each may be absent, and a grid may override it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    pub(super) part: Option<HowMany>,
    pub(super) workload: Option<Workload>,
    pub(super) systems: Option<Vec<Spanned<String>>>,
    pub(super) placements: Option<Vec<Placement>>,
    pub(super) sizes: Option<Vec<Size>>,
    pub(super) types: Option<Vec<MessageType>>,
    pub(super) rates_hz: Option<Vec<Rate>>,
    pub(super) subscriptions: Option<Vec<HowMany>>,
    pub(super) nodes: Option<Vec<HowMany>>,
    pub(super) topologies: Option<Vec<Topology>>,
    pub(super) starts: Option<Vec<StartOrder>>,
    pub(super) idle: Option<Vec<Messages>>,
    pub(super) graphs: Option<Vec<String>>,
    pub(super) qos: Option<Vec<Spanned<String>>>,
    pub(super) publish: Option<Vec<PublishMode>>,
    pub(super) fill: Option<Vec<Fill>>,
    pub(super) executors: Option<Vec<Executor>>,
    pub(super) links: Option<Vec<Spanned<String>>>,
    pub(super) environments: Option<Vec<Spanned<String>>>,
    pub(super) cpu_load_percent: Option<Vec<Percent>>,
    pub(super) work_micros: Option<Vec<Micros>>,
    pub(super) awake: Option<bool>,
    pub(super) apart: Option<bool>,
    pub(super) realtime: Option<bool>,
    pub(super) count: Option<Messages>,
    pub(super) seconds: Option<Seconds>,
    pub(super) warm_up: Option<Messages>,
    pub(super) matched: Option<bool>,
    pub(super) one_listener: Option<bool>,
    pub(super) samples: Option<bool>,
    pub(super) memory: Option<bool>,
    pub(super) settle_seconds: Option<Seconds>,
    pub(super) timeout_seconds: Option<Seconds>,
    pub(super) repetitions: Option<HowMany>,
}

/// Links by name: `[link.wifi]`, one for each combination of rate and loss. An absent value means
/// no limit.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Links {
    #[serde(default)]
    pub(super) rate_mbit: Vec<Megabits>,
    #[serde(default)]
    pub(super) loss_percent: Vec<Percent>,
    #[serde(default)]
    pub(super) delay_micros: u64,
    #[serde(default)]
    pub(super) jitter_micros: u64,
    /// The mean number of packets in a burst of losses; if absent or 1, losses are independent.
    pub(super) burst_packets: Option<f64>,
    #[serde(default)]
    pub(super) reorder_percent: Option<Percent>,
    pub(super) queue_packets: Option<u32>,
    pub(super) queue_bytes: Option<Size>,
    pub(super) mtu: Option<u32>,
}
