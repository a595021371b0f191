//! Everything that needs no network: usage, interfaces, and faulty input.

use crate::process::{Running, feros};

#[test]
fn wrong_usage_ends_with_2() {
    for line in [
        &["topic", "ecoh"][..],
        &["topic", "pub", "/x"],
        &["topic", "echo", "/x", "--qos-reliability", "sometimes"],
        &["topic", "hz", "/x", "--window", "0"],
        &["interface", "list", "--colour"],
        &["topic", "echo", "/x", "--once", "--times", "2"],
        &["topic", "echo", "/x", "--filter", "m.data =="],
        &["topic", "echo", "/x", "--raw", "--filter", "m.data == 1"],
        &["topic", "hz"],
        &["topic", "hz", "/x", "--all"],
        &["topic", "pub", "/x", "std_msgs/msg/String", "--max-wait-time-secs", "1"],
        &["param", "list", "--filter", "("],
        &["multicast", "send", "--group", "10.0.0.1"],
        &["doctor", "--report", "hello"],
        &["launch", "x.launch.xml", "--launch-prefix-filter", "x"],
        &["--engine", "zeno", "node", "list"],
        &["--engine", "cyclonedds,zeno", "node", "list"],
        &["bridge"],
        &["bridge", "--engines", "cyclonedds"],
        &["bridge", "--domains", "3,3"],
        &["bridge", "--domains", "3,4,5", "--engines", "cyclonedds,zenoh"],
        &["bridge", "--domains", "3,233"],
        &["bridge", "--domains", "3,4", "--distros", "humble,kilted,jazzy"],
        &["bridge", "--domains", "3,4", "--distros", "galactic"],
        &["--distro", "galactic", "node", "list"],
        &["bridge", "--domains", "3,4", "--topics", "scan"],
    ] {
        assert_eq!(feros(line).code, Some(2), "{line:?}");
    }
    let negative = feros(&["topic", "hz", "/x", "--window", "-5"]).failure(2);
    assert!(negative.contains("'-5'") && !negative.contains("-- -5"), "{negative}");
    assert!(feros(&["--help"]).success().contains("Exit codes"));
    assert!(feros(&["topic", "echo", "-h"]).success().contains("feros topic echo /chatter"));
    let error = feros(&["topic", "echo", "/x", "--filter", "open('/etc/passwd')"]).failure(2);
    assert!(error.contains("unknown name open"), "{error}");
}

/// The engine applies to everything that a command does, and to all processes that it starts.
#[test]
fn the_engine_is_chosen_by_an_option_of_all_verbs() {
    let there = feros(&["--engine", "cyclonedds", "doctor", "--report", "--json"]).success();
    assert!(there.contains("Cyclone DDS") || there.contains("cyclonedds"), "{there}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("engine.launch.xml");
    let says = "<launch><executable cmd=\"printenv FEROS_ENGINE\" name=\"says\" output=\"screen\"/></launch>";
    std::fs::write(&file, says).unwrap();
    let said = feros(&["launch", file.to_str().unwrap(), "--engine", "fastdds"]).success();
    assert!(said.lines().any(|line| line.ends_with("fastdds")), "{said}");
    for name in feros::ENGINE_NAMES {
        if feros::engine(name).is_ok() {
            continue;
        }
        let error = feros(&["topic", "list", "--engine", name]).failure(1);
        assert!(error.contains(&format!("cargo build --features {name}")), "{error}");
        if name == "ros1" {
            continue; // it is never one of two engines
        }
        let line = ["--domains", "3,4", "--engines", &format!("cyclonedds,{name}")];
        let error = feros(&[&["bridge"], &line[..]].concat()).failure(1);
        assert!(error.contains(&format!("there is no engine \"{name}\"")), "{error}");
        if name == "zenoh" {
            let error = feros(&["topic", "list", "--engine", "cyclonedds,zenoh"]).failure(1);
            assert!(error.contains("cargo build --features zenoh`"), "{error}");
        }
    }
    for engines in ["zenoh,zenoh", "cyclonedds,ros1,zenoh"] {
        let error = feros(&["node", "list", "--engine", engines]).failure(2);
        let says = "name one engine, or two different ones, such as cyclonedds,zenoh";
        assert_eq!(error, format!("error: --engine {engines}: {says}\n"));
    }
}

/// The form of Humble applies to everything that a command does, and to all processes that it
/// starts.
#[test]
fn the_distribution_is_chosen_by_an_option_of_all_verbs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("distro.launch.xml");
    let says = "<launch><executable cmd=\"printenv FEROS_ROS_DISTRO FEROS_ENGINE\" name=\"says\" output=\"screen\"/></launch>";
    std::fs::write(&file, says).unwrap();
    let line = ["launch", file.to_str().unwrap(), "--distro", "humble", "--engine", "cyclonedds"];
    let said = feros(&line).success();
    let is_said = |word: &str| said.lines().any(|line| line.ends_with(word));
    assert!(is_said("humble") && is_said("cyclonedds"), "{said}");
}

