//! A selection of topics or services, such as those that a bridge bridges: all names, or the names
//! in a list.

/// The error for a string that is not a valid pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{pattern}` is not a name: a name begins with `/`, and only its last character may be a `*`"
)]
pub struct PatternError {
    /// The invalid pattern.
    pub pattern: String,
}

/// Selects all names, or the names in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection(Option<Vec<String>>);

impl Selection {
    /// Selects all names.
    #[must_use]
    pub fn all() -> Self {
        Self(None)
    }

    /// Selects no name.
    #[must_use]
    pub fn none() -> Self {
        Self(Some(Vec::new()))
    }

    /// Selects the given fully qualified names. A `*` at the end of a name represents any string.
    ///
    /// # Errors
    /// Returns an error if a pattern is not a name.
    pub fn of(patterns: &[String]) -> Result<Self, PatternError> {
        let wrong = |pattern: &&String| {
            let name = pattern.strip_suffix('*').unwrap_or(pattern);
            !name.starts_with('/') || name.contains('*')
        };
        match patterns.iter().find(wrong) {
            Some(pattern) => Err(PatternError { pattern: pattern.clone() }),
            None => Ok(Self(Some(patterns.to_vec()))),
        }
    }

    /// Whether this name is selected.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let Some(patterns) = &self.0 else { return true };
        patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_and_beginnings_of_names_select() {
        let some = Selection::of(&["/a".to_owned(), "/ns/*".to_owned()]).unwrap();
        assert!(some.has("/a") && some.has("/ns/b") && !some.has("/ab") && !some.has("/ns"));
        assert!(Selection::all().has("/x") && !Selection::none().has("/x"));
        for wrong in ["a", "/a*b", "*"] {
            assert!(Selection::of(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
