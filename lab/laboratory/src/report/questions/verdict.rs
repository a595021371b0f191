//! Verdicts in sentences: who is fastest or leanest, by how much, and where nobody can tell.

use super::names::count_of;
use super::{Answer, Column, Part, Row, Standing, part_title};
use crate::report::context::Context;
use crate::report::quantity::{Unit, digits};
use crate::report::selection::repetitions_of;
use crate::statistics::{Verdict, compare};

/// More names in a sentence are not read.
const MOST_NAMED: usize = 3;

/// What an answer comes to: a sentence or two for each part, with the part's title before it.
pub(super) fn verdicts(context: &Context<'_>, answer: &Answer<'_>) -> Vec<String> {
    let of_part = |part: &Part<'_>| {
        let title = part_title(part).map_or(String::new(), |title| format!("{title}: "));
        format!("{title}{}", verdict(context, answer, part))
    };
    answer.parts.iter().map(of_part).collect()
}

fn verdict(context: &Context<'_>, answer: &Answer<'_>, part: &Part<'_>) -> String {
    let first = answer.question.columns[0];
    let Some(best) = part.rows.iter().find(|row| row.standing == Standing::Lowest) else {
        let losses = losers(part);
        return if losses.is_empty() {
            "nobody has a whole number.".to_owned()
        } else {
            format!("everybody loses messages: {losses}.")
        };
    };
    let mut text = format!("{} has the lowest {}", name(best), title(first));
    if let Some(estimate) = best.cell(answer.question, first) {
        text.push_str(&format!(", {}", first.show(estimate)));
    }
    if let Some(ratio) = best.from_floor {
        text.push_str(&format!(" ({}× the floor)", digits(ratio)));
    }
    text.push_str(&behind(part));
    text.push('.');
    let others = answer.columns().into_iter().filter(|column| *column != first);
    let least: Vec<String> = others
        .filter(|column| *column != Column::Lost)
        .filter_map(|column| least(context, answer, part, column))
        .collect();
    if !least.is_empty() {
        text.push_str(&format!(" Lowest {}.", least.join("; ")));
    }
    let losses = losers(part);
    if !losses.is_empty() {
        text.push_str(&format!(" Not ranked, because messages are lost: {losses}."));
    }
    text
}

/// What a column is in a sentence.
fn title(column: Column) -> &'static str {
    match column {
        Column::Median => "median latency",
        Column::P99 => "99th percentile",
        Column::Lost => "loss",
        Column::Processor => "processor time",
        Column::Memory => "memory",
        Column::Threads => "number of threads",
        Column::Wakeups => "rate of wake-ups",
    }
}

fn name(row: &Row<'_>) -> String {
    match row.way {
        Some(way) => format!("{} ({way})", row.system),
        None => row.system.clone(),
    }
}

/// Who is within scatter of the lowest, and how far the others are.
fn behind(part: &Part<'_>) -> String {
    let of =
        |wanted: fn(&Standing) -> bool| part.rows.iter().filter(move |row| wanted(&row.standing));
    let level: Vec<String> = of(|one| *one == Standing::WithinScatter).map(name).collect();
    let ratios: Vec<(String, f64)> = of(|one| matches!(one, Standing::Behind(_)))
        .filter_map(|row| match row.standing {
            Standing::Behind(ratio) => Some((name(row), ratio)),
            _ => None,
        })
        .collect();
    let mut text = String::new();
    if !level.is_empty() {
        text.push_str(&format!("; within scatter of it: {}", level.join(", ")));
    }
    let named: Vec<String> = ratios
        .iter()
        .take(MOST_NAMED)
        .map(|(name, ratio)| format!("{name} {}×", digits(*ratio)))
        .collect();
    if !named.is_empty() {
        text.push_str(&format!("; then {}", named.join(", ")));
    }
    let further = ratios.len().saturating_sub(MOST_NAMED);
    if let Some((last, ratio)) = ratios.last().filter(|_| further > 0) {
        let text_of_last = format!("{last} {}×", digits(*ratio));
        text.push_str(&match further {
            1 => format!(", {text_of_last}"),
            _ => format!(", {} more, up to {text_of_last}", further),
        });
    }
    if level.is_empty() && ratios.is_empty() {
        text.push_str("; nobody else has a number to rank");
    }
    text
}

/// The least of a column among those that are ranked, with who cannot be told from it.
fn least(
    context: &Context<'_>,
    answer: &Answer<'_>,
    part: &Part<'_>,
    column: Column,
) -> Option<String> {
    let ranked: Vec<(&Row<'_>, f64)> = part
        .rows
        .iter()
        .filter(|row| row.is_ranked())
        .filter_map(|row| Some((row, row.cell(answer.question, column)?.value)))
        .collect();
    let (best, value) = ranked.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))?;
    // A table of one says it already.
    if ranked.len() < 2 {
        return None;
    }
    let metric = column.metric();
    let lowest = repetitions_of(&metric, &best.samples);
    let is_level = |row: &Row<'_>| {
        let found = compare(&repetitions_of(&metric, &row.samples), &lowest, context.run.seed);
        found.is_some_and(|found| found.verdict == Verdict::NoDifference)
    };
    let level: Vec<String> = ranked
        .iter()
        .filter(|(row, _)| !std::ptr::eq(*row, best) && is_level(row))
        .map(|(row, _)| name(row))
        .collect();
    let within = match level.len() {
        0 => String::new(),
        count if count > MOST_NAMED => format!(", {count} others within scatter"),
        _ => format!(", within scatter {}", level.join(", ")),
    };
    let shown = metric.unit().show(value);
    Some(format!("{}: {} ({shown}{within})", title(column), name(best)))
}

/// Who loses messages, and how many.
fn losers(part: &Part<'_>) -> String {
    let of_row = |row: &Row<'_>| match row.standing {
        Standing::Loses(percent) => Some(format!("{} {}", name(row), Unit::Percent.show(percent))),
        _ => None,
    };
    part.rows.iter().filter_map(of_row).collect::<Vec<_>>().join(", ")
}

/// How much stands behind an answer: systems, repetitions, messages.
pub(super) fn basis(context: &Context<'_>, answer: &Answer<'_>) -> String {
    let names = answer.rows().map(|row| row.system.as_str());
    let systems = count_of(context.run, names);
    let samples = || answer.rows().flat_map(|row| &row.samples);
    let repetitions = samples().map(|sample| sample.record.repetition + 1).max().unwrap_or(0);
    let sent = samples().map(|sample| sample.record.sent).max().unwrap_or(0);
    let cells = samples().count();
    let repetitions = match repetitions {
        1 => "one repetition: a difference below 10 % is never called one".to_owned(),
        many => format!("{many} repetitions"),
    };
    let messages = if sent > 0 { format!(" of {sent} messages") } else { String::new() };
    format!("{systems}, {cells} cells{messages}, {repetitions}")
}
