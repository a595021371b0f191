//! Services in both directions.

use std::time::Duration;

use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros_test_support::WATCHDOG;
use serde_json::json;

use crate::peers::World;

#[test]
fn ros2_calls_a_server_of_ros1() {
    let Some(world) = World::new() else { return };
    let mut bridge = world.bridge(&[]);
    let mut ros1 = world.node("server");
    let answer = json!({"success": true, "message": "from ROS 1"});
    ros1.run(
        json!({"do": "serve", "service": "/enable", "type": "std_srvs/SetBool", "answer": answer}),
    );
    let ros2 = world.ros2();
    let client = ros2.node.create_client::<SetBool>("/enable").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let response = client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
    assert_eq!((response.success, &*response.message), (true, "from ROS 1"));

    // A handler that fails gives ROS 2 no answer, and the failure is reported.
    ros1.run(json!({"do": "fail", "service": "/broken", "type": "std_srvs/SetBool"}));
    let client = ros2.node.create_client::<SetBool>("/broken").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let called = client.call_and_wait(&SetBool_Request { data: true }, Duration::from_millis(500));
    assert!(called.is_err());
    bridge.line(|line| line.contains("a call of /broken failed"));
}

#[test]
fn ros1_calls_a_server_of_ros2() {
    let Some(world) = World::new() else { return };
    let _bridge = world.bridge(&[]);
    let ros2 = world.ros2();
    let _service = ros2
        .node
        .create_service::<SetBool, _>("/enable", |request: SetBool_Request| SetBool_Response {
            success: request.data,
            message: "from ROS 2".to_owned(),
        })
        .unwrap();
    let mut ros1 = world.node("client");
    for data in [true, false] {
        let call = json!({"do": "call", "service": "/enable", "type": "std_srvs/SetBool", "fields": {"data": data}});
        assert_eq!(ros1.run(call), json!({"success": data, "message": "from ROS 2"}));
    }
    // A client with another definition is refused, and the error shows both checksums.
    let call =
        json!({"do": "call", "service": "/enable", "type": "std_srvs/Trigger", "fields": {}});
    let error = ros1.run(call)["error"].as_str().unwrap().to_owned();
    assert!(error.contains("09fb03525b03e7ea1fd3992bafd87e16"), "{error}");
}
