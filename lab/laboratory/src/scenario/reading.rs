//! Reads a file and resolves it for a grid.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::cells::check_cells;
use super::check::{check, check_figure, check_floor, check_goal, check_verdict};
use super::conditions::Stated;
use super::experiment::{
    Grid, LinkConditions, Procedure, Qos, Scenario, StartOrder, Variables, Workload,
};
use super::settings::{Links, Settings};
use crate::contract::{Executor, Fill, MessageType, Placement, PublishMode, Topology};
use crate::document::{Document, DocumentError};
use crate::record::{Check, Figure};
use feros_wording::did_you_mean;

/// The contents of a scenario file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    title: String,
    #[serde(default)]
    document: String,
    #[serde(default)]
    item: String,
    #[serde(default)]
    finding: String,
    #[serde(default)]
    conditions: Stated,
    #[serde(default)]
    seed: u64,
    experiment: Settings,
    #[serde(default)]
    grid: BTreeMap<Grid, Settings>,
    #[serde(default)]
    qos: BTreeMap<String, Spanned<Qos>>,
    #[serde(default)]
    link: BTreeMap<String, Links>,
    #[serde(default)]
    environment: BTreeMap<String, Variables>,
    #[serde(default)]
    figure: Vec<Spanned<Figure>>,
    #[serde(default)]
    columns: Vec<String>,
    #[serde(default)]
    goal: Vec<Spanned<Check>>,
    #[serde(default)]
    verdict: Vec<Spanned<Check>>,
}

/// A scenario file that has been read.
pub struct ScenarioFile {
    path: PathBuf,
    document: Document,
    contents: Contents,
}

