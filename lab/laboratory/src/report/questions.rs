//! The first screen: the questions of a person who chooses a system, answered from the cells of a
//! run. Each question takes one cell of one experiment, so that all systems are compared under the
//! same conditions. Of the cells in which the most systems were measured, it takes the cell that is
//! nearest to the question.

mod ask;
mod names;
mod page;
mod text;
mod verdict;

pub(crate) use ask::Topic;
pub(crate) use names::{count_of, families};
pub(crate) use page::first_screen;
pub(crate) use text::write_first_screen;

use std::collections::BTreeSet;

use ask::{QUESTIONS, Question};

use super::context::Context;
use super::floors::{candidates, is_floor, is_of_floor};
use super::groups::{Place, cells};
use super::metric::{Metric, Statistic};
use super::sample::Sample;
use super::selection::{Estimate, estimate, repetitions_of, values_of};
use super::threads::{KINDS, callback, is_within_process, kind_title};
use crate::record::{CallbackThread, Record, Scenario, Status, Value};
use crate::statistics::{Verdict, compare};

/// The limit on lost messages: a system that loses more is not ranked by the speed of the messages
/// that arrived.
pub(crate) const MOST_LOST_PERCENT: f64 = 1.0;

/// The least share of the wanted rate: a system that publishes more slowly is not ranked by the
/// speed of its fewer messages.
pub(crate) const LEAST_OF_RATE: f64 = 0.95;

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Median,
    P99,
    Lost,
    PublishRate,
    Processor,
    Memory,
    Threads,
    Wakeups,
}

/// A question with the cells that answer it.
pub(crate) struct Answer<'a> {
    question: &'static Question,
    title: String,
    scenario: &'a Scenario,
    /// The other dimensions that all of these cells share.
    place: Place,
    parts: Vec<Part<'a>>,
    /// The systems that cannot answer, and why.
    impossible: Vec<(String, String)>,
    /// The verdict of each part.
    said: Vec<verdict::Said>,
}

/// A part of an answer: rows that may be ranked against each other.
pub(crate) struct Part<'a> {
    /// Within a process: the kind of callback thread.
    kind: Option<CallbackThread>,
    rows: Vec<Row<'a>>,
    /// The floor of the ratios, if it was measured in the same cells.
    floor: Option<&'static str>,
    /// The limits of this machine in the same cells.
    limits: Vec<Row<'a>>,
}

/// A system in a cell.
pub(crate) struct Row<'a> {
    system: String,
    /// Within a process, how messages travel: by pointer, or as between processes.
    way: Option<&'static str>,
    samples: Vec<Sample<'a>>,
    /// One estimate for each column of the question.
    cells: Vec<Option<Estimate>>,
    /// The number of the first column as a multiple of the floor.
    from_floor: Option<f64>,
    standing: Standing,
}

/// The rank of a system among the others of its part.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Standing {
    Lowest,
    /// Indistinguishable from the lowest number; the value is the ratio to the lowest number.
    WithinScatter(f64),
    /// Higher than the lowest number; the value is the ratio to the lowest number.
    Behind(f64),
    /// The system has a number, but no ratio can be computed.
    Unranked,
    /// This percentage of the messages did not arrive, so the system is not ranked.
    Loses(f64),
    /// The publisher reached only this rate, so the system is not ranked.
    HeldBack(f64),
    /// The system has no complete result.
    Failed(String),
    /// The row is a limit of the machine, not a competitor.
    Limit,
}

impl Column {
    fn metric(self) -> Metric {
        match self {
            Self::Median => Metric::Latency(Statistic::Median),
            Self::P99 => Metric::Latency(Statistic::P99),
            Self::Lost => Metric::LostPercent,
            Self::PublishRate => Metric::Value("publish_rate_hz".to_owned()),
            Self::Processor => Metric::Value("cpu_percent".to_owned()),
            Self::Memory => Metric::Value("pss_bytes".to_owned()),
            Self::Threads => Metric::Value("threads".to_owned()),
            Self::Wakeups => Metric::Value("wakeups_per_second".to_owned()),
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Median => "p50",
            Self::P99 => "p99",
            Self::Lost => "lost",
            Self::PublishRate => "publish rate",
            Self::Processor => "processor",
            Self::Memory => "memory",
            Self::Threads => "threads",
            Self::Wakeups => "wake-ups",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Median => {
                "half of the messages took no longer, from the call of publish to the callback"
            }
            Self::P99 => "99 of 100 messages took no longer",
            Self::Lost => "messages that did not arrive, or were pushed out of a full history",
            Self::PublishRate => "messages published per second",
            Self::Processor => {
                "processor time of all processes of the cell; 100 % is one processor"
            }
            Self::Memory => "memory of all processes of the cell, shared pages in shares (PSS)",
            Self::Threads => "threads of all processes of the cell",
            Self::Wakeups => "how often a second a thread that slept was woken up",
        }
    }

