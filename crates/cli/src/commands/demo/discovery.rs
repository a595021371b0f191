//! Where in the world the demo takes place: on this host alone, unless the user chose another
//! discovery range.

use std::process::Command;

/// The variables by which a user chooses who is found.
const CHOICES: [&str; 3] =
    ["ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS"];

/// Domain and discovery range of all processes of the demo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    domain: String,
    /// The user did not say who is to be found.
    only_here: bool,
}

impl Place {
    /// What the environment says.
    pub(super) fn from_environment() -> Self {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        Self {
            domain: set("ROS_DOMAIN_ID").unwrap_or_else(|| "0".to_owned()),
            only_here: CHOICES.iter().all(|name| set(name).is_none()),
        }
    }

    /// Has a process take part there.
    pub(super) fn apply<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if self.only_here {
            command.env(CHOICES[0], "LOCALHOST");
        }
        command
    }

    /// In words.
    pub(super) fn describe(&self) -> String {
        let range = if self.only_here {
            "on this host only (ROS_AUTOMATIC_DISCOVERY_RANGE chooses another range)"
        } else {
            "with the discovery range of your environment"
        };
        format!("ROS domain {}, {range}", self.domain)
    }

    /// What a command in another terminal needs before it to be at the same place.
    pub(super) fn prefix(&self) -> &'static str {
        if self.only_here { "ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST " } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)]) -> Place {
        Place::from_variables(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn range_of(place: &Place) -> Option<String> {
        let mut command = Command::new("x");
        place.apply(&mut command);
        let set = command.get_envs().find(|(name, _)| *name == "ROS_AUTOMATIC_DISCOVERY_RANGE");
        set.and_then(|(_, value)| Some(value?.to_string_lossy().into_owned()))
    }

    #[test]
    fn without_a_choice_it_stays_on_this_host() {
        let place = place(&[("ROS_DOMAIN_ID", "7"), ("ROS_STATIC_PEERS", "")]);
        assert_eq!(range_of(&place).as_deref(), Some("LOCALHOST"));
        assert!(place.describe().contains("domain 7") && place.prefix().contains("LOCALHOST"));
    }

    #[test]
    fn the_choice_of_the_user_stays() {
        for variable in CHOICES {
            let place = place(&[(variable, "SUBNET")]);
            assert_eq!(range_of(&place), None, "{variable}");
            assert_eq!(place.prefix(), "");
            assert!(place.describe().contains("domain 0"));
        }
    }
}
