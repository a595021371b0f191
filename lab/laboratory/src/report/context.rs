//! What all figures of a report share: the run, its records, colours, and estimates that are
//! computed once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::palette::{Ink, Palette};
use super::quantity::{dimension_title, dimension_with_value};
use super::selection::{
    Estimate, Panel, Sample, Selection, estimate, floor_at, floor_of_placement, link_nanos,
};
use crate::record::{FigureKind, Record, Run, Value};

type EstimateKey = (String, Vec<(usize, Option<usize>)>);

/// What all figures of a report share.
pub(crate) struct Context<'a> {
    pub(crate) run: &'a Run,
    pub(crate) records: &'a [Record],
    pub(crate) palette: Palette,
    estimates: RefCell<BTreeMap<EstimateKey, Option<Estimate>>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(run: &'a Run, records: &'a [Record]) -> Self {
        Self { run, records, palette: Palette::of(run), estimates: RefCell::default() }
    }

    /// The records of a scenario.
    pub(crate) fn of_scenario(&self, name: &str) -> Vec<&'a Record> {
        self.records.iter().filter(|record| record.scenario == name).collect()
    }

    /// As [`estimate`], each computed once.
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

    /// The name of the floor that limits a panel.
    pub(crate) fn floor_name(
        &self,
        selection: &Selection<'_>,
        panel: &Panel<'_>,
    ) -> Option<String> {
        if !selection.metric.has_floor() {
            return None;
        }
        let known = |name: &str| self.run.floors.iter().any(|floor| floor.name == name);
        if let Some(name) = selection.figure.floor.as_deref().filter(|name| known(name)) {
            return Some(name.to_owned());
        }
        let placements: BTreeSet<String> = panel
            .samples()
            .filter_map(|sample| match sample.value("placement") {
                Some(Value::Text(placement)) => Some(placement),
                _ => None,
            })
            .collect();
        // Where several placements stand beside each other, the limit of the nearest is the limit
        // of all.
        let name = placements
            .iter()
            .map(|placement| floor_of_placement(placement))
            .min_by_key(|name| name.len());
        name.filter(|name| known(name)).map(str::to_owned)
    }

    /// The limit of this machine for each value of x, nanoseconds: hops times the floor, and what
    /// the link needs at its rate.
    pub(crate) fn floors(&self, selection: &Selection<'_>, panel: &Panel<'_>) -> Vec<Option<f64>> {
        let Some(name) = self.floor_name(selection, panel) else { return Vec::new() };
        let least = |dimension: &str, at: usize| {
            let of_x = match selection.x.values.get(at) {
                Some(Value::Number(number)) if selection.x.name == dimension => Some(*number),
                _ => None,
            };
            let number = |sample: &Sample<'_>| match sample.value(dimension) {
                Some(Value::Number(number)) => Some(number),
                _ => None,
            };
            of_x.or_else(|| panel.samples().filter_map(number).reduce(f64::min))
        };
        let limit = |at: usize| {
            let size = least("size_bytes", at).unwrap_or(0.0);
            let hops = least("nodes", at).map_or(1.0, |nodes| (nodes - 1.0).max(1.0));
            let link = panel
                .samples()
                .map(|sample| link_nanos(sample, size))
                .reduce(f64::min)
                .unwrap_or(0.0);
            Some(floor_at(&self.run.floors, &name, size)? * hops + link)
        };
        (0..selection.x.values.len().max(1)).map(limit).collect()
    }

    pub(crate) fn panel_title(&self, selection: &Selection<'_>, panel: &Panel<'_>) -> String {
        let title = panel.title();
        if title.is_empty() { selection.figure.title.clone() } else { title }
    }

    /// `payload 4 KB`, or the word alone.
    pub(crate) fn x_title(&self, selection: &Selection<'_>, x: usize) -> String {
        selection
            .x
            .values
            .get(x)
            .map_or_else(String::new, |value| dimension_with_value(&selection.x.name, value))
    }

    /// For who cannot see the image.
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
            .map_or(String::new(), |name| format!(" Limit line: the floor {name}."));
        format!("{over}, for {}.{floor} The numbers are in the table below.", names.join(", "))
    }
}
