//! Reads any text as a launch file, in XML and in YAML: the result is a plan that can be printed,
//! or an error that names the file.

use std::path::Path;

use feros_launch::{Packages, Planner};

/// Runs one input: the text, as XML and as YAML.
pub(crate) fn run(text: &str) {
    let planner = Planner::new(Packages::new([]));
    let given = [("text".to_owned(), "$(var x)".to_owned())];
    for name in ["f.launch.xml", "f.launch.yaml"] {
        match planner.plan_text(Path::new(name), text, &given) {
            Ok(plan) => assert!(plan.to_string().starts_with(name)),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}
