//! The reason why a launch file cannot be read or planned.

use std::path::PathBuf;

use crate::position::Position;

/// The reason why a launch file cannot be read or planned. The text names the file, the line, the
/// column, the problem and the cure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The file cannot be read.
    #[error("{}{} cannot be read: {cause}", included_at(.from), .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The position that includes the file, if there is one.
        from: Option<Position>,
        /// The error of the operating system.
        cause: std::io::Error,
    },
    /// The file is larger than the limit for launch files.
    #[error(
        "{} is larger than {limit} bytes, the limit for a launch file: divide it into files, and \
         include these",
        .path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The file is written in a language that Feros cannot read.
    #[error("{}{} is not a launch file that feros launch can read: {reason}", included_at(.from), .path.display())]
    Language {
        /// The file.
        path: PathBuf,
        /// The position that includes the file, if there is one.
        from: Option<Position>,
        /// The reason, and what to do.
        reason: String,
    },
    /// There is a mistake in a file.
    #[error("{position}: {problem}")]
    InFile {
        /// The position of the mistake.
        position: Position,
        /// The given text, and what was expected.
        problem: String,
    },
    /// An argument of the command line is wrong.
    #[error("{0}")]
    Argument(String),
    /// A signal with this number ended the planning.
    #[error("signal {0} ended the planning")]
    Signal(i32),
    /// Several mistakes in the order of the file, each on a line of its own.
    #[error("{}", lines(.0))]
    Several(Vec<LaunchError>),
}

/// The limit on reported mistakes.
const MOST_ERRORS: usize = 100;

fn lines(errors: &[LaunchError]) -> String {
    let mut lines: Vec<String> = errors.iter().take(MOST_ERRORS).map(ToString::to_string).collect();
    if errors.len() > MOST_ERRORS {
        lines.push(format!("and at least {} more", errors.len() - MOST_ERRORS));
    }
    lines.join("\n")
}

fn included_at(from: &Option<Position>) -> String {
    from.as_ref().map(|position| format!("{position}: ")).unwrap_or_default()
}

impl LaunchError {
    pub(crate) fn at(position: &Position, problem: impl Into<String>) -> Self {
        Self::InFile { position: position.clone(), problem: problem.into() }
    }

    /// Combines two errors, each of which may be missing.
    pub(crate) fn of_either(first: Option<Self>, second: Option<Self>) -> Result<(), Self> {
        Self::of_all(first.into_iter().chain(second).collect())
    }

    /// Combines all mistakes into one error, without duplicates; `Ok` if there are no
    /// mistakes.
    pub(crate) fn of_all(errors: Vec<Self>) -> Result<(), Self> {
        let mut told: Vec<Self> = Vec::new();
        for error in errors {
            let several = match error {
                Self::Several(several) => several,
                one => vec![one],
            };
            for one in several {
                if told.iter().all(|known| known.to_string() != one.to_string()) {
                    told.push(one);
                }
            }
        }
        match told.len() {
            0 => Ok(()),
            1 => Err(told.remove(0)),
            _ => Err(Self::Several(told)),
        }
    }
}

/// Shortens text from a file for a message, and removes control characters.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let (text, more) = match text.char_indices().nth(MOST) {
        Some((end, _)) => (&text[..end], "..."),
        None => (text, ""),
    };
    format!("`{}{more}`", feros_wording::harmless(text))
}

/// `; did you mean x?` if a known word is similar; otherwise all known words, if they are few.
pub(crate) fn hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = feros_wording::did_you_mean(given, known.iter().copied());
    if nearest.is_empty() && (1..=32).contains(&known.len()) {
        return format!("; known are {}", feros_wording::harmless(&known.join(", ")));
    }
    nearest
}
