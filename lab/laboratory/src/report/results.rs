//! Reads the folder of a run, which may be finished, interrupted or damaged. Readable parts are
//! used; unreadable parts are reported with the file and the line.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::record::{FORMAT, Figure, FigureKind, Record, Run, Scenario, System, Value};

/// The limit on a line of `cells.jsonl`, and on `run.json`, in bytes: a record with many
/// subscriptions is far shorter.
const LONGEST_TEXT_BYTES: u64 = 64 << 20;

/// The readable results of a run.
#[derive(Debug, Clone)]
pub struct Results {
    /// The run.
    pub run: Run,
    /// The records of its cells, in the order in which they ended.
    pub records: Vec<Record>,
    /// Notices of unreadable or inconsistent parts.
    pub notices: Vec<Notice>,
    /// The runs that these results are joined from; empty for a single run.
    pub parts: Vec<Part>,
}

/// A run that is a part of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The name of its grid or scenario.
    pub name: String,
    /// The start, in seconds since 1970.
    pub began_unix_seconds: u64,
    /// The end; `None` if the run has not ended.
    pub ended_unix_seconds: Option<u64>,
    /// The number of its cells.
    pub cells: usize,
    /// The median of the load of the machine over its cells.
    pub load: Option<f64>,
    /// The median of the processor time that was stolen while its cells were measured.
    pub stolen_percent: Option<f64>,
}

/// A part that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1, if it is a single line.
    pub line: Option<usize>,
    /// The error, and how it was handled.
    pub text: String,
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.text)
    }
}

/// The reason why no part of a folder can be used.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The folder does not belong to a run, or is empty.
    #[error(
        "{0} has neither run.json nor cells.jsonl. Give the folder that `feros lab run --out` wrote"
    )]
    NoRun(PathBuf),
    /// The operating system refused access.
    #[error("{path} cannot be read: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

impl Results {
    /// Reads a run's folder.
    ///
    /// # Errors
    /// If nothing can be used; all other errors are in [`Results::notices`].
    pub fn read(folder: &Path) -> Result<Self, ReadError> {
        let (run_path, cells_path) = (folder.join("run.json"), folder.join("cells.jsonl"));
        if !run_path.exists() && !cells_path.exists() {
            return Err(ReadError::NoRun(folder.to_owned()));
        }
        let mut notices = Vec::new();
        let run = read_run(&run_path, &mut notices)?;
        let records = read_cells(&cells_path, &mut notices)?;
        let mut run = run.unwrap_or_else(|| run_of(&records, folder));
        complete(&mut run, &records, &run_path, &mut notices);
        Ok(Self { run, records, notices, parts: Vec::new() })
    }
}

fn read_run(path: &Path, notices: &mut Vec<Notice>) -> Result<Option<Run>, ReadError> {
    let mut say = |line: Option<usize>, text: String| {
        let text =
            format!("{text}; its contents are reconstructed from the cells as far as possible");
        notices.push(Notice { file: path.to_owned(), line, text });
        Ok(None)
    };
    let mut bytes = Vec::new();
    match feros_files::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return say(None, "it is missing".to_owned());
        }
        Err(error) => return Err(ReadError::Io { path: path.to_owned(), error }),
        Ok(file) => file
            .take(LONGEST_TEXT_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|error| ReadError::Io { path: path.to_owned(), error })?,
    };
    let value: serde_json::Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(error) => return say(Some(error.line().max(1)), format!("it is not JSON: {error}")),
    };
    let format = value.get("format").and_then(serde_json::Value::as_u64);
    if format != Some(u64::from(FORMAT)) {
        let line = line_of(&bytes, b"\"format\"");
        let found =
            format.map_or("no format number".to_owned(), |format| format!("format {format}"));
        return say(
            Some(line),
            format!("it has {found}, but this laboratory reads format {FORMAT}"),
        );
    }
    match serde_json::from_slice(&bytes) {
        Ok(run) => Ok(Some(run)),
        Err(error) => say(Some(error.line().max(1)), format!("it is not a run: {error}")),
    }
}

fn line_of(bytes: &[u8], word: &[u8]) -> usize {
    let at = bytes.windows(word.len()).position(|window| window == word).unwrap_or(0);
    bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1
}

