//! `feros topic list`: the topics that have a publisher or a subscription.

use std::fmt::Write as _;

use feros_engine::name::is_hidden;
use feros_engine::{EndpointKind, GraphSnapshot};
use serde::Serialize;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output::{self, foreign};

/// List the topics that have a publisher or a subscription
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros topic list -t\n  feros topic list -v\n  feros topic list --json | jq -r '.[].name'"
)]
pub(crate) struct Args {
    /// Print the types as well
    #[arg(short = 't', long)]
    show_types: bool,
    /// Print only the number of topics
    #[arg(short, long, alias = "count")]
    count_topics: bool,
    /// Include hidden topics, such as those of actions
    #[arg(short = 'a', long, visible_alias = "all")]
    include_hidden_topics: bool,
    /// Print types, and the numbers of publishers and subscriptions
    #[arg(short, long)]
    verbose: bool,
    /// Print a JSON array of objects with name, types, publishers and subscriptions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

#[derive(Serialize)]
struct Topic {
    name: String,
    types: Vec<String>,
    publishers: usize,
    subscriptions: usize,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let graph = Connection::open()?.discover(&args.discovery)?;
    let topics = topics(&graph, args.include_hidden_topics);
    if args.json {
        output::print_json(&topics)?;
    } else if args.count_topics {
        output::print_lines([topics.len().to_string()])?;
    } else if topics.is_empty() {
        // An empty list prints nothing, as in `ros2` (`ros2topic/ros2topic/verb/list.py`).
    } else if (args.verbose || args.show_types) && output::is_terminal() {
        print_table(&topics, args.verbose)?;
    } else if args.verbose {
        output::print(&verbose_text(&topics))?;
    } else if args.show_types {
        output::print_lines(
            topics.iter().map(|topic| format!("{} [{}]", topic.name, topic.types.join(", "))),
        )?;
    } else {
        output::print_lines(topics.iter().map(|topic| &topic.name))?;
    }
    Ok(())
}

fn topics(graph: &GraphSnapshot, include_hidden: bool) -> Vec<Topic> {
    let visible = graph.topics().into_iter().filter(|(name, _)| include_hidden || !is_hidden(name));
    visible
        .map(|(name, types)| Topic {
            publishers: graph.count(EndpointKind::Publisher, &name),
            subscriptions: graph.count(EndpointKind::Subscription, &name),
            name,
            types: types.into_iter().collect(),
        })
        .collect()
}

fn print_table(topics: &[Topic], counts: bool) -> Result<(), CliError> {
    let row = |topic: &Topic| {
        let mut row = vec![topic.name.clone(), topic.types.join(", ")];
        if counts {
            row.extend([topic.publishers.to_string(), topic.subscriptions.to_string()]);
        }
        row
    };
    let heading: &[&str] =
        if counts { &["topic", "type", "publishers", "subscriptions"] } else { &["topic", "type"] };
    output::print_table(heading, topics.iter().map(row))
}

/// The text of `ros2 topic list -v`.
fn verbose_text(topics: &[Topic]) -> String {
    let mut text = String::new();
    for (title, noun) in [("Published", "publisher"), ("Subscribed", "subscriber")] {
        let count = |topic: &Topic| {
            if noun == "publisher" { topic.publishers } else { topic.subscriptions }
        };
        let _ = writeln!(text, "{title} topics:");
        for topic in topics.iter().filter(|topic| count(topic) > 0) {
            let plural = if count(topic) > 1 { "s" } else { "" };
            let (name, types) = (foreign(&topic.name), topic.types.join(", "));
            let types = foreign(&types);
            let _ = writeln!(text, " * {name} [{types}] {} {noun}{plural}", count(topic));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbose_text_is_that_of_ros2() {
        let topic = |name: &str, publishers, subscriptions| Topic {
            name: name.into(),
            types: vec!["std_msgs/msg/String".into()],
            publishers,
            subscriptions,
        };
        assert_eq!(
            verbose_text(&[topic("/a", 2, 1), topic("/b", 0, 1)]),
            "Published topics:\n * /a [std_msgs/msg/String] 2 publishers\n\nSubscribed topics:\n * /a \
             [std_msgs/msg/String] 1 subscriber\n * /b [std_msgs/msg/String] 1 subscriber\n\n"
        );
    }
}
