//! Components that each container has without a library.

use feros::ParameterValue;
use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros::msgs::rcl_interfaces::msg::Parameter;

use crate::support::{ALL, Container, WATCHDOG};

const ROBOT: &str = r#"<robot name="r"><link name="a"/><link name="b"/>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"#;

fn request(description: &str) -> LoadNode_Request {
    let value = ParameterValue::String(description.into()).into();
    LoadNode_Request {
        package_name: "robot_state_publisher".into(),
        plugin_name: "robot_state_publisher::RobotStatePublisher".into(),
        parameters: vec![Parameter { name: "robot_description".into(), value }],
        ..LoadNode_Request::default()
    }
}

#[test]
fn every_kind_of_container_loads_a_shipped_component() {
    for binary in ALL {
        let container = Container::start(binary, &[]);
        let loaded = container.client.load(&request(ROBOT), WATCHDOG).unwrap();
        assert_eq!(loaded.full_node_name, "/robot_state_publisher", "{binary}");
        let error = container.client.load(&request("<robot"), WATCHDOG);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("robot_description cannot be used"), "{binary}: {error}");
        container.client.unload(loaded.unique_id, WATCHDOG).unwrap();
        let unknown = LoadNode_Request { plugin_name: "tf2_ros::Other".into(), ..request(ROBOT) };
        let error = container.client.load(&unknown, WATCHDOG).unwrap_err();
        assert!(error.to_string().contains("has no components"), "{binary}: {error}");
    }
}

/// Anybody can send such a request, and could ask with it which files the host has.
#[test]
fn a_request_to_load_does_not_show_which_files_exist() {
    let container = Container::start(ALL[0], &[]);
    let mesh = r#"<link name="a"><visual><geometry>
        <mesh filename="file:///nothing/here.stl"/></geometry></visual></link>"#;
    container.client.load(&request(&ROBOT.replace(r#"<link name="a"/>"#, mesh)), WATCHDOG).unwrap();
    container.wait_for_log("loaded robot_state_publisher::RobotStatePublisher as");
    assert!(container.has_logged("the robot \"r\"") && !container.has_logged("here.stl"));
}

/// The manager finds C++ components of the same name first, which it cannot load.
#[test]
fn components_of_rclcpp_do_not_hide_a_shipped_component() {
    let container = Container::start(ALL[0], &[]);
    let folder = container.prefix.path().join("share/ament_index/resource_index/rclcpp_components");
    std::fs::create_dir_all(&folder).unwrap();
    let line = "robot_state_publisher::RobotStatePublisher;lib/librobot_state_publisher_node.so\n";
    std::fs::write(folder.join("robot_state_publisher"), line).unwrap();
    container.client.load(&request(ROBOT), WATCHDOG).unwrap();
}
