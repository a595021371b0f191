//! What actions change and groups restore: configurations, environment, namespace, parameters and
//! remaps for all nodes.

use std::collections::BTreeMap;

use super::Parameters;

#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Values of arguments and of `let`.
    pub(super) configurations: BTreeMap<String, String>,
    /// What differs from this process's environment.
    pub(super) environment: BTreeMap<String, Option<String>>,
    pub(super) namespace: Option<String>,
    pub(super) parameters: Vec<Parameters>,
    pub(super) remaps: Vec<(String, String)>,
}

impl Scope {
    /// A variable of the environment that processes started now would have.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        match self.environment.get(name) {
            Some(changed) => changed.clone(),
            None if name.is_empty() || name.contains(['=', '\0']) => None,
            None => std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()),
        }
    }

    /// The namespace of a node that asks for one, or for none.
    pub(super) fn namespace_of(&self, asked: Option<&str>) -> Option<String> {
        joined_namespace(self.namespace.as_deref(), asked)
    }
}

/// A relative namespace within another; absolute ones stand for themselves. The result is absolute.
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
