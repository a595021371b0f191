//! Turns a run's folder into a page for people: `report.html`, and `report.md` as its summary.

mod canvas;
mod checks;
mod compare;
mod conditions;
mod context;
mod documents;
mod escape;
mod features;
mod figure;
mod findings;
mod floors;
mod font;
mod goals;
mod groups;
mod lines;
mod markdown;
mod measured;
mod metric;
mod page;
mod palette;
mod parts;
mod payloads;
mod quantity;
mod questions;
mod results;
mod rows;
mod sample;
mod scale;
mod selection;
mod summary;
mod tables;
mod threads;
mod unmeasured;
mod verdicts;

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use compare::{CompareError, ComparedCell, SideBySide, compare_runs};
pub use goals::{GoalResult, goals};
pub use results::{Notice, Part, ReadError, Results};
pub use summary::{Summary, summaries};
pub use verdicts::{Ruling, Verdict, VerdictRow, verdicts};

use context::Context;

/// A report could not be written.
#[derive(Debug, Error)]
#[error("{path} cannot be written: {error}")]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// The error of writing.
    pub error: io::Error,
}

/// The contents of the page and of the summary.
struct Shown<'a> {
    results: &'a Results,
    context: &'a Context<'a>,
    answers: Vec<questions::Answer<'a>>,
    blocks: Vec<payloads::Block>,
    verdicts: Vec<Verdict>,
}

/// The report of a run, as texts.
#[derive(Debug, Clone)]
pub struct Report {
    /// The report as one self-contained page.
    pub html: String,
    /// The summary in Markdown.
    pub markdown: String,
}

impl Report {
    /// Makes the report of a run.
    pub fn of(results: &Results) -> Self {
        let context = Context::new(&results.run, &results.records);
        let shown = Shown {
            answers: questions::answers(&context),
            blocks: payloads::blocks(&context),
            verdicts: verdicts(results),
            context: &context,
            results,
        };
        Self { html: page::report(&shown), markdown: markdown::summary(&shown) }
    }

    /// Writes `report.html` and `report.md` into a folder; returns the path of the page.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, WriteError> {
        write(&folder.join("report.md"), &self.markdown)?;
        let page = folder.join("report.html");
        write(&page, &self.html)?;
        Ok(page)
    }
}

/// Writes a file completely or not at all, since half a page is useless: writes a temporary file in
/// the same folder and renames it.
fn write(path: &Path, text: &str) -> Result<(), WriteError> {
    let beside = path.with_extension("part");
    feros_files::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, path))
        .map_err(|error| WriteError { path: path.to_owned(), error })
}
