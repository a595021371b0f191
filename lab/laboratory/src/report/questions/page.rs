//! The first screen as HTML: the verdicts, then a table for each question.

use maud::{Markup, html};

use super::ask::{Topic, is_filled};
use super::names::explained;
use super::verdict::basis;
use super::{Answer, Column, Part, Row, Standing, part_title, systems_of};
use crate::record::{System, Value};
use crate::report::context::Context;
use crate::report::figure::{capital, title_of_variant};
use crate::report::quantity::{Unit, digits};
use crate::report::selection::Estimate;
use crate::report::tables::scrolling;

/// The explanation of remote cells.
pub(super) const TWO_HOSTS: &str =
    "Two hosts are two network namespaces of one machine, joined by an emulated link.";

/// The legend of the tables.
pub(super) const LEGEND: [(&str, &str); 8] = [
    (
        "p50, p99",
        "half and 99 of 100 messages took no longer, from the call of publish to the callback.",
    ),
    (
        "lost",
        "did not arrive: lost on the way, or pushed out of a history (of ten messages by default) while the receiver was held up.",
    ),
    (
        "publish rate",
        "messages published per second: a publisher that is held back sends fewer than were wanted, and is not ranked.",
    ),
    (
        "processor, memory",
        "of all processes of the cell together; 100 % is one processor; memory is PSS: shared pages count in shares.",
    ),
    (
        "within scatter",
        "the intervals of the medians overlap, or that of their ratio contains 1: they are indistinguishable; more repetitions might help.",
    ),
    ("floor", "what this machine can do at best, measured in the same cells; not a competitor."),
    ("raw", "an engine by itself, without the nodes, types and tools of ROS."),
    (
        "–, *",
        "not measured in this cell; a program failed or hung, and these are its numbers until then.",
    ),
];

