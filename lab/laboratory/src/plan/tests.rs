//! Tests of the cells of a plan: their order, the skipped cells, and the time that cells take.

use std::path::Path;
use std::time::Duration;

use super::{Costs, Plan};
use crate::contract::{Fill, Placement};
use crate::machine::Machine;
use crate::peer::Peers;
use crate::record::Value;
use crate::scenario::ScenarioFile;

const PEERS: &[(&str, &str)] = &[
    (
        "alpha",
        r#"title = "Alpha"
program = ["alpha"]
roles = ["talker", "listener", "pair"]
placements = ["remote", "local", "intra"]
fill = ["none", "each"]
"#,
    ),
    (
        "beta",
        r#"title = "Beta"
program = ["beta"]
roles = ["talker", "listener"]
placements = ["local"]
[qos]
reliability = ["reliable", "best_effort"]
"#,
    ),
    (
        "gamma",
        r#"title = "Gamma"
program = ["gamma"]
roles = ["graph"]
graphs = ["robot"]
placements = ["composed"]
"#,
    ),
    (
        "delta",
        r#"title = "Delta"
program = ["delta"]
roles = ["member", "newcomer"]
placements = ["local"]
"#,
    ),
    (
        "limit",
        r#"title = "A limit"
program = ["limit"]
is_floor = true
roles = ["talker", "listener"]
placements = ["local"]
"#,
    ),
];

const SCENARIO: &str = r#"title = "T"
[experiment]
workload = "latency"
systems = ["alpha", "beta"]
placements = ["remote", "local"]
sizes = [256, "4K"]
qos = ["default", "careless"]
rates_hz = [100]
count = 90
warm_up = 10
links = ["slow", "unlimited"]
repetitions = 2
[qos.careless]
reliability = "best_effort"
[link.slow]
rate_mbit = [10]
"#;

fn plan(machine: &Machine) -> Plan {
    plan_of(SCENARIO, machine)
}

fn plan_of(scenario: &str, machine: &Machine) -> Plan {
    let folder = tempfile::tempdir().unwrap();
    for (name, manifest) in PEERS {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("peer.toml"), manifest).unwrap();
    }
    let peers = Peers::read(folder.path()).unwrap();
    let file = folder.path().join("s.toml");
    std::fs::write(&file, scenario).unwrap();
    let check = |name: &str| peers.system(name).map(|_| ());
    let scenario =
        ScenarioFile::read(Path::new(&file)).unwrap().resolve(None, &[], &check).unwrap().unwrap();
    Plan::new("s", vec![scenario], &peers, machine)
}

#[test]
fn systems_take_turns_within_a_group_and_repetitions_are_outermost() {
    let plan = plan(&Machine { no_remote: None, no_realtime: None, no_memory_lock: None });
    let first: Vec<_> = plan
        .steps
        .iter()
        .take(4)
        .map(|step| (step.cell.system.as_str(), step.cell.size_bytes))
        .collect();
    assert_eq!(first, [("alpha", 256), ("beta", 256), ("alpha", 4096), ("beta", 4096)]);
    let repetitions: Vec<u32> = plan.steps.iter().map(|step| step.cell.repetition).collect();
    assert!(repetitions.is_sorted(), "{repetitions:?}");
    // Remote cells have two links, local cells have no link; skipped cells are listed once.
    assert_eq!(
        plan.steps.iter().filter(|step| step.cell.repetition == 0).count(),
        (2 + 1) * 2 * 2 * 2
    );
    assert_eq!(
        plan.steps.iter().filter(|step| step.cell.repetition == 1).count(),
        (2 + 1) * 2 + 2 * 2
    );
}

#[test]
fn impossible_cells_are_skipped_with_the_reason() {
    let plan = plan(&Machine {
        no_remote: Some("needs root".into()),
        no_realtime: None,
        no_memory_lock: None,
    });
    let why = |system: &str, placement: &str, qos: &str| {
        let step = plan.steps.iter().find(|step| {
            (step.cell.system.as_str(), step.cell.placement.word(), step.cell.qos_name.as_str())
                == (system, placement, qos)
        });
        step.unwrap().skip.clone()
    };
    assert_eq!(why("alpha", "remote", "default").unwrap(), "needs root");
    assert_eq!(why("alpha", "local", "default"), None);
    assert_eq!(
        why("alpha", "local", "careless").unwrap(),
        "alpha has no reliability `best_effort`"
    );
    assert_eq!(why("beta", "local", "careless"), None);
    assert_eq!(why("beta", "remote", "default").unwrap(), "beta has no placement `remote`");
}

