//! Transforms, as the command shows them.

use feros::Node;
use feros_test_support::{Background, Watchdog};
use feros_tf2::glam::DVec3;
use feros_tf2::{StaticTransformBroadcaster, Transform, TransformBroadcaster};

use crate::process::{Running, context, eventually, feros};

/// A node that publishes the pose of `base` in `odom`, 50 times a second.
struct Robot {
    _saying: Background,
    _fixed: StaticTransformBroadcaster,
    _node: Node,
}

fn robot() -> Robot {
    let node = context().create_node("tf_robot").unwrap();
    let fixed = StaticTransformBroadcaster::new(&node).unwrap();
    let laser = Transform::from_translation(DVec3::new(0.25, 0.0, 0.0));
    fixed.send_transform(laser.to_stamped("base", "laser", node.clock().now())).unwrap();
    let moving = TransformBroadcaster::new(&node).unwrap();
    let executor = feros::Executor::new();
    executor.add_node(&node).unwrap();
    let (clock, stopper) = (node.clock().clone(), executor.stopper());
    let timer = node
        .create_wall_timer(std::time::Duration::from_millis(20), move || {
            let pose = Transform::from_translation(DVec3::new(1.5, 0.0, 0.0));
            moving.send_transform(pose.to_stamped("odom", "base", clock.now())).unwrap();
        })
        .unwrap();
    let spin = move || {
        let _timer = timer;
        executor.spin().unwrap();
    };
    let saying = Background::start("robot", spin, move || stopper.stop());
    Robot { _saying: saying, _fixed: fixed, _node: node }
}

#[test]
fn transforms_are_told_by_echo_tree_and_monitor() {
    let _robot = robot();
    let line = ["tf", "echo", "odom", "laser", "--once", "--timeout", "50", "-p", "2"];
    let text = feros(&line).success();
    assert!(text.contains("- Translation: [1.75, 0.00, 0.00]\n"), "{text}");
    let line = ["tf", "echo", "laser", "odom", "10", "--once", "--timeout", "50", "--json"];
    assert_eq!(feros(&line).json()["translation"][0], -1.75);

    let tree = feros(&["tf", "tree", "-t", "1.5", "--json"]).json();
    assert_eq!(tree["laser"]["parent"], "base", "{tree}");
    assert_eq!((&tree["laser"]["static"], &tree["base"]["static"]), (&true.into(), &false.into()));
    assert_eq!(tree["base"]["authority"], "/tf_robot", "{tree}");
    let text = feros(&["tf", "tree", "-t", "1.5"]).success();
    assert!(text.starts_with("odom\n└─ base  ("), "{text}");
    assert!(text.contains("\n   └─ laser  (static, "), "{text}");
    let dot = feros(&["tf", "tree", "-t", "1.5", "--dot"]).success();
    assert!(dot.contains("\"odom\" -> \"base\" [label="), "{dot}");

    let _watchdog = Watchdog::start();
    let mut monitor = Running::start(&["tf", "monitor", "laser", "odom"]);
    for beginning in [
        "RESULTS: for laser -> base -> odom",
        "Frame: base, published by /tf_robot",
        "Node: /tf_robot ",
    ] {
        while !monitor.line().unwrap().starts_with(beginning) {}
    }
}

#[test]
fn refused_transforms_are_counted_with_their_reasons() {
    let node = context().create_node("tf_broken").unwrap();
    let broken = StaticTransformBroadcaster::new(&node).unwrap();
    let now = node.clock().now();
    let nowhere = Transform::from_translation(DVec3::new(f64::NAN, 0.0, 0.0));
    let sent = [
        Transform::IDENTITY.to_stamped("t_map", "t_base", now),
        nowhere.to_stamped("t_map", "t_nan", now),
        Transform::IDENTITY.to_stamped("t_self", "t_self", now),
    ];
    broken.send_transforms(sent.to_vec()).unwrap();
    let told = "2 refused transforms: 1 with the frame itself as parent, 1 with numbers that";
    let tree = || feros(&["tf", "tree", "-t", "1.5"]);
    let tree = eventually(tree, |tree| tree.code == Some(0) && tree.out.contains("t_base"));
    assert!(tree.err.contains(&format!("warning: {told}")), "{tree:?}");
    let _watchdog = Watchdog::start();
    let mut monitor = Running::start(&["tf", "monitor"]);
    while !monitor.line().unwrap().starts_with(told) {}
    let mut monitor = Running::start(&["tf", "monitor", "--json"]);
    let refused = loop {
        let line: serde_json::Value = serde_json::from_str(&monitor.line().unwrap()).unwrap();
        if line["refused"]["not_finite"] == 1 {
            break line["refused"].clone();
        }
    };
    assert_eq!((&refused["self_transform"], &refused["old_data"]), (&1.into(), &0.into()));
}

#[test]
fn missing_transforms_are_reported_with_the_reason() {
    let line = ["tf", "echo", "nowhere", "base", "--once", "--timeout", "0.3"];
    let error = feros(&line).failure(1);
    assert!(error.contains("no transform came within 0.3"), "{error}");
    // The command does not wait for impossible transforms, even without a time limit.
    for (source, target, words) in
        [("", "base", "cannot be empty"), ("map", "/base", "cannot start with a '/'")]
    {
        let error = feros(&["tf", "echo", source, target, "--once"]).failure(2);
        assert!(error.contains(words), "{error}");
    }
    let error = feros(&["tf", "echo", "a", "b", "2000"]).failure(2);
    assert!(error.contains("from 0.001 to 1000"), "{error}");
}
