//! Which topics or services somebody wants, such as a bridge: all, or a list of names.

/// A pattern that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no name: it begins with `/`, and a `*` is its last character")]
pub struct PatternError {
    /// What it was.
    pub pattern: String,
}

/// All names, or those of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection(Option<Vec<String>>);

impl Selection {
    /// All.
    #[must_use]
    pub fn all() -> Self {
        Self(None)
    }

    /// None.
    #[must_use]
    pub fn none() -> Self {
        Self(Some(Vec::new()))
    }

    /// Names, fully qualified; a `*` at the end stands for anything.
    ///
    /// # Errors
    /// When one is no name.
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

    /// Whether it has this name.
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
