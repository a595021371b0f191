//! The context that all figures of a report share: the run, its records, the colours, and
//! estimates, each of which is computed only once.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::floors::Floors;
use super::palette::{Ink, Palette};
use super::quantity::{dimension_title, dimension_with_value};
use super::sample::Sample;
use super::selection::{Estimate, Panel, Selection, estimate};
use super::threads::callback;
use crate::record::{FigureKind, Record, Run, System};

type EstimateKey = (String, Vec<(usize, Option<usize>)>);

/// The context that all figures of a report share.
pub(crate) struct Context<'a> {
    pub(crate) run: &'a Run,
    /// The records that count as results.
    pub(crate) records: Vec<&'a Record>,
    /// The records that do not count as results.
    pub(crate) left_out: Vec<&'a Record>,
    pub(crate) palette: Palette,
    pub(crate) floors: Floors<'a>,
    estimates: RefCell<BTreeMap<EstimateKey, Option<Estimate>>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(run: &'a Run, records: &'a [Record]) -> Self {
        let (left_out, records): (Vec<&Record>, Vec<&Record>) =
            records.iter().partition(|record| record.unexpected_transport);
        Self {
            run,
            palette: Palette::of(run),
            floors: Floors::of(records.iter().copied()),
            records,
            left_out,
            estimates: RefCell::default(),
        }
    }

    pub(crate) fn of_scenario(&self, name: &str) -> Vec<&'a Record> {
        self.records.iter().copied().filter(|record| record.scenario == name).collect()
    }

    /// Like [`estimate`], but computes each estimate only once.
    pub(crate) fn estimate(
        &self,
        selection: &Selection<'_>,
        samples: &[Sample<'_>],
    ) -> Option<Estimate> {
        let place =
            |sample: &Sample<'_>| (std::ptr::from_ref(sample.record) as usize, sample.subscription);
        let key = (format!("{:?}", selection.metric), samples.iter().map(place).collect());
        if let Some(known) = self.estimates.borrow().get(&key) {
            return *known;
        }
        let found = estimate(&selection.metric, samples, self.run.seed);
        self.estimates.borrow_mut().insert(key, found);
        found
    }

    pub(crate) fn ink(&self, selection: &Selection<'_>, series: usize) -> Ink {
        self.palette.ink(&selection.series.name, selection.series.values.get(series), series)
    }

    /// The run's entry for a system.
    pub(crate) fn system(&self, name: &str) -> Option<&'a System> {
        self.run.systems.iter().find(|system| system.name == name)
    }

    /// The floor whose results are the limit line of a panel: the figure names it, and it was
    /// measured in a cell of the panel.
    pub(crate) fn floor_name(
        &self,
        selection: &Selection<'a>,
        panel: &Panel<'_>,
    ) -> Option<&'a str> {
        let name = selection.figure.floor.as_deref()?;
        self.limits(selection, panel).iter().any(Option::is_some).then_some(name)
    }

    /// Whether a floor is a limit for these samples. Within a process, both must call the callback
    /// on the same kind of thread.
    pub(crate) fn is_limit_of(&self, floor: &str, samples: &[Sample<'_>]) -> bool {
        let own = self.system(floor).and_then(|system| system.callback);
        let same = |sample: &Sample<'_>| {
            let kind = callback(self.run, sample.record);
            own.is_none() || kind.is_none() || own == kind
        };
        samples.iter().all(same)
    }

    /// The limit of this machine at each value of x, in the figure's unit, which is the result that
    /// the figure's floor has in the same cells.
    pub(crate) fn limits(&self, selection: &Selection<'_>, panel: &Panel<'_>) -> Vec<Option<f64>> {
        let Some(name) = selection.figure.floor.as_deref() else { return Vec::new() };
        if !selection.metric.has_floor() {
            return Vec::new();
        }
        let series = selection.series.values.len().max(1);
        let limit = |x: usize| {
            let samples = (0..series).flat_map(|series| panel.cell(series, x));
            let beside = self.floors.beside(name, samples);
            Some(self.estimate(selection, &beside)?.value)
        };
        (0..selection.x.values.len().max(1)).map(limit).collect()
    }

    pub(crate) fn panel_title(&self, selection: &Selection<'_>, panel: &Panel<'_>) -> String {
        let title = panel.title();
        if title.is_empty() { selection.figure.title.clone() } else { title }
    }

    /// A value of x with its dimension, such as `payload 4 KB`, or only the value if it is a word.
    pub(crate) fn x_title(&self, selection: &Selection<'_>, x: usize) -> String {
        selection
            .x
            .values
            .get(x)
            .map_or_else(String::new, |value| dimension_with_value(&selection.x.name, value))
    }

    /// A description for people who cannot see the image.
    pub(crate) fn description(&self, selection: &Selection<'_>, panel: &Panel<'_>) -> String {
        let names: Vec<String> = (0..selection.series.values.len())
            .map(|series| selection.series.label(series))
            .collect();
        let over = match selection.figure.kind {
            FigureKind::Timeline => "messages per second over time".to_owned(),
            _ => {
                format!("{} over {}", selection.metric.title(), dimension_title(&selection.x.name))
            }
        };
        let floor = self
            .floor_name(selection, panel)
            .map_or(String::new(), |name| format!(" Limit line: {name} in the same cells."));
        format!("{over}, for {}.{floor} The numbers are in the table below.", names.join(", "))
    }
}
