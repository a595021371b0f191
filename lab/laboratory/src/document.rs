//! Reads the laboratory's TOML files. Each error names the file, the line and the allowed values.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use feros_wording::did_you_mean;

/// The limit on the size of a file.
const MOST_BYTES: u64 = 1 << 20;

/// An error in a scenario or a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {text}", path.display())]
pub struct DocumentError {
    /// The file.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// The error and the allowed values.
    pub text: String,
}

/// The text of a file, kept to find the line of an error.
pub(crate) struct Document {
    path: PathBuf,
    text: String,
}

impl Document {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, DocumentError> {
        let text =
            feros_files::read_to_string(path, MOST_BYTES).map_err(|error| DocumentError {
                path: path.to_owned(),
                line: 1,
                text: format!("it cannot be read: {error}"),
            })?;
        Ok(Self { path: path.to_owned(), text })
    }

    /// Wraps a text that does not come from a file; `path` names it in errors.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// Parses the values of the document.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, DocumentError> {
        toml::from_str(&self.text)
            .map_err(|error| self.error(error.span().unwrap_or(0..0), explained(error.message())))
    }

    /// An error at a position of the document.
    pub(crate) fn error(&self, at: Range<usize>, text: impl Into<String>) -> DocumentError {
        let before = self.text.get(..at.start).unwrap_or(&self.text);
        DocumentError {
            path: self.path.clone(),
            line: before.matches('\n').count() + 1,
            text: text.into(),
        }
    }
}

/// Adds the nearest known name to serde's message about an unknown key or word.
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("scenario.toml");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let error = Document::read(&pipe).err().unwrap();
        assert!(error.text.contains("not a regular file"), "{error}");
    }
}