    fn show(self, estimate: &Estimate) -> String {
        self.metric().unit().show(estimate.value)
    }
}

impl Row<'_> {
    fn cell(&self, question: &Question, column: Column) -> Option<&Estimate> {
        let at = question.columns.iter().position(|known| *known == column)?;
        self.cells.get(at)?.as_ref()
    }

    fn is_ranked(&self) -> bool {
        !matches!(
            self.standing,
            Standing::Loses(_) | Standing::HeldBack(_) | Standing::Failed(_) | Standing::Limit
        )
    }
}

impl Part<'_> {
    /// A row's name. It includes how messages travel, if the part has another row of the same
    /// system.
    fn name(&self, row: &Row<'_>) -> String {
        let same = self.rows.iter().filter(|other| other.system == row.system).count();
        match row.way {
            Some(way) if same > 1 => format!("{} ({way})", row.system),
            _ => row.system.clone(),
        }
    }
}

impl Answer<'_> {
    fn rows(&self) -> impl Iterator<Item = &Row<'_>> {
        self.parts.iter().flat_map(|part| &part.rows)
    }

    /// The columns in which any system has a number.
    fn columns(&self) -> Vec<Column> {
        let has =
            |column: &Column| self.rows().any(|row| row.cell(self.question, *column).is_some());
        self.question.columns.iter().copied().filter(has).collect()
    }
}

/// The answers to all questions that the run has cells for.
pub(crate) fn answers<'a>(context: &Context<'a>) -> Vec<Answer<'a>> {
    let mut found: Vec<Answer<'a>> = Vec::new();
    for question in QUESTIONS {
        // The page has the question about a slow link only if no other question about a link has an
        // answer.
        let is_asked = question.id != "slow"
            || !found.iter().any(|answer| answer.question.topic == Topic::Link);
        if is_asked {
            found.extend(answer(context, question));
        }
    }
    found
}

fn answer<'a>(context: &Context<'a>, question: &'static Question) -> Option<Answer<'a>> {
    let (scenario, place, records) = nearest(context, question)?;
    let samples: Vec<Sample<'a>> =
        records.into_iter().map(|record| Sample { record, subscription: None }).collect();
    let parts: Vec<Part<'a>> =
        KINDS.into_iter().filter_map(|kind| part(context, question, kind, &samples)).collect();
    let is_shown = |system: &Value| {
        let shown = |row: &Row<'_>| Value::Text(row.system.clone()) == *system;
        parts.iter().flat_map(|part| &part.rows).any(shown)
    };
    let systems = values_of("system", context.run, &samples);
    let absent = systems.iter().filter(|system| !is_shown(system));
    let impossible = absent.filter_map(|system| {
        let of_system = |sample: &&Sample<'_>| sample.value("system").as_ref() == Some(system);
        let Value::Text(name) = system else { return None };
        match &samples.iter().find(of_system)?.record.status {
            Status::Skipped(reason) if !is_floor(name) => Some((name.clone(), reason.clone())),
            _ => None,
        }
    });
    let mut impossible: Vec<(String, String)> = impossible.collect();
    impossible.extend(
        left_out_of(context, question, scenario, &place)
            .into_iter()
            .filter(|(system, _)| !is_shown(&Value::Text(system.clone()))),
    );
    // If all systems lose messages, that is an answer; if no system could be measured, there is no
    // answer.
    let is_answer = |row: &Row<'_>| !matches!(row.standing, Standing::Failed(_));
    let has_answer = parts.iter().any(|part| part.rows.iter().any(is_answer));
    let title = (question.title)(&place);
    let mut answer =
        Answer { question, title, scenario, place, parts, impossible, said: Vec::new() };
    answer.said = verdict::verdicts(context, &answer);
    has_answer.then_some(answer)
}

/// The systems of a cell whose records are left out, and the reasons.
fn left_out_of(
    context: &Context<'_>,
    question: &Question,
    scenario: &Scenario,
    place: &Place,
) -> Vec<(String, String)> {
    let of_scenario = context.left_out.iter().copied().filter(|one| one.scenario == scenario.name);
    let records: Vec<&Record> = of_scenario.collect();
    let own = cells(&records, without(question)).into_iter().filter(|(other, _)| other == place);
    let mut found: Vec<(String, String)> = Vec::new();
    for record in own.flat_map(|(_, records)| records) {
        let Some(system) = record.word("system") else { continue };
        if let Some(reason) = record.why_left_out()
            && !found.iter().any(|(known, _)| known == system)
        {
            found.push((system.to_owned(), reason));
        }
    }
    found
}

