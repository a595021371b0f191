//! Messages that users type, as YAML or JSON; errors show the position of the mistake.

use std::path::PathBuf;

use feros_message::dynamic::{DynamicMessage, DynamicType, InputError, StampFields};
use feros_wording::harmless;

use crate::error::CliError;

/// The fields of a message or request, from one of three sources.
#[derive(clap::Args, Clone)]
pub(crate) struct ValuesArgs {
    /// The fields that differ from their defaults, as YAML or JSON
    #[arg(default_value = "{}")]
    values: String,
    /// Read the fields from standard input
    #[arg(long, conflicts_with_all = ["values", "yaml_file"])]
    stdin: bool,
    /// Read the fields from a file, such as the output of `topic echo`; `topic pub` sends its
    /// documents one after the other
    #[arg(short, long, value_name = "FILE", conflicts_with = "values")]
    yaml_file: Option<PathBuf>,
}

impl ValuesArgs {
    /// The text from whichever source the user chose.
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

    /// Returns the messages of a file in order, each with its time fields. Returns `None` if the
    /// user named no file, but gave one message.
    pub(crate) fn file_messages(
        &self,
        ty: &DynamicType,
    ) -> Result<Option<Vec<(DynamicMessage, StampFields)>>, CliError> {
        let Some(path) = &self.yaml_file else { return Ok(None) };
        let text = self.text()?;
        let documents = documents(&text);
        let read_one = |(index, document): (usize, &String)| {
            read(ty, document).map_err(|error| {
                let number = index + 1;
                CliError::usage(format!("{}, document {number}: {error}", path.display()))
            })
        };
        documents.iter().enumerate().map(read_one).collect::<Result<_, _>>().map(Some)
    }
}

/// The documents of a YAML text that are not empty. A line `---` always separates documents, since
/// it cannot be a part of a value.
fn documents(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in text.lines() {
        match line.trim_end() {
            "---" | "..." => documents.push(String::new()),
            _ => {
                if let Some(document) = documents.last_mut() {
                    document.push_str(line);
                    document.push('\n');
                }
            }
        }
    }
    let says_something = |document: &String| {
        document.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    };
    documents.retain(says_something);
    documents
}

/// Reads a message in which a header may be `auto` and a time `now`.
pub(crate) fn read(
    ty: &DynamicType,
    text: &str,
) -> Result<(DynamicMessage, StampFields), CliError> {
    DynamicMessage::from_yaml_with_stamps(ty, text)
        .map_err(|error| CliError::usage(with_place(&error, text)))
}

/// The error, and below it the line with a caret under the position.
fn with_place(error: &InputError, text: &str) -> String {
    let place =
        error.position().and_then(|(line, column)| match text.lines().nth(line.checked_sub(1)?) {
            Some(shown) => Some((shown, column.checked_sub(1)?)),
            // Something is missing at the end of the text.
            None => text.lines().last().map(|last| (last, usize::MAX)),
        });
    match place {
        // A line that is too long for a terminal does not help.
        Some((line, column)) if line.chars().count() <= 200 => {
            let before: String = line.chars().take(column).collect();
            let column = harmless(&before).chars().count();
            format!("{error}\n  | {}\n  | {}^", harmless(line), " ".repeat(column))
        }
        _ => error.to_string(),
    }
}

/// A time in nanoseconds, in the form of stamps.
pub(crate) fn stamp(nanos: i64) -> (i32, u32) {
    const SECOND: i64 = 1_000_000_000;
    let seconds = i32::try_from(nanos.div_euclid(SECOND)).unwrap_or(i32::MAX);
    (seconds, u32::try_from(nanos.rem_euclid(SECOND)).unwrap_or(0))
}

/// The current time, in the form of stamps.
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

    #[test]
    fn documents_are_those_of_an_echo() {
        let text = "x: 1\n---\n# nothing\n---\nx: 2\ny: 3\n---\n";
        assert_eq!(documents(text), ["x: 1\n", "x: 2\ny: 3\n"]);
        assert_eq!(documents("data: a---b\n"), ["data: a---b\n"]);
        assert!(documents("").is_empty());
    }

    #[test]
    fn stamps_have_seconds_and_nanoseconds() {
        assert_eq!(stamp(1_500_000_002), (1, 500_000_002));
        assert_eq!(stamp(-1), (-1, 999_999_999));
    }
}
