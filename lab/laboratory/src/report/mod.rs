//! From a run's folder to a page that a person wants to look at: `report.html`, and `report.md` as
//! its summary.

mod canvas;
mod compare;
mod context;
mod figure;
mod findings;
mod floors;
mod font;
mod goals;
mod groups;
mod left_out;
mod lines;
mod markdown;
mod metric;
mod page;
mod palette;
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

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use compare::{CompareError, ComparedCell, SideBySide, compare_runs};
pub use goals::{GoalResult, goals};
pub use results::{Notice, ReadError, Results};
pub use summary::{Summary, summaries};

use context::Context;

/// A report could not be written.
#[derive(Debug, Error)]
#[error("{path} cannot be written: {error}")]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// What page and summary show.
struct Shown<'a> {
    results: &'a Results,
    context: &'a Context<'a>,
    answers: Vec<questions::Answer<'a>>,
    blocks: Vec<payloads::Block>,
}

/// The report of a run as text.
#[derive(Debug, Clone)]
pub struct Report {
    /// One self-contained page.
    pub html: String,
    /// The summary in Markdown.
    pub markdown: String,
}

impl Report {
    /// Makes the report.
    pub fn of(results: &Results) -> Self {
        let context = Context::new(&results.run, &results.records);
        let shown = Shown {
            answers: questions::answers(&context),
            blocks: payloads::blocks(&context),
            context: &context,
            results,
        };
        Self { html: page::report(&shown), markdown: markdown::summary(&shown) }
    }

    /// Writes `report.html` and `report.md` into a folder; answers where the page is.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, WriteError> {
        write(&folder.join("report.md"), &self.markdown)?;
        let page = folder.join("report.html");
        write(&page, &self.html)?;
        Ok(page)
    }
}

/// Whole or not at all: beside its place first, as a report that is half a page says nothing.
fn write(path: &Path, text: &str) -> Result<(), WriteError> {
    let beside = path.with_extension("part");
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, path))
        .map_err(|error| WriteError { path: path.to_owned(), error })
}