/// The dimensions in which the cells of an answer differ.
fn without(question: &Question) -> &'static [&'static str] {
    match question.topic {
        Topic::Process => &["system", "placement"],
        _ => &["system"],
    }
}

/// The cell that answers a question best. This is the cell in which the most systems were measured
/// (a system counts twice if payloads matter and are written anew). Among equal cells, it is the
/// cell that is nearest to the question, and then the first cell.
fn nearest<'a>(
    context: &Context<'a>,
    question: &Question,
) -> Option<(&'a Scenario, Place, Vec<&'a Record>)> {
    let mut best: Option<(usize, f64, &Scenario, Place, Vec<&Record>)> = None;
    for scenario in &context.run.scenarios {
        let fitting: Vec<&Record> = context
            .of_scenario(&scenario.name)
            .into_iter()
            .filter(|record| (question.fits)(record))
            .collect();
        for (place, records) in cells(&fitting, without(question)) {
            let measured = records
                .iter()
                .filter(|record| !is_of_floor(record) && record.is_result())
                .filter_map(|record| record.word("system"));
            let is_filled = question.is_filled && ask::is_filled(&place);
            let measured = families(context.run, measured) * if is_filled { 2 } else { 1 };
            let Some(distance) = records.first().map(|record| (question.distance)(record)) else {
                continue;
            };
            let is_better = best.as_ref().is_none_or(|(most, least, ..)| {
                measured > *most || (measured == *most && distance < *least)
            });
            if measured > 0 && is_better {
                best = Some((measured, distance, scenario, place, records));
            }
        }
    }
    best.map(|(_, _, scenario, place, records)| (scenario, place, records))
}

fn part<'a>(
    context: &Context<'a>,
    question: &'static Question,
    kind: Option<CallbackThread>,
    samples: &[Sample<'a>],
) -> Option<Part<'a>> {
    let of_kind: Vec<Sample<'a>> = samples
        .iter()
        .filter(|sample| callback(context.run, sample.record) == kind)
        .filter(|sample| !matches!(sample.record.status, Status::Skipped(_)))
        .copied()
        .collect();
    let placements = values_of("placement", context.run, &of_kind);
    let floor = floor_of(context, &placements, kind, &of_kind);
    let (mut rows, mut limits) = (Vec::new(), Vec::new());
    for system in values_of("system", context.run, &of_kind) {
        let Value::Text(name) = &system else { continue };
        for placement in &placements {
            let in_cell = |sample: &&Sample<'_>| {
                sample.value("system").as_ref() == Some(&system)
                    && sample.value("placement").as_ref() == Some(placement)
            };
            let mine: Vec<Sample<'a>> = of_kind.iter().filter(in_cell).copied().collect();
            if mine.is_empty() {
                continue;
            }
            let into = if is_floor(name) { &mut limits } else { &mut rows };
            into.push(row(context, question, name, mine, floor));
        }
    }
    rank(context, question, &mut rows);
    // A floor that lost every message is useless.
    let floor = floor.filter(|_| rows.iter().any(|row| row.from_floor.is_some()));
    (!rows.is_empty()).then_some(Part { kind, rows, floor, limits })
}

/// The floor to which the ratios are relative.
fn floor_of(
    context: &Context<'_>,
    placements: &[Value],
    kind: Option<CallbackThread>,
    samples: &[Sample<'_>],
) -> Option<&'static str> {
    let is_measured = |floor: &&&str| {
        let beside =
            |sample: &Sample<'_>| !context.floors.beside(floor, std::iter::once(sample)).is_empty();
        samples.iter().any(beside)
    };
    placements.iter().find_map(|placement| match placement {
        Value::Text(placement) => candidates(placement, kind).iter().find(is_measured).copied(),
        Value::Number(_) => None,
    })
}

