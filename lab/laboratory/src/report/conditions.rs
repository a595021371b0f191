//! The conditions of an experiment: those of the document, and those of the run.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::escape::escaped;
use super::tables::scrolling;
use crate::record::{Record, Scenario};

/// The heading of the columns.
const HEADING: [&str; 3] = ["condition", "in the document", "here"];

/// The conditions as a table of the page.
pub(crate) fn table(scenario: &Scenario, records: &[&Record]) -> Markup {
    let rows = rows(scenario, records);
    let table = html! {
        table {
            thead { tr { @for word in HEADING { th scope="col" { (word) } } } }
            tbody {
                @for [name, document, here] in &rows {
                    tr { th scope="row" { (name) } td class="wide-cell" { (document) } td class="wide-cell" { (here) } }
                }
            }
        }
    };
    html! { @if !rows.is_empty() { (scrolling("Conditions", &table)) } }
}

/// Writes the conditions as a table of the summary.
pub(crate) fn write(text: &mut String, scenario: &Scenario, records: &[&Record]) {
    let rows = rows(scenario, records);
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(text, "| {} |\n|---|---|---|", HEADING.join(" | "));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.map(|cell| escaped(&cell)).join(" | "));
    }
    text.push('\n');
}

/// The name of each condition, the document's condition, and ours.
fn rows(scenario: &Scenario, records: &[&Record]) -> Vec<[String; 3]> {
    let row = |condition: &crate::record::Condition| {
        let document = match condition.document.as_str() {
            "" => "not stated".to_owned(),
            stated => stated.to_owned(),
        };
        let here = match (condition.name.as_str(), condition.here.as_str()) {
            ("machine", "") => "see Machine".to_owned(),
            ("real time", here) => format!("{here}{}", had_realtime(records)),
            (_, "") => "–".to_owned(),
            (_, here) => here.to_owned(),
        };
        [condition.name.clone(), document, here]
    };
    scenario.conditions.iter().map(row).collect()
}

/// In how many cells the programs had the real-time class and locked memory, if a run asked for
/// them: a machine may refuse them.
fn had_realtime(records: &[&Record]) -> String {
    let count = |name: &str| {
        let said: Vec<f64> =
            records.iter().filter_map(|record| record.values.get(name).copied()).collect();
        (!said.is_empty())
            .then(|| format!("{} of {}", said.iter().filter(|one| **one > 0.0).count(), said.len()))
    };
    match (count("realtime"), count("memory_locked")) {
        (Some(class), Some(memory)) => {
            format!(" (class in {class} cells, locked memory in {memory})")
        }
        (Some(class), None) => format!(" (class in {class} cells)"),
        (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Condition;

    fn condition(name: &str, document: &str, here: &str) -> Condition {
        Condition { name: name.into(), document: document.into(), here: here.into() }
    }

    #[test]
    fn what_a_document_does_not_state_is_said() {
        let scenario = Scenario {
            conditions: vec![
                condition("machine", "an old one", ""),
                condition("rate", "10 Hz", "100 Hz"),
                condition("count", "", "60 messages"),
                condition("real time", "SCHED_FIFO", "SCHED_FIFO"),
            ],
            ..Scenario::default()
        };
        let mut had = Record::default();
        had.values.extend([("realtime".to_owned(), 1.0), ("memory_locked".to_owned(), 0.0)]);
        let mut text = String::new();
        write(&mut text, &scenario, &[&had, &Record::default()]);
        let expected = "| condition | in the document | here |\n|---|---|---|\n\
                        | machine | an old one | see Machine |\n\
                        | rate | 10 Hz | 100 Hz |\n\
                        | count | not stated | 60 messages |\n\
                        | real time | SCHED\\_FIFO | SCHED\\_FIFO (class in 1 of 1 cells, locked \
                        memory in 0 of 1) |\n\n";
        assert_eq!(text, expected);
        let page = table(&scenario, &[]).into_string();
        assert!(
            page.contains("not stated") && page.contains("<td class=\"wide-cell\">100 Hz</td>")
        );
    }

    #[test]
    fn an_experiment_of_our_own_has_no_such_table() {
        let mut text = String::new();
        write(&mut text, &Scenario::default(), &[]);
        assert_eq!(text, "");
        assert_eq!(table(&Scenario::default(), &[]).into_string(), "");
    }
}
