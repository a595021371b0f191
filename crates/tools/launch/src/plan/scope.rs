//! The state that actions change and groups restore: configurations (values of arguments and of
//! `let`), the environment, the namespace, and the parameters and remaps for all nodes.

use std::collections::BTreeMap;

use super::steps::Parameters;
use crate::error::{LaunchError, shown};
use crate::position::Position;
use crate::value::Value;

#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// The values of arguments and of `let`, by name.
    pub(super) configurations: BTreeMap<String, String>,
    /// The differences from the environment of this process.
    pub(super) environment: BTreeMap<String, Option<String>>,
    /// The environments that `push_env` has saved for `pop_env`.
    pub(super) pushed_environments: Vec<BTreeMap<String, Option<String>>>,
    /// The variables of the enclosing loops: the iteration number of a `for` by the name of the
    /// loop, the values of a `for_each` by their names.
    pub(super) loop_variables: BTreeMap<String, String>,
    pub(super) namespace: Option<String>,
    pub(super) parameters: Vec<Parameters>,
    pub(super) remaps: Vec<(String, String)>,
}

impl Scope {
    /// A variable in the environment that a process started at this point would have.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        match self.environment.get(name) {
            Some(changed) => changed.clone(),
            None if name.is_empty() || name.contains(['=', '\0']) => None,
            None => std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()),
        }
    }

    /// The value of this parameter for all following nodes.
    pub(super) fn parameter(&self, name: &str) -> Option<&Value> {
        let values = self.parameters.iter().filter_map(|source| match source {
            Parameters::Values(values) => Some(values),
            Parameters::File(_) | Parameters::Text(_) => None,
        });
        let mut set = values.flatten().rev();
        set.find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The resulting namespace of a node that asks for the namespace `asked`, or for no namespace.
    pub(super) fn namespace_of(&self, asked: Option<&str>) -> Option<String> {
        joined_namespace(self.namespace.as_deref(), asked)
    }
}

/// Joins two namespaces; an absolute inner namespace replaces the outer one. The result is
/// absolute.
pub(super) fn joined_namespace(outer: Option<&str>, inner: Option<&str>) -> Option<String> {
    let joined = match (outer, inner) {
        (None, None) => return None,
        (Some(outer), None) => outer.to_owned(),
        (Some(outer), Some(inner)) if !outer.is_empty() && !inner.starts_with('/') => {
            format!("{}/{inner}", outer.trim_end_matches('/'))
        }
        (_, Some(inner)) => inner.to_owned(),
    };
    Some(format!("/{}", joined.trim_matches('/')))
}

/// Refuses names and values of variables that the operating system would refuse or misread.
pub(super) fn check_variable(name: &str, value: &str, at: &Position) -> Result<(), LaunchError> {
    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
        return Err(LaunchError::at(
            at,
            format!("{} cannot be the name of an environment variable", shown(name)),
        ));
    }
    Ok(())
}

/// Refuses a string that is not a namespace.
pub(super) fn check_namespace(namespace: &str, at: &Position) -> Result<(), LaunchError> {
    let inner = namespace.trim_start_matches('/');
    if inner.is_empty() || inner.split('/').all(is_token) {
        return Ok(());
    }
    let problem = format!(
        "{} is not a namespace: expected names of letters, digits and _ between slashes",
        shown(namespace)
    );
    Err(LaunchError::at(at, problem))
}

pub(super) fn is_token(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.len() <= 255
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::joined_namespace;

    #[test]
    fn namespaces_join_as_in_ros() {
        for (outer, inner, expected) in [
            (None, None, None),
            (None, Some("a"), Some("/a")),
            (Some("/a"), None, Some("/a")),
            (Some("/a"), Some("b"), Some("/a/b")),
            (Some("/"), Some("b"), Some("/b")),
            (Some("/a"), Some("/b"), Some("/b")),
            (Some("/a"), Some("/"), Some("/")),
            (Some("/a"), Some(""), Some("/a")),
            (None, Some(""), Some("/")),
            (Some("/a"), Some("b/"), Some("/a/b")),
        ] {
            assert_eq!(joined_namespace(outer, inner).as_deref(), expected, "{outer:?} {inner:?}");
        }
    }
}
