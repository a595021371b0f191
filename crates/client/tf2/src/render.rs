//! The frames of a buffer, for people and tools.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use feros_executor::Time;

use crate::lookup_error::seconds;
use crate::tree::{Link, Tree};

/// The state of a frame.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FrameInfo {
    /// The frame's last parent; `None` for the root of a tree, and for a frame whose transforms
    /// have all been forgotten.
    pub parent: Option<String>,
    /// Whether the frame's transform is static.
    pub is_static: bool,
    /// The publisher of the frame's last transform; empty for a root.
    pub authority: String,
    /// The time of the oldest transform that is kept; zero without transforms.
    pub oldest: Time,
    /// The time of the newest transform; zero without transforms.
    pub latest: Time,
    /// The number of transforms that are kept.
    pub samples: usize,
}

impl FrameInfo {
    /// Returns the rate of the kept transforms; `None` for static frames and for fewer than two
    /// transforms.
    #[must_use]
    pub fn rate_hz(&self) -> Option<f64> {
        let span = self.latest.saturating_since(self.oldest).as_secs_f64();
        #[allow(clippy::cast_precision_loss)] // far below 2^52
        let steps = self.samples.saturating_sub(1) as f64;
        (!self.is_static && span > 0.0).then(|| steps / span)
    }
}

/// Returns all frames of a tree.
pub(crate) fn frames(tree: &Tree) -> BTreeMap<String, FrameInfo> {
    let info = |frame: &crate::tree::Frame| {
        let (is_static, oldest, latest, samples) = match &frame.link {
            Link::None => (false, None, None, 0),
            Link::Static(sample) => (true, Some(sample), Some(sample), 1),
            Link::Dynamic(history) => (false, history.oldest(), history.latest(), history.len()),
        };
        let stamp = |sample: Option<&crate::history::Sample>| {
            sample.map_or(Time::ZERO, |sample| sample.stamp)
        };
        FrameInfo {
            parent: latest.map(|sample| tree.name(sample.parent).to_owned()),
            is_static,
            authority: frame.authority.to_string(),
            oldest: stamp(oldest),
            latest: stamp(latest),
            samples,
        }
    };
    tree.frames().iter().map(|frame| (frame.name.to_string(), info(frame))).collect()
}

/// Returns a line for each frame with a parent.
pub(crate) fn as_string(frames: &BTreeMap<String, FrameInfo>) -> String {
    let mut text = String::new();
    for (name, frame) in frames {
        if let Some(parent) = &frame.parent {
            let _ = writeln!(text, "Frame {name} exists with parent {parent}.");
        }
    }
    text
}

/// Returns a YAML mapping for each frame with a parent.
pub(crate) fn as_yaml(frames: &BTreeMap<String, FrameInfo>, now: Time) -> String {
    let mut text = String::new();
    for (name, frame) in frames {
        let Some(parent) = &frame.parent else { continue };
        // tf2 reports 10 kHz for static frames.
        let rate = if frame.is_static { 10_000.0 } else { frame.rate_hz().unwrap_or(0.0) };
        let _ = writeln!(text, "{}:", quoted(name));
        let _ = writeln!(text, "  parent: {}", quoted(parent));
        let _ = writeln!(text, "  broadcaster: {}", quoted(&frame.authority));
        let _ = writeln!(text, "  rate: {rate:.3}");
        let _ = writeln!(text, "  most_recent_transform: {}", seconds(frame.latest));
        let _ = writeln!(text, "  oldest_transform: {}", seconds(frame.oldest));
        if now != Time::ZERO {
            let delay = now.as_nanos().saturating_sub(frame.latest.as_nanos());
            let _ = writeln!(text, "  transform_delay: {}", seconds(Time::from_nanos(delay)));
        }
        let kept = frame.latest.saturating_since(frame.oldest).as_secs_f64();
        let _ = writeln!(text, "  buffer_length: {kept:.3}");
    }
    if text.is_empty() { "{}\n".to_owned() } else { text }
}

/// Returns a name between single quotes, as in YAML, with control characters escaped.
fn quoted(name: &str) -> String {
    format!("'{}'", feros_wording::harmless(name).replace('\'', "''"))
}
