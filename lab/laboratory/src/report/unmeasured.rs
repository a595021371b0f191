//! The parts of the documents that the laboratory does not measure as they are, with the reasons. A
//! reader of a document should find each of its parts here or among the experiments.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::escape::escaped;
use super::tables::scrolling;
use crate::record::Run;

/// The document, the part, and the reason or the substitute.
const UNMEASURED: &[(&str, &str, &str)] = &[
    (
        "M16",
        "Connext and OpenSplice",
        "Connext needs a licence, and no package registry has OpenSplice; other DDS \
         implementations, alone and under stock ROS 2, stand for them.",
    ),
    (
        "M16",
        "Table 8: frequent updates, libraries and tools, and the systems of 2016",
        "Neither a manifest nor a run shows how often a system is updated, or how good its tools \
         are; the other columns are compared by feature, for the systems of today.",
    ),
    (
        "M16",
        "Section 5: an autonomous driving vehicle as a case study",
        "No vehicle; the scenario `driving` runs a graph after the public reference system of \
         Autoware, on Feros and on stock ROS 2.",
    ),
    ("K21", "Connext, and the Raspberry Pi 4", "No licence, and no such computer."),
    (
        "C23",
        "Raspberry Pi 4, Nav2 and iRobot Create 3",
        "No such computers; the example graphs of the repository, with as many nodes, topics, \
         services and actions, stand for Nav2 and for the mobile base.",
    ),
    (
        "R20",
        "Part 3: WiFi between two laptops",
        "An emulated link with a rate, a delay and a queue stands for it.",
    ),
    (
        "R20",
        "Part 4: issues and pull requests",
        "These are data about people: how fast the maintainers of two projects answered in 2020. \
         No measurement of a system repeats them.",
    ),
    (
        "R20",
        "Part 5: REP-2004",
        "The table is made of declarations of projects; QUALITY_DECLARATION.md has that of Feros.",
    ),
    (
        "R20",
        "Part 6: survey of users",
        "These are data about people: the answers of 96 users in 2020. No measurement of a system \
         repeats them.",
    ),
];

const TITLE: &str = "Not measured";

/// The rows for the documents of a run.
fn rows(run: &Run) -> Vec<&'static (&'static str, &'static str, &'static str)> {
    let is_repeated = |document: &str| run.scenarios.iter().any(|one| one.document == document);
    UNMEASURED.iter().filter(|(document, ..)| is_repeated(document)).collect()
}

/// The section of the page; nothing if the run repeats no document.
pub(super) fn section(run: &Run) -> Markup {
    let rows = rows(run);
    let table = html! {
        table {
            thead { tr { th scope="col" { "document" } th scope="col" { "part" } th scope="col" { "why" } } }
            tbody {
                @for (document, part, why) in &rows {
                    tr { th scope="row" { (document) } td class="wide-cell" { (part) } td class="wide-cell" { (why) } }
                }
            }
        }
    };
    html! {
        @if !rows.is_empty() {
            section id="not-measured" {
                h2 { (TITLE) }
                p { "Parts of the documents that this laboratory does not measure as they are." }
                (scrolling(TITLE, &table))
            }
        }
    }
}

/// Writes the section into the summary; nothing if the run repeats no document.
pub(super) fn write(text: &mut String, run: &Run) {
    let rows = rows(run);
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(text, "## {TITLE}\n\n| document | part | why |\n|---|---|---|");
    for (document, part, why) in rows {
        let _ = writeln!(text, "| {document} | {} | {} |", escaped(part), escaped(why));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Scenario;

    #[test]
    fn only_documents_of_the_run_are_named() {
        let scenario = Scenario { document: "R20".to_owned(), ..Scenario::default() };
        let run = Run { scenarios: vec![scenario], ..Run::default() };
        let (page, mut text) = (section(&run).into_string(), String::new());
        write(&mut text, &run);
        for shown in [&page, &text] {
            assert!(
                shown.contains("data about people") && !shown.contains("OpenSplice"),
                "{shown}"
            );
        }
        write(&mut text, &Run::default());
        assert_eq!(text.matches("## Not measured").count(), 1);
        assert_eq!(section(&Run::default()).into_string(), "");
    }
}
