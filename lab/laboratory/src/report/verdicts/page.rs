//! The verdicts as HTML: all of them by document, and those of one scenario with their numbers and
//! conditions.

use maud::{Markup, html};

use super::{Ruling, Verdict, VerdictRow};
use crate::record::Condition;
use crate::report::documents::document_title;
use crate::report::tables::scrolling;

/// The verdicts of all documents; empty if the run has no verdicts.
pub(crate) fn section(verdicts: &[Verdict]) -> Markup {
    let mut documents: Vec<&str> =
        verdicts.iter().map(|verdict| verdict.document.as_str()).collect();
    documents.dedup();
    html! {
        @if !verdicts.is_empty() {
            section id="verdicts" {
                h2 { "The documents' figures" }
                p class="lead" {
                    "What each document concludes from a figure or table, and whether the cells of this run show it: " (counted(verdicts)) "."
                }
                @for document in documents {
                    h3 { (document) @if let Some(title) = document_title(document) { ": " (title) } }
                    (table(document, verdicts))
                }
            }
        }
    }
}

/// The number of verdicts of each kind.
pub(super) fn counted(verdicts: &[Verdict]) -> String {
    let all = [Ruling::Reproduced, Ruling::Refuted, Ruling::Undecided, Ruling::NotMeasured];
    let count = |ruling: Ruling| verdicts.iter().filter(|one| one.ruling == ruling).count();
    let parts = all.into_iter().map(|ruling| (count(ruling), ruling.word()));
    let parts = parts.filter(|(count, _)| *count > 0);
    parts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

fn table(document: &str, verdicts: &[Verdict]) -> Markup {
    let table = html! {
        table {
            thead { tr { @for word in ["figure", "conclusion", "", "here", "the document's numbers"] { th scope="col" { (word) } } } }
            tbody {
                @for verdict in verdicts.iter().filter(|verdict| verdict.document == document) {
                    tr {
                        th scope="row" { a href={ "#scenario-" (verdict.scenario) } { (verdict.item) } }
                        td class="wide-cell" { (verdict.conclusion) }
                        td class=(class(verdict.ruling)) { (verdict.ruling.word()) }
                        td class="wide-cell" { (verdict.numbers()) (doubts(verdict)) }
                        td class="wide-cell" { (verdict.paper) }
                    }
                }
            }
        }
    };
    scrolling(&format!("Verdicts about {document}"), &table)
}

fn class(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Reproduced => "a-works",
        Ruling::Refuted => "a-error",
        Ruling::Undecided => "a-late",
        Ruling::NotMeasured => "none",
    }
}

fn doubts(verdict: &Verdict) -> Markup {
    html! {
        @if !verdict.doubts.is_empty() { small class="a-lossy" { "Over doubtful cells: " (verdict.doubts.join("; ")) "." } }
    }
}

/// The verdicts of one scenario, each with its numbers and conditions.
pub(crate) fn in_scenario(verdicts: &[Verdict], scenario: &str) -> Markup {
    html! {
        @for verdict in verdicts.iter().filter(|verdict| verdict.scenario == scenario) {
            div class="verdict-of-figure" {
                p {
                    b { (verdict.item) } ": " (verdict.conclusion) " "
                    b class=(class(verdict.ruling)) { (verdict.ruling.word()) } ": " (verdict.numbers())
                    @if !verdict.paper.is_empty() { " The document: " (verdict.paper) }
                    " " (doubts(verdict))
                }
                details class="numbers" {
                    summary { "Numbers and conditions" }
                    @if !verdict.rows.is_empty() { (scrolling(&format!("Numbers of {}", verdict.item), &numbers(&verdict.rows))) }
                    @if !verdict.conditions.is_empty() { (scrolling(&format!("Conditions of {}", verdict.item), &conditions(&verdict.conditions))) }
                }
            }
        }
    }
}

fn numbers(rows: &[VerdictRow]) -> Markup {
    let heading = ["system", "cell", "number", "against", "result", "concluded", ""];
    html! {
        table {
            thead { tr { @for word in heading { th scope="col" { (word) } } } }
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" { (row.system) @if !row.decides { " *" } }
                        @for word in [&row.cell, &row.own, &row.reference, &row.result, &row.wanted] { td class="wide-cell" { (word) } }
                        td class="wide-cell" { (row.word()) }
                    }
                }
            }
        }
        @if rows.iter().any(|row| !row.decides) { p class="source" { "* shown beside it; does not decide." } }
    }
}

fn conditions(conditions: &[Condition]) -> Markup {
    html! {
        table {
            thead { tr { @for word in ["condition", "in the document", "here"] { th scope="col" { (word) } } } }
            tbody {
                @for condition in conditions {
                    tr {
                        th scope="row" { (condition.name) }
                        td class="wide-cell" { (stated(&condition.document)) }
                        td class="wide-cell" { (condition.here) }
                    }
                }
            }
        }
    }
}

fn stated(words: &str) -> &str {
    if words.is_empty() { "not stated" } else { words }
}
