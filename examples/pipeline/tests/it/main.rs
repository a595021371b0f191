//! In every placement, the pipeline follows its spot, uses the shortest transports, and leaves
//! nothing behind.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use feros::QosProfile;
use feros::msgs::diagnostic_msgs::msg::DiagnosticArray;
use feros::msgs::geometry_msgs::msg::Twist;
use feros_placements::{Heard, Launched, Observer, Package};

const COMPONENTS: [&str; 5] = ["camera", "detector", "tracker", "planner", "controller"];

/// The topics between the components, by the component that subscribes to them.
const INPUTS: [(&str, &str); 4] = [
    ("/detector", "/image"),
    ("/tracker", "/detection"),
    ("/planner", "/target"),
    ("/controller", "/path"),
];

/// The transport of messages between the components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Process,
    Host,
}

#[test]
fn in_five_processes() {
    let pipeline = launch("processes.launch.xml", &[]);
    follows_and_ends(pipeline, Between::Host, |lines| {
        assert_eq!(lines.len(), 5, "{lines:#?}");
        for component in COMPONENTS {
            let runs = |line: &&String| line.contains(&format!("pipeline {component} "));
            assert_eq!(lines.iter().filter(runs).count(), 1, "{component}: {lines:#?}");
        }
    });
}

#[test]
fn composed_by_hand() {
    let pipeline = launch("manual.launch.xml", &[]);
    follows_and_ends(pipeline, Between::Process, |lines| assert_eq!(lines.len(), 1, "{lines:#?}"));
}

#[test]
fn in_a_container() {
    in_one_container("component_container");
}

#[test]
fn in_a_container_with_several_threads() {
    in_one_container("component_container_mt");
}

#[test]
fn in_a_container_with_a_thread_for_each() {
    in_one_container("component_container_isolated");
}

#[test]
fn in_a_container_with_a_process_for_each() {
    let pipeline = launch("process_isolated.launch.yaml", &[]);
    follows_and_ends(pipeline, Between::Host, |lines| {
        assert_eq!(lines.len(), 6, "the container and five children: {lines:#?}");
    });
}

fn in_one_container(container: &str) {
    let pipeline = launch("composed.launch.yaml", &[&format!("container:={container}")]);
    follows_and_ends(pipeline, Between::Process, |lines| {
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(lines[0].contains(&format!("/{container} ")), "{lines:#?}");
    });
}

fn launch(file: &str, arguments: &[&str]) -> Launched {
    let package = Package::of_workspace("pipeline", Path::new(env!("CARGO_MANIFEST_DIR")));
    Launched::start(&package, file, arguments)
}

fn follows_and_ends(pipeline: Launched, between: Between, is_placed: impl FnOnce(&[String])) {
    follows(&pipeline, between, is_placed);
    pipeline.end();
}

fn follows(pipeline: &Launched, between: Between, is_placed: impl FnOnce(&[String])) {
    let observer = pipeline.observer();
    let commands = observer.hear::<Twist>("/cmd_vel", QosProfile::keep_last(10));
    let reports = observer.hear::<DiagnosticArray>("/diagnostics", QosProfile::keep_last(50));
    follows_a_spot_that_stands(&observer, &commands);
    follows_a_spot_that_moves(&observer, &commands);
    takes_its_messages(&observer, &reports, between);
    let lines: Vec<String> =
        pipeline.processes().into_iter().map(|process| process.command_line).collect();
    is_placed(&lines);
    stops_without_a_spot(&observer, &commands);
}

/// The forward speed and the turn rate for a spot at this position in an image of 320 x 240 pixels
/// of 1 cm, with the default parameters of the components.
fn expected_command(x: f64, y: f64) -> (f64, f64) {
    let (ahead, left) = ((1.0 - y) * 2.4, (0.5 - x) * 3.2);
    ((0.5 * (ahead.hypot(left) - 0.2)).clamp(0.0, 1.0), left.atan2(ahead).clamp(-1.0, 1.0))
}

fn follows_a_spot_that_stands(observer: &Observer, commands: &Heard<Twist>) {
    // A pixel is 1 cm, and the nearest spot is one metre away.
    const TOLERANCE: f64 = 0.02;
    for (x, y) in [(0.25, 0.5), (0.75, 0.5), (0.5, 0.25)] {
        observer.set_parameters("/camera", [("spot.x", x), ("spot.y", y), ("spot.orbit", 0.0)]);
        let (speed, turn) = expected_command(x, y);
        observer.until(
            &format!("the spot at {x}, {y} is followed: {:?}", commands.newest()),
            || {
                commands.newest().is_some_and(|command| {
                    (command.linear.x - speed).abs() < TOLERANCE
                        && (command.angular.z - turn).abs() < TOLERANCE
                })
            },
        );
    }
}

fn follows_a_spot_that_moves(observer: &Observer, commands: &Heard<Twist>) {
    let circle =
        [("spot.x", 0.5), ("spot.y", 0.5), ("spot.orbit", 0.2), ("spot.orbits_per_second", 0.5)];
    observer.set_parameters("/camera", circle);
    commands.forget();
    // At most, the spot is about 0.64 m to the side, 1.2 m ahead: 0.49 rad.
    observer.until("the robot turns to both sides, as the spot goes round", || {
        let turns: Vec<f64> = commands.all().iter().map(|command| command.angular.z).collect();
        turns.iter().any(|turn| *turn > 0.3) && turns.iter().any(|turn| *turn < -0.3)
    });
}

fn stops_without_a_spot(observer: &Observer, commands: &Heard<Twist>) {
    observer.until("the robot moves", || {
        commands.newest().is_some_and(|command| command != Twist::default())
    });
    observer.set_parameters("/camera", [("spot.is_lit", false)]);
    observer.until("the robot stops", || commands.newest() == Some(Twist::default()));
}

/// The counts of an input's messages on the intra-process, shared-memory and network transports,
/// from the last report of the component.
fn counts(reports: &Heard<DiagnosticArray>, (node, topic): (&str, &str)) -> Option<[u64; 3]> {
    let name = format!("{node}: {topic}");
    let all = reports.all();
    let status =
        all.iter().rev().flat_map(|report| &report.status).find(|status| status.name == name)?;
    let count =
        |path| status.values.iter().find(|value| value.key == path).unwrap().value.parse().unwrap();
    Some(["process", "host", "network"].map(count))
}

fn takes_its_messages(observer: &Observer, reports: &Heard<DiagnosticArray>, between: Between) {
    for input in INPUTS {
        observer.until(&format!("{input:?} is reported"), || counts(reports, input).is_some());
        // Until shared memory is set up, messages between processes take the network transport.
        let mut before = counts(reports, input).unwrap();
        observer.until(&format!("{input:?} takes no other transport than {between:?}"), || {
            let now = counts(reports, input).unwrap();
            let [process, host, network] = [0, 1, 2].map(|path| now[path] - before[path]);
            if process + host + network < 20 {
                return false;
            }
            before = now;
            match between {
                Between::Process => (host, network) == (0, 0),
                Between::Host => (process, network) == (0, 0),
            }
        });
        let [process, host, network] = counts(reports, input).unwrap();
        match between {
            Between::Process => {
                assert_eq!((host, network), (0, 0), "{input:?} never leaves the process: {process}")
            }
            Between::Host => {
                assert_eq!(process, 0, "{input:?} comes from another process: {host}, {network}")
            }
        }
    }
}
