//! A namespace that stands before the names of a robot, so that several robots can use the same
//! names on one network: `/scan` of the robot `/robot1` is `/robot1/scan` there.

use std::fmt;

use crate::name::{NameError, validate_namespace};

/// A namespace, other than the root, that stands before names.
///
/// ```
/// use feros_engine::NamePrefix;
/// let robot = NamePrefix::new("/robot1")?;
/// assert_eq!(robot.before("/scan"), "/robot1/scan");
/// assert_eq!(robot.strip("/robot1/scan"), Some("/scan"));
/// assert_eq!(robot.strip("/robot10/scan"), None);
/// # Ok::<(), feros_engine::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NamePrefix(String);

impl NamePrefix {
    /// Creates a prefix from a namespace. Its leading slash is optional.
    ///
    /// # Errors
    /// Returns an error with the reason if the namespace is not allowed, or if it is the root: all
    /// names are below the root anyway.
    pub fn new(namespace: &str) -> Result<Self, NameError> {
        if matches!(namespace, "" | "/") {
            return Err(NameError {
                name: namespace.to_owned(),
                what: "prefix",
                reason: "all names are below the root anyway; give a namespace, such as /robot1"
                    .to_owned(),
            });
        }
        let absolute = match namespace {
            absolute if absolute.starts_with('/') => absolute.to_owned(),
            relative => format!("/{relative}"),
        };
        validate_namespace(&absolute).map_err(|error| NameError {
            name: error.name,
            what: "prefix",
            reason: format!("{}; a prefix is a namespace, such as /robot1", error.reason),
        })?;
        Ok(Self(absolute))
    }

    /// The namespace, with its leading slash.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.0
    }

    /// Returns a fully qualified name with this prefix before it.
    #[must_use]
    pub fn before(&self, name: &str) -> String {
        format!("{}{}", self.0, name.strip_suffix('/').unwrap_or(name))
    }

    /// Returns a fully qualified name without this prefix, or `None` if the name is not below this
    /// namespace.
    #[must_use]
    pub fn strip<'a>(&self, name: &'a str) -> Option<&'a str> {
        name.strip_prefix(self.0.as_str()).filter(|rest| rest.len() > 1 && rest.starts_with('/'))
    }
}

impl fmt::Display for NamePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_names_below_the_namespace_lose_the_prefix() {
        let deep = NamePrefix::new("site/robot1").unwrap();
        assert_eq!(deep.namespace(), "/site/robot1");
        assert_eq!(deep.before("/a/b"), "/site/robot1/a/b");
        assert_eq!(deep.before("/"), "/site/robot1");
        assert_eq!(deep.strip("/site/robot1/a/b"), Some("/a/b"));
        for outside in
            ["/site/robot1", "/site/robot1/", "/site/robot12/a", "/site/a", "/a", "", "x"]
        {
            assert_eq!(deep.strip(outside), None, "{outside:?}");
        }
    }

    #[test]
    fn a_wrong_prefix_is_refused_with_an_example() {
        for wrong in
            ["", "/", "/robot1/", "//robot1", "/robot-1", "/1robot", "/robot*", "~", "/a b"]
        {
            let error = NamePrefix::new(wrong).unwrap_err().to_string();
            let says = error.contains("is not a valid prefix") && error.contains("such as /robot1");
            assert!(says, "{error}");
        }
    }
}
