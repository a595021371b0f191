//! Services that only read: a server without `--allow-changes` offers no other services.

/// The types of ROS 2 services whose calls leave a node unchanged.
const READING: [&str; 13] = [
    "composition_interfaces/srv/ListNodes",
    "lifecycle_msgs/srv/GetAvailableStates",
    "lifecycle_msgs/srv/GetAvailableTransitions",
    "lifecycle_msgs/srv/GetState",
    "rcl_interfaces/srv/DescribeParameters",
    "rcl_interfaces/srv/GetLoggerLevels",
    "rcl_interfaces/srv/GetParameterTypes",
    "rcl_interfaces/srv/GetParameters",
    "rcl_interfaces/srv/ListParameters",
    "rosbag2_interfaces/srv/GetRate",
    "rosbag2_interfaces/srv/IsDiscoveryRunning",
    "rosbag2_interfaces/srv/IsPaused",
    "type_description_interfaces/srv/GetTypeDescription",
];

/// Whether a service of this type changes nothing.
pub(crate) fn only_reads(service_type: &str) -> bool {
    READING.contains(&service_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_services_are_shipped_and_changing_ones_are_excluded() {
        for service_type in READING {
            let request = format!("{service_type}_Request").parse();
            let request = request.expect("a name of a type");
            assert!(feros_interface::shipped().type_hash(&request).is_ok(), "{service_type}");
        }
        assert!(!only_reads("lifecycle_msgs/srv/ChangeState"));
        assert!(!only_reads("std_srvs/srv/Empty"));
    }
}
