//! Verdicts in sentences: which system is fastest or leanest and by how much, and the cases in
//! which no difference can be shown.

use super::names::{count_of, explained};
use super::{Answer, Column, Part, Row, Standing, part_title};
use crate::report::context::Context;
use crate::report::quantity::{Unit, digits};
use crate::report::selection::repetitions_of;
use crate::statistics::{Verdict, compare};

/// The reason why a system whose publisher is held back is not ranked.
const FEWER: &str = "fewer messages are published than wanted";

/// The limit on names in a sentence.
const MOST_NAMED: usize = 3;

/// The verdict of one part of an answer.
pub(super) struct Said {
    /// The title of the part; empty if there is only one.
    pub(super) part: String,
    /// The lowest system; empty if no system is lowest.
    pub(super) winner: String,
    /// The meaning of the winner's name.
    pub(super) explained: String,
    /// The text that follows the winner.
    pub(super) headline: String,
    /// Sentences about the systems that are lowest in other columns, and about the systems that are
    /// not ranked.
    pub(super) costs: String,
}

impl Said {
    /// The whole verdict as one text.
    pub(super) fn whole(&self) -> String {
        let part = if self.part.is_empty() { String::new() } else { format!("{}: ", self.part) };
        let costs = if self.costs.is_empty() { String::new() } else { format!(" {}", self.costs) };
        format!("{part}{}{}{costs}", self.winner, self.headline)
    }
}

/// The verdict of each part of an answer.
pub(super) fn verdicts(context: &Context<'_>, answer: &Answer<'_>) -> Vec<Said> {
    answer.parts.iter().map(|part| verdict(context, answer, part)).collect()
}

fn verdict(context: &Context<'_>, answer: &Answer<'_>, part: &Part<'_>) -> Said {
    let first = answer.question.columns[0];
    let (losses, slow) = (losers(part), held_back(part));
    let unranked: Vec<String> = [("messages are lost", &losses), (FEWER, &slow)]
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(reason, names)| format!("{reason}: {names}"))
        .collect();
    let unranked = unranked.join("; ");
    let title_of_part = part_title(part).unwrap_or_default();
    let Some(best) = part.rows.iter().find(|row| row.standing == Standing::Lowest) else {
        let headline = match (losses.is_empty(), slow.is_empty()) {
            (true, true) => "No system has a complete result.".to_owned(),
            (false, true) => format!("Every system loses messages: {losses}."),
            _ => format!("No system is ranked, because {unranked}."),
        };
        let (winner, explained, costs) = Default::default();
        return Said { part: title_of_part, winner, explained, headline, costs };
    };
    let mut headline = format!(" has the lowest {}", title(first));
    if let Some(estimate) = best.cell(answer.question, first) {
        headline.push_str(&format!(", {}", first.show(estimate)));
    }
    if let Some(ratio) = best.from_floor {
        headline.push_str(&format!(" ({}× the floor)", digits(ratio)));
    }
    headline.push_str(&behind(part));
    headline.push('.');
    let others = answer.columns().into_iter().filter(|column| *column != first);
    let least: Vec<String> = others
        .filter(|column| !matches!(column, Column::Lost | Column::PublishRate))
        .filter_map(|column| least(context, answer, part, column))
        .collect();
    let mut costs = Vec::new();
    if !least.is_empty() {
        costs.push(format!("Lowest {}.", least.join("; ")));
    }
    if !unranked.is_empty() {
        costs.push(format!("Not ranked, because {unranked}."));
    }
    let explained = context.system(&best.system).map_or_else(String::new, explained);
    let (winner, costs) = (part.name(best), costs.join(" "));
    Said { part: title_of_part, winner, explained, headline, costs }
}

/// The name of a column in a sentence.
fn title(column: Column) -> &'static str {
    match column {
        Column::Median => "median latency",
        Column::P99 => "99th percentile",
        Column::Lost => "loss",
        Column::PublishRate => "publish rate",
        Column::Processor => "processor time",
        Column::Memory => "memory",
        Column::Threads => "number of threads",
        Column::Wakeups => "rate of wake-ups",
    }
}

/// The systems that cannot be distinguished from the lowest system, and the ratios of the other
/// systems.
fn behind(part: &Part<'_>) -> String {
    let (mut level, mut further) = (Vec::new(), Vec::new());
    for row in &part.rows {
        match row.standing {
            Standing::WithinScatter(ratio) => level.push((part.name(row), ratio)),
            Standing::Behind(ratio) => further.push((part.name(row), ratio)),
            _ => {}
        }
    }
    let mut text = String::new();
    if !level.is_empty() {
        text.push_str(&format!("; within its scatter: {}", listed(&level)));
    }
    if !further.is_empty() {
        text.push_str(&format!("; then {}", listed(&further)));
    }
    if text.is_empty() {
        text.push_str("; no other system has a number to rank");
    }
    text
}

/// The first few of these names with their ratios, and the last name.
fn listed(ratios: &[(String, f64)]) -> String {
    let shown = |(name, ratio): &(String, f64)| format!("{name} {}×", digits(*ratio));
    let named: Vec<String> = ratios.iter().take(MOST_NAMED).map(shown).collect();
    let mut text = named.join(", ");
    let further = ratios.len().saturating_sub(MOST_NAMED);
    if let Some(last) = ratios.last().filter(|_| further > 0) {
        let more = if further > 1 { format!(" {} more, up to", further) } else { String::new() };
        text.push_str(&format!(",{more} {}", shown(last)));
    }
    text
}

/// The lowest number of a column among the ranked rows, and the systems that cannot be
/// distinguished from that number.
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
    // A table with one row already shows it.
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
        .map(|(row, _)| part.name(row))
        .collect();
    let within = match level.len() {
        0 => String::new(),
        count if count > 2 => format!(", {count} others within scatter"),
        _ => format!(", within scatter {}", level.join(", ")),
    };
    let shown = metric.unit().show(value);
    Some(format!("{}: {} ({shown}{within})", title(column), part.name(best)))
}

/// The systems that lose messages, each with the percentage.
fn losers(part: &Part<'_>) -> String {
    let of_row = |row: &Row<'_>| match row.standing {
        Standing::Loses(percent) => {
            Some(format!("{} {}", part.name(row), Unit::Percent.show(percent)))
        }
        _ => None,
    };
    part.rows.iter().filter_map(of_row).collect::<Vec<_>>().join(", ")
}

/// The systems whose publisher is held back, each with its rate.
fn held_back(part: &Part<'_>) -> String {
    let of_row = |row: &Row<'_>| match row.standing {
        Standing::HeldBack(rate) => Some(format!("{} {}", part.name(row), Unit::Hertz.show(rate))),
        _ => None,
    };
    part.rows.iter().filter_map(of_row).collect::<Vec<_>>().join(", ")
}

/// The amount of data behind an answer: systems, cells, messages, repetitions.
pub(super) fn basis(context: &Context<'_>, answer: &Answer<'_>) -> String {
    let names = answer.rows().map(|row| row.system.as_str());
    let systems = count_of(context.run, names);
    let samples = || answer.rows().flat_map(|row| &row.samples);
    let repetitions = samples().map(|sample| sample.record.repetition + 1).max().unwrap_or(0);
    let sent = samples().map(|sample| sample.record.sent).max().unwrap_or(0);
    let cells = samples().count();
    let repetitions = match repetitions {
        1 => "one repetition: a difference below 10 % does not count".to_owned(),
        many => format!("{many} repetitions"),
    };
    let messages = if sent > 0 { format!(" of {sent} messages") } else { String::new() };
    format!("{systems}, {cells} cells{messages}, {repetitions}")
}
