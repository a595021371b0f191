//! Reading the laboratory's TOML files: whatever is wrong is said with file, line and what is
//! allowed.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use feros_wording::did_you_mean;

/// What is wrong in a scenario or a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {text}", path.display())]
pub struct DocumentError {
    /// The file.
    pub path: PathBuf,
    /// From 1.
    pub line: usize,
    /// What is wrong and what is allowed.
    pub text: String,
}

/// A file's text, to say where in it something is.
pub(crate) struct Document {
    path: PathBuf,
    text: String,
}

impl Document {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, DocumentError> {
        let text = std::fs::read_to_string(path).map_err(|error| DocumentError {
            path: path.to_owned(),
            line: 1,
            text: format!("it cannot be read: {error}"),
        })?;
        Ok(Self { path: path.to_owned(), text })
    }

    /// A text that is no file; `path` says what it is.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// Its values.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, DocumentError> {
        toml::from_str(&self.text)
            .map_err(|error| self.error(error.span().unwrap_or(0..0), explained(error.message())))
    }

    /// Something wrong at a place.
    pub(crate) fn error(&self, at: Range<usize>, text: impl Into<String>) -> DocumentError {
        let before = self.text.get(..at.start).unwrap_or(&self.text);
        DocumentError {
            path: self.path.clone(),
            line: before.matches('\n').count() + 1,
            text: text.into(),
        }
    }
}

/// Adds the nearest name to what serde says of an unknown key or word.
fn explained(message: &str) -> String {
    let message = message.trim_end();
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(given) if message.starts_with("unknown ") => {
            format!("{message}{}", did_you_mean(given, quoted))
        }
        _ => message.to_owned(),
    }
}