/// Lists the scenario files of a folder, by name.
///
/// # Errors
/// If the folder cannot be read.
pub fn scenario_files(folder: &Path) -> Result<Vec<PathBuf>, DocumentError> {
    let failed = |error: std::io::Error| DocumentError {
        path: folder.to_owned(),
        line: 1,
        text: format!("the folder of scenarios cannot be read: {error}"),
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl ScenarioFile {
    /// Reads a file; [`Self::resolve`] checks its names.
    ///
    /// # Errors
    /// If any part is invalid; the error has its line and the allowed values.
    pub fn read(path: &Path) -> Result<Self, DocumentError> {
        Self::of(path, Document::read(path)?)
    }

    fn of(path: &Path, document: Document) -> Result<Self, DocumentError> {
        let contents: Contents = document.parse()?;
        for figure in &contents.figure {
            check_figure(&document, figure)?;
        }
        for goal in &contents.goal {
            check_goal(&document, goal)?;
        }
        for verdict in &contents.verdict {
            check_verdict(&document, verdict, &contents.document)?;
        }
        if let Some(qos) = contents.qos.values().find(|qos| qos.get_ref().depth == 0) {
            return Err(document.error(qos.span(), "depth = 0 is not allowed here: 1 or more"));
        }
        Ok(Self { path: path.to_owned(), document, contents })
    }

    /// The name of the file without its extension.
    pub fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The title for people, one line.
    pub fn title(&self) -> &str {
        &self.contents.title
    }

    /// The document and the item, such as `M16 Figure 7`.
    pub fn source(&self) -> String {
        format!("{} {}", self.contents.document, self.contents.item).trim().to_owned()
    }

    /// The grids to which the scenario belongs.
    pub fn grids(&self) -> impl Iterator<Item = Grid> + '_ {
        self.contents.grid.keys().copied()
    }

    /// Resolves the experiment for a grid or, without a grid, with its own settings; returns `None`
    /// if the experiment does not belong to the grid. `words` (`KEY=VALUE`) take precedence over
    /// both. `systems` are the names of all systems.
    ///
    /// # Errors
    /// If a name does not exist, or settings cannot be combined.
    pub fn resolve(
        &self,
        grid: Option<Grid>,
        words: &[String],
        systems: &dyn Fn(&str) -> Result<(), String>,
    ) -> Result<Option<Scenario>, DocumentError> {
        let nothing = Settings::default();
        let first = Settings::of_words(words)?;
        let over = match grid {
            None => &nothing,
            Some(grid) => match self.contents.grid.get(&grid) {
                Some(over) => over,
                None => return Ok(None),
            },
        };
        let scenario = self.merged(&first, over, systems)?;
        self.check_cells(systems)?;
        Ok(Some(scenario))
    }

    /// Refuses goals and verdicts about cells that the experiment does not have in any grid.
    fn check_cells(
        &self,
        systems: &dyn Fn(&str) -> Result<(), String>,
    ) -> Result<(), DocumentError> {
        let statements: Vec<&Spanned<Check>> =
            self.contents.goal.iter().chain(&self.contents.verdict).collect();
        if statements.is_empty() {
            return Ok(());
        }
        let nothing = Settings::default();
        let grids = std::iter::once(&nothing).chain(self.contents.grid.values());
        let grids = grids
            .map(|over| self.merged(&nothing, over, systems))
            .collect::<Result<Vec<Scenario>, DocumentError>>()?;
        statements.into_iter().try_for_each(|one| check_cells(&self.document, one, &grids))
    }

    fn merged(
        &self,
        first: &Settings,
        over: &Settings,
        systems: &dyn Fn(&str) -> Result<(), String>,
    ) -> Result<Scenario, DocumentError> {
        let base = &self.contents.experiment;
        macro_rules! pick {
            ($field:ident) => {
                first.$field.clone().or_else(|| over.$field.clone()).or_else(|| base.$field.clone())
            };
            ($field:ident, $default:expr) => {
                pick!($field).unwrap_or_else(|| $default)
            };
        }
        let workload = pick!(workload).ok_or_else(|| {
            self.wrong(
                "[experiment] has no `workload`: latency, goodput, chain, nodes, idle, executor, \
                 graph, call or discovery",
            )
        })?;
        let named = pick!(systems).unwrap_or_default();
        self.check_systems(&named, systems)?;
        // A figure without its floor, for example of words that name other systems, has no limit
        // line.
        let of_grids = self.contents.grid.values().chain([base]);
        let measured: Vec<_> = of_grids.filter_map(|grid| grid.systems.clone()).flatten().collect();
        for figure in &self.contents.figure {
            check_floor(&self.document, figure, &measured)?;
        }
        let goodput = workload == Workload::Goodput;
        let calls = workload == Workload::Call;
        let watched =
            !calls && !matches!(workload, Workload::Latency | Workload::Goodput | Workload::Chain);
        let text = if calls { MessageType::String } else { MessageType::Bytes };
        let usual_nodes = if workload == Workload::Chain { 3 } else { 1 };
        let mut scenario = Scenario {
            about: self.about(),
            part: pick!(part).map_or(0, |part| part.0),
            workload,
            systems: named.into_iter().map(Spanned::into_inner).collect(),
            placements: pick!(placements, vec![Placement::Local]),
            sizes_bytes: numbers(pick!(sizes), 256, |size| size.0),
            types: pick!(types, vec![text]),
            rates_hz: match goodput {
                true => vec![0.0],
                false => numbers(pick!(rates_hz), 100.0, |rate| rate.0),
            },
            subscriptions: numbers(pick!(subscriptions), 1, |count| count.0),
            nodes: numbers(pick!(nodes), usual_nodes, |count| count.0),
            topologies: pick!(topologies, vec![Topology::Ring]),
            starts: pick!(starts, vec![StartOrder::Together]),
            idle: numbers(pick!(idle), 0, |idle| u32::try_from(idle.0).unwrap_or(u32::MAX)),
            graphs: pick!(graphs).unwrap_or_default(),
            qos: self.qos(pick!(qos))?,
            publish: pick!(publish, vec![PublishMode::Default]),
            fill: pick!(fill, vec![Fill::None]),
            executors: pick!(executors, vec![Executor::Default]),
            links: self.links(pick!(links))?,
            environments: self.environments(pick!(environments))?,
            cpu_load_percent: numbers(pick!(cpu_load_percent), 0.0, |load| load.0),
            work_micros: numbers(pick!(work_micros), 0, |work| work.0),
            procedure: Procedure {
                realtime: pick!(realtime, false),
                awake: pick!(awake, false),
                apart: pick!(apart, false),
                count: pick!(count)
                    .map_or(if pick!(seconds).is_some() || watched { 0 } else { 100 }, |count| {
                        count.0
                    }),
                seconds: pick!(seconds)
                    .map_or(if watched { 3.0 } else { 0.0 }, |seconds| seconds.0),
                warm_up: pick!(warm_up).map_or(10, |messages| messages.0),
                matched: pick!(matched, true),
                one_listener: pick!(one_listener, false),
                samples: pick!(samples, !goodput),
                memory: pick!(
                    memory,
                    !calls && workload != Workload::Latency && workload != Workload::Chain
                ),
                settle_seconds: pick!(settle_seconds).map_or(1.0, |seconds| seconds.0),
                timeout_seconds: pick!(timeout_seconds).map_or(20.0, |seconds| seconds.0),
                seed: self.contents.seed,
            },
            repetitions: pick!(repetitions).map_or(1, |repetitions| repetitions.0),
        };
        check(&scenario).map_err(|text| self.wrong(&text))?;
        scenario.about.conditions = self.contents.conditions.beside(&scenario);
        Ok(scenario)
    }

    /// Checks that the systems of the experiment exist.
    fn check_systems(
        &self,
        named: &[Spanned<String>],
        systems: &dyn Fn(&str) -> Result<(), String>,
    ) -> Result<(), DocumentError> {
        named.iter().try_for_each(|system| {
            systems(system.get_ref()).map_err(|text| self.document.error(system.span(), text))
        })
    }

    fn about(&self) -> crate::record::Scenario {
        let Contents { title, document, item, finding, columns, goal, verdict, figure, .. } =
            &self.contents;
        crate::record::Scenario {
            name: self.name(),
            title: title.clone(),
            document: document.clone(),
            item: item.clone(),
            finding: finding.trim().to_owned(),
            conditions: Vec::new(),
            columns: columns.clone(),
            goals: goal.iter().map(|goal| goal.get_ref().clone()).collect(),
            verdicts: verdict.iter().map(|verdict| verdict.get_ref().clone()).collect(),
            figures: figure.iter().map(|figure| figure.get_ref().clone()).collect(),
        }
    }

    fn wrong(&self, text: &str) -> DocumentError {
        self.document.error(0..0, text)
    }

    fn unknown(&self, kind: &str, name: &Spanned<String>, known: Vec<&str>) -> DocumentError {
        let allowed =
            if known.is_empty() { "none is defined".to_owned() } else { known.join(", ") };
        let given = name.get_ref();
        self.document.error(
            name.span(),
            format!(
                "no [{kind}.{given}] in this file; there are: {allowed}{}",
                did_you_mean(given, known)
            ),
        )
    }

    fn qos(
        &self,
        names: Option<Vec<Spanned<String>>>,
    ) -> Result<Vec<(String, Qos)>, DocumentError> {
        let Some(names) = names else { return Ok(vec![("default".into(), Qos::default())]) };
        let defined = &self.contents.qos;
        names
            .into_iter()
            .map(|name| match defined.get(name.get_ref()) {
                Some(qos) => Ok((name.into_inner(), qos.get_ref().clone())),
                None if name.get_ref() == "default" => Ok((name.into_inner(), Qos::default())),
                None => {
                    Err(self.unknown("qos", &name, defined.keys().map(String::as_str).collect()))
                }
            })
            .collect()
    }

    fn links(
        &self,
        names: Option<Vec<Spanned<String>>>,
    ) -> Result<Vec<(String, LinkConditions)>, DocumentError> {
        let Some(names) = names else {
            return Ok(vec![("unlimited".into(), LinkConditions::default())]);
        };
        let mut links = Vec::new();
        for name in names {
            match self.contents.link.get(name.get_ref()) {
                Some(definition) => links.extend(definition.combinations(name.get_ref())),
                None if name.get_ref() == "unlimited" => {
                    links.push((name.into_inner(), LinkConditions::default()));
                }
                None => {
                    let known = self
                        .contents
                        .link
                        .keys()
                        .map(String::as_str)
                        .chain(["unlimited"])
                        .collect();
                    return Err(self.unknown("link", &name, known));
                }
            }
        }
        Ok(links)
    }

    fn environments(
        &self,
        names: Option<Vec<Spanned<String>>>,
    ) -> Result<Vec<(String, Variables)>, DocumentError> {
        let defined = &self.contents.environment;
        names
            .unwrap_or_default()
            .into_iter()
            .map(|name| match defined.get(name.get_ref()) {
                Some(variables) => Ok((name.into_inner(), variables.clone())),
                None => Err(self.unknown(
                    "environment",
                    &name,
                    defined.keys().map(String::as_str).collect(),
                )),
            })
            .collect()
    }
}

fn numbers<N, T>(given: Option<Vec<N>>, default: T, plain: fn(N) -> T) -> Vec<T> {
    given.map_or_else(|| vec![default], |values| values.into_iter().map(plain).collect())
}

impl Links {
    /// Makes one link for each combination of rate and loss.
    fn combinations(&self, name: &str) -> Vec<(String, LinkConditions)> {
        let rates: Vec<Option<f64>> = match self.rate_mbit.as_slice() {
            [] => vec![None],
            rates => rates.iter().map(|rate| Some(rate.0)).collect(),
        };
        let losses: Vec<f64> = match self.loss_percent.as_slice() {
            [] => vec![0.0],
            losses => losses.iter().map(|loss| loss.0).collect(),
        };
        let mut all = Vec::new();
        for rate_mbit in rates {
            for &loss_percent in &losses {
                all.push((
                    name.to_owned(),
                    LinkConditions {
                        rate_mbit,
                        loss_percent,
                        delay_micros: self.delay_micros,
                        jitter_micros: self.jitter_micros,
                        burst_packets: self.burst_packets,
                        reorder_percent: self.reorder_percent.map_or(0.0, |percent| percent.0),
                        queue_packets: self.queue_packets,
                        queue_bytes: self.queue_bytes.map(|size| size.0),
                        mtu: self.mtu,
                    },
                ));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests;
