//! The form in which participants announce their nodes, which ROS 2 changed in Iron.

use std::ffi::OsString;
use std::fmt;

use crate::environment_error::EnvironmentError;

/// The form in which a participant announces its nodes.
///
/// The default is the form since ROS 2 Iron. Participants of the two forms do not see each other's
/// nodes, and ROS 2 Humble may run out of memory when it reads the other form. On DDS, messages and
/// calls pass between the two forms. On Zenoh they do not, because the keys of messages contain the
/// type hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum DiscoveryForm {
    /// The form of ROS 2 Humble: gids of 24 bytes on DDS, and a word instead of the type hash on
    /// Zenoh.
    Humble,
    /// The form since ROS 2 Iron: gids of 16 bytes on DDS, and type hashes on Zenoh.
    #[default]
    SinceIron,
}

impl DiscoveryForm {
    /// The environment variable that names the distribution whose form a process uses.
    pub const VARIABLE: &'static str = "FEROS_ROS_DISTRO";

    /// The distributions that the variable may name.
    pub const DISTRIBUTIONS: [&'static str; 6] =
        ["humble", "iron", "jazzy", "kilted", "lyrical", "rolling"];

    /// The form of a distribution, or `None` if [`DISTRIBUTIONS`](Self::DISTRIBUTIONS) does not
    /// have this name.
    pub fn of_distribution(name: &str) -> Option<Self> {
        let place = Self::DISTRIBUTIONS.iter().position(|known| *known == name)?;
        Some(if place == 0 { Self::Humble } else { Self::SinceIron })
    }

    /// Reads the form from `FEROS_ROS_DISTRO`. `variable` returns the value of a variable. An unset
    /// or empty variable means the default.
    ///
    /// # Errors
    /// Returns an error if the variable names no known distribution.
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, EnvironmentError> {
        let Some(value) = variable(Self::VARIABLE).filter(|value| !value.is_empty()) else {
            return Ok(Self::default());
        };
        value.to_str().and_then(Self::of_distribution).ok_or_else(|| EnvironmentError {
            variable: Self::VARIABLE,
            value: value.to_string_lossy().into_owned(),
            expected: "humble, iron, jazzy, kilted, lyrical or rolling",
        })
    }
}

/// Formats the form for messages to users: `ROS 2 Humble`.
impl fmt::Display for DiscoveryForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Humble => "ROS 2 Humble",
            Self::SinceIron => "ROS 2 since Iron",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(value: &str) -> Result<DiscoveryForm, EnvironmentError> {
        DiscoveryForm::from_variables(|name| {
            (name == DiscoveryForm::VARIABLE).then(|| OsString::from(value))
        })
    }

    #[test]
    fn the_form_is_that_of_the_named_distribution() {
        assert_eq!(DiscoveryForm::from_variables(|_| None), Ok(DiscoveryForm::SinceIron));
        assert_eq!(from(""), Ok(DiscoveryForm::SinceIron));
        for name in DiscoveryForm::DISTRIBUTIONS {
            let is_humble = name == "humble";
            let form = if is_humble { DiscoveryForm::Humble } else { DiscoveryForm::SinceIron };
            assert_eq!(from(name), Ok(form), "{name}");
        }
        assert_eq!(DiscoveryForm::Humble.to_string(), "ROS 2 Humble");
    }

    #[test]
    fn other_names_are_refused_with_the_known_names() {
        for name in ["Humble", "humble ", "galactic", "h", "\u{fffd}"] {
            let error = from(name).expect_err("no known distribution");
            assert_eq!(error.value, name);
            let expected = error.expected.replace(" or ", ", ");
            assert_eq!(expected, DiscoveryForm::DISTRIBUTIONS.join(", "));
        }
    }
}
