//! The page of the report: one file, which needs no network.

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Shown;
use super::conditions;
use super::context::Context;
use super::documents::document_title;
use super::features;
use super::figure::{figure, title_of_variant};
use super::findings::findings;
use super::floors::is_floor;
use super::font;
use super::goals::{GoalResult, goals};
use super::parts;
use super::payloads::{LEFT_OUT, endings, payloads};
use super::quantity::{Unit, dimension_value, dimension_with_value, duration, moment, words};
use super::questions::{count_of, first_screen};
use super::results::Results;
use super::tables::scrolling;
use super::unmeasured;
use super::verdicts::{Verdict, in_scenario, section};
use crate::record::{Record, Run, Scenario, Status, System};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// The script runs before anything is drawn; otherwise, the page would flash if the reader has
/// chosen the dark theme.
const EARLY_SCRIPT: &str = "try{const t=localStorage.getItem('feros-theme');if(t)document.documentElement.dataset.theme=t}catch{}";

/// A whole page with this content.
pub(crate) fn frame(title: &str, navigation: &[(String, String)], content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="feros lab";
                title { (title) }
                (font::face())
                style { (PreEscaped(STYLE)) }
                script { (PreEscaped(EARLY_SCRIPT)) }
            }
            body {
                a class="skip" href="#main" { "To the content" }
                nav aria-label="Sections" {
                    div {
                        @for (id, name) in navigation { a href={ "#" (id) } { (name) } }
                        button id="theme" type="button" title="Light, dark, or as the system has it" { "Theme: system" }
                    }
                }
                main id="main" { (content) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// The report of a run.
pub(crate) fn report(shown: &Shown<'_>) -> String {
    let (results, context) = (shown.results, shown.context);
    let run = &results.run;
    let missing: Vec<&System> =
        run.systems.iter().filter(|system| system.missing.is_some()).collect();
    let mut navigation = vec![("overview".to_owned(), "Overview".to_owned())];
    let figures = (!shown.verdicts.is_empty()).then_some(("verdicts", "Documents"));
    let parts =
        figures.into_iter().chain([("payloads", "By payload"), ("experiments", "Experiments")]);
    navigation.extend(parts.map(|(id, name)| (id.to_owned(), name.to_owned())));
    let ends = [
        ("systems", "Systems"),
        ("trouble", "What did not work"),
        ("machine", "Machine"),
        ("repeat", "Repeat"),
    ];
    navigation.extend(ends.map(|(id, name)| (id.to_owned(), name.to_owned())));
    let content = html! {
        (header(results))
        (parts::section(results))
        (first_screen(context, &shown.answers, &missing))
        (section(&shown.verdicts))
        (goals_part(&goals(results)))
        (payloads(context, &shown.blocks))
        (experiments(context, &shown.verdicts))
        (features::section(results))
        (unmeasured::section(run))
        (systems(run))
        (trouble(&results.records))
        (machine(results))
        (repeat(run))
    };
    frame(&format!("Feros laboratory: {}", run.grid), &navigation, &content).into_string()
}

/// The goals, and whether they are reached.
fn goals_part(goals: &[GoalResult]) -> Markup {
    let heading = ["goal", "cell", "here", "reference", "result", "wanted", ""];
    html! {
        @if !goals.is_empty() {
            section id="goals" {
                h2 { "Goals" }
                (scrolling("Goals", &html! {
                    table {
                        thead { tr { @for word in heading { th { (word) } } } }
                        tbody {
                            @for goal in goals {
                                tr {
                                    @let words = [&goal.title, &goal.cell, &goal.own, &goal.reference, &goal.result, &goal.wanted];
                                    @for word in words { td { (word) } }
                                    td { (goal.verdict()) }
                                }
                            }
                        }
                    }
                }))
            }
        }
    }
}

/// A list of the experiments, then the experiments, grouped by the question that they answer.
fn experiments(context: &Context<'_>, verdicts: &[Verdict]) -> Markup {
    let scenarios = &context.run.scenarios;
    html! {
        section id="experiments" {
            h2 { "Experiments" }
            ul class="contents" {
                @for scenario in scenarios { li { a href={ "#scenario-" (scenario.name) } { (scenario.title) } } }
            }
            @for scenario in scenarios { (scenario_part(context, scenario, verdicts)) }
        }
    }
}

fn header(results: &Results) -> Markup {
    let run = &results.run;
    let counts = endings(&results.records);
    let count = |word: &str| counts.get(word).copied().unwrap_or(0);
    let measured = results.records.iter().filter(|record| record.is_result());
    let measured = measured.filter_map(|record| record.word("system"));
    let measured = count_of(run, measured);
    let took = parts::seconds(results);
    html! {
        header {
            p class="eyebrow" { "Feros laboratory" }
            h1 { (run.grid) }
            p class="when" {
                (moment(run.began_unix_seconds))
                @if let Some(seconds) = took { " · " (duration(seconds)) }
                @if let Some(name) = machine_line(run) { " · " (name) }
            }
            ul class="tiles" {
                li { b { (measured) } " measured" }
                li { b { (count("complete")) } " cells complete" }
                @if count("failed") + count("hung") > 0 { li class="bad" { b { (count("failed") + count("hung")) } " failed or hung" } }
                @if count(LEFT_OUT) > 0 { li class="bad" { b { (count(LEFT_OUT)) } " left out: they took another transport" } }
                @if count("skipped") > 0 { li { b { (count("skipped")) } " skipped" } }
            }
            @if took.is_none() {
                p class="alert" role="note" {
                    "This run has not ended: it was interrupted, or is still running. It shows the results so far; "
                    "the same command continues the run."
                }
            }
            @if !results.notices.is_empty() {
                div class="alert" role="note" {
                    p { "Not everything in the run's folder could be read. The rest is used." }
                    ul { @for notice in results.notices.iter().take(20) { li { code { (notice) } } } }
                    @if results.notices.len() > 20 { p { "and " (results.notices.len() - 20) " more." } }
                }
            }
        }
    }
}

fn machine_line(run: &Run) -> Option<String> {
    let known = ["processor", "cpu", "processors", "kernel"];
    let parts: Vec<String> = known
        .iter()
        .filter_map(|key| {
            run.environment.get(*key).map(|value| {
                if value.parse::<u64>().is_ok() {
                    format!("{value} processors")
                } else {
                    value.clone()
                }
            })
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn scenario_part(context: &Context<'_>, scenario: &Scenario, verdicts: &[Verdict]) -> Markup {
    let records = context.of_scenario(&scenario.name);
    let here = findings(context, &scenario.figures, &records);
    html! {
        article class="scenario" id={ "scenario-" (scenario.name) } {
            h3 { (scenario.title) }
            @if !scenario.document.is_empty() {
                p class="repeats" { "Repeats " (scenario.document) " " (scenario.item) @if let Some(title) = document_title(&scenario.document) { ". " (scenario.document) ": " (title) } "." }
            }
            div class=(if scenario.finding.is_empty() { "beside one" } else { "beside" }) {
                @if !scenario.finding.is_empty() { div { h5 { "The document found" } p { (scenario.finding) } } }
                div { h5 { "Measured here" }
                    @match here.as_slice() {
                        [] => p class="muted" { (nothing_said(&records)) },
                        [one] => p { (one) },
                        many => ul { @for sentence in many { li { (sentence) } } },
                    }
                }
            }
            (in_scenario(verdicts, &scenario.name))
            (conditions::table(scenario, &records))
            @for (index, shown) in scenario.figures.iter().enumerate() {
                (figure(context, shown, &records, &format!("figure-{}-{index}", scenario.name)))
            }
        }
    }
}

fn nothing_said(records: &[&Record]) -> &'static str {
    if records.is_empty() {
        "No cell of this experiment has ended in this run."
    } else {
        "Nothing comparable."
    }
}

fn systems(run: &Run) -> Markup {
    let table = html! {
        table {
            thead { tr { th scope="col" { "name" } th scope="col" { "system" } th scope="col" { "version" } th scope="col" { "measured" } } }
            tbody {
                @for system in run.systems.iter().filter(|system| !is_floor(&system.name)) {
                    tr {
                        th scope="row" { code { (system.name) } }
                        td class="wide-cell" { (system.title) @if !system.why.is_empty() { small { "Why so: " (system.why) } } }
                        td { (system.version.as_deref().unwrap_or("–")) }
                        @match &system.missing {
                            None => td { "yes" },
                            Some(missing) => td class="wide-cell" {
                                b { "not measured: " } (missing.reason)
                                @if let Some(install) = &missing.install { br; code { (install) } }
                            },
                        }
                    }
                }
            }
        }
    };
    html! {
        section id="systems" {
            h2 { "Systems" }
            p { "Each is measured through the same contract, as a separate program. A system that is not installed was not measured: it is neither better nor worse." }
            @if run.systems.is_empty() { p class="empty" { "No system is known." } } @else { (scrolling("Systems and versions", &table)) }
        }
    }
}

fn trouble(records: &[Record]) -> Markup {
    let mut groups: BTreeMap<(u8, String, String, String), Vec<&Record>> = BTreeMap::new();
    for record in records {
        let (rank, reason) = match (&record.status, record.why_left_out()) {
            (Status::Failed(reason), _) => (0, reason.clone()),
            (Status::Hung(reason), _) => (1, reason.clone()),
            (_, Some(reason)) => (2, reason),
            (Status::Skipped(reason), None) => (3, reason.clone()),
            (Status::Complete, None) => continue,
        };
        let system = record
            .dimensions
            .get("system")
            .map_or("–".to_owned(), |value| dimension_value("system", value));
        groups.entry((rank, system, record.scenario.clone(), reason)).or_default().push(record);
    }
    let table = html! {
        table {
            thead { tr { th scope="col" { "what" } th scope="col" { "system" } th scope="col" { "experiment" } th scope="col" class="n" { "cells" } th scope="col" { "why" } th scope="col" { "for example" } } }
            tbody {
                @for ((rank, system, scenario, reason), cells) in &groups {
                    tr {
                        th scope="row" class=(["a-error", "a-halts", "a-halts", "none"][usize::from(*rank)]) { (["failed", "hung", LEFT_OUT, "skipped"][usize::from(*rank)]) }
                        td { (system) } td { (scenario) } td class="n" { (cells.len()) } td class="wide-cell" { (reason) }
                        td class="wide-cell" { (cells.first().map_or(String::new(), |record| cell_name(record))) }
                    }
                }
            }
        }
    };
    html! {
        section id="trouble" {
            h2 { "What did not work" }
            p { "A cell that failed or hung keeps its numbers until then; in figures it is hollow, in tables it has a star. Cells that are left out count nowhere. Skipped cells were not tried." }
            @if groups.is_empty() { p class="empty" { "Every cell that was tried is complete." } } @else { (scrolling("Cells that did not work", &table)) }
        }
    }
}

fn cell_name(record: &Record) -> String {
    let others = record.dimensions.iter().filter(|(dimension, _)| *dimension != "system");
    let parts: Vec<String> =
        others.map(|(dimension, value)| dimension_with_value(dimension, value)).collect();
    parts.join(", ")
}

fn machine(results: &Results) -> Markup {
    let run = &results.run;
    html! {
        section id="machine" {
            h2 { "Machine" }
            @if run.environment.is_empty() { p class="empty" { "Nothing is known of it." } }
            @else { dl { @for (key, value) in &run.environment { div { dt { (words(key)) } dd { (value) } } } } }
            h3 { "Floors" }
            p { "What this machine can do at best. A floor is measured as a system of its own, in the cells of the others: the same rate, payload, placement, \
                link and repetition. It is neither counted nor ranked." }
            @match floors(run) {
                Some(table) => (scrolling("Floors", &table)),
                None => p class="empty" { "No floor was measured." },
            }
            @if let Some(sentence) = own_cost(results) { p { (sentence) } }
            h3 { "Noise during the run" }
            p { "Disturbances while cells were measured." }
            @match noise(&results.records) {
                Some(table) => (scrolling("Noise", &table)),
                None => p class="empty" { "Nothing was recorded." },
            }
        }
    }
}

/// The cost of recording, compared with the smallest latency that was measured.
fn own_cost(results: &Results) -> Option<String> {
    let cost = results.run.floors.iter().find(|floor| floor.name == "recording")?.nanos.p50;
    let latencies = results
        .records
        .iter()
        .flat_map(|record| &record.subscriptions)
        .filter_map(|one| one.latency.as_ref());
    let smallest =
        latencies.map(|latency| latency.p50).filter(|nanos| *nanos > 0.0).reduce(f64::min)?;
    Some(format!(
        "The laboratory itself costs {} per message (recording), {} of the smallest median latency of this run, {}; it is not subtracted.",
        Unit::Nanos.show(cost),
        Unit::Percent.show(100.0 * cost / smallest),
        Unit::Nanos.show(smallest),
    ))
}

fn floors(run: &Run) -> Option<Markup> {
    let floors = || run.systems.iter().filter(|system| is_floor(&system.name));
    floors().next().map(|_| {
        html! {
            table {
                thead { tr { th scope="col" { "floor" } th scope="col" { "what it is" } th scope="col" { "why" } } }
                tbody {
                    @for system in floors() {
                        tr {
                            th scope="row" { code { (system.name) } }
                            td class="wide-cell" { (title_of_variant(&system.title)) @if let Some(missing) = &system.missing { small { "not measured: " (missing.reason) } } }
                            td class="wide-cell" { (system.why) }
                        }
                    }
                }
            }
        }
    })
}

/// The smallest, median and largest value of each kind of noise over all cells.
fn noise(records: &[Record]) -> Option<Markup> {
    let mut kinds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (kind, number) in
        records.iter().flat_map(|record| &record.noise).filter(|(_, number)| number.is_finite())
    {
        kinds.entry(kind).or_default().push(*number);
    }
    for numbers in kinds.values_mut() {
        numbers.sort_unstable_by(f64::total_cmp);
    }
    (!kinds.is_empty()).then(|| {
        html! {
            table {
                thead { tr { th scope="col" { "kind" } @for name in ["smallest", "median", "95 % of cells below", "largest", "cells"] { th scope="col" class="n" { (name) } } } }
                tbody {
                    @for (kind, numbers) in &kinds {
                        @let unit = Unit::of_name(kind);
                        @let at = |share: f64| numbers[(share * (numbers.len() - 1) as f64).round() as usize];
                        tr {
                            th scope="row" { (words(kind)) }
                            @for share in [0.0, 0.5, 0.95, 1.0] { td class="n" { (unit.show(at(share))) } }
                            td class="n" { (numbers.len()) }
                        }
                    }
                }
            }
        }
    })
}

fn repeat(run: &Run) -> Markup {
    html! {
        section id="repeat" {
            h2 { "Repeat it" }
            @if run.command.is_empty() { p class="empty" { "The command is not known." } } @else { pre { code { (run.command) } } }
            p { "Seed " code { (run.seed) } ", format " code { (run.format) } ". Beside this page: " code { "cells.jsonl" } " (one cell per line, with the histogram of \
                its samples), " code { "run.json" } " and " code { "raw/" } " (the output of the programs)." }
            p { "End-to-end latency is from the call of publish to the call of the subscription callback, on one clock. A median has the 95 % interval of a \
                bootstrap that draws repetitions first and samples within each then, widened for few repetitions; two systems differ only where the interval \
                of their ratio does not contain 1. With one repetition a difference below 10 % does not count." }
        }
    }
}
