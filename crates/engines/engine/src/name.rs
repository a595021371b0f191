//! Names of nodes, namespaces, topics and services: they are validated and expanded by the rules of
//! `rmw` and `rcl`.
//!
//! Sources: "Topic and Service name mapping to DDS" (design.ros2.org),
//! `rmw/validate_full_topic_name.h`, `rcl/expand_topic_name.h`.

use std::fmt;

/// The length limit of a fully qualified name. `RMW_TOPIC_MAX_NAME_LENGTH` is 255, and the prefix
/// on the wire takes 8 characters.
pub const MAX_NAME_LENGTH: usize = 247;

/// A name that ROS 2 does not allow, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not a valid {what}: {reason}")]
pub struct NameError {
    /// The refused name.
    pub name: String,
    /// The kind of name that was expected, such as "topic name".
    pub what: &'static str,
    /// The reason why the name is not allowed, and what is allowed.
    pub reason: String,
}

const TOPIC_OR_SERVICE: &str = "topic or service name";

fn error(name: &str, what: &'static str, reason: impl Into<String>) -> NameError {
    NameError { name: name.chars().take(300).collect(), what, reason: reason.into() }
}

/// The namespace and name of a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeName {
    namespace: String,
    name: String,
}

impl NodeName {
    /// Creates the name of a node in a namespace. The leading slash of the namespace is optional,
    /// and `""` means `/`.
    ///
    /// # Errors
    /// Returns an error if the namespace or the name is not allowed.
    pub fn new(namespace: &str, name: &str) -> Result<Self, NameError> {
        validate_node_name(name)?;
        let namespace = absolute_namespace(namespace);
        validate_namespace(&namespace)?;
        Ok(Self { namespace, name: name.to_owned() })
    }

    /// Stores a name that another participant announced. The name is not checked, because nodes are
    /// shown even if their names are not allowed.
    pub fn announced(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// The namespace with its leading slash: `/` or `/robot`.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name without the namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace and the name, joined: `/robot/camera`.
    pub fn fully_qualified(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.namespace.ends_with('/') { "" } else { "/" };
        write!(f, "{}{separator}{}", self.namespace, self.name)
    }
}

fn absolute_namespace(namespace: &str) -> String {
    match namespace {
        "" | "/" => "/".to_owned(),
        absolute if absolute.starts_with('/') => absolute.to_owned(),
        relative => format!("/{relative}"),
    }
}

/// Checks the name of a node without its namespace: it has at most 255 letters, digits and `_`, and
/// its first character is not a digit.
///
/// # Errors
/// Returns an error with the reason if the name is not allowed.
pub fn validate_node_name(name: &str) -> Result<(), NameError> {
    let refuse = |reason: String| Err(error(name, "node name", reason));
    if name.is_empty() {
        return refuse("it is empty".into());
    }
    if name.len() > 255 {
        return refuse(format!("it has {} characters, more than the limit of 255", name.len()));
    }
    if let Some(bad) = name.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '_') {
        return refuse(format!("it contains {bad:?}; only letters, digits and '_' are allowed"));
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return refuse("it starts with a digit".into());
    }
    Ok(())
}

/// Checks an absolute namespace: `/`, or tokens that each follow a slash.
///
/// # Errors
/// Returns an error with the reason if the namespace is not allowed.
pub fn validate_namespace(namespace: &str) -> Result<(), NameError> {
    if namespace == "/" { Ok(()) } else { validate_absolute(namespace, "namespace", 245) }
}

/// Checks a fully qualified topic or service name.
///
/// # Errors
/// Returns an error with the reason if the name is not allowed.
///
/// ```
/// use feros_engine::name::validate_full_topic_name;
/// assert!(validate_full_topic_name("/robot/chatter").is_ok());
/// let error = validate_full_topic_name("/robot/2fast").unwrap_err();
/// assert!(error.to_string().contains("starts with a digit"));
/// ```
pub fn validate_full_topic_name(name: &str) -> Result<(), NameError> {
    validate_absolute(name, TOPIC_OR_SERVICE, MAX_NAME_LENGTH)
}

fn validate_absolute(name: &str, what: &'static str, longest: usize) -> Result<(), NameError> {
    let refuse = |reason: String| Err(error(name, what, reason));
    if !name.starts_with('/') {
        return refuse("it does not start with '/'".into());
    }
    if name.len() > longest {
        return refuse(format!(
            "it has {} characters, more than the limit of {longest}",
            name.len()
        ));
    }
    if name.ends_with('/') {
        return refuse("it ends with '/'".into());
    }
    if let Some(bad) = name.chars().find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '/'))
    {
        return refuse(format!(
            "it contains {bad:?}; only letters, digits, '_' and '/' are allowed"
        ));
    }
    for token in name[1..].split('/') {
        if token.is_empty() {
            return refuse("it contains '//'".into());
        }
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            return refuse(format!("its part {token:?} starts with a digit"));
        }
    }
    Ok(())
}

