//! What goes to standard output: plain and stable text for pipes, colours and columns on a terminal
//! only.

use std::io::{IsTerminal as _, Write as _};

use anstyle::Style;
use clap::ValueEnum;
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::error::CliError;

/// When to use colours.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// In any case.
    Always,
    /// Not at all.
    Never,
}

impl Color {
    /// Has all output follow the choice.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// Style of what explains.
pub(crate) const DIM: Style = Style::new().dimmed();

/// Whether people read the output.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// What has a terminal begin anew at its upper left corner; nothing where people do not watch.
pub(crate) fn clear_screen() -> &'static str {
    if is_terminal() { "\x1b[H\x1b[2J" } else { "" }
}

/// Writes a text as it is, and has it leave at once so that a pipe sees it.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes bytes of a message: nothing in them is taken for a colour.
pub(crate) fn print_plain(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes lines.
pub(crate) fn print_lines<L: AsRef<str>>(
    lines: impl IntoIterator<Item = L>,
) -> Result<(), CliError> {
    let mut text = String::new();
    for line in lines {
        text.push_str(line.as_ref());
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
    print_plain(&format!("{text}\n"))
}

/// Columns under a heading, for a terminal.
pub(crate) fn print_table(
    heading: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Result<(), CliError> {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let bold = Style::new().bold();
    table.set_header(heading.iter().map(|word| word.to_uppercase()));
    for row in rows {
        table.add_row(row);
    }
    let text = table.to_string();
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    print(&format!("{bold}{}{bold:#}\n", first.trim()))?;
    print_lines(rest.lines().map(str::trim))
}
