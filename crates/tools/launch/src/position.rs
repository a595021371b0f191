//! Positions in launch files, which every error names.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A position in a launch file. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The file, in the form in which the caller named it.
    pub file: Arc<Path>,
    /// The line.
    pub line: u32,
    /// The column in characters.
    pub column: u32,
}

impl Position {
    pub(crate) fn new(file: &Arc<Path>, line: usize, column: usize) -> Self {
        let bounded = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Self { file: Arc::clone(file), line: bounded(line), column: bounded(column) }
    }

    /// The position a number of characters further on the same line.
    pub(crate) fn advanced(&self, characters: usize) -> Self {
        let characters = u32::try_from(characters).unwrap_or(u32::MAX);
        Self { column: self.column.saturating_add(characters), ..self.clone() }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// The start of each line of a text, to find the line and the column of a byte without reading the
/// text again.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let after_breaks =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The position of a byte.
    pub(crate) fn position(&self, file: &Arc<Path>, byte: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= byte).max(1);
        let before = self.text.get(self.starts[line - 1]..byte).unwrap_or("");
        Position::new(file, line, before.chars().count() + 1)
    }
}
