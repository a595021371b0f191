//! `--rules FILE`: rules in the format of `ros1_bridge`, with messages that follow them.

use std::path::{Path, PathBuf};

use feros::QosProfile;
use feros::msgs::sensor_msgs::msg::Temperature;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros_test_support::WATCHDOG;
use serde_json::json;

use crate::peers::{Process, World};
use crate::topics::subscribe;

/// A package, a message with its fields, and a service.
const RULES: &str = "
-
  ros1_package_name: 'old_msgs'
  ros1_message_name: 'Speed'
  ros2_package_name: 'new_msgs'
  ros2_message_name: 'Velocity'
  fields_1_to_2:
    header.stamp: 'stamp'
    speed: 'velocity'
-
  enable_foreign_mappings: true
  ros1_package_name: 'old_sensors'
  ros2_package_name: 'sensor_msgs'
-
  ros1_package_name: 'old_srvs'
  ros1_service_name: 'Switch'
  ros2_package_name: 'std_srvs'
  ros2_service_name: 'SetBool'
  request_fields_1_to_2:
    on: 'data'
  response_fields_1_to_2:
    done: 'success'
    text: 'message'
";
const SPEED: &str = "std_msgs/Header header\nfloat64 speed\nstring unit\n";
const VELOCITY: &str = "builtin_interfaces/Time stamp\nfloat64 velocity\nfloat64 covariance\n";
const TEMPERATURE: &str = "std_msgs/Header header\nfloat64 temperature\nfloat64 variance\n";
const SWITCH: [&str; 2] = ["bool on", "bool done\nstring text"];
const HEADER: &str = "================================================================================\n\
    MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n";

/// Packages of both sides and the rules, in a folder of their own.
struct Packages {
    folder: tempfile::TempDir,
    rules: PathBuf,
}

impl Packages {
    fn new(rules: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        for package in ["old_msgs", "old_sensors", "old_srvs"] {
            let text = format!("<package><name>{package}</name></package>");
            write(&format!("ros1/{package}/package.xml"), &text);
        }
        write("ros1/old_msgs/msg/Speed.msg", SPEED);
        write("ros1/old_sensors/msg/Temperature.msg", TEMPERATURE);
        write("ros1/old_srvs/srv/Switch.srv", &SWITCH.join("\n---\n"));
        write("ros2/new_msgs/msg/Velocity.msg", VELOCITY);
        let rules = write("rules.yaml", rules);
        Self { folder, rules }
    }

    fn path(&self, side: &str) -> String {
        self.folder.path().join(side).to_str().unwrap().to_owned()
    }

    fn feros(&self, world: &World, arguments: &[&str]) -> Process {
        let (ros1, ros2) = (self.path("ros1"), self.path("ros2"));
        let variables = [("ROS_PACKAGE_PATH", &*ros1), ("FEROS_INTERFACES", &*ros2)];
        world.feros_in(&variables, arguments)
    }

    fn bridge(&self, world: &World) -> Process {
        let path: &Path = &self.rules;
        self.feros(world, &["ros1", "bridge", "--rules", path.to_str().unwrap()])
    }
}

#[test]
fn messages_of_other_names_and_fields_go_both_ways() {
    let Some(world) = World::new() else { return };
    let packages = Packages::new(RULES);
    let mut bridge = packages.bridge(&world);
    let mut rospy = world.node("old");
    rospy
        .run(json!({"do": "define", "type": "old_msgs/Speed", "text": format!("{SPEED}{HEADER}")}));
    rospy.run(json!({"do": "advertise", "topic": "/speed", "type": "old_msgs/Speed"}));
    let arguments = ["topic", "echo", "/speed", "new_msgs/msg/Velocity"];
    let mut echo = packages.feros(&world, &arguments);
    let header = json!({"seq": 3, "stamp": {"secs": 7, "nsecs": 8}, "frame_id": "left out"});
    rospy.publish("/speed", &json!({"header": header, "speed": 2.5, "unit": "m/s"}));
    for line in ["  sec: 7", "  nanosec: 8", "velocity: 2.5", "covariance: 0.0"] {
        echo.line(|said| said == line);
    }

    rospy.run(json!({"do": "subscribe", "topic": "/wish", "type": "old_msgs/Speed"}));
    let _publishing = packages.feros(
        &world,
        &[
            "topic",
            "pub",
            "-r",
            "10",
            "/wish",
            "new_msgs/msg/Velocity",
            "{stamp: {sec: 9, nanosec: 10}, velocity: -1.5, covariance: 3.0}",
        ],
    );
    let wish = rospy.heard("/wish")["message"].clone();
    assert_eq!(wish["header"]["stamp"], json!([9, 10]));
    assert_eq!((&wish["speed"], &wish["unit"]), (&json!(-1.5), &json!("")));
    assert_eq!(wish["header"]["frame_id"], json!(""));
    assert_eq!(bridge.count("is not bridged"), 0);
}

