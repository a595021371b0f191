//! The text of a summary, for people.

use std::fmt::Write as _;

use feros_trace_analysis::{Percentiles, Summary, TopicSummary};

use crate::output::foreign;

/// The summary as text.
pub(super) fn text(summary: &Summary) -> String {
    let mut text = String::new();
    let _ = write(&mut text, summary); // writing to a string cannot fail
    text
}

fn write(text: &mut String, summary: &Summary) -> std::fmt::Result {
    for topic in &summary.topics {
        write_topic(text, topic)?;
    }
    if summary.topics.is_empty() {
        text.push_str("no message was traced from its publication to a callback\n");
    }
    for (topic, Percentiles { count, median_nanos, p99_nanos, .. }) in &summary.publish_calls {
        let (topic, median, p99) = (foreign(topic), micros(*median_nanos), micros(*p99_nanos));
        writeln!(text, "{topic}: {count} calls of publish, median {median} us, 99 % {p99} us")?;
    }
    for (topic, count) in &summary.without_publisher {
        let why = "whose publisher was not traced (stock ROS 2, or its trace is missing)";
        writeln!(text, "{}: {count} callbacks {why}", foreign(topic))?;
    }
    for (topic, count) in &summary.without_callback {
        writeln!(text, "{}: {count} messages without a traced callback", foreign(topic))?;
    }
    Ok(())
}

fn write_topic(
    text: &mut String,
    TopicSummary { topic, transport, end_to_end, layers }: &TopicSummary,
) -> std::fmt::Result {
    let (topic, transport) = (foreign(topic), transport.replace('_', "-"));
    let (transport, count) = (foreign(&transport), end_to_end.count);
    writeln!(text, "{topic} through the {transport} transport, {count} messages")?;
    writeln!(text, "  {:<16}{:>14}{:>14}{:>10}", "layer", "median us", "99 % us", "share")?;
    for layer in layers {
        let (median, p99) = (micros(layer.nanos.median_nanos), micros(layer.nanos.p99_nanos));
        let share = format!("{:.1} %", layer.share_percent);
        writeln!(text, "  {:<16}{median:>14}{p99:>14}{share:>10}", foreign(layer.name))?;
    }
    let (median, p99) = (micros(end_to_end.median_nanos), micros(end_to_end.p99_nanos));
    writeln!(text, "  {:<16}{median:>14}{p99:>14}{:>10}\n", "end to end", "100.0 %")
}

fn micros(nanos: u64) -> String {
    format!("{:.3}", nanos as f64 / 1000.0)
}
