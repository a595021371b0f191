//! The nodes that this command contains, started as the executables of the packages that have them
//! in stock ROS 2.

use std::f64::consts::FRAC_PI_2;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use feros_interop::Domain;
use serde_json::Value;

use crate::process::{Finished, Running};

/// An arm on a base with a fixed laser; the hand follows the arm.
pub(crate) const ROBOT: &str = r#"<robot name="arm">
  <link name="base"/> <link name="laser"/> <link name="upper"/> <link name="hand"/>
  <joint name="mount" type="fixed">
    <parent link="base"/> <child link="laser"/> <origin xyz="0.25 0 0"/>
  </joint>
  <joint name="shoulder" type="revolute">
    <parent link="base"/> <child link="upper"/> <axis xyz="0 0 1"/>
    <limit lower="-2" upper="2"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="upper"/> <child link="hand"/> <axis xyz="1 0 0"/>
    <limit lower="0" upper="1"/> <mimic joint="shoulder" multiplier="0.5" offset="0.1"/>
  </joint>
</robot>"#;

#[test]
fn the_help_of_a_node_needs_no_reader() {
    for package in ["robot_state_publisher", "joint_state_publisher"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = feros_test_support::command_of(env!("CARGO_BIN_EXE_feros"));
        Domain::reserve_without_ros2().confine(&mut command);
        command.args(["run", package, package, "--help"]).stdout(writer);
        let output = command.output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
    }
}