#[test]
fn packages_and_services_of_other_names_go_both_ways() {
    let Some(world) = World::new() else { return };
    let packages = Packages::new(RULES);
    let _bridge = packages.bridge(&world);
    let ros2 = world.ros2();
    let mut rospy = world.node("old");
    let ty = "old_sensors/Temperature";
    rospy.run(json!({"do": "define", "type": ty, "text": format!("{TEMPERATURE}{HEADER}")}));
    let (_subscription, heard) = subscribe::<Temperature>(&ros2, "/heat", QosProfile::default());
    rospy.run(json!({"do": "advertise", "topic": "/heat", "type": ty}));
    let heat = json!({"header": {"frame_id": "oven"}, "temperature": 180.5, "variance": 0.5});
    rospy.publish("/heat", &heat);
    let heat = heard.recv_timeout(WATCHDOG).unwrap();
    assert_eq!((heat.temperature, heat.variance, &*heat.header.frame_id), (180.5, 0.5, "oven"));
    let qos = QosProfile::keep_last(1).transient_local();
    let publisher = ros2.node.create_publisher::<Temperature>("/cold", qos).unwrap();
    publisher.publish(Temperature { temperature: -4.0, ..Temperature::default() }).unwrap();
    rospy.run(json!({"do": "subscribe", "topic": "/cold", "type": ty}));
    assert_eq!(rospy.heard("/cold")["message"]["temperature"], json!(-4.0));

    let [request, response] = SWITCH;
    let ty = "old_srvs/Switch";
    rospy
        .run(json!({"do": "define_service", "type": ty, "request": request, "response": response}));
    let answer = json!({"done": true, "text": "by the rule"});
    rospy.run(json!({"do": "serve", "service": "/lamp", "type": ty, "answer": answer}));
    let client = ros2.node.create_client::<SetBool>("/lamp").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let response = client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
    assert_eq!((response.success, &*response.message), (true, "by the rule"));
    let handler = |request: SetBool_Request| SetBool_Response {
        success: !request.data,
        message: "from ROS 2".to_owned(),
    };
    let _service = ros2.node.create_service::<SetBool, _>("/fan", handler).unwrap();
    let fields = json!({"on": false});
    let answer = rospy.run(json!({"do": "call", "service": "/fan", "type": ty, "fields": fields}));
    assert_eq!(answer, json!({"done": true, "text": "from ROS 2"}));
}

/// Rules that name missing things are reported with what is missing.
#[test]
fn wrong_rules_are_said() {
    let Some(world) = World::new() else { return };
    let packages = Packages::new(&RULES.replace("speed: 'velocity'", "speed: 'swiftness'"));
    let mut bridge = packages.bridge(&world);
    let mut rospy = world.node("old");
    rospy
        .run(json!({"do": "define", "type": "old_msgs/Speed", "text": format!("{SPEED}{HEADER}")}));
    rospy.run(json!({"do": "advertise", "topic": "/speed", "type": "old_msgs/Speed"}));
    let _echo = packages.feros(&world, &["topic", "echo", "/speed", "new_msgs/msg/Velocity"]);
    let said = bridge.line(|line| line.contains("/speed of /old is not bridged"));
    assert!(said.contains("swiftness, which does not exist"), "{said}");
    assert!(said.contains("old_msgs/Speed") && said.contains("new_msgs/msg/Velocity"), "{said}");

    let unreadable = Packages::new("- {ros1_package_name: 'old_msgs', ros3_package_name: 'x'}");
    let (code, said) = unreadable.bridge(&world).finish();
    assert_eq!(code, Some(2), "{said:#?}");
    assert!(said.iter().any(|line| line.contains("ros3_package_name")), "{said:#?}");
}