/// Engines that would deliver messages twice are refused, whether they are built in or not.
#[test]
fn engines_that_do_not_go_together_are_refused() {
    let error = feros(&["topic", "list", "--engine", "cyclonedds,ros1"]).failure(1);
    assert!(error.contains("the engines cyclonedds,ros1 cannot be combined: ros1 "), "{error}");
    assert!(error.contains("`feros ros1 bridge`"), "{error}");
    let error = feros(&["topic", "list", "--engine", "fastdds,cyclonedds"]).failure(1);
    let says = "the engines fastdds,cyclonedds cannot be combined: both speak DDS";
    assert!(error.contains(says), "{error}");

    for line in [&["--engines", "cyclonedds,ros1"][..], &["--engines", "ros1", "--domains", "3,4"]]
    {
        let error = feros(&[&["bridge"], line].concat()).failure(2);
        assert!(error.contains("ros1 cannot be a side of this bridge"), "{error}");
        assert!(error.contains("`feros ros1 bridge`"), "{error}");
    }
    for line in [&["cyclonedds,fastdds"][..], &["zenoh,fastdds,cyclonedds", "--domains", "3,4,4"]] {
        let error = feros(&[&["bridge", "--engines"], line].concat()).failure(2);
        assert!(error.contains("both speak DDS, and their nodes meet in domain "), "{error}");
    }
}

#[test]
fn stubs_say_to_type_checkers_what_classes_hold() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("arms/msg");
    std::fs::create_dir_all(&package).unwrap();
    let definition = "geometry_msgs/Point[] way\nstring<=8 name\nfloat32[] speeds\nuint8 LEFT=1\nArm[<=2] parts\nbool import\n";
    std::fs::write(package.join("Robot.msg"), definition.replace("Arm", "Hand")).unwrap();
    std::fs::write(package.join("Hand.msg"), "byte grip\n").unwrap();
    let hiding = "Hand[] list\nint8 int\nstring name\n";
    std::fs::write(package.join("Message.msg"), hiding).unwrap();
    let (interfaces, stubs) = (folder.path().join("arms"), folder.path().join("stubs"));
    let line = ["interface", "stubs", stubs.to_str().unwrap(), "--interfaces"];
    let written = feros(&[&line[..], &[interfaces.to_str().unwrap()]].concat()).success();
    assert_eq!(written, "arms\n");
    let stub = std::fs::read_to_string(stubs.join("arms/msg/__init__.pyi")).unwrap();
    for expected in [
        "import geometry_msgs.msg\n",
        "class Robot(_Message):\n    LEFT: _Final[int]\n    way: list[geometry_msgs.msg.Point]\n",
        "    name: str\n    speeds: _Any\n    parts: list[Hand]\n    def __init__",
        "class Hand(_Message):\n    grip: bytes\n",
        // Types and fields may have names that the stub itself uses.
        "class Message(_Message):\n    list: _builtins.list[Hand]\n    int: _builtins.int\n    name: str\n",
    ] {
        assert!(stub.contains(expected), "{expected:?} in {stub}");
    }
    let module = stubs.join("arms/msg/__init__.py");
    assert!(!module.exists());
    feros(&[&line[..], &[interfaces.to_str().unwrap(), "--modules"]].concat()).success();
    let module = std::fs::read_to_string(module).unwrap();
    assert!(module.contains("namespace_module(__name__, \"arms\", \"msg\")"), "{module}");
    let package = std::fs::read_to_string(stubs.join("arms/__init__.py")).unwrap();
    assert!(package.contains("refuse_beside_foreign(__name__)"), "{package}");
    assert!(stubs.join("arms/py.typed").exists());
    let nothing = feros(&["interface", "stubs", stubs.to_str().unwrap()]).failure(1);
    assert!(nothing.contains("--interfaces DIR"), "{nothing}");
}

