//! The documents whose experiments the scenarios repeat.

/// The title of a document.
pub(crate) fn document_title(document: &str) -> Option<&'static str> {
    match document {
        "M16" => Some("Maruyama, Kato, Azumi: Exploring the Performance of ROS2, EMSOFT 2016"),
        "K21" => Some(
            "Kronauer, Pohlmann, Matthé, Smejkal, Fettweis: Latency Overhead of ROS2 for Modular Time-Critical Systems",
        ),
        "C23" => Some(
            "Macenski, Soragna, Carroll, Ge: Impact of ROS 2 Node Composition in Robotic Systems",
        ),
        "R20" => Some("The report for the selection of the default RMW of ROS 2 Galactic, 2020"),
        _ => None,
    }
}
