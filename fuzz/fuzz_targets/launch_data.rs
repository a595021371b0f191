//! Reads any bytes as the line in which Python hands over the actions of a launch file: the result
//! is a plan that can be printed, or an error. An XML form of the actions can be read again.

use std::path::Path;

use feros_launch::{Packages, Planner};

/// Runs one input: a line of JSON.
pub(crate) fn run(line: &[u8]) {
    let planner = Planner::new(Packages::new([]));
    let file = Path::new("f.launch.py");
    match planner.plan_data(file, line) {
        Ok(plan) => assert!(plan.to_string().starts_with("f.launch.py")),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    match planner.data_to_xml(file, line) {
        Ok(xml) => drop(planner.plan_text(Path::new("f.launch.xml"), &xml, &[])),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
