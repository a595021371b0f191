//! Prints the cost of each example in each placement as a table in Markdown: `measure_placements
//! [EXAMPLE] [SECONDS]`.
//!
//! The examples, `feros` and the containers must already have been built in the same profile; see
//! `examples/README.md`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use feros::msgs::geometry_msgs::msg::PoseStamped;
use feros_placements::{Launched, Package};

/// The examples: the name, the number of nodes, and whether the robot is sent to a goal.
const EXAMPLES: [(&str, usize, bool); 3] =
    [("pipeline", 5, false), ("navigation_graph", 15, true), ("mobile_base", 10, false)];

const PLACEMENTS: [(&str, &str, &[&str]); 6] = [
    ("a process each", "processes.launch.xml", &[]),
    ("composed by hand", "manual.launch.xml", &[]),
    ("component_container", "composed.launch.yaml", &[]),
    ("component_container_mt", "composed.launch.yaml", &["container:=component_container_mt"]),
    (
        "component_container_isolated",
        "composed.launch.yaml",
        &["container:=component_container_isolated"],
    ),
    (
        "component_container_process",
        "composed.launch.yaml",
        &["container:=component_container_process"],
    ),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (wanted, seconds) = match &words[..] {
        [] => (None, Some(10)),
        [example] => (Some(example), Some(10)),
        [example, seconds, ..] => (Some(example), seconds.parse().ok()),
    };
    let is_wanted =
        |example: &&(&str, usize, bool)| wanted.is_none_or(|wanted| wanted == example.0);
    let (examples, Some(seconds)) =
        (EXAMPLES.iter().filter(is_wanted).collect::<Vec<_>>(), seconds)
    else {
        eprintln!("measure_placements [EXAMPLE] [SECONDS]: the seconds are a number");
        return ExitCode::FAILURE;
    };
    if examples.is_empty() {
        eprintln!(
            "measure_placements [EXAMPLE] [SECONDS]: the example is pipeline, navigation_graph or mobile_base"
        );
        return ExitCode::FAILURE;
    }
    println!("| example | placement | processes | threads | PSS, MB | processor, % of a core |");
    println!("|---|---|---:|---:|---:|---:|");
    for (example, nodes, drives) in examples {
        for (placement, file, arguments) in PLACEMENTS {
            measure(
                (example, *nodes, *drives),
                placement,
                (file, arguments),
                Duration::from_secs(seconds),
            );
        }
    }
    ExitCode::SUCCESS
}

fn measure(
    (example, nodes, drives): (&'static str, usize, bool),
    placement: &str,
    (file, arguments): (&str, &[&str]),
    during: Duration,
) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(example);
    let launched = Launched::start(&Package::of_workspace(example, &folder), file, arguments);
    let observer = launched.observer();
    observer.until("all nodes are there", || {
        let names = observer.node().node_names();
        let own = names.iter().map(|name| name.fully_qualified());
        own.filter(|name| {
            !["/observer", "/pipeline", "/navigation", "/base"].contains(&name.as_str())
        })
        .count()
            >= nodes
    });
    if drives {
        // The goal is the far corner, so the robot drives during the whole measurement.
        let mut goal = PoseStamped::default();
        (goal.pose.position.x, goal.pose.position.y) = (9.0, 9.0);
        let goals = observer.publisher::<PoseStamped>("/goal_pose");
        observer.spin_for(Duration::from_secs(2));
        if let Err(error) = goals.publish(goal) {
            eprintln!("{error}");
        }
    }
    // By now, discovery, shared memory and caches have settled.
    observer.spin_for(Duration::from_secs(3));
    drop(observer);
    let cost = launched.cost(during);
    println!(
        "| {example} | {placement} | {} | {} | {:.1} | {:.1} |",
        cost.processes,
        cost.threads,
        cost.pss_bytes as f64 / 1e6,
        cost.cores * 100.0
    );
    launched.end();
}
