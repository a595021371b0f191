//! Mapping rules like the rules of `ros1_bridge` (`ros1_bridge/doc/index.rst`). They pair packages,
//! messages, services or fields of ROS 1 and ROS 2 that have different names.

use std::path::{Path, PathBuf};

use feros_interface::TypeName;
use feros_yaml::{Content, Limits, Node, Scalar};

/// The rules of `rcl_interfaces` and `builtin_interfaces` in `ros1_bridge`, and a rule for the
/// message of the old tf.
const STANDARD: &str = "
- {ros1_package_name: rosgraph_msgs, ros1_message_name: Log, ros2_package_name: rcl_interfaces, ros2_message_name: Log,
   fields_1_to_2: {header.stamp: stamp, level: level, name: name, msg: msg, file: file, function: function, line: line}}
- {ros1_package_name: std_msgs, ros1_message_name: Time, ros2_package_name: builtin_interfaces, ros2_message_name: Time,
   fields_1_to_2: {data.sec: sec, data.nanosec: nanosec}}
- {ros1_package_name: std_msgs, ros1_message_name: Duration, ros2_package_name: builtin_interfaces,
   ros2_message_name: Duration, fields_1_to_2: {data.sec: sec, data.nanosec: nanosec}}
- {ros1_package_name: tf, ros1_message_name: tfMessage, ros2_package_name: tf2_msgs, ros2_message_name: TFMessage}
";

/// The size limit of a file of rules, in bytes.
const MAX_RULES_BYTES: u64 = 1 << 20;
const LIMITS: Limits = Limits { depth: 8, values: 1 << 20 };

/// The reason why rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// The file cannot be read.
    #[error("the mapping rules {} cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The text is not a list of rules.
    #[error("the mapping rules do not have the format of ros1_bridge: {problem}")]
    Form {
        /// The fault and its position.
        problem: String,
    },
}

/// Pairs of a ROS 1 field and a ROS 2 field. A field is a name or a path with dots.
pub type FieldPairs = Vec<(String, String)>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rule {
    ros1_package: String,
    ros2_package: String,
    message: Option<(String, String)>,
    service: Option<(String, String)>,
    fields: Option<FieldPairs>,
    request_fields: Option<FieldPairs>,
    response_fields: Option<FieldPairs>,
}

/// All rules. The user's rules come before the standard rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

/// The keys of a rule.
const KEYS: [&str; 10] = [
    "ros1_package_name",
    "ros2_package_name",
    "ros1_message_name",
    "ros2_message_name",
    "ros1_service_name",
    "ros2_service_name",
    "fields_1_to_2",
    "request_fields_1_to_2",
    "response_fields_1_to_2",
    "enable_foreign_mappings",
];

impl Default for Rules {
    fn default() -> Self {
        Self::parse(STANDARD).expect("the standard rules are rules")
    }
}

impl Rules {
    /// Adds the rules of a file, which take precedence over the existing rules.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is malformed.
    pub fn add_file(&mut self, path: &Path) -> Result<(), RulesError> {
        let text = feros_files::read_to_string(path, MAX_RULES_BYTES)
            .map_err(|source| RulesError::Read { path: path.to_owned(), source })?;
        let own = Self::parse(&text)?;
        self.0.splice(0..0, own.0);
        Ok(())
    }