/// Makes a topic or service name fully qualified, from the point of view of `node`, and checks it.
///
/// The name may be absolute, relative (within the node's namespace) or private (`~` or `~/x`,
/// within the node), and may contain the substitutions `{node}`, `{ns}` and `{namespace}`.
///
/// # Errors
/// Returns an error if the name or its expansion is not allowed.
///
/// ```
/// use feros_engine::{NodeName, name::expand_topic_name};
/// let node = NodeName::new("/robot", "camera")?;
/// assert_eq!(expand_topic_name("image", &node)?, "/robot/image");
/// assert_eq!(expand_topic_name("~/image", &node)?, "/robot/camera/image");
/// assert_eq!(expand_topic_name("/{node}/image", &node)?, "/camera/image");
/// # Ok::<(), feros_engine::NameError>(())
/// ```
pub fn expand_topic_name(name: &str, node: &NodeName) -> Result<String, NameError> {
    let refuse = |reason: String| Err(error(name, TOPIC_OR_SERVICE, reason));
    if name.is_empty() {
        return refuse("it is empty".into());
    }
    if name.len() > 4 * MAX_NAME_LENGTH {
        return refuse(format!(
            "it has {} characters, more than the limit of {MAX_NAME_LENGTH}",
            name.len()
        ));
    }
    let private = match name.strip_prefix('~') {
        Some("") => Some(node.fully_qualified()),
        Some(rest) if rest.starts_with('/') => Some(format!("{node}{rest}")),
        Some(_) => return refuse("'~' must stand alone or be followed by '/'".into()),
        None => None,
    };
    let substituted = substitute(private.as_deref().unwrap_or(name), name, node)?;
    let expanded = if substituted.starts_with('/') {
        substituted
    } else if node.namespace == "/" {
        format!("/{substituted}")
    } else {
        format!("{}/{substituted}", node.namespace)
    };
    validate_full_topic_name(&expanded).map_err(|NameError { reason, .. }| {
        error(name, TOPIC_OR_SERVICE, format!("{reason} (expanded to {expanded:?})"))
    })?;
    Ok(expanded)
}

fn substitute(text: &str, name: &str, node: &NodeName) -> Result<String, NameError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let close = rest[open..]
            .find('}')
            .ok_or_else(|| error(name, TOPIC_OR_SERVICE, "a '{' is never closed"))?
            + open;
        match &rest[open + 1..close] {
            "node" => out.push_str(&node.name),
            // Omits the leading slash of the namespace if there is already a slash.
            "ns" | "namespace" => {
                let namespace = node.namespace.as_str();
                out.push_str(if out.ends_with('/') { &namespace[1..] } else { namespace });
            }
            unknown => {
                let reason = format!(
                    "unknown substitution {{{unknown}}}; the known substitutions are {{node}}, \
                     {{ns}}, {{namespace}}"
                );
                return Err(error(name, TOPIC_OR_SERVICE, reason));
            }
        }
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// Whether a name has a token that starts with `_`. By convention, such names are hidden from
/// listings.
pub fn is_hidden(name: &str) -> bool {
    name.split('/').any(|token| token.starts_with('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table that tests/interop compares with the validators of stock ROS 2. Each row contains
    /// a name, and whether the name is valid as a full topic name, as a namespace and as the name
    /// of a node.
    fn table() -> Vec<(String, [bool; 3])> {
        let read = |word| match word {
            "yes" => true,
            "no" => false,
            other => panic!("{other}"),
        };
        include_str!("../tests/names.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| {
                let mut words = line.rsplitn(4, ' ');
                let mut verdict = || read(words.next().expect("three verdicts"));
                let [node, namespace, topic] = [verdict(), verdict(), verdict()];
                (words.next().expect("a name").to_owned(), [topic, namespace, node])
            })
            .collect()
    }

    #[test]
    fn names_are_checked_as_rmw_checks_them() {
        let table = table();
        assert!(table.len() > 30);
        for (name, expected) in &table {
            let found = [
                validate_full_topic_name(name).is_ok(),
                validate_namespace(name).is_ok(),
                validate_node_name(name).is_ok(),
            ];
            assert_eq!(found, *expected, "{name:?}");
        }
        assert!(
            NodeName::new("robot", "camera").is_ok_and(|n| n.fully_qualified() == "/robot/camera")
        );
        assert!(NodeName::new("", "camera").is_ok_and(|n| n.fully_qualified() == "/camera"));
        assert!(NodeName::new("/a/", "camera").is_err());
    }

    #[test]
    fn lengths_are_limited_as_rmw_limits_them() {
        let of = |slash: &str, length: usize| slash.to_owned() + &"a".repeat(length - slash.len());
        for (length, allowed) in [(247, true), (248, false)] {
            assert_eq!(validate_full_topic_name(&of("/", length)).is_ok(), allowed, "{length}");
        }
        for (length, allowed) in [(245, true), (246, false)] {
            assert_eq!(validate_namespace(&of("/", length)).is_ok(), allowed, "{length}");
        }
        for (length, allowed) in [(255, true), (256, false)] {
            assert_eq!(validate_node_name(&of("", length)).is_ok(), allowed, "{length}");
        }
    }

    #[test]
    fn names_expand() {
        let node = NodeName::new("/ns", "n").expect("valid");
        let root = NodeName::new("/", "n").expect("valid");
        let table = [
            (&node, "x", "/ns/x"),
            (&node, "/x", "/x"),
            (&node, "~", "/ns/n"),
            (&node, "~/x/y", "/ns/n/x/y"),
            (&node, "{ns}/x", "/ns/x"),
            (&node, "/a/{ns}/{node}", "/a/ns/n"),
            (&node, "/a{ns}", "/a/ns"),
            (&node, "{node}__x", "/ns/n__x"),
            (&node, "a__b", "/ns/a__b"),
            (&root, "x", "/x"),
            (&root, "~/x", "/n/x"),
        ];
        for (node, given, expected) in table {
            assert_eq!(expand_topic_name(given, node).as_deref(), Ok(expected), "{given}");
        }
        for bad in ["", "~x", "{what}", "{ns", "x/", "a b", "x/~"] {
            assert!(expand_topic_name(bad, &node).is_err(), "{bad}");
        }
    }

    #[test]
    fn hidden_names_are_found() {
        assert!(is_hidden("/fib/_action/status"));
        assert!(!is_hidden("/a_b/c"));
    }
}
