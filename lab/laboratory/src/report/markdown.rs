//! The summary in Markdown, short enough for a page of a repository or a message.

use std::fmt::Write as _;

use super::Shown;
use super::conditions;
use super::context::Context;
use super::escape::escaped;
use super::features;
use super::findings::findings;
use super::floors::is_floor;
use super::goals::{GoalResult, goals};
use super::parts;
use super::payloads::{Block, OverviewCell, endings};
use super::quantity::{Unit, digits, duration, moment};
use super::questions::write_first_screen;
use super::results::Results;
use super::unmeasured;
use super::verdicts::{Verdict, write_in_scenario, write_section};

/// The summary of a run.
pub(crate) fn summary(shown: &Shown<'_>) -> String {
    let (results, context) = (shown.results, shown.context);
    let run = &results.run;
    let mut text =
        format!("# Feros laboratory: {}\n\n{}", escaped(&run.grid), moment(run.began_unix_seconds));
    match parts::seconds(results) {
        Some(seconds) => text.push_str(&format!(", {}", duration(seconds))),
        None => text.push_str(", not ended: interrupted, or still running"),
    }
    let counts: Vec<String> = endings(&results.records)
        .into_iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    let _ = writeln!(
        text,
        ". Cells: {}.\n",
        if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }
    );
    for notice in &results.notices {
        let _ = writeln!(text, "> {}\n", escaped(&notice.to_string()));
    }
    parts::write(&mut text, results);
    write_first_screen(&mut text, context, &shown.answers);
    write_section(&mut text, &shown.verdicts);
    write_goals(&mut text, &goals(results));
    text.push_str("## Median latency by payload\n\nIf a floor was measured in the same cells, the first number is a multiple of the floor. Bold numbers are the lowest in their column, or cannot be distinguished from the lowest.\n\n");
    for block in &shown.blocks {
        write_block(&mut text, block);
    }
    write_findings(&mut text, context, &shown.verdicts);
    features::write(&mut text, results);
    unmeasured::write(&mut text, run);
    write_systems(&mut text, results);
    if !run.command.is_empty() {
        let _ = writeln!(text, "## Repeat it\n\n```\n{}\n```", run.command.replace("```", ""));
    }
    text
}

fn write_block(text: &mut String, block: &Block) {
    let _ = writeln!(text, "### {}\n\n{}\n", escaped(&block.title()), escaped(&block.source));
    let sizes: Vec<String> = block.sizes.iter().map(|size| Unit::Bytes.show(*size)).collect();
    let _ = writeln!(text, "| | {} |\n|---|{}", sizes.join(" | "), "---:|".repeat(sizes.len()));
    if let Some(floor) = block.floor {
        let floors: Vec<String> = block
            .floors
            .iter()
            .map(|nanos| nanos.map_or("–".to_owned(), |nanos| Unit::Nanos.show(nanos)))
            .collect();
        let _ = writeln!(text, "| *floor: {floor}* | {} |", floors.join(" | "));
    }
    for row in &block.rows {
        let cells: Vec<String> = row.cells.iter().map(cell).collect();
        let _ = writeln!(text, "| {} | {} |", escaped(&row.system), cells.join(" | "));
    }
    text.push('\n');
}

fn cell(cell: &OverviewCell) -> String {
    match cell {
        OverviewCell::Absent { word, .. } => (*word).to_owned(),
        OverviewCell::Measured { estimate, ratio, best } => {
            let median = Unit::Nanos.show(estimate.value);
            let star = if estimate.whole { "" } else { "\\*" };
            let shown =
                ratio.map_or(median.clone(), |ratio| format!("{}× ({median})", digits(ratio)));
            if *best { format!("**{shown}**{star}") } else { format!("{shown}{star}") }
        }
    }
}

fn write_goals(text: &mut String, goals: &[GoalResult]) {
    if goals.is_empty() {
        return;
    }
    text.push_str("## Goals\n\n| goal | cell | here | reference | result | wanted | |\n");
    text.push_str("|---|---|---:|---:|---:|---:|---|\n");
    for goal in goals {
        let words = [&goal.title, &goal.cell, &goal.own, &goal.reference, &goal.result];
        let words: Vec<String> = words.iter().map(|word| escaped(word)).collect();
        let wanted = escaped(&goal.wanted);
        let _ = writeln!(text, "| {} | {wanted} | {} |", words.join(" | "), goal.verdict());
    }
    text.push('\n');
}

fn write_findings(text: &mut String, context: &Context<'_>, verdicts: &[Verdict]) {
    for scenario in &context.run.scenarios {
        let records = context.of_scenario(&scenario.name);
        let here = findings(context, &scenario.figures, &records);
        let item = format!("{} {}", scenario.document, scenario.item);
        let item = if item.trim().is_empty() {
            String::new()
        } else {
            format!(" ({})", escaped(item.trim()))
        };
        let _ = writeln!(text, "## {}{item}\n", escaped(&scenario.title));
        if !scenario.finding.is_empty() {
            let _ = writeln!(text, "The document found: {}\n", escaped(&scenario.finding));
        }
        write_in_scenario(text, verdicts, &scenario.name);
        conditions::write(text, scenario, &records);
        if here.is_empty() {
            text.push_str("Measured here: nothing comparable.\n\n");
        } else {
            text.push_str("Measured here:\n\n");
            for sentence in here {
                let _ = writeln!(text, "- {}", escaped(&sentence));
            }
            text.push('\n');
        }
    }
}

fn write_systems(text: &mut String, results: &Results) {
    text.push_str("## Systems\n\n| name | system | version | measured |\n|---|---|---|---|\n");
    for system in results.run.systems.iter().filter(|system| !is_floor(&system.name)) {
        let measured = match &system.missing {
            None => "yes".to_owned(),
            Some(missing) => {
                let install = missing
                    .install
                    .as_ref()
                    .map_or(String::new(), |install| format!("; `{}`", install.replace('`', "'")));
                format!("not measured: {}{install}", escaped(&missing.reason))
            }
        };
        let version = system.version.as_deref().unwrap_or("–");
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            escaped(&system.name),
            escaped(&system.title),
            escaped(version),
            measured.replace('\n', " ")
        );
    }
    text.push('\n');
}
