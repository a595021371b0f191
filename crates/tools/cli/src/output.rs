//! Standard output: plain and stable text for pipes, colours and columns only on a terminal.
//!
//! Text from the network - names, types, values, reasons - never reaches a terminal unchanged; a
//! pipe gets the bytes. For a terminal, each function here escapes every character that would steer
//! it, except line breaks within a text of several lines, and colours. So names and values in such
//! a text must pass through [`foreign`].

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write as _};
use std::sync::LazyLock;

use anstyle::Style;
use clap::ValueEnum;
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::error::CliError;

/// When to use colours.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Color {
    /// Color the output on a terminal, unless NO_COLOR is set.
    Auto,
    /// Always color the output.
    Always,
    /// Never color the output.
    Never,
}

impl Color {
    /// Makes all output follow the choice.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// The style of explanations.
pub(crate) const DIM: Style = Style::new().dimmed();

/// Whether people read the output.
pub(crate) fn is_terminal() -> bool {
    static IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| std::io::stdout().is_terminal());
    *IS_TERMINAL
}

/// A name or value from the network as a part of a line of standard output.
pub(crate) fn foreign(text: &str) -> Cow<'_, str> {
    if is_terminal() { feros_wording::harmless(text) } else { Cow::Borrowed(text) }
}

/// A value from the network that may have several lines, as a part of standard output.
pub(crate) fn foreign_block(text: &str) -> Cow<'_, str> {
    if is_terminal() { feros_wording::harmless_block(text) } else { Cow::Borrowed(text) }
}

/// Writes a string and flushes it, so that a pipe sees it.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    write("", text)
}

/// Clears the terminal and writes a string; on a pipe, the string follows the earlier output.
pub(crate) fn print_anew(text: &str) -> Result<(), CliError> {
    write(if is_terminal() { "\x1b[H\x1b[2J" } else { "" }, text)
}

fn write(before: &str, text: &str) -> Result<(), CliError> {
    let shown = if is_terminal() { feros_wording::harmless_lines(text) } else { text.into() };
    let mut out = std::io::stdout().lock();
    out.write_all(before.as_bytes())?;
    out.write_all(shown.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes a string with colours, all of which are the command's own: text from the network in it
/// must have passed through [`foreign`].
pub(crate) fn print_coloured(text: &str) -> Result<(), CliError> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes each text as one line.
pub(crate) fn print_lines<L: AsRef<str>>(
    lines: impl IntoIterator<Item = L>,
) -> Result<(), CliError> {
    let mut text = String::new();
    for line in lines {
        text.push_str(&foreign(line.as_ref()));
        text.push('\n');
    }
    print(&text)
}

/// Writes a value as JSON: on one line for pipes, indented on a terminal.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = if is_terminal() {
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    };
    let text = text.map_err(|error| {
        CliError::failed(format!("the result cannot be written as JSON: {error}"))
    })?;
    print(&format!("{}\n", feros_wording::harmless_json(&text)))
}

/// Writes texts: as a JSON array, or each as one line.
pub(crate) fn print_texts<L: AsRef<str>>(
    json: bool,
    texts: impl IntoIterator<Item = L> + Serialize,
) -> Result<(), CliError> {
    if json { print_json(&texts) } else { print_lines(texts) }
}

/// Writes the names that were found, or without JSON only their number.
pub(crate) fn print_found(
    json: bool,
    only_count: bool,
    names: Vec<String>,
) -> Result<(), CliError> {
    if only_count && !json {
        return print_texts(json, [names.len().to_string()]);
    }
    print_texts(json, names)
}

/// Writes columns under a heading, for a terminal.
pub(crate) fn print_table(
    heading: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Result<(), CliError> {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let bold = Style::new().bold();
    table.set_header(heading.iter().map(|word| word.to_uppercase()));
    for row in rows {
        table.add_row(row.iter().map(|cell| foreign(cell)));
    }
    let text = table.to_string();
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    print_coloured(&format!("{bold}{}{bold:#}\n", first.trim()))?;
    print_lines(rest.lines().map(str::trim))
}
