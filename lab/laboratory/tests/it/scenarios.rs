//! The scenario files of the repository: each can be read for each of its grids, uses existing
//! names, and can be shown.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use feros_lab::machine::Machine;
use feros_lab::peer::Peers;
use feros_lab::plan::{Costs, Plan};
use feros_lab::scenario::{Grid, Scenario, ScenarioFile, scenario_files};

use crate::fixture::lab_folder;

#[test]
fn every_scenario_is_understood_in_every_grid() {
    let peers = Peers::read(&lab_folder().join("peers")).unwrap();
    let check = |name: &str| peers.system(name).map(|_| ());
    let machine = Machine { no_remote: None, no_realtime: None, no_memory_lock: None };
    let (mut items, mut judged) = (BTreeSet::new(), BTreeSet::new());
    for path in scenario_files(&lab_folder().join("scenarios")).unwrap() {
        let file = ScenarioFile::read(&path).unwrap();
        for grid in [None].into_iter().chain(Grid::ALL.iter().copied().map(Some)) {
            let Some(scenario) = file.resolve(grid, &[], &check).unwrap() else { continue };
            let about = &scenario.about;
            let is_ours = about.document.is_empty();
            let shown = about.figures.len() + if is_ours { about.columns.len() } else { 0 };
            assert!(shown > 0, "{}: nothing is shown of it", file.name());
            assert!(is_ours || !about.finding.is_empty(), "{}", file.name());
            assert!(is_ours || !about.conditions.is_empty(), "{}: no conditions", file.name());
            items.extend(about.item.split(", ").map(|item| format!("{} {item}", about.document)));
            let plan = Plan::new("test", vec![scenario], &peers, &machine);
            assert!(
                plan.steps.iter().any(|step| step.skip.is_none()),
                "{}: no cell can be measured",
                file.name()
            );
        }
        // Feros's own scenarios either give quick answers or check goals.
        if file.source().is_empty() {
            continue;
        }
        let about = file.resolve(None, &[], &check).unwrap().expect("as it stands").about;
        judged.extend(about.verdicts.iter().map(|one| format!("{} {}", about.document, one.item)));
        let is_in = |wanted: Grid| file.grids().any(|grid| grid == wanted);
        assert!(
            is_in(Grid::Papers) || (is_in(Grid::Standard) && is_in(Grid::Full)),
            "{}: neither in the grid papers nor in standard and full",
            file.name()
        );
    }
    let absent: Vec<String> =
        wanted_items().into_iter().filter(|item| !items.contains(item)).collect();
    assert!(absent.is_empty(), "no scenario for {absent:?}; there are {items:?}");
    // Whatever repeats a document has a verdict, and there is none about anything else.
    items.retain(|item| !item.trim().is_empty());
    assert_eq!(judged, items);
}

/// The figures, tables and experiments of the documents.
fn wanted_items() -> Vec<String> {
    let mut wanted: Vec<String> = (7..=21).map(|figure| format!("M16 Figure {figure}")).collect();
    wanted.extend(["4", "6", "7"].map(|table| format!("M16 Table {table}")));
    wanted.extend((4..=7).map(|figure| format!("K21 Figure {figure}")));
    wanted.extend((2..=5).map(|figure| format!("C23 Figure {figure}")));
    wanted.extend(["C23 Table I", "C23 VI-B"].map(str::to_owned));
    wanted.extend((1..=3).map(|part| format!("R20 Part {part}")));
    wanted
}

#[test]
fn papers_has_every_item_in_parts_of_at_most_two_hours() {
    let peers = Peers::read(&lab_folder().join("peers")).unwrap();
    let check = |name: &str| peers.system(name).map(|_| ());
    let machine = Machine { no_remote: None, no_realtime: None, no_memory_lock: None };
    let mut items = BTreeSet::new();
    let mut parts: BTreeMap<u32, Vec<Scenario>> = BTreeMap::new();
    for path in scenario_files(&lab_folder().join("scenarios")).unwrap() {
        let file = ScenarioFile::read(&path).unwrap();
        let Some(scenario) = file.resolve(Some(Grid::Papers), &[], &check).unwrap() else {
            continue;
        };
        let about = &scenario.about;
        items.extend(about.item.split(", ").map(|item| format!("{} {item}", about.document)));
        parts.entry(scenario.part).or_default().push(scenario);
    }
    let absent: Vec<String> =
        wanted_items().into_iter().filter(|item| !items.contains(item)).collect();
    assert!(absent.is_empty(), "papers has no scenario for {absent:?}");
    assert_eq!(parts.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    for (part, scenarios) in parts {
        let plan = Plan::new("papers", scenarios, &peers, &machine);
        // Connext needs a licence.
        let (time, _) = Costs::default().of(&plan, |cell| cell.system != "connext");
        assert!(time <= Duration::from_secs(2 * 3600), "part {part} takes {time:?}");
    }
}

fn toml_blocks(page: &str) -> Vec<&str> {
    let starts = page.split("```toml\n").skip(1);
    starts.map(|block| block.split_once("```").expect("the block ends").0).collect()
}

#[test]
fn files_shown_in_the_pages_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let peers = Peers::read(&lab_folder().join("peers")).unwrap();
    let check = |name: &str| peers.system(name).map(|_| ());
    let page = std::fs::read_to_string(lab_folder().join("scenarios/README.md")).unwrap();
    let path = folder.path().join("shown.toml");
    std::fs::write(&path, toml_blocks(&page).join("\n")).unwrap();
    let file = ScenarioFile::read(&path).unwrap();
    let machine = Machine { no_remote: None, no_realtime: None, no_memory_lock: None };
    for grid in [None, Some(Grid::Standard)] {
        let scenario = file.resolve(grid, &[], &check).unwrap().expect("it is in this grid");
        let about = &scenario.about;
        assert!(!about.figures.is_empty() && !about.goals.is_empty());
        assert_eq!(about.verdicts.len(), 3);
        let plan = Plan::new("shown", vec![scenario], &peers, &machine);
        assert!(plan.steps.iter().any(|step| step.skip.is_none()));
    }

    let page = std::fs::read_to_string(lab_folder().join("peers/README.md")).unwrap();
    let shown = folder.path().join("peers/shown");
    std::fs::create_dir_all(&shown).unwrap();
    std::fs::write(shown.join("peer.toml"), toml_blocks(&page).join("\n")).unwrap();
    let peers = Peers::read(&folder.path().join("peers")).unwrap();
    assert!(peers.system("shown:recommended").is_ok());
}
