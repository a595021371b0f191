//! The time that messages spent in each layer, from the trace points of all programs.

use feros_trace_analysis::PointSeries;

use crate::record::{Distribution, Layer};

/// The time in each layer, joined from the trace points of all programs, in the order in which
/// messages pass them; in a chain, for each hop. A message that did not pass a layer spent no time
/// in it, so that the means of the layers add up to the mean of the end-to-end latency.
pub(super) fn join_points(points: &[PointSeries], warm_up: u64) -> Vec<(String, Vec<u64>)> {
    let joined: Vec<_> = feros_trace_analysis::join(points)
        .into_iter()
        .filter(|one| one.number >= warm_up)
        .collect();
    let of_layer = |layer: feros_trace_analysis::Layer| {
        let passed = joined.iter().any(|one| one.breakdown.nanos(layer).is_some());
        let nanos = || joined.iter().map(|one| one.breakdown.nanos(layer).unwrap_or(0)).collect();
        passed.then(|| (layer.name().to_owned(), nanos()))
    };
    feros_trace_analysis::Layer::ALL.into_iter().filter_map(of_layer).collect()
}

/// The record of each layer.
pub(super) fn layers(layers: Vec<(String, Vec<u64>)>, seed: u64) -> Vec<Layer> {
    let layer = |(name, nanos): (String, Vec<u64>)| {
        Some(Layer { name, nanos: Distribution::of(&nanos, seed)? })
    };
    layers.into_iter().filter_map(layer).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::contract::Line;

    /// The series of points in this line of a program's output.
    fn points(line: &str) -> feros_trace_analysis::PointSeries {
        match serde_json::from_str(line).unwrap() {
            Line::Points(points) => points,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn points_of_two_programs_become_layers_without_the_warm_up() {
        let series = [
            r#"{"points":{"name":"publish","numbers":[0,1,2],"at_nanos":[0,1000,2000]}}"#,
            r#"{"points":{"name":"write_begin","transport":"shared_memory","numbers":[0,1,2],"at_nanos":[5,1010,2020]}}"#,
            r#"{"points":{"name":"taken","of":"a","transport":"shared_memory","numbers":[0,1,2],"at_nanos":[50,1040,2090]}}"#,
            r#"{"points":{"name":"callback","of":"a","transport":"shared_memory","numbers":[0,1,2],"at_nanos":[60,1045,2098]}}"#,
        ]
        .map(points);
        let layers = join_points(&series, 1);
        let expected = [("client", vec![10, 20]), ("take", vec![30, 70]), ("dispatch", vec![5, 8])];
        assert_eq!(layers, expected.map(|(name, nanos)| (name.to_owned(), nanos)));
        assert_eq!(join_points(&series[..2], 0), []);
    }

    #[test]
    fn layers_add_up_where_a_message_did_not_pass_one() {
        // Only the first message caused a wake-up; the second was found in the turn that was
        // already running.
        let series = [
            r#"{"points":{"name":"publish","numbers":[0,1],"at_nanos":[0,1000]}}"#,
            r#"{"points":{"name":"write_begin","transport":"shared_memory","numbers":[0,1],"at_nanos":[10,1010]}}"#,
            r#"{"points":{"name":"announced","of":"a","transport":"shared_memory","numbers":[0],"at_nanos":[30]}}"#,
            r#"{"points":{"name":"found","of":"a","transport":"shared_memory","numbers":[0,1],"at_nanos":[70,1050]}}"#,
            r#"{"points":{"name":"callback","of":"a","transport":"shared_memory","numbers":[0,1],"at_nanos":[100,1060]}}"#,
        ]
        .map(points);
        let layers = join_points(&series, 0);
        assert!(layers.iter().all(|(_, nanos)| nanos.len() == 2), "{layers:?}");
        for (message, whole) in [100, 60].into_iter().enumerate() {
            assert_eq!(
                layers.iter().map(|(_, nanos)| nanos[message]).sum::<u64>(),
                whole,
                "{layers:?}"
            );
        }
        assert!(layers.iter().any(|(_, nanos)| nanos[1] == 0), "{layers:?}");
    }
}