/// A domain and a folder of one test.
struct Place {
    domain: Domain,
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { domain: Domain::reserve_without_ros2(), folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn start(&self, arguments: &[&str]) -> Running {
        // No package that is installed on this machine takes part.
        Running::start_with_in(&self.domain, arguments, |command| {
            command.env("XDG_DATA_HOME", self.folder.path()).env("ROS_LOG_DIR", self.folder.path());
            command.env_remove("AMENT_PREFIX_PATH").env_remove("FEROS_PREFIX_PATH");
        })
    }

    fn feros(&self, arguments: &[&str]) -> Finished {
        self.start(arguments).finish()
    }

    /// The first message on a topic; one that was published before counts, if the topic keeps it.
    fn message(&self, topic: &str, message_type: &str, more: &[&str]) -> Value {
        let line = ["topic", "echo", topic, message_type, "--once", "--json", "--timeout", "50"];
        self.feros(&[&line[..], more].concat()).json()
    }

    fn latched(&self, topic: &str, message_type: &str) -> Value {
        let kept = ["--qos-durability", "transient_local", "--qos-reliability", "reliable"];
        self.message(topic, message_type, &kept)
    }

    fn static_transforms(&self) -> Value {
        self.latched("/tf_static", "tf2_msgs/msg/TFMessage")["transforms"].take()
    }
}

/// The parent, the child, the translation and the rotation of a transform.
fn pose(transform: &Value) -> (&str, &str, [f64; 3], [f64; 4]) {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{transform}"));
    let (translation, rotation) =
        (&transform["transform"]["translation"], &transform["transform"]["rotation"]);
    (
        transform["header"]["frame_id"].as_str().unwrap(),
        transform["child_frame_id"].as_str().unwrap(),
        ["x", "y", "z"].map(|axis| number(&translation[axis])),
        ["x", "y", "z", "w"].map(|axis| number(&rotation[axis])),
    )
}

#[track_caller]
fn close<const N: usize>(found: [f64; N], expected: [f64; N]) {
    let is_close = found.iter().zip(expected).all(|(found, wanted)| (found - wanted).abs() < 1e-9);
    assert!(is_close, "{found:?} is not {expected:?}");
}

#[test]
fn static_transforms_are_published_in_both_forms_of_the_arguments() {
    let yaw = FRAC_PI_2.to_string();
    let flags = ["--x", "1", "--yaw", &yaw, "--frame-id", "map", "--child-frame-id", "odom"];
    let values = ["1", "0", "0", &yaw, "0", "0", "map", "odom"];
    let half = 0.5_f64.sqrt();
    let part = half.to_string();
    let quaternion = ["1", "0", "0", "0", "0", &part, &part, "map", "odom"];
    for arguments in [&flags[..], &values[..], &quaternion[..]] {
        let place = Place::new();
        let line = [&["run", "tf2_ros", "static_transform_publisher"], arguments].concat();
        let mut publisher = place.start(&line);
        let transforms = place.static_transforms();
        let [transform] = &transforms.as_array().unwrap()[..] else { panic!("{transforms}") };
        let (parent, child, translation, rotation) = pose(transform);
        assert_eq!((parent, child), ("map", "odom"));
        close(translation, [1.0, 0.0, 0.0]);
        close(rotation, [0.0, 0.0, half, half]);
        publisher.interrupt();
        let log = publisher.error_with("[static_transform_publisher_");
        assert!(log.starts_with("[INFO] ") && log.contains("\"odom\" in \"map\""), "{log}");
        assert_eq!(publisher.finish().code, Some(0));
    }
}

#[test]
fn mistakes_in_the_arguments_are_explained() {
    let place = Place::new();
    let publisher = |more: &[&str]| {
        place.feros(&[&["run", "tf2_ros", "static_transform_publisher"], more].concat())
    };
    let missing = publisher(&["--x", "1"]).failure(1);
    assert!(missing.contains("--frame-id is missing") && missing.contains("Usage:"), "{missing}");
    let number = publisher(&["1", "2", "x", "0", "0", "0", "a", "b"]).failure(1);
    assert!(number.contains("z is \"x\": expected a finite number"), "{number}");
    let help = publisher(&["--help"]).success();
    assert!(help.starts_with("Usage: static_transform_publisher"), "{help}");
    let ros = publisher(&["--ros-args", "--nonsense"]).failure(2);
    assert!(ros.contains("--nonsense"), "{ros}");
    let wrong = place.feros(&["run", "tf2_ros", "static_transform_publishr"]).failure(2);
    assert!(wrong.contains("did you mean `static_transform_publisher`?"), "{wrong}");
    let under = ["run", "--prefix", "env", "tf2_ros", "static_transform_publisher", "-h"];
    assert!(place.feros(&under).success().starts_with("Usage: "), "with another program before it");
    let known = place.feros(&["pkg", "executables", "tf2_ros"]).success();
    assert_eq!(known, "tf2_ros static_transform_publisher\n");
    let types = place.feros(&["component", "types", "robot_state_publisher"]).success();
    assert_eq!(types, "robot_state_publisher::RobotStatePublisher (shipped)\n");
}

#[test]
fn a_package_in_a_prefix_comes_before_what_the_command_contains() {
    let place = Place::new();
    let script = place.file(
        "own/lib/robot_state_publisher/robot_state_publisher",
        "#!/bin/sh\n\
                                                                                    echo mine\n",
    );
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let own = place.folder.path().join("own");
    for variable in ["FEROS_PREFIX_PATH", "AMENT_PREFIX_PATH"] {
        let line = ["run", "robot_state_publisher", "robot_state_publisher"];
        let run = Running::start_with_in(&place.domain, &line, |command| {
            command.env(variable, &own);
        });
        assert_eq!(run.finish().success(), "mine\n", "{variable}");
    }
}

#[test]
fn a_robot_needs_a_description_that_can_be_used() {
    let place = Place::new();
    let run = |more: &[&str]| {
        let line = ["run", "robot_state_publisher", "robot_state_publisher"];
        place.feros(&[&line[..], more].concat())
    };
    let empty = run(&[]).failure(1);
    assert!(empty.contains("robot_description is empty: set it to the text of a URDF"), "{empty}");
    let broken = place.file("broken.urdf", "<robot name='r'><link name='a'/>\n<joint/></robot>");
    for node in ["robot_state_publisher", "joint_state_publisher"] {
        let told = place.feros(&["run", node, node, &broken]).failure(1);
        let words = "broken.urdf cannot be used: line 2: a joint has no name";
        assert!(told.contains(words), "{told}");
    }
    let blank = run(&[&place.file("blank.urdf", "")]).failure(1);
    assert!(blank.contains("the robot description is empty"), "{blank}");
    let missing = run(&["/nothing.urdf"]).failure(1);
    assert!(missing.contains("/nothing.urdf cannot be read"), "{missing}");
    let rate = run(&["--ros-args", "-p", "publish_frequency:=2000.0"]).failure(1);
    assert!(rate.contains("publish_frequency"), "{rate}");
    let joints = ["run", "joint_state_publisher", "joint_state_publisher", "--ros-args", "-p"];
    let rate = place.feros(&[&joints[..], &["rate:=0"]].concat()).failure(1);
    assert!(rate.contains("the parameter rate is 0: expected Hz"), "{rate}");
    let parent = [&joints[..], &["dependent_joints.a.factor:=2"]].concat();
    let parent = place.feros(&parent).failure(1);
    assert!(parent.contains("dependent_joints.a.parent is missing"), "{parent}");
}

#[test]
fn each_missing_mesh_is_told_once_and_the_robot_is_published() {
    let place = Place::new();
    let mesh = |file: &str| {
        let geometry = format!("<geometry><mesh filename=\"{file}\"/></geometry>");
        format!("<visual>{geometry}</visual><collision>{geometry}</collision>")
    };
    // The folder of the test is also the data of the user, which contains the default prefix.
    place.file("feros/share/arm/base.stl", "solid");
    let meshes = ["package://arm/base.stl", "package://arm/bse.stl", "package://hand/palm.stl"];
    let base = format!("<link name=\"base\">{}</link>", meshes.map(mesh).concat());
    let urdf = place.file("arm.urdf", &ROBOT.replace("<link name=\"base\"/>", &base));
    let line = ["run", "robot_state_publisher", "robot_state_publisher", &urdf];
    let robot = place.start(&line);
    assert_eq!(place.static_transforms()[0]["child_frame_id"], "laser");
    // The same robot in other words, a new prefix, and a robot from the network, which must not
    // show which files there are.
    let again = fs::read_to_string(&urdf).unwrap() + "<!-- again -->";
    let curious = again.replace("package://arm/bse.stl", "file:///nothing/here.stl");
    let set = |name: &str, value: &str| {
        place.feros(&["param", "set", "/robot_state_publisher", name, value]).success();
    };
    set("robot_description", &again);
    set("frame_prefix", "r1/");
    set("robot_description", &curious);
    robot.interrupt();
    let ended = robot.finish();
    let told: Vec<&str> = ended.err.lines().filter(|line| line.contains("the mesh ")).collect();
    let [file, package] = &told[..] else { panic!("two: {ended:?}") };
    let words = "the mesh package://arm/bse.stl of the link \"base\" is missing: it is not in ";
    assert!(file.starts_with("[WARN] ") && file.contains(words), "{file}");
    let words =
        "package://hand/palm.stl of the link \"base\" is missing: no prefix has the package";
    assert!(package.contains(words), "{package}");
}

#[test]
fn a_launch_file_with_the_stock_names_moves_a_robot() {
    let place = Place::new();
    let urdf = place.file("arm.urdf", ROBOT);
    let xml = format!(
        r#"<launch>
             <node pkg="robot_state_publisher" exec="robot_state_publisher" output="screen">
               <param name="robot_description" value="$(command 'cat {urdf}')" type="str"/>
               <param name="frame_prefix" value="r1/"/>
             </node>
             <node pkg="joint_state_publisher" exec="joint_state_publisher">
               <param name="zeros.shoulder" value="1.0"/>
               <param name="rate" value="50"/>
             </node>
           </launch>"#
    );
    let file = place.file("arm.launch.xml", &xml);
    let plan = place.feros(&["launch", &file, "--dry-run"]).success();
    assert!(plan.contains("start [robot_state_publisher-1]"), "{plan}");
    assert!(plan.contains(" run robot_state_publisher robot_state_publisher --ros-args"), "{plan}");

    let launch = place.start(&["launch", &file]);
    let fixed = place.static_transforms();
    let [mount] = &fixed.as_array().unwrap()[..] else { panic!("one: {fixed}") };
    let (parent, child, translation, rotation) = pose(mount);
    assert_eq!((parent, child), ("r1/base", "r1/laser"));
    close(translation, [0.25, 0.0, 0.0]);
    close(rotation, [0.0, 0.0, 0.0, 1.0]);
    let text = place.latched("/robot_description", "std_msgs/msg/String");
    assert_eq!(text["data"].as_str().unwrap().trim(), ROBOT);

    let moving = place.message("/tf", "tf2_msgs/msg/TFMessage", &[]);
    let transforms = moving["transforms"].as_array().unwrap();
    let [shoulder, slide] = &transforms[..] else { panic!("two: {moving}") };
    let (parent, child, translation, rotation) = pose(shoulder);
    assert_eq!((parent, child), ("r1/base", "r1/upper"));
    close(translation, [0.0; 3]);
    close(rotation, [0.0, 0.0, 0.5_f64.sin(), 0.5_f64.cos()]);
    let (parent, child, translation, _) = pose(slide);
    assert_eq!((parent, child), ("r1/upper", "r1/hand"));
    close(translation, [0.6, 0.0, 0.0]);

    change_the_robot(&place);
    launch.interrupt();
    let ended = launch.finish();
    assert!(ended.out.contains("[robot_state_publisher-1]"), "{ended:?}");
    let told = "the robot may be incomplete: line 1: <xacro:wheel> is an element of xacro";
    assert!(format!("{}{}", ended.out, ended.err).contains(told), "{ended:?}");
}

/// A description that cannot be used changes nothing; another one replaces the robot.
fn change_the_robot(place: &Place) {
    let set = |text: &str| {
        place.feros(&["param", "set", "/robot_state_publisher", "robot_description", text])
    };
    let refused = set("<robot name='r'/>").failure(1);
    assert!(refused.contains("the robot \"r\" has no <link>"), "{refused}");
    let two = ROBOT.replace("laser", "lidar");
    let raw = "<robot name='r' xmlns:xacro='http://ros.org/wiki/xacro'><link name='a'/>\
               <xacro:wheel/></robot>";
    set(raw).success();
    set(&two).success();
    let fixed = place.static_transforms();
    assert_eq!(fixed[0]["child_frame_id"], "r1/lidar", "{fixed}");
    let text = place.latched("/robot_description", "std_msgs/msg/String");
    assert!(text["data"].as_str().unwrap().contains("lidar"), "{text}");
    // The other node takes the description from the topic.
    let states = place.message("/joint_states", "sensor_msgs/msg/JointState", &[]);
    assert_eq!(states["name"], serde_json::json!(["shoulder", "slide"]), "{states}");
}

#[test]
fn the_description_may_come_from_the_topic() {
    let place = Place::new();
    let line = ["run", "robot_state_publisher", "robot_state_publisher", "--ros-args"];
    let parameters = ["-p", "use_robot_description_topic:=true", "-p", "frame_prefix:=a_"];
    let _robot = place.start(&[&line[..], &parameters].concat());
    let text = serde_json::json!({ "data": ROBOT }).to_string();
    let publish = ["topic", "pub", "/robot_description", "std_msgs/msg/String", &text, "--once"];
    let latched = ["--qos-durability", "transient_local", "-w", "1"];
    place.feros(&[&publish[..], &latched].concat()).success();
    let fixed = place.static_transforms();
    assert_eq!(fixed[0]["child_frame_id"], "a_laser", "{fixed}");
    place.feros(&["param", "set", "/robot_state_publisher", "frame_prefix", "b_"]).success();
    let fixed = place.static_transforms();
    assert_eq!(fixed[0]["child_frame_id"], "b_laser", "{fixed}");
}
