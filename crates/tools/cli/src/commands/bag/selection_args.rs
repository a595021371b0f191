//! The options that select topics, which all verbs of bags share.

use feros_bag::TopicSelection;
use regex::Regex;

/// Names, types and expressions.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Topics")]
pub(super) struct SelectionArgs {
    /// These topics
    #[arg(long = "topics", value_name = "TOPIC", num_args = 1..)]
    pub(super) topics: Vec<String>,
    /// These services, through their introspection topics
    #[arg(long, value_name = "SERVICE", num_args = 1..)]
    services: Vec<String>,
    /// These actions, through their introspection topics, feedback and status
    #[arg(long, value_name = "ACTION", num_args = 1..)]
    actions: Vec<String>,
    /// Topics of these types
    #[arg(long, value_name = "TYPE", num_args = 1..)]
    topic_types: Vec<String>,
    /// Topics, services and actions whose names match a regular expression
    #[arg(short = 'e', long, value_name = "REGEX")]
    regex: Option<Regex>,
    /// Leave out topics, services and actions whose names match a regular expression
    #[arg(short = 'x', long, value_name = "REGEX")]
    exclude_regex: Option<Regex>,
    /// Leave out these topics
    #[arg(long, value_name = "TOPIC", num_args = 1..)]
    exclude_topics: Vec<String>,
    /// Leave out these services
    #[arg(long, value_name = "SERVICE", num_args = 1..)]
    exclude_services: Vec<String>,
    /// Leave out these actions
    #[arg(long, value_name = "ACTION", num_args = 1..)]
    exclude_actions: Vec<String>,
    /// Leave out topics of these types
    #[arg(long, value_name = "TYPE", num_args = 1..)]
    exclude_topic_types: Vec<String>,
}

impl SelectionArgs {
    /// The user's selection, which is empty if no option selects anything.
    pub(super) fn selection(&self) -> TopicSelection {
        let absolute = |names: &[String]| names.iter().map(|name| absolute(name)).collect();
        TopicSelection {
            topics: absolute(&self.topics),
            services: absolute(&self.services),
            actions: absolute(&self.actions),
            topic_types: self.topic_types.clone(),
            regex: self.regex.clone(),
            exclude_regex: self.exclude_regex.clone(),
            exclude_topics: absolute(&self.exclude_topics),
            exclude_services: absolute(&self.exclude_services),
            exclude_actions: absolute(&self.exclude_actions),
            exclude_topic_types: self.exclude_topic_types.clone(),
            ..TopicSelection::default()
        }
    }

    /// The user's selection of a bag's topics: all topics except the excluded ones, if no option
    /// selects any.
    pub(super) fn selection_of_bag(&self) -> TopicSelection {
        let selection = self.selection();
        let all = selection.is_empty();
        TopicSelection {
            all_topics: all,
            all_services: all,
            all_actions: all,
            include_hidden_topics: all,
            ..selection
        }
    }
}

fn absolute(name: &str) -> String {
    if name.starts_with('/') { name.to_owned() } else { format!("/{name}") }
}