#[test]
fn interfaces_are_shown_listed_and_hashed() {
    let shown = feros(&["interface", "show", "geometry_msgs/msg/Twist", "--no-comments"]).success();
    assert!(shown.starts_with("geometry_msgs/Vector3 linear\n\tfloat64 x\n"), "{shown}");
    let hash = feros(&["interface", "hash", "std_msgs/msg/String"]).success();
    assert_eq!(hash, "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18\n");
    let services = feros(&["interface", "list", "-s", "--json"]).json();
    let services = services.as_array().unwrap();
    assert!(services.iter().all(|name| name.as_str().unwrap().contains("/srv/")));
    assert!(services.iter().any(|name| name == "std_srvs/srv/SetBool"));
    assert!(feros(&["interface", "list", "-a"]).success().starts_with("Actions:\n    "));
    assert_eq!(
        feros(&["interface", "package", "std_srvs", "--json"]).json().as_array().unwrap().len(),
        3
    );
    assert!(feros(&["interface", "packages"]).success().lines().any(|line| line == "sensor_msgs"));
    assert_eq!(
        feros(&["interface", "proto", "geometry_msgs/msg/Point"]).success(),
        "x: 0.0\ny: 0.0\nz: 0.0\n"
    );
    let line = ["interface", "proto", "geometry_msgs/msg/Point", "--no-quotes"];
    assert_eq!(feros(&line).success(), "x: 0.0\ny: 0.0\nz: 0.0\n");
    let services = feros(&["interface", "package", "sensor_msgs", "--only-srvs"]).success();
    assert_eq!(services, "sensor_msgs/srv/SetCameraInfo\n");
}

#[test]
fn packages_of_robots_are_known() {
    let line = ["interface", "show", "nav2_msgs/action/NavigateToPose"];
    assert!(feros(&line).success().contains("# Where to go, and with which heading.\n"));
    let shown = feros(&[&line[..], &["--no-comments"]].concat()).success();
    assert!(shown.starts_with("geometry_msgs/PoseStamped pose\n\tstd_msgs/Header header\n"));
    for part in ["\nstring behavior_tree\n---\n", "\nuint16 FAILED_TO_LOAD_BEHAVIOR_TREE=9001\n"] {
        assert!(shown.contains(part), "{shown}");
    }
    assert!(shown.ends_with("\nint16 number_of_recoveries\nfloat32 distance_remaining\n"));
    let lists = ["interface list -a", "interface packages", "interface package nav2_msgs"];
    let [actions, packages, types] = lists.map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        feros(&words).success()
    });
    assert!(actions.lines().any(|line| line == "    control_msgs/action/FollowJointTrajectory"));
    for package in ["control_msgs", "moveit_msgs", "std_msgs", "vision_msgs"] {
        assert!(packages.lines().any(|line| line == package), "{packages}");
    }
    assert!(types.lines().any(|line| line == "nav2_msgs/srv/LoadMap"), "{types}");
    let line = ["interface", "proto", "vision_msgs/ObjectHypothesis"];
    assert_eq!(feros(&line).success(), "class_id: ''\nscore: 0.0\n");
    let hash = feros(&["interface", "hash", "control_msgs/action/FollowJointTrajectory"]).success();
    assert!(hash.starts_with("RIHS01_"), "{hash}");
    let error = feros(&["interface", "show", "nav2_msgs/action/NavigateToPos"]).failure(1);
    assert!(error.contains("did you mean `nav2_msgs/action/NavigateToPose`"), "{error}");
}

#[test]
fn packages_of_robots_are_those_of_the_named_distribution() {
    let line = ["interface", "show", "control_msgs/action/FollowJointTrajectory"];
    assert!(feros(&line).success().contains("int32 multi_dof_index\n"));
    let of_jazzy = [&line[..], &["--distro", "jazzy"]].concat();
    let shown = feros(&of_jazzy).success();
    assert!(shown.contains("JointTrajectoryPoint error\n") && !shown.contains("multi_dof_index"));
    let types = feros(&["interface", "package", "nav2_msgs", "--distro", "jazzy"]).success();
    assert!(types.contains("nav2_msgs/msg/MissedWaypoint\n"), "{types}");
    assert!(!types.contains("nav2_msgs/msg/WaypointStatus\n"), "{types}");
}

