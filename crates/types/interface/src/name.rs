//! Names of interfaces in the form `package/msg/Name`, and the forms of the same names that other
//! layers use.

use std::fmt;
use std::str::FromStr;

/// The kind of interface to which a type belongs. It is the middle part of the type's name.
///
/// The messages of a service or action are in the namespace of the service or action, such as
/// `std_srvs/srv/SetBool_Request` and `test_msgs/action/Fibonacci_Goal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Namespace {
    /// Definitions in `action/*.action`.
    Action,
    /// Definitions in `msg/*.msg`.
    Msg,
    /// Definitions in `srv/*.srv`.
    Srv,
}

impl Namespace {
    /// All namespaces.
    pub const ALL: [Namespace; 3] = [Namespace::Msg, Namespace::Srv, Namespace::Action];

    /// `msg`, `srv` or `action`: the name of the folder, the extension of the file, and the middle
    /// part of the type name.
    pub fn as_str(self) -> &'static str {
        match self {
            Namespace::Msg => "msg",
            Namespace::Srv => "srv",
            Namespace::Action => "action",
        }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The full name of an interface type, for example `std_msgs/msg/String`.
///
/// Names are ordered like strings, as the type hash requires.
///
/// ```
/// use feros_interface::{Namespace, TypeName};
///
/// let name: TypeName = "std_msgs/msg/String".parse()?;
/// assert_eq!(name, TypeName::new("std_msgs", Namespace::Msg, "String"));
/// assert_eq!(name.dds_type_name(), "std_msgs::msg::dds_::String_");
/// # Ok::<(), feros_interface::TypeNameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeName {
    /// The package, for example `std_msgs`.
    pub package: String,
    /// The kind of interface.
    pub namespace: Namespace,
    /// The name inside the package, for example `String` or `SetBool_Request`.
    pub name: String,
}

impl TypeName {
    /// Makes a name from its parts without checking them.
    pub fn new(package: impl Into<String>, namespace: Namespace, name: impl Into<String>) -> Self {
        Self { package: package.into(), namespace, name: name.into() }
    }

    /// Makes the name of a message definition, `package/msg/name`.
    pub fn message(package: impl Into<String>, name: impl Into<String>) -> Self {
        Self::new(package, Namespace::Msg, name)
    }

    /// The name of a type that is derived from this one, for example `SetBool` + `_Request`.
    #[must_use]
    pub fn with_suffix(&self, suffix: &str) -> Self {
        Self::new(self.package.clone(), self.namespace, format!("{}{suffix}", self.name))
    }

    /// The type name that DDS engines announce, for example `std_msgs::msg::dds_::String_`.
    pub fn dds_type_name(&self) -> String {
        format!("{}::{}::dds_::{}_", self.package, self.namespace, self.name)
    }

    /// Parses a DDS type name. Returns `None` if it is not the name of a ROS 2 type.
    pub fn from_dds_type_name(text: &str) -> Option<Self> {
        let (scope, name) = text.strip_suffix('_')?.split_once("::dds_::")?;
        let (package, namespace) = scope.split_once("::")?;
        format!("{package}/{namespace}/{name}").parse().ok()
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.package, self.namespace, self.name)
    }
}

/// The error for a string that is not the name of an interface type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypeNameError {
    /// The string does not have three parts with a known kind in the middle.
    #[error(
        "`{text}` is not an interface type: write `package/msg/Name`, `package/srv/Name` or `package/action/Name`"
    )]
    Form {
        /// The given string.
        text: String,
    },
    /// The first part violates the rule for package names.
    #[error(
        "`{package}` in `{text}` is not a package name: lower-case letters, digits and single underscores, \
         starting with a letter and not ending with an underscore"
    )]
    Package {
        /// The given string.
        text: String,
        /// The part that is wrong.
        package: String,
    },
    /// The last part violates the rule for type names.
    #[error(
        "`{name}` in `{text}` is not a type name: letters and digits, starting with a capital letter"
    )]
    Name {
        /// The given string.
        text: String,
        /// The part that is wrong.
        name: String,
    },
}

impl FromStr for TypeName {
    type Err = TypeNameError;

    fn from_str(text: &str) -> Result<Self, TypeNameError> {
        let mut parts = text.split('/');
        let (Some(package), Some(namespace), Some(name), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(TypeNameError::Form { text: text.to_owned() });
        };
        let Some(namespace) = Namespace::ALL.into_iter().find(|n| n.as_str() == namespace) else {
            return Err(TypeNameError::Form { text: text.to_owned() });
        };
        if !is_package_name(package) {
            return Err(TypeNameError::Package {
                text: text.to_owned(),
                package: package.to_owned(),
            });
        }
        if !is_derived_type_name(name) {
            return Err(TypeNameError::Name { text: text.to_owned(), name: name.to_owned() });
        }
        Ok(Self::new(package, namespace, name))
    }
}

/// Whether `text` may name a package.
pub fn is_package_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !text.contains("__")
        && !text.ends_with('_')
}

/// Whether `text` may name a field. The rule is the same as for packages.
pub fn is_field_name(text: &str) -> bool {
    is_package_name(text)
}

/// Whether `text` may name a definition file: it must consist of letters and digits, and start with
/// a capital letter.
pub fn is_type_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Whether `text` may name a constant.
pub fn is_constant_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && !text.contains("__")
        && !text.ends_with('_')
}

/// Whether `text` names a definition or a derived message, such as `Fibonacci_SendGoal_Request`.
fn is_derived_type_name(text: &str) -> bool {
    const SUFFIXES: [&str; 9] = [
        "_Request",
        "_Response",
        "_Event",
        "_Goal",
        "_Result",
        "_Feedback",
        "_FeedbackMessage",
        "_SendGoal",
        "_GetResult",
    ];
    let mut stem = text;
    while let Some(shorter) = SUFFIXES.iter().find_map(|suffix| stem.strip_suffix(suffix)) {
        stem = shorter;
    }
    is_type_name(stem)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_a_round_trip() {
        for text in [
            "std_msgs/msg/String",
            "std_srvs/srv/SetBool_Request",
            "test_msgs/action/Fibonacci_SendGoal_Event",
            "test_msgs/action/Fibonacci_FeedbackMessage",
        ] {
            let name: TypeName = text.parse().unwrap();
            assert_eq!(name.to_string(), text);
            assert_eq!(TypeName::from_dds_type_name(&name.dds_type_name()), Some(name));
        }
    }

    #[test]
    fn wrong_names_are_refused_with_the_cure() {
        for text in ["String", "std_msgs/String", "std_msgs/idl/String", "a/msg/B/C", ""] {
            assert!(matches!(text.parse::<TypeName>(), Err(TypeNameError::Form { .. })), "{text}");
        }
        for text in ["Std/msg/String", "a__b/msg/String", "a_/msg/String", "1a/msg/String"] {
            assert!(
                matches!(text.parse::<TypeName>(), Err(TypeNameError::Package { .. })),
                "{text}"
            );
        }
        for text in ["a/msg/string", "a/msg/My_String", "a/msg/", "a/msg/_Request"] {
            assert!(matches!(text.parse::<TypeName>(), Err(TypeNameError::Name { .. })), "{text}");
        }
        assert_eq!(TypeName::from_dds_type_name("ParticipantMessageData"), None);
    }

    #[test]
    fn constant_names() {
        for good in ["A", "AB", "A_B", "A1", "A_1B"] {
            assert!(is_constant_name(good), "{good}");
        }
        for bad in ["", "a", "_A", "A_", "A__B", "1A", "Ab"] {
            assert!(!is_constant_name(bad), "{bad}");
        }
    }
}
