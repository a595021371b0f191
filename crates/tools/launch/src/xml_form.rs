//! The XML form of the actions of a launch file. Substitutions and conditions stay as they are.
//! Parts that only Python can express have no such form: the error names them, with the cure.

mod actions;
mod element;
mod parameters;
mod processes;
mod text;

use std::path::Path;

use crate::action::{self, Item};
use crate::error::LaunchError;
use crate::position::Position;
use crate::tree;
use actions::Exporter;
use element::Element;

/// The XML form of the actions of a file.
///
/// # Errors
/// Names all actions that have no XML form.
pub(crate) fn xml_form(file: &Path, items: &[Item]) -> Result<String, LaunchError> {
    let mut exporter = Exporter::default();
    let children = exporter.elements(items);
    LaunchError::of_all(exporter.into_errors())?;
    let text = Element::new("launch").with_children(children).document();
    // Values may contain characters that XML does not allow, such as control characters.
    tree::parse_xml(file, &text).and_then(action::parse).map_err(|error| {
        let at = Position::new(&file.into(), 1, 1);
        LaunchError::at(&at, format!("its XML form would not be readable: {error}"))
    })?;
    Ok(text)
}

/// The error of something that has no XML form.
fn refused(at: &Position, what: impl AsRef<str>, cure: &str) -> LaunchError {
    LaunchError::at(at, format!("{} has no XML form: {cure}", what.as_ref()))
}
