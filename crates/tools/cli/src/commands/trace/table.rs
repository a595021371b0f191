//! The text of a summary, for people.

use std::fmt::Write as _;

use feros_trace_analysis::{Percentiles, Summary, TopicSummary};

use crate::output::foreign;

/// The summary as text.
pub(super) fn text(summary: &Summary) -> String {
    let mut text = String::new();
    for topic in &summary.topics {
        topic_text(&mut text, topic);
    }
    if summary.topics.is_empty() {
        text.push_str("no message was traced from its publication to a callback\n");
    }
    for (topic, Percentiles { count, median_nanos, p99_nanos, .. }) in &summary.publish_calls {
        let topic = foreign(topic);
        let (median, p99) = (micros(*median_nanos), micros(*p99_nanos));
        line(
            &mut text,
            format_args!("{topic}: {count} calls of publish, median {median} us, 99 % {p99} us"),
        );
    }
    for (topic, count) in &summary.without_publisher {
        let topic = foreign(topic);
        line(
            &mut text,
            format_args!(
                "{topic}: {count} callbacks whose publisher was not traced (stock ROS 2, or its trace is missing)"
            ),
        );
    }
    for (topic, count) in &summary.without_callback {
        line(
            &mut text,
            format_args!("{}: {count} messages without a traced callback", foreign(topic)),
        );
    }
    text
}

fn topic_text(
    text: &mut String,
    TopicSummary { topic, transport, end_to_end, layers }: &TopicSummary,
) {
    line(
        text,
        format_args!(
            "{} through the {} transport, {} messages",
            foreign(topic),
            foreign(&transport.replace('_', "-")),
            end_to_end.count
        ),
    );
    line(
        text,
        format_args!("  {:<16}{:>14}{:>14}{:>10}", "layer", "median us", "99 % us", "share"),
    );
    for layer in layers {
        let (median, p99) = (micros(layer.nanos.median_nanos), micros(layer.nanos.p99_nanos));
        let share = format!("{:.1} %", layer.share_percent);
        line(text, format_args!("  {:<16}{median:>14}{p99:>14}{share:>10}", foreign(layer.name)));
    }
    let (median, p99) = (micros(end_to_end.median_nanos), micros(end_to_end.p99_nanos));
    line(text, format_args!("  {:<16}{median:>14}{p99:>14}{:>10}\n", "end to end", "100.0 %"));
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{line}"); // writing to a string cannot fail
}

fn micros(nanos: u64) -> String {
    format!("{:.3}", nanos as f64 / 1000.0)
}
