//! From a file to what a grid asks for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::experiment::{Grid, LinkConditions, Procedure, Qos, Scenario, Variables, Workload};
use super::quantity::HowMany;
use super::settings::{Links, Settings};
use crate::contract::{Executor, MessageType, Placement, PublishMode};
use crate::document::{Document, DocumentError};
use crate::nearest::did_you_mean;
use crate::record::{DIMENSIONS, Figure, Goal};

/// A scenario file as it is written.
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
    goal: Vec<Spanned<Goal>>,
}

/// A scenario file that has been read.
pub struct ScenarioFile {
    path: PathBuf,
    document: Document,
    contents: Contents,
}

/// The scenario files of a folder, by name.
///
/// # Errors
/// When the folder cannot be read.
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
    /// Reads a file; its names are checked when a grid is asked for.
    ///
    /// # Errors
    /// Whatever is not understood, with its line and what is allowed.
    pub fn read(path: &Path) -> Result<Self, DocumentError> {
        Self::of(path, Document::read(path)?)
    }

    fn of(path: &Path, document: Document) -> Result<Self, DocumentError> {
        let contents: Contents = document.parse()?;
        for figure in &contents.figure {
            check_figure(&document, figure)?;
        }
        for goal in &contents.goal {
            let Goal { at_most, at_least, flat, .. } = goal.get_ref();
            if at_most.or(*at_least).or(*flat).is_none() {
                let text = "a goal needs one of `at_most`, `at_least` and `flat`";
                return Err(document.error(goal.span(), text));
            }
            let across = &goal.get_ref().across;
            if !DIMENSIONS.contains(&across.as_str()) {
                return Err(document.error(goal.span(), format!("no dimension `{across}`")));
            }
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

    /// A line for people.
    pub fn title(&self) -> &str {
        &self.contents.title
    }

    /// Document and item: `M16 Figure 7`.
    pub fn source(&self) -> String {
        format!("{} {}", self.contents.document, self.contents.item).trim().to_owned()
    }

    /// The grids that it belongs to.
    pub fn grids(&self) -> impl Iterator<Item = Grid> + '_ {
        self.contents.grid.keys().copied()
    }

    /// What a grid asks for, or the experiment as it stands; nothing where it does not belong to
    /// the grid. `words` (`KEY=VALUE`) go before both. `systems` are the names that exist.
    ///
    /// # Errors
    /// Names that do not exist, and what cannot be together.
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
        self.merged(&first, over, systems).map(Some)
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
                "[experiment] has no `workload`: latency, goodput, chain, nodes, idle, executor or \
                 graph",
            )
        })?;
        let named = pick!(systems).unwrap_or_default();
        for system in &named {
            systems(system.get_ref()).map_err(|text| self.document.error(system.span(), text))?;
        }
        for goal in &self.contents.goal {
            let Goal { system, reference, .. } = goal.get_ref();
            for name in [Some(system), reference.as_ref()].into_iter().flatten() {
                systems(name).map_err(|text| self.document.error(goal.span(), text))?;
            }
        }
        let goodput = workload == Workload::Goodput;
        let watched = !matches!(workload, Workload::Latency | Workload::Goodput | Workload::Chain);
        let scenario = Scenario {
            name: self.name(),
            path: self.path.clone(),
            title: self.contents.title.clone(),
            document: self.contents.document.clone(),
            item: self.contents.item.clone(),
            finding: self.contents.finding.trim().to_owned(),
            workload,
            systems: named.into_iter().map(Spanned::into_inner).collect(),
            placements: pick!(placements, vec![Placement::Local]),
            sizes_bytes: pick!(sizes)
                .map_or_else(|| vec![256], |sizes| sizes.iter().map(|size| size.0).collect()),
            types: pick!(types, vec![MessageType::Bytes]),
            rates_hz: match pick!(rates_hz) {
                _ if goodput => vec![0.0],
                rates => rates
                    .map_or_else(|| vec![100.0], |rates| rates.iter().map(|rate| rate.0).collect()),
            },
            subscriptions: numbers(pick!(subscriptions), 1),
            nodes: numbers(pick!(nodes), if workload == Workload::Chain { 3 } else { 1 }),
            idle: pick!(idle).map_or_else(
                || vec![0],
                |idle| idle.iter().map(|idle| u32::try_from(idle.0).unwrap_or(u32::MAX)).collect(),
            ),
            graphs: pick!(graphs).unwrap_or_default(),
            qos: self.qos(pick!(qos))?,
            publish: pick!(publish, vec![PublishMode::Default]),
            executors: pick!(executors, vec![Executor::Default]),
            links: self.links(pick!(links))?,
            environments: self.environments(pick!(environments))?,
            cpu_load_percent: pick!(cpu_load_percent)
                .map_or_else(|| vec![0.0], |loads| loads.iter().map(|load| load.0).collect()),
            work_micros: pick!(work_micros)
                .map_or_else(|| vec![0], |works| works.iter().map(|work| work.0).collect()),
            procedure: Procedure {
                realtime: pick!(realtime, false),
                awake: pick!(awake, false),
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
                memory: pick!(memory, workload != Workload::Latency && workload != Workload::Chain),
                settle_seconds: pick!(settle_seconds).map_or(1.0, |seconds| seconds.0),
                timeout_seconds: pick!(timeout_seconds).map_or(20.0, |seconds| seconds.0),
                seed: self.contents.seed,
            },
            repetitions: pick!(repetitions).map_or(1, |repetitions| repetitions.0),
            columns: self.contents.columns.clone(),
            goals: self.contents.goal.iter().map(|goal| goal.get_ref().clone()).collect(),
            figures: self.contents.figure.iter().map(|figure| figure.get_ref().clone()).collect(),
        };
        self.check(&scenario)?;
        Ok(scenario)
    }

    fn wrong(&self, text: &str) -> DocumentError {
        self.document.error(0..0, text)
    }

    /// What cannot be together.
    fn check(&self, scenario: &Scenario) -> Result<(), DocumentError> {
        let empty = [
            ("systems", scenario.systems.is_empty()),
            ("placements", scenario.placements.is_empty()),
            ("sizes", scenario.sizes_bytes.is_empty()),
            ("types", scenario.types.is_empty()),
            ("rates_hz", scenario.rates_hz.is_empty()),
            ("publish", scenario.publish.is_empty()),
            ("executors", scenario.executors.is_empty()),
            ("cpu_load_percent", scenario.cpu_load_percent.is_empty()),
            ("work_micros", scenario.work_micros.is_empty()),
            ("subscriptions", scenario.subscriptions.is_empty()),
            ("nodes", scenario.nodes.is_empty()),
            ("idle", scenario.idle.is_empty()),
            ("qos", scenario.qos.is_empty()),
            ("graphs", scenario.workload == Workload::Graph && scenario.graphs.is_empty()),
        ];
        if let Some((key, _)) = empty.into_iter().find(|(_, empty)| *empty) {
            return Err(self.wrong(&format!("`{key}` needs at least one value")));
        }
        if scenario.procedure.count == 0 && scenario.procedure.seconds <= 0.0 {
            return Err(
                self.wrong("`count` or `seconds` must be more than 0: one of them ends the cell")
            );
        }
        if scenario.workload == Workload::Chain && scenario.nodes.iter().any(|nodes| *nodes < 2) {
            return Err(
                self.wrong("`nodes` of a chain must be 2 or more: one publishes, one receives")
            );
        }
        if scenario.workload != Workload::Goodput
            && scenario.procedure.count == 0
            && scenario.rates_hz.contains(&0.0)
            && scenario.procedure.samples
        {
            return Err(self.wrong(
                "without pause (`rates_hz = [0]`) `seconds` of samples have no bound: give a `count`, or `samples = false`",
            ));
        }
        Ok(())
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

fn numbers(given: Option<Vec<HowMany>>, default: u32) -> Vec<u32> {
    given.map_or_else(|| vec![default], |values| values.iter().map(|value| value.0).collect())
}

impl Links {
    /// A link for each rate and loss.
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

/// A figure names dimensions that exist.
fn check_figure(document: &Document, figure: &Spanned<Figure>) -> Result<(), DocumentError> {
    let shown = figure.get_ref();
    let named = std::iter::once(&shown.x).chain(&shown.series).chain(shown.only.keys());
    for name in named {
        if !name.is_empty() && !DIMENSIONS.contains(&name.as_str()) {
            let text = format!(
                "no dimension `{name}`; there are: {}{}",
                DIMENSIONS.join(", "),
                did_you_mean(name, DIMENSIONS.iter().copied())
            );
            return Err(document.error(figure.span(), text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::ScenarioFile;
    use crate::document::{Document, DocumentError};
    use crate::scenario::{Grid, Scenario};

    const SOUND: &str = r#"title = "Latency"
document = "M16"

[experiment]
workload = "latency"
systems = ["rcl", "feros:direct"]
sizes = [256, "4K"]
qos = ["reliable"]
links = ["slow"]
placements = ["remote", "local"]

[grid.quick]
sizes = ["1M"]
count = 5

[qos.reliable]
durability = "transient_local"

[link.slow]
rate_mbit = [54, 300]
loss_percent = [0, 10]

[[figure]]
title = "Medians"
kind = "lines"
x = "size_bytes"
y = "latency"
series = ["system"]
only = { placement = ["local"] }
"#;

    fn read(text: &str) -> Result<ScenarioFile, DocumentError> {
        ScenarioFile::of(Path::new("s.toml"), Document::new("s.toml", text))
    }

    fn known(system: &str) -> Result<(), String> {
        match system {
            "rcl" | "feros:direct" => Ok(()),
            _ => Err(format!("no system `{system}`")),
        }
    }

    fn resolved(text: &str, grid: Option<Grid>) -> Result<Option<Scenario>, DocumentError> {
        read(text)?.resolve(grid, &[], &known)
    }

    #[test]
    fn a_grid_says_what_is_different() {
        let as_it_stands = resolved(SOUND, None).unwrap().unwrap();
        assert_eq!(
            (as_it_stands.sizes_bytes.as_slice(), as_it_stands.procedure.count),
            ([256, 4096].as_slice(), 100)
        );
        let quick = resolved(SOUND, Some(Grid::Quick)).unwrap().unwrap();
        assert_eq!(
            (quick.sizes_bytes.as_slice(), quick.procedure.count),
            ([1 << 20].as_slice(), 5)
        );
        assert_eq!(quick.links.len(), 4, "a link for each rate and loss");
        assert_eq!(resolved(SOUND, Some(Grid::Full)).unwrap(), None, "it is not in that grid");
    }

    /// What is wrong, the line, and words of the answer.
    #[test]
    fn whatever_is_wrong_is_said_with_its_line_and_what_is_allowed() {
        let cases: &[(&str, &str, usize, &[&str])] = &[
            (
                "sizes = [256, \"4K\"]",
                "sises = [256]",
                7,
                &["unknown field `sises`", "did you mean `sizes`"],
            ),
            ("sizes = [256, \"4K\"]", "sizes = [256, \"4Q\"]", 7, &["4Q", "\"4K\""]),
            ("sizes = [256, \"4K\"]", "sizes = [-1]", 7, &["-1", "\"4K\""]),
            ("\"rcl\"", "\"rlc\"", 6, &["no system `rlc`"]),
            (
                "qos = [\"reliable\"]",
                "qos = [\"relaible\"]",
                8,
                &["qos.relaible", "did you mean `reliable`"],
            ),
            ("links = [\"slow\"]", "links = [\"fast\"]", 9, &["link.fast", "slow, unlimited"]),
            ("\"remote\"", "\"remot\"", 10, &["`remot`", "did you mean `remote`"]),
            ("[grid.quick]", "[grid.quik]", 12, &["`quik`", "did you mean `quick`"]),
            ("count = 5", "count = -5", 14, &["-5"]),
            ("durability = \"transient_local\"", "depth = 0", 16, &["depth = 0"]),
            ("rate_mbit = [54, 300]", "rate_mbit = [0]", 20, &["0.01 to 100000 Mbit/s"]),
            ("loss_percent = [0, 10]", "loss_percent = [101]", 21, &["0 to 100 percent"]),
            (
                "x = \"size_bytes\"",
                "x = \"sise_bytes\"",
                23,
                &["sise_bytes", "did you mean `size_bytes`"],
            ),
            ("kind = \"lines\"", "kind = \"line\"", 25, &["`line`", "did you mean `lines`"]),
            ("workload = \"latency\"", "", 1, &["workload"]),
            ("count = 5", "rates_hz = [0]\nseconds = 3\ncount = 0", 1, &["without pause"]),
            ("title = \"Latency\"", "title = \"Latency", 1, &[]),
        ];
        for (from, to, line, words) in cases {
            assert!(SOUND.contains(from), "{from}");
            let text = SOUND.replace(from, to);
            let error = resolved(&text, Some(Grid::Quick))
                .err()
                .unwrap_or_else(|| panic!("{to} is accepted"));
            assert_eq!(error.line, *line, "{error}");
            for word in *words {
                assert!(error.text.contains(word), "{to}: {error}");
            }
        }
    }
}
