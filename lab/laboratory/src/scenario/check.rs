//! Refuses settings and statements that a scenario cannot contain or combine.

use toml::Spanned;

use super::experiment::{Scenario, Workload};
use crate::contract::Placement;
use crate::document::{Document, DocumentError};
use crate::record::{Check, DIMENSIONS, Figure};
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
        ("topologies", scenario.topologies.is_empty()),
        ("starts", scenario.starts.is_empty()),
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
    let is_between_processes =
        |placement: &Placement| matches!(placement, Placement::Local | Placement::Remote);
    if scenario.workload == Workload::Discovery
        && !scenario.placements.iter().all(is_between_processes)
    {
        return Err(
            "`placements` of discovery are local and remote: it is between processes".to_owned()
        );
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

/// Checks that a grid measures the floor for the limit line of a figure.
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

/// Checks that a goal says what it wants, and nothing that only a document's conclusion has.
pub(super) fn check_goal(document: &Document, goal: &Spanned<Check>) -> Result<(), DocumentError> {
    let Check { also, item, paper, .. } = goal.get_ref();
    let others =
        [("also", also.is_empty()), ("item", item.is_empty()), ("paper", paper.is_empty())];
    if let Some((key, _)) = others.into_iter().find(|(_, is_empty)| !is_empty) {
        let text = format!("a goal has no `{key}`, only a verdict has");
        return Err(document.error(goal.span(), text));
    }
    check_statement(document, goal, "goal")
}

/// Checks that a conclusion of a document names its figure, and what its cells should show.
pub(super) fn check_verdict(
    document: &Document,
    verdict: &Spanned<Check>,
    of_document: &str,
) -> Result<(), DocumentError> {
    let lacks = |what: &str| Err(document.error(verdict.span(), format!("a verdict needs {what}")));
    if of_document.is_empty() {
        return lacks("a `document` of the file");
    }
    if verdict.get_ref().item.is_empty() {
        return lacks("an `item`, such as `Figure 7`");
    }
    check_statement(document, verdict, "verdict")
}

fn check_statement(
    document: &Document,
    statement: &Spanned<Check>,
    kind: &str,
) -> Result<(), DocumentError> {
    let failed = |text: String| Err(document.error(statement.span(), text));
    let check = statement.get_ref();
    if !check.has_bound() {
        return failed(format!(
            "a {kind} needs one of `at_most`, `at_least`, `flat`, `power`, `trend` and `order`"
        ));
    }
    let mut named = check.only.keys().chain(check.reference.keys()).chain([&check.across]);
    let is_unknown = |name: &&String| {
        !DIMENSIONS.contains(&name.as_str()) || OF_NO_CELL.contains(&name.as_str())
    };
    if let Some(name) = named.find(is_unknown) {
        let nearest = did_you_mean(name, DIMENSIONS.iter().copied());
        return failed(format!("cells have no dimension `{name}`{nearest}"));
    }
    if check.is_across_systems() != check.system.is_empty() {
        return failed(format!("a {kind} needs a `system`, unless it goes `across` systems"));
    }
    if check.is_across_systems() && check.order.is_empty() {
        return failed("along systems, there is only an `order`".to_owned());
    }
    Ok(())
}

/// The dimensions of figures that do not distinguish cells.
const OF_NO_CELL: [&str; 4] = ["subscription", "layer", "second", "repetition"];

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
