//! A client like Foxglove, based on a WebSocket library and a decoder from PyPI.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use feros::msgs::geometry_msgs::msg::PoseStamped;
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use serde_json::{Value, json};

use crate::support::Fixture;

#[test]
fn a_client_of_others_sees_and_does_what_foxglove_does() {
    if feros_interop::interop_is_skipped() {
        return;
    }
    let fixture = Fixture::with_changes();
    let robot = &fixture.robot;
    robot.declare_parameter("rate", 15.0).unwrap();
    let poses = robot.create_publisher::<PoseStamped>("/pose", 1).unwrap();
    let mut pose = PoseStamped::default();
    pose.header.frame_id = "map".into();
    pose.pose.position.x = 1.5;
    let _timer = robot.create_wall_timer(Duration::from_millis(20), move || {
        poses.publish(&pose).unwrap();
    });
    let answer = |request: SetBool_Request| SetBool_Response {
        success: request.data,
        message: "enabled".into(),
    };
    let _service = robot.create_service::<SetBool, _>("/enable", answer).unwrap();
    let heard = Arc::new(robot.create_publisher::<Text>("/heard", 1).unwrap());
    let _goals = robot.create_subscription("/goal", 1, move |goal: Text| {
        heard.publish(goal).unwrap();
    });
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/foxglove_client.py");
    let output = Command::new(feros_interop::python_with_ros2())
        .arg(script)
        .arg(format!("ws://{}", fixture.server.address()))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .output()
        .expect("scripts/setup.sh installs Python with websockets and mcap-ros2-support");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["subprotocol"], "foxglove.sdk.v1");
    assert_eq!(seen["pose"]["header"]["frame_id"], "map");
    assert_eq!(seen["pose"]["pose"]["position"]["x"], 1.5);
    assert_eq!(seen["response"], json!({"success": true, "message": "enabled"}));
    assert_eq!(seen["set"], json!([{"name": "/robot.rate", "value": 20.0, "type": "float64"}]));
    assert_eq!(seen["publishers"], json!(["/robot"]));
}