#[test]
fn a_limit_stands_in_each_cell_that_has_one_like_it_and_is_missing_in_none() {
    let machine = Machine { no_remote: None, no_realtime: None, no_memory_lock: None };
    let text = SCENARIO.replace(r#"["alpha", "beta"]"#, r#"["alpha", "limit"]"#);
    let plan = plan_of(&text, &machine);
    let limits: Vec<_> = plan.steps.iter().filter(|step| step.cell.system == "limit").collect();
    // A scenario with two sizes and two repetitions, all local, with the default QoS.
    assert_eq!(limits.len(), 4);
    for step in limits {
        assert_eq!((step.skip.as_deref(), step.cell.placement.word()), (None, "local"));
        assert_eq!((step.cell.rate_hz, step.cell.procedure.count), (100.0, 90));
    }
}

#[test]
fn who_cannot_fill_its_payloads_is_left_out_with_that_reason() {
    let machine = Machine { no_remote: None, no_realtime: None, no_memory_lock: None };
    let text = SCENARIO.replace("count = 90", "count = 90\nfill = [\"none\", \"each\"]");
    let plan = plan_of(&text, &machine);
    let filled = |system: &str| {
        let step = plan.steps.iter().find(|step| {
            step.cell.system == system
                && step.cell.fill == Fill::Each
                && step.cell.placement == Placement::Local
                && step.cell.qos_name == "default"
        });
        step.unwrap()
    };
    assert_eq!(filled("alpha").skip, None);
    assert_eq!(filled("alpha").cell.dimensions()["fill"], Value::Text("each".into()));
    assert_eq!(filled("beta").skip.as_deref(), Some("beta has no fill `each`"));
}

#[test]
fn the_estimate_learns_what_starting_costs() {
    let plan = plan(&Machine {
        no_remote: Some("needs root".into()),
        no_realtime: None,
        no_memory_lock: None,
    });
    let mut costs = Costs::default();
    let (guess, guessed) = costs.of(&plan, |_| true);
    let runnable: Vec<_> = plan.steps.iter().filter(|step| step.skip.is_none()).collect();
    assert_eq!(guessed, runnable.len());
    assert!(guess.as_secs_f64() > runnable.len() as f64, "each publishes for a second");
    for step in &runnable {
        costs.learn(&step.cell, Duration::from_millis(1500));
    }
    let (learned, guessed) = costs.of(&plan, |_| true);
    assert_eq!(guessed, 0);
    assert!((learned.as_secs_f64() - 1.5 * runnable.len() as f64).abs() < 1e-6, "{learned:?}");
    let (beta, _) = costs.of(&plan, |cell| cell.system == "beta");
    assert!(beta < learned);

    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Costs::read(folder.path()), Costs::default());
    costs.write(folder.path());
    assert_eq!(Costs::read(folder.path()), costs);

    // Opening a pipe would block for ever.
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("costs.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    costs.write(folder.path());
    assert_eq!(Costs::read(folder.path()), Costs::default());
}

#[test]
fn dimensions_are_those_that_records_may_have() {
    for step in plan(&Machine { no_remote: None, no_realtime: None, no_memory_lock: None }).steps {
        for name in step.cell.dimensions().keys() {
            assert!(crate::record::DIMENSIONS.contains(&name.as_str()), "{name}");
        }
    }
}

#[test]
fn a_graph_that_a_system_does_not_have_is_skipped() {
    let scenario = r#"title = "T"
[experiment]
workload = "graph"
systems = ["gamma", "alpha"]
placements = ["composed", "intra"]
graphs = ["robot", "car"]
seconds = 1
repetitions = 1
"#;
    let plan =
        plan_of(scenario, &Machine { no_remote: None, no_realtime: None, no_memory_lock: None });
    let reason = |system: &str, placement: Placement, graph: &str| {
        let is_it = |step: &&super::Step| {
            let cell = &step.cell;
            cell.system == system && cell.placement == placement && cell.graph == graph
        };
        plan.steps.iter().find(is_it).unwrap().skip.clone()
    };
    assert_eq!(reason("gamma", Placement::Composed, "robot"), None);
    let no_graph = Some("gamma has no graph `car`".to_owned());
    assert_eq!(reason("gamma", Placement::Composed, "car"), no_graph);
    let no_placement = Some("gamma has no placement `intra`".to_owned());
    assert_eq!(reason("gamma", Placement::Intra, "robot"), no_placement);
    let no_role = Some("alpha has no role `graph`".to_owned());
    assert_eq!(reason("alpha", Placement::Composed, "robot"), no_role);
}

#[test]
fn a_robot_has_a_cell_for_each_topology_start_and_number_of_processes() {
    let scenario = r#"title = "T"
[experiment]
workload = "discovery"
systems = ["delta", "alpha"]
placements = ["remote", "local"]
nodes = [25, 50, 100]
topologies = ["ring", "one_topic"]
starts = ["together", "in_turn"]
"#;
    let machine = Machine { no_remote: None, no_realtime: None, no_memory_lock: None };
    let plan = plan_of(scenario, &machine);
    let possible: Vec<_> = plan.steps.iter().filter(|step| step.skip.is_none()).collect();
    assert_eq!(possible.len(), 3 * 2 * 2, "only delta, and only within one host");
    let mut places = Vec::new();
    for step in &possible {
        let dimensions = step.cell.dimensions();
        for name in dimensions.keys() {
            assert!(crate::record::DIMENSIONS.contains(&name.as_str()), "{name}");
        }
        assert!(dimensions.contains_key("nodes") && !dimensions.contains_key("size_bytes"));
        assert!(!places.contains(&dimensions), "{dimensions:?}");
        places.push(dimensions);
    }
    let reason = |system: &str| {
        let step = plan.steps.iter().find(|step| step.cell.system == system && step.skip.is_some());
        step.and_then(|step| step.skip.clone())
    };
    assert_eq!(reason("alpha").as_deref(), Some("alpha has no role `member`"));
    assert_eq!(reason("delta").as_deref(), Some("delta has no placement `remote`"));
    let last = &possible[possible.len() - 1].cell;
    assert!(last.label().contains("100 nodes one_topic in_turn"), "{}", last.label());
    // More processes take longer to start, and the estimates of cells do not mix.
    let mut costs = Costs::default();
    costs.learn(last, Duration::from_secs(500));
    assert!(costs.seconds(last) > 400.0);
    assert!(possible[0].cell != *last && costs.seconds(&possible[0].cell) < 100.0);
}
