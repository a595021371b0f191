//! Mistakes after which planning goes on, so that one run tells all of them. A text with a mistake
//! becomes a placeholder. A later mistake that depends on a placeholder follows from the first one,
//! and is not told. A file with a mistake is refused at its end, so nothing starts with a
//! placeholder.

use std::cell::{Cell, RefCell};

use crate::error::LaunchError;

/// The character that only placeholders contain. Unicode reserves it for uses within a program.
pub(super) const MARK: char = '\u{fdd0}';
/// The forms in which messages write the character.
pub(super) const MARK_IN_MESSAGES: [&str; 3] = ["\u{fdd0}", "\\u{fdd0}", "\\ufdd0"];
/// The text that stands for a text with a mistake. It is an absolute path, as most such texts are.
pub(super) const UNKNOWN: &str = "/\u{fdd0}";

/// The limit on different mistakes after which planning goes on.
const MOST_MISTAKES: usize = 200;
/// The limit on repetitions of mistakes, such as those in loops.
const MOST_REPETITIONS: usize = 300;

/// The mistakes that planning has found, and whether it goes on.
#[derive(Default)]
pub(super) struct Mistakes {
    /// Whether planning goes on after a mistake. If not, each mistake fails at once, which is right
    /// for the questions of Python, since its code may handle the failure.
    pub(super) goes_on: Cell<bool>,
    /// Whether a limit was exceeded, so that planning ends.
    pub(super) is_over: Cell<bool>,
    told: RefCell<Vec<LaunchError>>,
    repetitions: Cell<usize>,
    /// Whether the last error is that of a value which depends on a placeholder.
    pub(super) depends: Cell<bool>,
    /// The first mistake that may follow from another.
    pub(super) following: RefCell<Option<LaunchError>>,
    /// Whether there are placeholders.
    pub(super) has_placeholders: Cell<bool>,
}

impl Mistakes {
    /// Sets whether planning goes on after a mistake; returns whether it did.
    pub(super) fn go_on(&self, goes_on: bool) -> bool {
        self.goes_on.replace(goes_on)
    }

    pub(super) fn add(&self, error: LaunchError) -> Result<(), LaunchError> {
        if let LaunchError::Several(several) = error {
            return several.into_iter().try_for_each(|one| self.add(one));
        }
        let mut told = self.told.borrow_mut();
        let text = error.to_string();
        let is_known = told.iter().any(|known| known.to_string() == text);
        self.repetitions.set(self.repetitions.get() + usize::from(is_known));
        if told.len() >= MOST_MISTAKES || self.repetitions.get() > MOST_REPETITIONS {
            self.is_over.set(true);
            return Err(error);
        }
        if !is_known {
            told.push(error);
        }
        Ok(())
    }

    /// Removes and returns the mistakes so far. If planning has failed, there is at least one
    /// mistake.
    pub(super) fn take(&self) -> Vec<LaunchError> {
        self.is_over.set(false);
        self.repetitions.set(0);
        let (mut told, following) = (self.told.take(), self.following.take());
        if told.is_empty() {
            told.extend(following);
        }
        told
    }
}
