#![allow(clippy::unwrap_used)]

use super::*;

const SMALL: &str = "
# a comment
message_bytes 64
path end left right
sensor left l 0 10 left
";

fn small(lines: &str) -> Result<Graph, String> {
    Graph::parse(&format!(
        "message_bytes 64\npath end left right\nsensor l 0 10 left\nsensor r 0 10 right\n{lines}"
    ))
}

const WHOLE: &str = "fusion f 9 0 both left right\ntransform t 9 0 end both\n\
                     cyclic c 9 10 plan end\ncommand d 0 0 - plan\n";

#[test]
fn the_driving_graph_is_that_of_the_reference_system() {
    let graph = Graph::named("driving").unwrap();
    let count = |kind: Kind| graph.steps.iter().filter(|step| step.kind == kind).count();
    assert_eq!([Kind::Fusion, Kind::Cyclic, Kind::Command].map(count), [5, 1, 2]);
    assert_eq!([Kind::Sensor, Kind::Transform, Kind::Intersection].map(count), [6, 9, 2]);
    let nodes: BTreeSet<&str> = graph.steps.iter().map(|step| step.node.as_str()).collect();
    assert_eq!(nodes.len(), 24);
    assert_eq!(graph.message_bytes, 4096);
    assert_eq!(graph.path_from, ["FrontLidarDriver", "RearLidarDriver"]);
    assert_eq!(graph.path_to, "ObjectCollisionEstimator");
    let mut sensors = graph.steps.iter().filter(|step| step.kind == Kind::Sensor);
    assert!(sensors.all(|step| step.period == Some(Duration::from_millis(100))));
    let planner = graph.steps.iter().find(|step| step.kind == Kind::Cyclic).unwrap();
    assert_eq!((planner.node.as_str(), planner.inputs.len()), ("BehaviorPlanner", 6));
    assert_eq!(graph.subscriptions()["PointCloudFusion"], 2);
    assert!(Graph::named("flying").unwrap_err().contains("driving"));
}

#[test]
fn a_wrong_description_is_refused() {
    small(WHOLE).unwrap();
    for (lines, expected) in [
        ("bridge b 0 0 end left\n", "line 5: there is no kind bridge"),
        ("transform t 9\n", "line 5: too few words"),
        ("transform t -1 0 end left\n", "line 5: -1 is not a number"),
        ("transform t 99999999999999999999 0 end left\n", "is not a number"),
        ("transform t 9 0 end left right\n", "do not fit its kind"),
        ("fusion t 9 0 end left\n", "do not fit its kind"),
        ("sensor s 0 0 end\n", "do not fit its kind"),
        ("command t 9 0 end left\n", "do not fit its kind"),
        ("transform t 9 0 end nowhere\n", "no step publishes on nowhere"),
        ("transform t 9 0 left right\n", "several steps publish on left"),
        ("transform t 9 0 other left\n", "no step publishes on end"),
        ("message_bytes 23\n", "is not a number from 24"),
    ] {
        let error = small(lines).unwrap_err();
        assert!(error.contains(expected), "{lines}: {error}");
    }
    assert!(Graph::parse(SMALL).unwrap_err().contains("line 5"));
    assert!(Graph::parse("").unwrap_err().contains("is missing"));
    let many: String = (0..=MOST_STEPS).map(|at| format!("sensor s 0 1 t{at}\n")).collect();
    assert!(small(&many).unwrap_err().contains("more than"));
}

#[test]
fn a_head_survives_its_message() {
    let head = Head { at: u64::MAX, number: 3, sequence: 1 << 40 };
    let mut message = vec![7; 40];
    head.write(&mut message);
    assert_eq!(Head::read(&message), Some(head));
    assert_eq!(message[24..], [7; 16]);
    assert_eq!(Head::read(&message[..23]), None);
    head.write(&mut [0; 5]); // too short: nothing happens
}

/// The workers of the small graph, in the order of its steps.
fn workers(figures: &Figures) -> Vec<Worker> {
    let graph = small(WHOLE).unwrap();
    graph.steps.iter().map(|step| graph.worker(step, figures)).collect()
}

#[test]
fn the_oldest_sample_goes_through_the_chain() {
    let figures = Figures::new(1, Duration::from_millis(10));
    let mut all = workers(&figures);
    let [left, right, fusion, transform, cyclic, command] = all.as_mut_slice() else {
        panic!("six steps")
    };
    for number in 0..4 {
        let first = left.tick().unwrap();
        let second = right.tick().unwrap();
        assert!(first.at > 0 && second.at >= first.at && first.number == number);
        assert_eq!(fusion.receive(1, second), None, "one input is missing");
        let both = fusion.receive(0, first).unwrap();
        assert_eq!((both.at, both.number, both.sequence), (first.at, number, number));
        let end = transform.receive(0, both).unwrap();
        assert_eq!((end.at, end.sequence), (first.at, number));
        assert_eq!(cyclic.receive(0, end), None, "it waits for its timer");
        let plan = cyclic.tick().unwrap();
        assert_eq!((plan.at, plan.sequence), (first.at, number));
        assert_eq!(command.receive(0, plan), None);
    }
    // A cyclic node publishes without any message, too; an unknown input is ignored.
    assert_eq!(cyclic.tick().unwrap().at, 0);
    assert_eq!(transform.receive(9, Head { at: 1, number: 1, sequence: 1 }), None);
    let values = figures.values();
    // The first one is the warm-up.
    assert_eq!((figures.messages(), values["hot_path_messages"]), (3, 3.0));
    assert_eq!(values["hot_path_lost_percent"], 0.0);
    assert_eq!(values["transforms_lost_percent"], 0.0);
    let [median, p99, max] = ["median", "p99", "max"]
        .map(|statistic| values[format!("hot_path_nanos_{statistic}").as_str()]);
    assert!(median <= p99 && p99 <= max);
    assert!(values["planner_jitter_nanos_max"] >= values["planner_jitter_nanos_median"]);
    assert!(values.contains_key("planner_drift_nanos"));
}

#[test]
fn lost_messages_are_counted() {
    let figures = Figures::new(0, Duration::from_millis(10));
    let mut all = workers(&figures);
    let transform = &mut all[3];
    for number in [0, 1, 4] {
        transform.receive(0, Head { at: 1, number, sequence: number });
    }
    let values = figures.values();
    assert_eq!(values["hot_path_lost_percent"], 40.0);
    assert_eq!(values["transforms_lost_percent"], 40.0);
}

#[test]
fn figures_of_ticks_are_exact() {
    let figures = Figures::new(1, Duration::from_nanos(100));
    assert!(figures.values().is_empty());
    for at in [5, 1000, 1100, 1190, 1310] {
        figures.tick(at);
    }
    // The first tick is the warm-up: intervals of 100, 90 and 120.
    let values = figures.values();
    assert_eq!(values["planner_jitter_nanos_mean"], 10.0);
    assert_eq!(values["planner_jitter_nanos_median"], 10.0);
    assert_eq!(values["planner_jitter_nanos_max"], 20.0);
    assert_eq!(values["planner_drift_nanos"], 10.0);
}

#[test]
fn primes_are_found() {
    // From 3 on: 3, 5, 7, 11, 13, 17, 19, 23, 29.
    assert_eq!(crunch(30), 9);
    assert_eq!([0, 2, 3].map(crunch), [0, 0, 1]);
    assert_eq!(crunch(4096), 563);
}