#[test]
fn a_folder_replaces_a_package_of_robots() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("nav2_msgs/msg")).unwrap();
    std::fs::write(dir.path().join("nav2_msgs/msg/Mine.msg"), "control_msgs/JointJog jog\n")
        .unwrap();
    let folder = dir.path().to_str().unwrap();
    let shown = feros(&["interface", "show", "nav2_msgs/msg/Mine", "--interfaces", folder]);
    assert!(shown.success().starts_with("control_msgs/JointJog jog\n\tstd_msgs/Header header\n"));
    let types = feros(&["interface", "package", "nav2_msgs", "--interfaces", folder]).success();
    assert_eq!(types, "nav2_msgs/msg/Mine\n");
}

#[test]
fn interfaces_come_from_folders_too() {
    let dir = std::env::temp_dir().join(format!("feros_cli_test_{}", std::process::id()));
    let package = dir.join("my_msgs");
    std::fs::create_dir_all(package.join("msg")).unwrap();
    std::fs::write(package.join("msg/Mine.msg"), "# Mine.\nint32 x 7\nstd_msgs/Header header\n")
        .unwrap();
    let shown =
        feros(&["interface", "show", "my_msgs/msg/Mine", "--interfaces", dir.to_str().unwrap()]);
    let wrong = feros(&["interface", "show", "my_msgs/msg/Mine", "--interfaces", "/nowhere"]);
    let by_variable = |line: &[&str], folders: &str| {
        let set = |command: &mut std::process::Command| {
            command.env("FEROS_INTERFACES", folders);
        };
        Running::start_with(line, set).finish()
    };
    let folders = format!("/nowhere::{}", dir.display());
    let named_once = by_variable(&["interface", "show", "my_msgs/msg/Mine"], &folders);
    let listed = by_variable(&["interface", "list"], &folders);
    let unknown = by_variable(&["interface", "show", "my_msgs/msg/Other"], &folders);
    std::fs::remove_dir_all(&dir).unwrap();
    // A missing folder does not affect the others, and is reported where it matters.
    assert!(named_once.success().contains("int32 x 7\n"));
    assert!(listed.err.contains("FEROS_INTERFACES: cannot read `/nowhere`"), "{listed:?}");
    assert!(listed.success().contains("    my_msgs/msg/Mine\n"));
    let unknown = unknown.failure(1);
    assert!(
        unknown.contains("FEROS_INTERFACES: ") && unknown.contains("my_msgs/msg/Mine"),
        "{unknown}"
    );
    assert!(
        shown
            .success()
            .contains("int32 x 7\nstd_msgs/Header header\n\tbuiltin_interfaces/Time stamp\n")
    );
    assert!(wrong.failure(1).contains("/nowhere"));
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let error = feros(&["interface", "show", "std_msgs/msg/Sting"]).failure(1);
    assert!(error.contains("did you mean `std_msgs/msg/String`"), "{error}");
    let error = feros(&["topic", "pub", "/x", "std_msgs/msg/Sting", "{}"]).failure(1);
    assert!(error.contains("did you mean `std_msgs/msg/String`"), "{error}");
    let error = feros(&["interface", "package", "sensor_msg"]).failure(1);
    assert!(error.contains("did you mean") && error.contains("sensor_msgs"), "{error}");
}

#[test]
fn malformed_values_show_their_place() {
    let error = feros(&["topic", "pub", "/x", "std_msgs/msg/String", "{dat: hello}"]).failure(2);
    assert!(error.contains("has no field `dat` (did you mean `data`?)"), "{error}");
    assert!(error.contains("line 1, column ") && error.trim_end().ends_with('^'), "{error}");
    let error = feros(&["topic", "pub", "/x", "std_msgs/msg/String", "{data: [}"]).failure(2);
    assert!(error.contains("not YAML") && error.contains("  | {data: [}\n"), "{error}");
    let error = feros(&["topic", "pub", "/x", "std_msgs/msg/Int8", "{data: 300}"]).failure(2);
    assert!(error.contains("`data`"), "{error}");
    let error = feros(&["topic", "pub", "/2x", "std_msgs/msg/String", "{}"]).failure(2);
    assert!(error.contains("starts with a digit"), "{error}");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut list = Running::start(&["interface", "list"]);
    assert_eq!(list.line().as_deref(), Some("Messages:"));
    list.close_output();
    let finished = list.finish();
    assert_eq!((finished.code, finished.err.as_str()), (Some(0), ""));
}

#[test]
fn there_is_no_daemon_and_that_is_said() {
    for verb in ["start", "stop", "status"] {
        let finished = feros(&["daemon", verb]);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert!(finished.err.contains("feros has no daemon and needs none"), "{finished:?}");
        assert_eq!(finished.out == "The daemon is not running\n", verb == "status", "{finished:?}");
    }
}