fn row<'a>(
    context: &Context<'_>,
    question: &'static Question,
    system: &str,
    samples: Vec<Sample<'a>>,
    floor: Option<&str>,
) -> Row<'a> {
    let cell = |column: &Column| estimate(&column.metric(), &samples, context.run.seed);
    let cells: Vec<Option<Estimate>> = question.columns.iter().map(cell).collect();
    let has_way = |sample: &&Sample<'_>| !is_floor(system) && is_within_process(sample.record);
    let way = samples.first().filter(has_way).map(|sample| match sample.value("placement") {
        Some(Value::Text(placement)) if placement == "intra" => "by pointer",
        _ => "as between processes",
    });
    let from_floor = floor
        .filter(|_| !is_floor(system))
        .and_then(|floor| context.floors.ratio(floor, &question.columns[0].metric(), &samples));
    let mut row = Row {
        system: system.to_owned(),
        way,
        cells,
        from_floor,
        standing: Standing::Limit,
        samples,
    };
    if !is_floor(system) {
        row.standing = unranked(question, &row);
    }
    row
}

/// The standing of a row before ranking: lossy, held back, failed or not ranked yet.
fn unranked(question: &Question, row: &Row<'_>) -> Standing {
    let broken = row.samples.iter().find_map(|sample| match &sample.record.status {
        Status::Failed(reason) => Some(format!("failed: {reason}")),
        Status::Hung(reason) => Some(format!("hung: {reason}")),
        Status::Complete | Status::Skipped(_) => None,
    });
    if let Some(reason) = broken {
        return Standing::Failed(reason);
    }
    let lost = row.cell(question, Column::Lost).map_or(0.0, |lost| lost.value);
    let wanted = row.samples.first().and_then(|sample| sample.record.number("rate_hz"));
    let rate = row.cell(question, Column::PublishRate).map(|rate| rate.value);
    let held_back = rate.filter(|rate| wanted.is_some_and(|wanted| *rate < LEAST_OF_RATE * wanted));
    match (row.cells.first(), held_back) {
        _ if lost > MOST_LOST_PERCENT => Standing::Loses(lost),
        (_, Some(rate)) => Standing::HeldBack(rate),
        (Some(Some(_)), None) => Standing::Unranked,
        _ => Standing::Failed("nothing: no message arrived".to_owned()),
    }
}

/// Sorts rows, the lowest first, and computes the ratios of the other rows to the lowest row.
fn rank(context: &Context<'_>, question: &Question, rows: &mut [Row<'_>]) {
    let metric = question.columns[0].metric();
    let first = |row: &Row<'_>| row.cells.first().copied().flatten();
    let place = |row: &Row<'_>| match &row.standing {
        Standing::Loses(percent) => (1, *percent),
        Standing::HeldBack(rate) => (2, -*rate),
        Standing::Failed(_) => (3, 0.0),
        _ => (0, first(row).map_or(f64::INFINITY, |found| found.value)),
    };
    rows.sort_by(|a, b| {
        let (a, b) = (place(a), place(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let Some((lowest, others)) = rows.split_first_mut() else { return };
    if !lowest.is_ranked() {
        return;
    }
    let best = scatter(&metric, &lowest.samples);
    let repetitions = repetitions_of(&metric, &lowest.samples);
    lowest.standing = Standing::Lowest;
    for row in others.iter_mut().filter(|row| row.is_ranked()) {
        let mine = repetitions_of(&metric, &row.samples);
        let Some(found) = compare(&mine, &repetitions, context.run.seed) else { continue };
        let own = scatter(&metric, &row.samples);
        let overlaps = own.0 <= best.1 && best.0 <= own.1;
        row.standing = if overlaps || found.verdict == Verdict::NoDifference {
            Standing::WithinScatter(found.ratio)
        } else {
            Standing::Behind(found.ratio)
        };
    }
}

/// The range in which the numbers of repetitions may lie: the union of the medians' intervals, or
/// the range of single numbers.
fn scatter(metric: &Metric, samples: &[Sample<'_>]) -> (f64, f64) {
    let of_one = |sample: &Sample<'_>| match metric {
        Metric::Latency(Statistic::Median) => {
            Some(metric.distribution(sample.record, sample.subscription)?.median_interval)
        }
        _ => metric.number(sample.record, sample.subscription).map(|number| (number, number)),
    };
    let wider = |(low, high): (f64, f64), (from, to): (f64, f64)| (low.min(from), high.max(to));
    samples.iter().filter_map(of_one).fold((f64::INFINITY, f64::NEG_INFINITY), wider)
}

/// The title of a part, if there are several.
fn part_title(part: &Part<'_>) -> Option<String> {
    part.kind.map(|kind| super::figure::capital(kind_title(Some(kind))))
}

/// The names of the systems in an answer, each once.
fn systems_of(answer: &Answer<'_>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let limits = answer.parts.iter().flat_map(|part| &part.limits);
    let all = answer.rows().chain(limits);
    all.filter(|row| seen.insert(row.system.clone())).map(|row| row.system.clone()).collect()
}
