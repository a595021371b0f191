//! Decides the outcome of a cell from the way in which its programs ended.

use super::program::Program;
use crate::contract::{EXIT_NOT_INSTALLED, ErrorKind};

/// The outcome of a cell.
pub(super) enum Outcome {
    Complete,
    Failed(String),
    Hung(String),
    /// The system does not support the cell.
    Unsupported(String),
    /// The system lacks a requirement on this machine.
    NotInstalled(String),
}

/// Decides the outcome of a cell from its programs.
pub(super) fn judge(programs: &[Program]) -> Outcome {
    let errors =
        programs.iter().filter_map(|program| program.error.as_ref().map(|error| (program, error)));
    for (program, error) in errors {
        let text = if error.text.is_empty() {
            format!("{} gave no reason", program.name)
        } else {
            error.text.clone()
        };
        match error.kind {
            ErrorKind::Unsupported => return Outcome::Unsupported(text),
            ErrorKind::NoLicence => {
                return Outcome::NotInstalled(format!("no valid licence: {text}"));
            }
            ErrorKind::NotMatched | ErrorKind::Failed => {}
        }
    }
    let lacks = |program: &&Program| {
        program.ended.and_then(|status| status.code()) == Some(EXIT_NOT_INSTALLED)
    };
    if let Some(program) = programs.iter().find(lacks) {
        return Outcome::NotInstalled(program.failure().unwrap_or_default());
    }
    let hung: Vec<String> = programs
        .iter()
        .filter(|program| program.hung)
        .map(|program| format!("{} (process {})", program.name, program.pid()))
        .collect();
    if !hung.is_empty() {
        return Outcome::Hung(format!("{} did not end in time and was killed", hung.join(", ")));
    }
    let failures: Vec<String> =
        programs.iter().filter(|program| !program.killed).filter_map(Program::failure).collect();
    if failures.is_empty() { Outcome::Complete } else { Outcome::Failed(failures.join("; ")) }
}
