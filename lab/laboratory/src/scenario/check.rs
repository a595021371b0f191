//! Refuses settings that a scenario cannot contain or combine.

use toml::Spanned;

use super::experiment::{Scenario, Workload};
use crate::document::{Document, DocumentError};
use crate::record::{DIMENSIONS, Figure, Goal};
use feros_wording::did_you_mean;

/// Refuses settings that cannot be combined.
pub(super) fn check(scenario: &Scenario) -> Result<(), String> {
    let empty = [
        ("systems", scenario.systems.is_empty()),
        ("placements", scenario.placements.is_empty()),
        ("sizes", scenario.sizes_bytes.is_empty()),
        ("types", scenario.types.is_empty()),
        ("rates_hz", scenario.rates_hz.is_empty()),
        ("publish", scenario.publish.is_empty()),
        ("fill", scenario.fill.is_empty()),
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
        return Err(format!("`{key}` needs at least one value"));
    }
    if scenario.procedure.count == 0 && scenario.procedure.seconds <= 0.0 {
        return Err(
            "`count` or `seconds` must be more than 0: one of them ends the cell".to_owned()
        );
    }
    if scenario.workload == Workload::Chain && scenario.nodes.iter().any(|nodes| *nodes < 2) {
        return Err("`nodes` of a chain must be 2 or more: one publishes, one receives".to_owned());
    }
    if scenario.workload != Workload::Goodput
        && scenario.procedure.count == 0
        && scenario.rates_hz.contains(&0.0)
        && scenario.procedure.samples
    {
        return Err("without a pause (`rates_hz = [0]`), `seconds` does not bound the number of \
                    samples: give a `count`, or `samples = false`"
            .to_owned());
    }
    Ok(())
}

/// Checks that the floor for the limit line of a figure is measured in the same cells.
pub(super) fn check_floor(
    document: &Document,
    figure: &Spanned<Figure>,
    systems: &[Spanned<String>],
) -> Result<(), DocumentError> {
    let Some(floor) = &figure.get_ref().floor else { return Ok(()) };
    if systems.iter().any(|system| system.get_ref() == floor) {
        return Ok(());
    }
    let known: Vec<&str> = systems.iter().map(|system| system.get_ref().as_str()).collect();
    let text = format!(
        "the floor `{floor}` is not among the systems of the experiment; there are: {}{}",
        known.join(", "),
        did_you_mean(floor, known.iter().copied())
    );
    Err(document.error(figure.span(), text))
}

/// Checks that a goal has a bound, and that its dimension exists.
pub(super) fn check_goal(document: &Document, goal: &Spanned<Goal>) -> Result<(), DocumentError> {
    let Goal { at_most, at_least, flat, across, .. } = goal.get_ref();
    if at_most.or(*at_least).or(*flat).is_none() {
        let text = "a goal needs one of `at_most`, `at_least` and `flat`";
        return Err(document.error(goal.span(), text));
    }
    if !DIMENSIONS.contains(&across.as_str()) {
        return Err(document.error(goal.span(), format!("no dimension `{across}`")));
    }
    Ok(())
}

/// Checks that a figure names existing dimensions.
pub(super) fn check_figure(
    document: &Document,
    figure: &Spanned<Figure>,
) -> Result<(), DocumentError> {
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
