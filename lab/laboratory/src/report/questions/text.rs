//! The first screen as Markdown.

use std::fmt::Write as _;

use super::page::{LEGEND, TWO_HOSTS, floors, is_remote, source, unanswered};
use super::verdict::basis;
use super::{Answer, Column, Row, Standing, part_title};
use crate::report::context::Context;
use crate::report::escape::escaped;
use crate::report::figure::title_of_variant;
use crate::report::quantity::{Unit, digits};

/// Writes the verdicts, then a table for each question.
pub(crate) fn write_first_screen(text: &mut String, context: &Context<'_>, answers: &[Answer<'_>]) {
    text.push_str("## Which one for what\n\n");
    for answer in answers {
        let basis = basis(context, answer);
        let _ = writeln!(text, "- **{}**: {}", escaped(&answer.title), escaped(&basis));
        for said in &answer.said {
            let _ = writeln!(text, "  - {}", escaped(&said.whole()));
        }
    }
    if answers.is_empty() {
        text.push_str("This run does not answer any of the questions yet.\n");
    } else {
        text.push('\n');
        for (word, meaning) in LEGEND {
            let _ = writeln!(text, "- *{}*: {meaning}", escaped(word));
        }
    }
    text.push('\n');
    for answer in answers {
        write_answer(text, context, answer);
    }
    let unasked = unanswered(answers);
    if !unasked.is_empty() {
        text.push_str("Not answered by this run, with the command that measures it:\n\n");
        for topic in unasked {
            let _ = writeln!(text, "- {}: `{}`", topic.title(), topic.command());
        }
        text.push('\n');
    }
}

fn write_answer(text: &mut String, context: &Context<'_>, answer: &Answer<'_>) {
    let columns = answer.columns();
    let _ = writeln!(text, "### {}\n", escaped(&answer.title));
    let headings: Vec<&str> = columns.iter().map(|column| column.heading()).collect();
    let first = headings.first().copied().unwrap_or_default();
    let others = headings.get(1..).unwrap_or_default();
    let _ = write!(text, "| system | | {first} | × lowest |");
    for heading in others {
        let _ = write!(text, " {heading} |");
    }
    let _ = writeln!(text, "\n|---|---|{}", "---:|".repeat(headings.len() + 1));
    for part in &answer.parts {
        if let Some(title) = part_title(part) {
            let _ = writeln!(text, "| **{title}** | |{}", " |".repeat(headings.len() + 1));
        }
        for row in part.rows.iter().chain(&part.limits) {
            write_row(text, context, answer, row, &columns);
        }
    }
    let mut remarks = vec![source(context, answer)];
    remarks.extend(is_remote(answer).then(|| TWO_HOSTS.to_owned()));
    remarks.extend(floors(answer));
    let impossible: Vec<String> =
        answer.impossible.iter().map(|(system, reason)| format!("{system} ({reason})")).collect();
    if !impossible.is_empty() {
        remarks.push(format!("Cannot be asked: {}.", impossible.join("; ")));
    }
    let _ = writeln!(text, "\n{}\n", escaped(&remarks.join(" ")));
}

fn write_row(
    text: &mut String,
    context: &Context<'_>,
    answer: &Answer<'_>,
    row: &Row<'_>,
    columns: &[Column],
) {
    let title = context.system(&row.system).map_or("", |system| match row.standing {
        Standing::Limit => title_of_variant(&system.title),
        _ => &system.title,
    });
    let way = row.way.map_or(String::new(), |way| format!(", {way}"));
    let _ = write!(text, "| {} | {}{way} |", escaped(&row.system), escaped(title));
    for (index, column) in columns.iter().enumerate() {
        let shown = row.cell(answer.question, *column).map_or("–".to_owned(), |found| {
            format!("{}{}", column.show(found), if found.whole { "" } else { "\\*" })
        });
        let is_best = matches!(row.standing, Standing::Lowest | Standing::WithinScatter(_));
        let shown = if index == 0 && is_best { format!("**{shown}**") } else { shown };
        let from_floor = row.from_floor.filter(|_| *column == Column::Median);
        let from_floor =
            from_floor.map_or(String::new(), |ratio| format!(" ({}× floor)", digits(ratio)));
        let _ = write!(text, " {shown}{from_floor} |");
        if index == 0 {
            let _ = write!(text, " {} |", standing(&row.standing));
        }
    }
    text.push('\n');
}

fn standing(standing: &Standing) -> String {
    match standing {
        Standing::Lowest => "lowest".to_owned(),
        Standing::WithinScatter(ratio) => format!("{}×, within scatter", digits(*ratio)),
        Standing::Behind(ratio) => format!("{}×", digits(*ratio)),
        Standing::Loses(percent) => format!("loses {}", Unit::Percent.show(*percent)),
        Standing::HeldBack(rate) => format!("publishes at {}", Unit::Hertz.show(*rate)),
        Standing::Failed(reason) => escaped(reason),
        Standing::Unranked => "–".to_owned(),
        Standing::Limit => "floor".to_owned(),
    }
}
