//! Messages that users type, as YAML or JSON; where one is malformed, the place is shown.

use std::path::PathBuf;

use feros_message::dynamic::{DynamicMessage, DynamicType, InputError, StampFields};

use crate::error::CliError;

/// The fields of a message or request, from one of three places.
#[derive(clap::Args, Clone)]
pub(crate) struct ValuesArgs {
    /// The fields that are not at their defaults, as YAML or JSON
    #[arg(default_value = "{}")]
    values: String,
    /// Read the fields from standard input
    #[arg(long, conflicts_with_all = ["values", "yaml_file"])]
    stdin: bool,
    /// Read the fields from a file
    #[arg(short, long, value_name = "FILE", conflicts_with = "values")]
    yaml_file: Option<PathBuf>,
}

impl ValuesArgs {
    /// The text, wherever it comes from.
    pub(crate) fn text(&self) -> Result<String, CliError> {
        match &self.yaml_file {
            Some(path) => {
                feros_files::open(path).and_then(std::io::read_to_string).map_err(|error| {
                    CliError::failed(format!("{} cannot be read: {error}", path.display()))
                })
            }
            None if self.stdin => std::io::read_to_string(std::io::stdin()).map_err(|error| {
                CliError::failed(format!("standard input cannot be read: {error}"))
            }),
            None => Ok(self.values.clone()),
        }
    }
}

/// Reads a message in which a header may be `auto` and a time `now`.
pub(crate) fn read(
    ty: &DynamicType,
    text: &str,
) -> Result<(DynamicMessage, StampFields), CliError> {
    DynamicMessage::from_yaml_with_stamps(ty, text)
        .map_err(|error| CliError::usage(with_place(&error, text)))
}

/// The error, and below it the line with a caret under the place.
fn with_place(error: &InputError, text: &str) -> String {
    let place =
        error.position().and_then(|(line, column)| match text.lines().nth(line.checked_sub(1)?) {
            Some(shown) => Some((shown, column.checked_sub(1)?)),
            // Something is missing behind the end.
            None => text.lines().last().map(|last| (last, usize::MAX)),
        });
    match place {
        // A line that a terminal cannot show as one is no help.
        Some((line, column)) if line.chars().count() <= 200 => {
            let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            format!("{error}\n  | {line}\n  | {}^", " ".repeat(column.min(line.chars().count())))
        }
        _ => error.to_string(),
    }
}

/// The time now, as stamps have it.
pub(crate) fn now() -> (i32, u32) {
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    (i32::try_from(now.as_secs()).unwrap_or(i32::MAX), now.subsec_nanos())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn error(name: &str, text: &str) -> String {
        let ty = DynamicType::resolve(feros_interface::shipped(), &name.parse().unwrap()).unwrap();
        read(&ty, text).unwrap_err().to_string()
    }

    #[test]
    fn the_place_of_an_error_is_shown() {
        let text = error("geometry_msgs/msg/Point", "{x: 1, q: 2}");
        assert!(text.contains("has no field `q`"), "{text}");
        assert!(text.contains("`x`, `y`, `z`"), "{text}");
        assert!(text.ends_with("\n  | {x: 1, q: 2}\n  |           ^"), "{text}");
        let text = error("geometry_msgs/msg/Point", "x: 1\ny: [");
        assert!(text.ends_with("\n  | y: [\n  |     ^"), "{text}");
        let text = error("geometry_msgs/msg/Point", "x: one");
        assert!(text.contains("field `x`") && text.ends_with("\n  | x: one\n  |    ^"), "{text}");
    }
}
