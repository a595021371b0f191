//! Selects topics to record, play or copy: by name, type, regular expression and exclusion, with
//! the rules of rosbag2. Services and actions are recognized by their introspection topics.

use regex::Regex;

/// The kind of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopicKind<'a> {
    /// A plain topic.
    Topic,
    /// The introspection topic of the service of this name, with its requests and responses.
    Service(&'a str),
    /// A topic of the action of this name.
    Action(&'a str),
}

/// Returns the kind of a topic by its name and type.
///
/// ```
/// use feros_bag::{TopicKind, topic_kind};
/// let kind = topic_kind("/add/_service_event", "example_interfaces/srv/AddTwoInts_Event");
/// assert_eq!(kind, TopicKind::Service("/add"));
/// ```
pub fn topic_kind<'a>(name: &'a str, type_name: &str) -> TopicKind<'a> {
    const ACTION_TOPICS: [&str; 5] = [
        "/_action/send_goal/_service_event",
        "/_action/cancel_goal/_service_event",
        "/_action/get_result/_service_event",
        "/_action/feedback",
        "/_action/status",
    ];
    let action = ACTION_TOPICS.iter().find_map(|suffix| name.strip_suffix(suffix));
    if let Some(action) = action.filter(|action| !action.is_empty()) {
        return TopicKind::Action(action);
    }
    match name.strip_suffix("/_service_event") {
        Some(service) if !service.is_empty() && type_name.ends_with("_Event") => {
            TopicKind::Service(service)
        }
        _ => TopicKind::Topic,
    }
}

/// The wanted topics. An empty selection selects nothing.
#[derive(Debug, Clone, Default)]
pub struct TopicSelection {
    /// Selects all topics that are not hidden.
    pub all_topics: bool,
    /// Selects all services.
    pub all_services: bool,
    /// Selects all actions.
    pub all_actions: bool,
    /// Selects these topics.
    pub topics: Vec<String>,
    /// Selects these services.
    pub services: Vec<String>,
    /// Selects these actions.
    pub actions: Vec<String>,
    /// Selects topics of these types; `std_msgs/String` means `std_msgs/msg/String`.
    pub topic_types: Vec<String>,
    /// Selects topics, services and actions whose names match this.
    pub regex: Option<Regex>,
    /// Excludes topics, services and actions whose names match this.
    pub exclude_regex: Option<Regex>,
    /// Excludes these topics.
    pub exclude_topics: Vec<String>,
    /// Excludes these services.
    pub exclude_services: Vec<String>,
    /// Excludes these actions.
    pub exclude_actions: Vec<String>,
    /// Excludes topics of these types.
    pub exclude_topic_types: Vec<String>,
    /// Includes hidden topics, if `all_topics` or `regex` selects them.
    pub include_hidden_topics: bool,
}

impl TopicSelection {
    /// Selects everything: topics, services and actions.
    pub fn all() -> Self {
        Self { all_topics: true, all_services: true, all_actions: true, ..Self::default() }
    }

    /// Whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        !(self.all_topics || self.all_services || self.all_actions || self.regex.is_some())
            && [&self.topics, &self.services, &self.actions, &self.topic_types]
                .iter()
                .all(|names| names.is_empty())
    }

    /// Whether a topic is wanted.
    pub fn has(&self, name: &str, type_name: &str) -> bool {
        let is_named = |names: &[String], name: &str| names.iter().any(|known| known == name);
        let is_found =
            |regex: &Option<Regex>, name: &str| regex.as_ref().is_some_and(|r| r.is_match(name));
        let has_part_of = |owner: &str, all: bool, named: &[String], excluded: &[String]| {
            let is_left_out = is_named(excluded, owner) || is_found(&self.exclude_regex, owner);
            let is_wanted = all
                || is_named(named, owner)
                || is_named(&self.topics, name)
                || is_found(&self.regex, owner);
            is_wanted && !is_left_out
        };
        match topic_kind(name, type_name) {
            TopicKind::Service(service) => {
                has_part_of(service, self.all_services, &self.services, &self.exclude_services)
            }
            TopicKind::Action(action) => {
                has_part_of(action, self.all_actions, &self.actions, &self.exclude_actions)
            }
            TopicKind::Topic => {
                let is_shown = self.include_hidden_topics || !feros_engine::name::is_hidden(name);
                let is_of = |types: &[String]| types.iter().any(|known| is_type(known, type_name));
                let is_left_out = is_named(&self.exclude_topics, name)
                    || is_of(&self.exclude_topic_types)
                    || is_found(&self.exclude_regex, name);
                let is_found =
                    self.all_topics || is_of(&self.topic_types) || is_found(&self.regex, name);
                (is_named(&self.topics, name) || (is_shown && is_found)) && !is_left_out
            }
        }
    }
}

/// Whether `meant` is the name of the type, or its short form `package/Name`, which message types
/// have.
fn is_type(meant: &str, type_name: &str) -> bool {
    meant == type_name
        || meant.split_once('/').is_some_and(|(package, name)| {
            let rest = type_name.strip_prefix(package).and_then(|rest| rest.strip_prefix("/msg/"));
            rest == Some(name)
        })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TEXT: &str = "std_msgs/msg/String";
    const EVENT: &str = "std_srvs/srv/SetBool_Event";

    #[test]
    fn names_types_and_expressions_select() {
        let selection = TopicSelection {
            topics: vec!["/a".into(), "/_hidden".into()],
            topic_types: vec!["sensor_msgs/msg/Image".into()],
            regex: Some(Regex::new("^/cam").unwrap()),
            exclude_topics: vec!["/camera/info".into()],
            exclude_regex: Some(Regex::new("debug").unwrap()),
            ..TopicSelection::default()
        };
        let has = |name| selection.has(name, TEXT);
        assert!(has("/a") && has("/_hidden") && has("/camera/x") && !has("/b"));
        assert!(!has("/camera/info") && !has("/camera/debug") && !has("/camera/_hidden"));
        assert!(selection.has("/b", "sensor_msgs/msg/Image"));
        let short =
            TopicSelection { topic_types: vec!["std_msgs/String".into()], ..selection.clone() };
        assert!(short.has("/b", TEXT) && !short.has("/b", "std_msgs/msg/StringX"));
        assert!(!short.has("/b", "std_msgs2/msg/String"));
        assert!(selection.has("/cam_service/_service_event", EVENT));
        assert!(!selection.is_empty() && TopicSelection::default().is_empty());
    }

    #[test]
    fn services_and_actions_are_known_by_their_topics() {
        let kind = |name| topic_kind(name, EVENT);
        assert_eq!(kind("/s/_service_event"), TopicKind::Service("/s"));
        assert_eq!(kind("/a/_action/send_goal/_service_event"), TopicKind::Action("/a"));
        assert_eq!(topic_kind("/a/_action/status", "x"), TopicKind::Action("/a"));
        assert_eq!(topic_kind("/s/_service_event", TEXT), TopicKind::Topic);
        let services = TopicSelection { all_services: true, ..TopicSelection::default() };
        assert!(services.has("/s/_service_event", EVENT) && !services.has("/s", TEXT));
        let all = TopicSelection { exclude_actions: vec!["/a".into()], ..TopicSelection::all() };
        assert!(!all.has("/a/_action/feedback", "x") && all.has("/b/_action/feedback", "x"));
        assert!(all.has("/x", TEXT) && !all.has("/_x", TEXT));
    }
}
