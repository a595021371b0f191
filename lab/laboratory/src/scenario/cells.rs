//! Refuses goals and verdicts about cells that the experiment does not have in any grid.

use std::collections::BTreeMap;

use toml::Spanned;

use super::experiment::Scenario;
use crate::document::{Document, DocumentError};
use crate::record::{Check, Value};
use feros_wording::did_you_mean;

/// Checks that a grid has the cells of a statement, and those of its reference. `grids` are the
/// experiment as it stands, and as it is in each grid.
pub(super) fn check_cells(
    document: &Document,
    statement: &Spanned<Check>,
    grids: &[Scenario],
) -> Result<(), DocumentError> {
    let check = statement.get_ref();
    for wanted in check.wanted_cells() {
        let refused = unknown_value(&wanted, grids).or_else(|| unknown_cell(&wanted, grids));
        if let Some(text) = refused {
            let text = format!("`{}`: {text}", check.title);
            return Err(document.error(statement.span(), text));
        }
    }
    Ok(())
}

impl Check {
    /// The cells of the statement: for each system, its own cells and those of its reference.
    fn wanted_cells(&self) -> Vec<BTreeMap<String, Vec<Value>>> {
        let of_name = |name: &String| Value::Text(name.clone());
        let ordered: Vec<Value> = match self.is_across_systems() {
            true => self.order.clone(),
            false => Vec::new(),
        };
        let systems = self.system.iter().chain(&self.also).map(of_name).chain(ordered);
        let mut cells = Vec::new();
        for system in systems {
            let mut own = self.only.clone();
            own.insert("system".to_owned(), vec![system]);
            if !self.is_across_systems() {
                let along = self.order.iter().map(|value| {
                    let mut cell = own.clone();
                    cell.insert(self.across.clone(), vec![value.clone()]);
                    cell
                });
                cells.extend(along);
            }
            if !self.reference.is_empty() {
                let mut reference = own.clone();
                let other = self.reference.iter();
                reference.extend(other.map(|(name, value)| (name.clone(), vec![value.clone()])));
                cells.push(reference);
            }
            cells.push(own);
        }
        cells
    }
}

/// A value that no grid has, with the values that there are.
fn unknown_value(wanted: &BTreeMap<String, Vec<Value>>, grids: &[Scenario]) -> Option<String> {
    wanted.iter().find_map(|(dimension, values)| {
        let mut known: Vec<Value> = Vec::new();
        for value in grids.iter().flat_map(|grid| grid.values_of(dimension)) {
            if !known.contains(&value) {
                known.push(value);
            }
        }
        let unknown = values.iter().find(|value| !known.contains(value))?;
        let known: Vec<String> = known.iter().map(word).collect();
        let unknown = word(unknown);
        Some(format!(
            "no grid has the {dimension} `{unknown}`; there are: {}{}",
            known.join(", "),
            did_you_mean(&unknown, known.iter().map(String::as_str))
        ))
    })
}

/// The cell, if its values exist, but no grid has them together.
fn unknown_cell(wanted: &BTreeMap<String, Vec<Value>>, grids: &[Scenario]) -> Option<String> {
    let has_all = |grid: &Scenario| {
        wanted.iter().all(|(dimension, values)| {
            let known = grid.values_of(dimension);
            values.iter().any(|value| known.contains(value))
        })
    };
    if grids.iter().any(has_all) {
        return None;
    }
    let cell = wanted.iter().map(|(dimension, values)| {
        let values: Vec<String> = values.iter().map(word).collect();
        format!("{dimension} {}", values.join(" or "))
    });
    Some(format!("no grid has such a cell: {}", cell.collect::<Vec<_>>().join(", ")))
}

fn word(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Number(number) => number.to_string(),
    }
}

impl Scenario {
    /// The values that the cells of the experiment have in a dimension.
    fn values_of(&self, dimension: &str) -> Vec<Value> {
        let text = |word: &str| Value::Text(word.to_owned());
        let number = Value::Number;
        let links = || self.links.iter().map(|(_, link)| link);
        match dimension {
            "system" => self.systems.iter().map(|name| text(name)).collect(),
            "placement" => self.placements.iter().map(|one| text(one.word())).collect(),
            "type" => self.types.iter().map(|one| text(one.word())).collect(),
            "qos" => self.qos.iter().map(|(name, _)| text(name)).collect(),
            "publish" => self.publish.iter().map(|one| text(one.word())).collect(),
            "fill" => self.fill.iter().map(|one| text(one.word())).collect(),
            "executor" => self.executors.iter().map(|one| text(one.word())).collect(),
            "graph" => self.graphs.iter().map(|name| text(name)).collect(),
            "link" => self.links.iter().map(|(name, _)| text(name)).collect(),
            "environment" => self.environments.iter().map(|(name, _)| text(name)).collect(),
            "size_bytes" => self.sizes_bytes.iter().map(|size| number(*size as f64)).collect(),
            "rate_hz" => self.rates_hz.iter().copied().map(number).collect(),
            "subscriptions" => self.subscriptions.iter().map(|n| number(f64::from(*n))).collect(),
            "nodes" => self.nodes.iter().map(|n| number(f64::from(*n))).collect(),
            "topology" => self.topologies.iter().map(|one| text(one.word())).collect(),
            "start" => self.starts.iter().map(|one| text(one.word())).collect(),
            "idle" => self.idle.iter().map(|n| number(f64::from(*n))).collect(),
            "work_micros" => self.work_micros.iter().map(|work| number(*work as f64)).collect(),
            "cpu_load_percent" => self.cpu_load_percent.iter().copied().map(number).collect(),
            "link_mbit" => links().filter_map(|link| link.rate_mbit).map(number).collect(),
            "loss_percent" => links().map(|link| number(link.loss_percent)).collect(),
            _ => Vec::new(),
        }
    }
}
