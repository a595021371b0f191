//! The verdicts as Markdown.

use std::fmt::Write as _;

use super::Verdict;
use super::page::counted;
use crate::record::Condition;
use crate::report::escape::escaped;

/// Writes the verdicts of all documents; writes nothing if the run has no verdicts.
pub(crate) fn write_section(text: &mut String, verdicts: &[Verdict]) {
    if verdicts.is_empty() {
        return;
    }
    let _ = writeln!(text, "## The documents' figures\n\n{}.\n", counted(verdicts));
    text.push_str(
        "| figure | conclusion | | here | the document's numbers |\n|---|---|---|---|---|\n",
    );
    for verdict in verdicts {
        let _ = writeln!(
            text,
            "| {} {} | {} | **{}** | {} | {} |",
            escaped(&verdict.document),
            escaped(&verdict.item),
            escaped(&verdict.conclusion),
            verdict.ruling.word(),
            escaped(&numbers(verdict)),
            escaped(&verdict.paper)
        );
    }
    text.push('\n');
}

/// Writes the verdicts of one scenario with their conditions.
pub(crate) fn write_in_scenario(text: &mut String, verdicts: &[Verdict], scenario: &str) {
    let mut own = verdicts.iter().filter(|verdict| verdict.scenario == scenario).peekable();
    if own.peek().is_none() {
        return;
    }
    text.push_str("Verdicts:\n\n");
    for verdict in own {
        let _ = writeln!(
            text,
            "- **{}**: {} **{}**: {}",
            escaped(&verdict.item),
            escaped(&verdict.conclusion),
            verdict.ruling.word(),
            escaped(&numbers(verdict))
        );
        let details = [
            ("The document", verdict.paper.clone()),
            ("Beside it", verdict.others()),
            ("Conditions here", stated(&verdict.conditions, |condition| &condition.here)),
            ("In the document", stated(&verdict.conditions, |condition| &condition.document)),
        ];
        for (name, words) in details.iter().filter(|(_, words)| !words.is_empty()) {
            let _ = writeln!(text, "  - {name}: {}", escaped(words));
        }
    }
    text.push('\n');
}

/// The numbers behind a ruling, and the doubts about them.
fn numbers(verdict: &Verdict) -> String {
    let numbers = verdict.numbers();
    if verdict.doubts.is_empty() {
        return numbers;
    }
    format!("{numbers}. Over doubtful cells: {}", verdict.doubts.join("; "))
}

/// The conditions of one side that are known.
fn stated(conditions: &[Condition], of: fn(&Condition) -> &String) -> String {
    let known = conditions.iter().map(|condition| (&condition.name, of(condition)));
    let known = known.filter(|(_, words)| !words.is_empty());
    known.map(|(name, words)| format!("{name}: {words}")).collect::<Vec<_>>().join("; ")
}
