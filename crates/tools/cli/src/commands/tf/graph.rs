//! The frames of a buffer as trees, for people and for Graphviz.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use feros_tf2::{FrameInfo, Time};

use crate::output::foreign;

/// All frames, by name.
pub(super) type Frames = BTreeMap<String, FrameInfo>;

/// The children of each frame.
struct Children<'a>(BTreeMap<&'a str, Vec<(&'a str, &'a FrameInfo)>>);

impl<'a> Children<'a> {
    fn of(frames: &'a Frames) -> Self {
        let mut children: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for (name, frame) in frames {
            if let Some(parent) = &frame.parent {
                children.entry(parent).or_default().push((name.as_str(), frame));
            }
        }
        Self(children)
    }

    fn of_frame(&self, name: &str) -> &[(&'a str, &'a FrameInfo)] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

/// All trees: each root, and below it a line for each frame under its parent.
pub(super) fn text(frames: &Frames, now: Time) -> String {
    let children = Children::of(frames);
    let mut text = String::new();
    let mut told = BTreeSet::new();
    let roots = frames.iter().filter(|(_, frame)| frame.parent.is_none());
    for (root, _) in roots {
        let _ = writeln!(text, "{}", foreign(root));
        told.insert(root.as_str());
        below(&children, root, "", now, &mut text, &mut told);
    }
    text
}

fn below<'a>(
    children: &Children<'a>,
    name: &str,
    indent: &str,
    now: Time,
    text: &mut String,
    told: &mut BTreeSet<&'a str>,
) {
    // An explicit stack, since chains may be long.
    let mut stack: Vec<(String, Vec<(&'a str, &'a FrameInfo)>)> = Vec::new();
    let reversed = |name: &str| children.of_frame(name).iter().rev().copied().collect::<Vec<_>>();
    stack.push((indent.to_owned(), reversed(name)));
    while let Some((indent, mut rest)) = stack.pop() {
        let Some((child, frame)) = rest.pop() else { continue };
        let is_last = rest.is_empty();
        let branch = if is_last { "└─ " } else { "├─ " };
        let _ = writeln!(text, "{indent}{branch}{}  ({})", foreign(child), describe(frame, now));
        let deeper = format!("{indent}{}", if is_last { "   " } else { "│  " });
        stack.push((indent, rest));
        if told.insert(child) {
            stack.push((deeper, reversed(child)));
        }
    }
}

/// The publisher of a frame, its rate and its age.
fn describe(frame: &FrameInfo, now: Time) -> String {
    let by = if frame.authority.is_empty() {
        String::new()
    } else {
        format!(", {}", foreign(&frame.authority))
    };
    if frame.is_static {
        return format!("static{by}");
    }
    let rate = frame.rate_hz().map_or_else(|| "1 transform".to_owned(), |hz| format!("{hz:.1} Hz"));
    format!("{rate}{by}, {:.3} s old", age_seconds(frame, now))
}

/// The age of the newest transform, in seconds.
pub(super) fn age_seconds(frame: &FrameInfo, now: Time) -> f64 {
    #[allow(clippy::cast_precision_loss)] // milliseconds are shown
    let nanos = now.as_nanos().saturating_sub(frame.latest.as_nanos()) as f64;
    nanos * 1e-9
}

/// A graph for Graphviz, with the labels of `view_frames` at its edges.
pub(super) fn dot(frames: &Frames, now: Time) -> String {
    // A name must not break the lines of the graph.
    let quoted = |name: &str| {
        let name = feros_wording::harmless(name);
        format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    };
    let mut text = "digraph G {\n".to_owned();
    for (name, frame) in frames {
        let Some(parent) = &frame.parent else {
            let _ = writeln!(text, "{};", quoted(name));
            continue;
        };
        // tf2 reports 10 kHz for static transforms.
        let rate = if frame.is_static { 10_000.0 } else { frame.rate_hz().unwrap_or(0.0) };
        let span = frame.latest.saturating_since(frame.oldest).as_secs_f64();
        #[allow(clippy::cast_precision_loss)] // milliseconds are shown
        let seconds = |time: Time| time.as_nanos() as f64 * 1e-9;
        let label = [
            format!("Broadcaster: {}", frame.authority),
            format!("Average rate: {rate:.3} Hz"),
            format!("Buffer length: {span:.3} s"),
            format!("Most recent transform: {:.3}", seconds(frame.latest)),
            format!("Oldest transform: {:.3}", seconds(frame.oldest)),
        ]
        .map(|line| quoted(&line).trim_matches('"').to_owned())
        .join("\\n");
        let _ = writeln!(text, "{} -> {} [label=\" {label}\\n\"];", quoted(parent), quoted(name));
    }
    let _ =
        writeln!(text, "label={};", quoted(&format!("Recorded at time: {:.3}", now_seconds(now))));
    text.push_str("}\n");
    text
}

#[allow(clippy::cast_precision_loss)] // milliseconds are shown
fn now_seconds(now: Time) -> f64 {
    now.as_nanos() as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros_tf2::{Buffer, Transform};

    use super::*;

    fn frames(camera: &str) -> Frames {
        let buffer = Buffer::new();
        for (parent, child, seconds, is_static) in [
            ("map", "odom", 10, false),
            ("map", "odom", 11, false),
            ("odom", "base", 11, false),
            ("base", "laser", 0, true),
            ("base", camera, 0, true),
            ("other", "tree", 5, false),
        ] {
            let stamp = Time::from_nanos(seconds * 1_000_000_000);
            let said = Transform::IDENTITY.to_stamped(parent, child, stamp);
            buffer.set_transform(&said, "/robot", is_static).unwrap();
        }
        buffer.frames()
    }

    #[test]
    fn trees_are_drawn_below_their_roots() {
        let text = text(&frames("camera"), Time::from_nanos(12_000_000_000));
        let expected = "map\n\
                        └─ odom  (1.0 Hz, /robot, 1.000 s old)\n   \
                        └─ base  (1 transform, /robot, 1.000 s old)\n      \
                        ├─ camera  (static, /robot)\n      \
                        └─ laser  (static, /robot)\n\
                        other\n\
                        └─ tree  (1 transform, /robot, 7.000 s old)\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn names_stay_names_in_a_graph() {
        let dot = dot(&frames("cam\u{1b}era\""), Time::from_nanos(12_000_000_000));
        assert!(dot.contains("\"base\" -> \"cam\\\\u{1b}era\\\"\" [label="), "{dot}");
        assert!(
            dot.contains(
                "\"map\" -> \"odom\" [label=\" Broadcaster: /robot\\nAverage rate: 1.000 Hz"
            ),
            "{dot}"
        );
        assert!(dot.starts_with("digraph G {\n") && dot.ends_with("}\n"), "{dot}");
    }
}
