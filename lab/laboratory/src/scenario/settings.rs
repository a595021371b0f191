//! What a scenario file may say, as it is written.

use serde::Deserialize;
use toml::Spanned;

use super::experiment::Workload;
use super::quantity::{HowMany, Megabits, Messages, Micros, Percent, Rate, Seconds, Size};
use crate::contract::{Executor, MessageType, Placement, PublishMode};

/// What a scenario says; everything may be absent, and said again for a grid.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    pub(super) workload: Option<Workload>,
    pub(super) systems: Option<Vec<Spanned<String>>>,
    pub(super) placements: Option<Vec<Placement>>,
    pub(super) sizes: Option<Vec<Size>>,
    pub(super) types: Option<Vec<MessageType>>,
    pub(super) rates_hz: Option<Vec<Rate>>,
    pub(super) subscriptions: Option<Vec<HowMany>>,
    pub(super) nodes: Option<Vec<HowMany>>,
    pub(super) graphs: Option<Vec<String>>,
    pub(super) qos: Option<Vec<Spanned<String>>>,
    pub(super) publish: Option<Vec<PublishMode>>,
    pub(super) executors: Option<Vec<Executor>>,
    pub(super) links: Option<Vec<Spanned<String>>>,
    pub(super) environments: Option<Vec<Spanned<String>>>,
    pub(super) cpu_load_percent: Option<Vec<Percent>>,
    pub(super) work_micros: Option<Vec<Micros>>,
    pub(super) realtime: Option<bool>,
    pub(super) count: Option<Messages>,
    pub(super) seconds: Option<Seconds>,
    pub(super) warm_up: Option<Messages>,
    pub(super) matched: Option<bool>,
    pub(super) samples: Option<bool>,
    pub(super) memory: Option<bool>,
    pub(super) settle_seconds: Option<Seconds>,
    pub(super) timeout_seconds: Option<Seconds>,
    pub(super) repetitions: Option<HowMany>,
}

/// Links by name: `[link.wifi]`, one for each combination of rate and loss. What is absent is not
/// limited.
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
    /// Packets that a burst of loss takes on average; absent or 1: losses are independent.
    pub(super) burst_packets: Option<f64>,
    #[serde(default)]
    pub(super) reorder_percent: Option<Percent>,
    pub(super) queue_packets: Option<u32>,
    pub(super) queue_bytes: Option<Size>,
    pub(super) mtu: Option<u32>,
}
