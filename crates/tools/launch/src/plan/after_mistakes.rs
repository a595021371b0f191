//! How evaluation goes on after a mistake: it notes the mistake, and puts a placeholder or default
//! in the place of what is unknown.

use super::evaluator::Evaluator;
use super::mistakes::{MARK, MARK_IN_MESSAGES, UNKNOWN};
use crate::error::LaunchError;
use crate::position::Position;
use crate::substitution::Template;

impl Evaluator {
    /// Runs `evaluate`, which goes on after mistakes.
    ///
    /// # Errors
    /// Fails with all mistakes.
    pub(super) fn with_all_mistakes(
        &mut self,
        evaluate: impl FnOnce(&mut Self) -> Result<(), LaunchError>,
    ) -> Result<(), LaunchError> {
        let before = self.mistakes.go_on(true);
        let last = evaluate(self);
        self.mistakes.go_on(before);
        let mut errors = self.mistakes.take();
        errors.extend(last.err());
        errors.extend(self.containers.take_errors());
        LaunchError::of_all(errors)
    }

    /// Notes a mistake, after which planning goes on.
    ///
    /// # Errors
    /// Fails with the mistake if planning cannot go on.
    pub(super) fn note(&self, error: LaunchError) -> Result<(), LaunchError> {
        let mistakes = &self.mistakes;
        if !mistakes.goes_on.get()
            || mistakes.is_over.get()
            || matches!(error, LaunchError::Signal(_))
        {
            return Err(error);
        }
        let depends = self.depends_on_mistake(&error.to_string());
        let depends = mistakes.depends.take() || depends;
        if !depends && !self.python.follows() {
            return mistakes.add(error);
        }
        if self.python.rehearses() {
            // A rehearsed action that needs the event is shown as unknown, which is no mistake.
            return if depends { Ok(()) } else { Err(error) };
        }
        self.python.forget_error();
        mistakes.following.borrow_mut().get_or_insert(error);
        Ok(())
    }

    /// Forgets what is known about the last error; returns whether it may follow from another.
    pub(super) fn forget_error(&self) -> bool {
        let follows = self.mistakes.depends.take() || self.python.follows();
        self.python.forget_error();
        follows
    }

    /// The result, or a default after a mistake, which is noted: then the other parts of an action
    /// are evaluated too.
    pub(super) fn tried<T: Default>(
        &self,
        result: Result<T, LaunchError>,
    ) -> Result<T, LaunchError> {
        self.noted(result, T::default)
    }

    /// The text, or a placeholder after a mistake, which is noted.
    pub(super) fn text_or_placeholder(
        &self,
        result: Result<String, LaunchError>,
    ) -> Result<String, LaunchError> {
        self.noted(result, || self.placeholder())
    }

    fn noted<T>(
        &self,
        result: Result<T, LaunchError>,
        instead: impl FnOnce() -> T,
    ) -> Result<T, LaunchError> {
        result.or_else(|error| self.note(error).map(|()| instead()))
    }

    pub(super) fn placeholder(&self) -> String {
        self.mistakes.has_placeholders.set(true);
        UNKNOWN.to_owned()
    }

    /// Whether a text contains a placeholder.
    pub(super) fn is_unknown(&self, text: &str) -> bool {
        self.mistakes.has_placeholders.get() && text.contains(MARK)
    }

    /// Whether a message contains a placeholder.
    pub(super) fn depends_on_mistake(&self, message: &str) -> bool {
        let has_placeholders = self.mistakes.has_placeholders.get();
        has_placeholders && MARK_IN_MESSAGES.iter().any(|form| message.contains(form))
    }

    /// The error of a value that depends on a placeholder.
    pub(super) fn unknown(&self, at: &Position) -> LaunchError {
        self.mistakes.depends.set(true);
        LaunchError::at(at, "this value depends on a mistake elsewhere")
    }

    /// Evaluates a template whose text decides something; fails if the text is unknown.
    pub(super) fn known_text(&self, template: &Template) -> Result<String, LaunchError> {
        let text = self.text(template)?;
        if self.is_unknown(&text) { Err(self.unknown(&template.at)) } else { Ok(text) }
    }

    /// Evaluates a template that names something that is set; without the name, it is unknown which
    /// variables are missing.
    pub(super) fn name_to_set(&self, template: &Template) -> Result<String, LaunchError> {
        let name = self.text(template)?;
        if self.is_unknown(&name) {
            self.python.end_early();
        }
        Ok(name)
    }

    /// The error of an exceeded limit, after which planning does not go on.
    pub(super) fn limit(&self, at: &Position, problem: String) -> LaunchError {
        self.mistakes.is_over.set(true);
        LaunchError::at(at, problem)
    }
}