    /// Creates rules from a text. The result does not contain the standard rules.
    ///
    /// # Errors
    /// Returns an error if the text is malformed.
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        let document = feros_yaml::first_document(text, LIMITS)
            .map_err(|error| RulesError::Form { problem: error.to_string() })?;
        let Some(document) = document else { return Ok(Self(Vec::new())) };
        rules_of(&document).map(Self).map_err(|problem| RulesError::Form { problem })
    }

    /// Returns the ROS 2 types that may match a ROS 1 type. The best match is first. The types have
    /// the same namespace as the ROS 1 type.
    #[must_use]
    pub fn of_ros1(&self, ros1: &TypeName) -> Vec<TypeName> {
        self.counterparts(ros1, true)
    }

    /// Returns the ROS 1 types that may match a ROS 2 type. The best match is first.
    #[must_use]
    pub fn of_ros2(&self, ros2: &TypeName) -> Vec<TypeName> {
        self.counterparts(ros2, false)
    }

    fn counterparts(&self, ty: &TypeName, is_ros1: bool) -> Vec<TypeName> {
        // The side of `ty` comes first.
        let sides = |one, two| if is_ros1 { (one, two) } else { (two, one) };
        let (suffix, other_suffix) = sides("_msgs", "_interfaces");
        let mut found = Vec::new();
        for rule in self.0.iter().filter(|rule| !rule.is_of_other_kind(ty)) {
            let (package, other_package) =
                sides(rule.ros1_package.as_str(), rule.ros2_package.as_str());
            let (name, other_name) = match rule.named(ty) {
                Some((one, two)) => sides(one.as_str(), two.as_str()),
                None => (ty.name.as_str(), ty.name.as_str()),
            };
            if package == ty.package && name == ty.name {
                found.push(TypeName::new(other_package, ty.namespace, other_name));
            }
        }
        found.push(ty.clone());
        if let Some(base) = ty.package.strip_suffix(suffix) {
            found.push(TypeName::new(format!("{base}{other_suffix}"), ty.namespace, &ty.name));
        }
        found
    }

    /// Returns the field pairs of the rule for two types, if there is such a rule. Fields that are
    /// not in these pairs have no counterpart.
    #[must_use]
    pub fn fields(&self, ros1: &TypeName, ros2: &TypeName) -> Option<&FieldPairs> {
        self.0.iter().find_map(|rule| {
            if rule.ros1_package != ros1.package || rule.ros2_package != ros2.package {
                return None;
            }
            let is = |names: &Option<(String, String)>, suffix: &str| {
                names.as_ref().is_some_and(|(one, two)| {
                    ros1.name.strip_suffix(suffix) == Some(one)
                        && ros2.name.strip_suffix(suffix) == Some(two)
                })
            };
            if is(&rule.message, "") {
                rule.fields.as_ref()
            } else if is(&rule.service, "_Request") {
                rule.request_fields.as_ref()
            } else if is(&rule.service, "_Response") {
                rule.response_fields.as_ref()
            } else {
                None
            }
        })
    }
}

impl Rule {
    /// Returns the pair of names for messages or for services, depending on the kind of this type.
    fn named(&self, ty: &TypeName) -> Option<&(String, String)> {
        let is_service = ty.namespace == feros_interface::Namespace::Srv;
        if is_service { self.service.as_ref() } else { self.message.as_ref() }
    }

    fn is_of_other_kind(&self, ty: &TypeName) -> bool {
        self.named(ty).is_none() && (self.message.is_some() || self.service.is_some())
    }
}

/// Returns the rules in a document, which must be a list of mappings.
fn rules_of(document: &Node) -> Result<Vec<Rule>, String> {
    let Content::List(rules) = &document.content else {
        return Err("expected a list of rules".to_owned());
    };
    let rule = |(index, node): (usize, &Node)| match &node.content {
        Content::Mapping(entries) => rule_of(entries),
        _ => Err(format!("rule {} is not a mapping", index + 1)),
    };
    rules.iter().enumerate().map(rule).collect()
}

fn rule_of(entries: &[(Scalar, Node)]) -> Result<Rule, String> {
    let mut rule = Rule::default();
    let (mut message, mut service) = ([None, None], [None, None]);
    for (key, value) in entries {
        match &*key.text {
            "ros1_package_name" => rule.ros1_package = string(key, value)?,
            "ros2_package_name" => rule.ros2_package = string(key, value)?,
            "ros1_message_name" => message[0] = Some(string(key, value)?),
            "ros2_message_name" => message[1] = Some(string(key, value)?),
            "ros1_service_name" => service[0] = Some(string(key, value)?),
            "ros2_service_name" => service[1] = Some(string(key, value)?),
            "fields_1_to_2" => rule.fields = Some(pairs(key, value)?),
            "request_fields_1_to_2" => rule.request_fields = Some(pairs(key, value)?),
            "response_fields_1_to_2" => rule.response_fields = Some(pairs(key, value)?),
            // In ros1_bridge, a package needs this key to ship rules about other packages. The
            // user's file of rules does not belong to a package, so the key has no effect here.
            "enable_foreign_mappings" => drop(string(key, value)?),
            other => {
                let nearest = feros_wording::did_you_mean(other, KEYS);
                return Err(format!("unknown key `{other}`{nearest}"));
            }
        }
    }
    if rule.ros1_package.is_empty() || rule.ros2_package.is_empty() {
        return Err("a rule needs ros1_package_name and ros2_package_name".to_owned());
    }
    rule.message = pair(message, "message")?;
    rule.service = pair(service, "service")?;
    if rule.fields.is_some() && rule.message.is_none() {
        return Err("fields_1_to_2 needs ros1_message_name and ros2_message_name".to_owned());
    }
    Ok(rule)
}

