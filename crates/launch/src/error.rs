//! Why a launch file cannot be read or planned.

use std::path::PathBuf;

use crate::position::Position;

/// Why a launch file cannot be read or planned. Its text names file, line and column, what stood
/// there, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The file cannot be read.
    #[error("{}{} cannot be read: {cause}", included_at(.from), .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Where it is included, if it is.
        from: Option<Position>,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The file is larger than any launch file is.
    #[error("{} is larger than {limit} bytes, the most a launch file may have", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The file's language is not spoken here.
    #[error("{}{} is not a launch file that can be read here: {reason}", included_at(.from), .path.display())]
    Language {
        /// The file.
        path: PathBuf,
        /// Where it is included, if it is.
        from: Option<Position>,
        /// The reason, and what to do.
        reason: &'static str,
    },
    /// Something in a file is wrong.
    #[error("{position}: {problem}")]
    InFile {
        /// Where.
        position: Position,
        /// What stood there, and what was expected.
        problem: String,
    },
    /// An argument of the command line is wrong.
    #[error("{0}")]
    Argument(String),
}

fn included_at(from: &Option<Position>) -> String {
    from.as_ref().map(|position| format!("{position}: ")).unwrap_or_default()
}

impl LaunchError {
    pub(crate) fn at(position: &Position, problem: impl Into<String>) -> Self {
        Self::InFile { position: position.clone(), problem: problem.into() }
    }

    /// Where in a file the mistake is, when it is in a file.
    pub fn position(&self) -> Option<&Position> {
        match self {
            Self::InFile { position, .. } => Some(position),
            Self::Unreadable { from, .. } | Self::Language { from, .. } => from.as_ref(),
            Self::TooLarge { .. } | Self::Argument(_) => None,
        }
    }
}

/// What was given, short enough for a message and without control characters.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut shown: String =
        text.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push_str("...");
    }
    format!("`{shown}`")
}

/// `; did you mean x?` when a known word is alike, and otherwise all known words if they are few.
pub(crate) fn hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let best =
        known.iter().copied().max_by(|a, b| likeness(given, a).total_cmp(&likeness(given, b)));
    match best {
        Some(word) if likeness(given, word) > 0.8 => {
            format!("; did you mean `{word}`?")
        }
        Some(_) if known.len() <= 32 => format!("; known are {}", known.join(", ")),
        _ => String::new(),
    }
}

/// From 0 to 1; above 0.8 two words are alike. A letter too much, too few, wrong or swapped counts
/// more in short words than the usual measure gives it.
#[expect(clippy::cast_precision_loss, reason = "a few letters")]
fn likeness(given: &str, word: &str) -> f64 {
    const LONGEST: usize = 100;
    if given.chars().nth(LONGEST).is_some() {
        return 0.0;
    }
    let (given, word) = (given.to_lowercase(), word.to_lowercase());
    let by_letters = strsim::jaro_winkler(&given, &word);
    let slips = strsim::osa_distance(&given, &word);
    let allowed = word.chars().count() / 4 + usize::from(word.chars().count() >= 3);
    if slips <= allowed.min(2) && slips < given.chars().count() {
        by_letters.max(0.95 - 0.05 * slips as f64)
    } else {
        by_letters
    }
}