/// The verdicts and tables.
pub(crate) fn first_screen(
    context: &Context<'_>,
    answers: &[Answer<'_>],
    missing: &[&System],
) -> Markup {
    let unasked = unanswered(answers);
    html! {
        section id="overview" aria-labelledby="overview-title" {
            h2 id="overview-title" { "Which one for what" }
            @if answers.is_empty() {
                p class="empty" { "This run does not answer any of the questions yet." }
            } @else {
                ul class="verdict" {
                    @for answer in answers {
                        li {
                            a href={ "#answer-" (answer.question.id) } { (answer.title) }
                            p class="costs" { (capital(&basis(context, answer))) "." }
                            @for said in &answer.said {
                                p { @if !said.part.is_empty() { span class="way" { (said.part) ": " } } b title=(said.explained) { (said.winner) } (said.headline) }
                                @if !said.costs.is_empty() { p class="costs" { (said.costs) } }
                            }
                        }
                    }
                }
                ul class="key" { @for (word, meaning) in LEGEND { li { b { (word) } " " (meaning) } } }
                @for answer in answers { (answer_part(context, answer)) }
            }
            @if !unasked.is_empty() {
                div class="missing" {
                    p { "Not answered by this run, with the command that measures it:" }
                    ul { @for topic in &unasked { li { (topic.title()) ": " code { (topic.command()) } } } }
                }
            }
            @if !missing.is_empty() {
                p class="missing" {
                    "Not measured, and so neither better nor worse: "
                    @for (index, system) in missing.iter().enumerate() { @if index > 0 { ", " } (system.title) }
                    ". " a href="#systems" { "Why, and how to change that." }
                }
            }
        }
    }
}

/// The topics without an answer.
pub(super) fn unanswered(answers: &[Answer<'_>]) -> Vec<Topic> {
    let has = |topic: &Topic| answers.iter().any(|answer| answer.question.topic == *topic);
    Topic::ALL.into_iter().filter(|topic| !has(topic)).collect()
}

/// The source of an answer's numbers, as one line.
pub(super) fn source(context: &Context<'_>, answer: &Answer<'_>) -> String {
    let plain =
        ["size_bytes", "rate_hz", "placement", "system", "link", "link_mbit", "loss_percent"];
    let special = |(name, value): (&String, &Value)| match value {
        Value::Text(word) if name == "fill" && word == "each" => {
            Some("each payload written anew".to_owned())
        }
        Value::Text(word)
            if !plain.contains(&name.as_str())
                && !["default", "none", "bytes"].contains(&word.as_str()) =>
        {
            Some(word.clone())
        }
        _ => None,
    };
    let conditions: Vec<String> = answer.place.iter().filter_map(special).collect();
    let conditions =
        if conditions.is_empty() { String::new() } else { format!(" ({})", conditions.join(", ")) };
    let has = |name: &str| {
        let of =
            |row: &Row<'_>| row.samples.iter().any(|one| one.record.values.get(name) == Some(&1.0));
        answer.rows().any(of)
    };
    let apart =
        if has("apart") { " Talkers and listeners have processors of their own." } else { "" };
    let stamped = if answer.question.is_filled && !is_filled(&answer.place) {
        " Only a stamp is written into each message: a system that builds messages in place copies nothing."
    } else {
        ""
    };
    format!("{}{conditions}: {}.{apart}{stamped}", answer.scenario.title, basis(context, answer))
}

/// Whether the answer's cells are between two hosts.
pub(super) fn is_remote(answer: &Answer<'_>) -> bool {
    answer.place.get("placement") == Some(&Value::Text("remote".to_owned()))
}

fn answer_part(context: &Context<'_>, answer: &Answer<'_>) -> Markup {
    let columns = answer.columns();
    let wide = columns.len() + 2;
    let table = html! {
        table class="answer" {
            thead { tr {
                th scope="col" { "system" }
                @for (index, column) in columns.iter().enumerate() {
                    th scope="col" class="n" title=(column.meaning()) { (column.heading()) }
                    @if index == 0 { th scope="col" class="n" title="as a multiple of the lowest of this part of the table" { "× lowest" } }
                }
            } }
            @for part in &answer.parts {
                tbody {
                    @if let Some(title) = part_title(part) { tr class="part" { th scope="rowgroup" colspan=(wide) { (title) } } }
                    @for row in &part.rows { (row_markup(context, answer, row, &columns)) }
                    @for row in &part.limits { (row_markup(context, answer, row, &columns)) }
                }
            }
        }
    };
    html! {
        article class="question" id={ "answer-" (answer.question.id) } {
            h3 { (answer.title) }
            (scrolling(&answer.title, &table))
            p class="source" {
                (source(context, answer)) " " a href={ "#scenario-" (answer.scenario.name) } { "The experiment." }
                @if is_remote(answer) { " " (TWO_HOSTS) }
                @for floor in floors(answer) { " " (floor) }
            }
            @if !answer.impossible.is_empty() {
                p class="source" { "Cannot be asked: " @for (index, (system, reason)) in answer.impossible.iter().enumerate() { @if index > 0 { "; " } (system) " (" (reason) ")" } "." }
            }
            (names(context, answer))
        }
    }
}

/// Sentences about the floor of each part that has a floor.
pub(super) fn floors(answer: &Answer<'_>) -> Vec<String> {
    let of_part = |part: &Part<'_>| {
        let place =
            part_title(part).map_or(String::new(), |title| format!(" ({})", title.to_lowercase()));
        part.floor.map(|floor| format!("“× floor”{place} is relative to {floor}."))
    };
    answer.parts.iter().filter_map(of_part).collect()
}

fn row_markup(
    context: &Context<'_>,
    answer: &Answer<'_>,
    row: &Row<'_>,
    columns: &[Column],
) -> Markup {
    let system = context.system(&row.system);
    let title = system.map_or(String::new(), explained);
    let is_limit = row.standing == Standing::Limit;
    let is_best = matches!(row.standing, Standing::Lowest | Standing::WithinScatter(_));
    let name = Value::Text(row.system.clone());
    html! {
        tr class=(if is_limit { "limit-row" } else { "" }) {
            th scope="row" title=(title) {
                @if !is_limit { (context.palette.ink("system", Some(&name), 0).block()) }
                (breakable(&row.system))
                @if let Some(way) = row.way { " " span class="way" { (way) } }
                @if let Some(system) = system { small {
                    @if is_limit { (title_of_variant(&system.title)) } @else { (system.title) }
                    @if let Some(version) = system.version.as_ref().filter(|_| !is_limit) { " · " (version) }
                } }
            }
            @for (index, column) in columns.iter().enumerate() {
                (cell(row, row.cell(answer.question, *column), *column, index == 0 && is_best))
                @if index == 0 { (standing(&row.standing)) }
            }
        }
    }
}

/// A name that may wrap between its parts.
fn breakable(name: &str) -> Markup {
    let parts = name.split_inclusive([':', '_', '-']).enumerate();
    html! { code { @for (index, part) in parts { @if index > 0 { wbr; } (part) } } }
}

fn cell(row: &Row<'_>, found: Option<&Estimate>, column: Column, is_best: bool) -> Markup {
    let Some(found) = found else {
        return html! { td class="n none" title="not measured in this cell" { "–" } };
    };
    let unit = column.metric().unit();
    let (low, high) = found.interval;
    let interval = if low < high {
        format!("{} to {}, ", unit.show(low), unit.show(high))
    } else {
        String::new()
    };
    let times = if found.repetitions == 1 { "repetition" } else { "repetitions" };
    let title = format!("{interval}{} {times}", found.repetitions);
    let from_floor = row.from_floor.filter(|_| column == Column::Median);
    html! {
        td class=(if is_best { "n best" } else { "n" }) title=(title) {
            span { (column.show(found)) } @if !found.whole { "*" }
            @if let Some(ratio) = from_floor { small { (digits(ratio)) "× floor" } }
        }
    }
}

fn standing(standing: &Standing) -> Markup {
    match standing {
        Standing::Lowest => html! { td class="n best" { "lowest" } },
        Standing::WithinScatter(ratio) => html! {
            td class="n best" title="indistinguishable from the lowest" { span { (digits(*ratio)) "×" } small { "within scatter" } }
        },
        Standing::Behind(ratio) => html! { td class="n" { (digits(*ratio)) "×" } },
        Standing::Loses(percent) => {
            html! { td class="n a-lossy" title="not ranked: too few messages arrive" { "loses " (Unit::Percent.show(*percent)) } }
        }
        Standing::HeldBack(rate) => {
            html! { td class="n a-lossy" title="not ranked: fewer messages are published than wanted" { "publishes at " (Unit::Hertz.show(*rate)) } }
        }
        Standing::Failed(reason) => {
            let word = reason.split(':').next().unwrap_or(reason);
            html! { td class="n a-error" title=(reason) { (word) } }
        }
        Standing::Unranked => html! { td class="n none" { "–" } },
        Standing::Limit => html! { td class="n none" { "floor" } },
    }
}

/// The meaning of each name in a table.
fn names(context: &Context<'_>, answer: &Answer<'_>) -> Markup {
    html! {
        details class="names" {
            summary { "What the names mean, with versions" }
            dl {
                @for name in systems_of(answer) {
                    div { dt { code { (name) } } dd { (context.system(&name).map_or("not known".to_owned(), explained)) } }
                }
            }
        }
    }
}
