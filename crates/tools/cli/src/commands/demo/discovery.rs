//! The discovery settings of the demo: the user's domain, and only this host unless the user chose
//! another discovery range.

use std::process::Command;

use feros_engine::engine::meeting_points;

/// The variables with which a user chooses the discovery range.
const RANGE_VARIABLES: [&str; 4] = [
    "ROS_AUTOMATIC_DISCOVERY_RANGE",
    "ROS_LOCALHOST_ONLY",
    "ROS_STATIC_PEERS",
    meeting_points::VARIABLE,
];

/// The domain and the discovery range of all processes of the demo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Discovery {
    domain: String,
    /// Whether the user chose no discovery range, so that the demo stays on this host.
    localhost_only: bool,
}

impl Discovery {
    /// The settings of the environment.
    pub(super) fn from_environment() -> Self {
        Self::from_variables(|name| Some(std::env::var_os(name)?.to_string_lossy().into_owned()))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        Self {
            domain: set("ROS_DOMAIN_ID").unwrap_or_else(|| "0".to_owned()),
            localhost_only: RANGE_VARIABLES.iter().all(|name| set(name).is_none()),
        }
    }

    /// Gives a process these settings.
    pub(super) fn apply<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if self.localhost_only {
            command.env(RANGE_VARIABLES[0], "LOCALHOST");
        }
        command
    }

    /// The settings in words.
    pub(super) fn describe(&self) -> String {
        let range = if self.localhost_only {
            "on this host only (ROS_AUTOMATIC_DISCOVERY_RANGE chooses another range)"
        } else {
            "with the discovery range of your environment"
        };
        format!("ROS domain {}, {range}", self.domain)
    }

    /// The variables to put before a command in another terminal that is to discover the demo.
    pub(super) fn prefix(&self) -> &'static str {
        if self.localhost_only { "ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST " } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discovery(variables: &[(&str, &str)]) -> Discovery {
        Discovery::from_variables(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn range_of(discovery: &Discovery) -> Option<String> {
        let mut command = Command::new("x");
        discovery.apply(&mut command);
        let set = command.get_envs().find(|(name, _)| *name == "ROS_AUTOMATIC_DISCOVERY_RANGE");
        set.and_then(|(_, value)| Some(value?.to_string_lossy().into_owned()))
    }

    #[test]
    fn without_a_choice_it_stays_on_this_host() {
        let discovery = discovery(&[("ROS_DOMAIN_ID", "7"), ("ROS_STATIC_PEERS", "")]);
        assert_eq!(range_of(&discovery).as_deref(), Some("LOCALHOST"));
        assert!(
            discovery.describe().contains("domain 7") && discovery.prefix().contains("LOCALHOST")
        );
    }

    #[test]
    fn the_choice_of_the_user_stays() {
        for variable in RANGE_VARIABLES {
            let discovery = discovery(&[(variable, "SUBNET")]);
            assert_eq!(range_of(&discovery), None, "{variable}");
            assert_eq!(discovery.prefix(), "");
            assert!(discovery.describe().contains("domain 0"));
        }
    }
}