fn string(key: &Scalar, value: &Node) -> Result<String, String> {
    match &value.content {
        Content::Scalar(scalar) => Ok(scalar.text.clone()),
        _ => Err(format!("`{}` needs a string", key.text)),
    }
}

fn pairs(key: &Scalar, value: &Node) -> Result<FieldPairs, String> {
    let Content::Mapping(entries) = &value.content else {
        return Err(format!("`{}` needs a mapping of fields", key.text));
    };
    entries.iter().map(|(one, two)| Ok((one.text.clone(), string(one, two)?))).collect()
}

fn pair(names: [Option<String>; 2], kind: &str) -> Result<Option<(String, String)>, String> {
    match names {
        [Some(one), Some(two)] => Ok(Some((one, two))),
        [None, None] => Ok(None),
        _ => Err(format!("ros1_{kind}_name and ros2_{kind}_name must be given together")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn names(found: &[TypeName]) -> Vec<String> {
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn packages_are_mapped_by_name() {
        let rules = Rules::default();
        let of_ros1 = rules.of_ros1(&TypeName::message("foo_msgs", "Bar"));
        assert_eq!(names(&of_ros1), ["foo_msgs/msg/Bar", "foo_interfaces/msg/Bar"]);
        let of_ros2 = rules.of_ros2(&TypeName::message("foo_interfaces", "Bar"));
        assert_eq!(names(&of_ros2), ["foo_interfaces/msg/Bar", "foo_msgs/msg/Bar"]);
        let log = rules.of_ros1(&TypeName::message("rosgraph_msgs", "Log"));
        assert_eq!(names(&log)[0], "rcl_interfaces/msg/Log");
    }

    #[test]
    fn rules_of_a_user_come_first() {
        let text = "
-
  ros1_package_name: 'a_msgs'
  ros2_package_name: 'b_msgs'
-
  ros1_package_name: 'a_msgs'
  ros1_message_name: 'Foo'
  ros2_package_name: 'b_msgs'
  ros2_message_name: 'Bar'
  fields_1_to_2:
    foo: 'bar'
    header.stamp: stamp
-
  ros1_package_name: a_msgs
  ros1_service_name: Do
  ros2_package_name: b_msgs
  ros2_service_name: Done
";
        let foreign = text.replace("-\n ", "-\n  enable_foreign_mappings: true\n ");
        assert_eq!(foreign.matches("enable_foreign_mappings").count(), 3);
        let rules = Rules::parse(text).unwrap();
        assert_eq!(Rules::parse(&foreign).unwrap(), rules);
        let (foo, bar) = (TypeName::message("a_msgs", "Foo"), TypeName::message("b_msgs", "Bar"));
        assert_eq!(names(&rules.of_ros1(&foo))[..2], ["b_msgs/msg/Foo", "b_msgs/msg/Bar"]);
        assert_eq!(rules.fields(&foo, &bar).unwrap()[1].0, "header.stamp");
        let service = TypeName::new("a_msgs", feros_interface::Namespace::Srv, "Do");
        assert_eq!(names(&rules.of_ros1(&service))[1], "b_msgs/srv/Done");
    }

    #[test]
    fn wrong_rules_are_refused() {
        for text in ["a: b", "- a", "- {ros1_package_name: a}", "- {what: a}", "- {", "- [a]"] {
            assert!(matches!(Rules::parse(text), Err(RulesError::Form { .. })), "{text}");
        }
        assert_eq!(Rules::parse("").unwrap(), Rules(Vec::new()));
        assert!(Rules::default().add_file(Path::new("/nonexistent")).is_err());
    }
}