fn read_cells(path: &Path, notices: &mut Vec<Notice>) -> Result<Vec<Record>, ReadError> {
    let failed = |error| ReadError::Io { path: path.to_owned(), error };
    let mut reader = match feros_files::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            notices.push(Notice {
                file: path.to_owned(),
                line: None,
                text: "it is missing: no cell of this run has ended".to_owned(),
            });
            return Ok(Vec::new());
        }
        opened => BufReader::new(opened.map_err(failed)?),
    };
    let (mut records, mut text, mut line) = (Vec::new(), Vec::new(), 0);
    loop {
        text.clear();
        line += 1;
        if reader.by_ref().take(LONGEST_TEXT_BYTES).read_until(b'\n', &mut text).map_err(failed)?
            == 0
        {
            return Ok(records);
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Record>(&text) {
            Ok(record) => records.push(record),
            Err(error) => {
                let cut = !text.ends_with(b"\n");
                let what = if cut {
                    "it ends within this cell: the run was cut off"
                } else {
                    "not a cell"
                };
                let text = format!("{what} ({error}); this cell is left out");
                notices.push(Notice { file: path.to_owned(), line: Some(line), text });
            }
        }
    }
}

/// A run reconstructed from its cells, if `run.json` cannot be read.
fn run_of(records: &[Record], folder: &Path) -> Run {
    Run {
        format: FORMAT,
        grid: folder
            .file_name()
            .map_or_else(|| "unknown".to_owned(), |name| name.to_string_lossy().into_owned()),
        began_unix_seconds: records
            .iter()
            .map(|record| record.began_unix_seconds)
            .min()
            .unwrap_or(0),
        ..Run::default()
    }
}

/// Adds systems and scenarios that appear only in the cells.
fn complete(run: &mut Run, records: &[Record], run_path: &Path, notices: &mut Vec<Notice>) {
    let known: BTreeSet<&str> =
        run.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    let unknown: BTreeSet<String> = records
        .iter()
        .filter(|record| !known.contains(record.scenario.as_str()))
        .map(|record| record.scenario.clone())
        .collect();
    for name in unknown {
        if !known_absence(notices, run_path) {
            let text = format!(
                "it does not name the scenario {name} that cells belong to; they are shown in a general form"
            );
            notices.push(Notice { file: run_path.to_owned(), line: None, text });
        }
        run.scenarios.push(general_scenario(name, records));
    }
    for record in records {
        let Some(system) = record.word("system") else { continue };
        if !run.systems.iter().any(|known| known.name == system) {
            let (name, title) = (system.to_owned(), system.to_owned());
            run.systems.push(System { name, title, ..System::default() });
        }
    }
}

fn known_absence(notices: &[Notice], run_path: &Path) -> bool {
    notices.iter().any(|notice| notice.file == run_path)
}

/// A scenario with one figure that fits any records: median latency over the numeric dimension that
/// varies most.
fn general_scenario(name: String, records: &[Record]) -> Scenario {
    let mine: Vec<&Record> = records.iter().filter(|record| record.scenario == name).collect();
    let numbers: BTreeSet<&str> = mine
        .iter()
        .flat_map(|record| &record.dimensions)
        .filter(|(_, value)| matches!(value, Value::Number(_)))
        .map(|(dimension, _)| dimension.as_str())
        .collect();
    let values = |dimension: &str| {
        let shown: BTreeSet<String> = mine
            .iter()
            .filter_map(|record| record.dimensions.get(dimension))
            .map(|value| format!("{value:?}"))
            .collect();
        shown.len()
    };
    let x = numbers
        .into_iter()
        .max_by_key(|dimension| values(dimension))
        .unwrap_or("system")
        .to_owned();
    let figure = Figure {
        title: "Latency".to_owned(),
        kind: if x == "system" { FigureKind::Bars } else { FigureKind::Lines },
        x,
        y: "latency".to_owned(),
        series: vec!["system".to_owned()],
        only: Default::default(),
        floor: None,
    };
    Scenario { title: name.clone(), name, figures: vec![figure], ..Scenario::default() }
}
