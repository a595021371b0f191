//! The state that actions change and groups restore: configurations (values of arguments and of
//! `let`), the environment, the namespace, and the parameters and remaps for all nodes.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::steps::Parameters;
use crate::error::{LaunchError, shown};
use crate::position::Position;
use crate::value::Value;

/// Values by name. Python code that evaluates a substitution may change them, so a change needs no
/// exclusive borrow; no borrow of a value outlives a call.
#[derive(Clone, Debug)]
pub(super) struct Bindings<V>(RefCell<BTreeMap<String, V>>);

impl<V> Default for Bindings<V> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<V: Clone> Bindings<V> {
    pub(super) fn get(&self, name: &str) -> Option<V> {
        self.0.borrow().get(name).cloned()
    }

    pub(super) fn insert(&self, name: String, value: V) {
        self.0.borrow_mut().insert(name, value);
    }

    pub(super) fn remove(&self, name: &str) {
        self.0.borrow_mut().remove(name);
    }

    pub(super) fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    pub(super) fn extend(&self, values: impl IntoIterator<Item = (String, V)>) {
        self.0.borrow_mut().extend(values);
    }

    /// Replaces all values, and returns them.
    pub(super) fn replace(&self, values: BTreeMap<String, V>) -> BTreeMap<String, V> {
        self.0.replace(values)
    }

    /// All values, sorted by name.
    pub(super) fn all(&self) -> BTreeMap<String, V> {
        self.0.borrow().clone()
    }
}

impl<V> FromIterator<(String, V)> for Bindings<V> {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(values: I) -> Self {
        Self(RefCell::new(values.into_iter().collect()))
    }
}

/// What `push_configurations` saves: all that stock launch keeps among its configurations.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    configurations: Bindings<String>,
    namespace: Option<String>,
    parameters: Vec<Parameters>,
    remaps: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// The values of arguments and of `let`, by name.
    pub(super) configurations: Bindings<String>,
    /// The differences from the environment of this process.
    pub(super) environment: Bindings<Option<String>>,
    /// The environments that `push_env` has saved for `pop_env`.
    pub(super) pushed_environments: Vec<Bindings<Option<String>>>,
    /// What `push_configurations` has saved for `pop_configurations`.
    pub(super) saved: Vec<Saved>,
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
            Some(changed) => changed,
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

    /// Saves the configurations, and returns how many times they are saved.
    pub(super) fn push_configurations(&mut self) -> usize {
        self.saved.push(Saved {
            configurations: self.configurations.clone(),
            namespace: self.namespace.clone(),
            parameters: self.parameters.clone(),
            remaps: self.remaps.clone(),
        });
        self.saved.len()
    }

    /// Restores the configurations that were saved last; returns whether there are any.
    pub(super) fn pop_configurations(&mut self) -> bool {
        let Some(saved) = self.saved.pop() else { return false };
        self.configurations = saved.configurations;
        self.namespace = saved.namespace;
        self.parameters = saved.parameters;
        self.remaps = saved.remaps;
        true
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
