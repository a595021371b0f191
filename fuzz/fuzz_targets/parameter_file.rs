//! Reads any text as a parameter file and as a value of `-p`: the result is either values that read
//! back as they are printed, or an error with its position.

use feros_parameter::{ParameterValue, file};
use feros_engine::NodeName;

/// NaN does not equal itself, so the printed texts are compared.
fn check(value: &ParameterValue) {
    let text = value.to_string();
    assert_eq!(ParameterValue::from_yaml(&text).map(|read| read.to_string()), Ok(text));
}

/// Runs one input: the text, as a value and as a file.
pub(crate) fn run(text: &str) {
    match ParameterValue::from_yaml(text) {
        Ok(value) => check(&value),
        Err(error) => assert!(error.line > 0 && error.column > 0 && !error.problem.is_empty()),
    }
    match file::parse(text) {
        Ok(overrides) => {
            let node = NodeName::announced("/robot", "camera");
            overrides.for_node(&node).values().for_each(check);
        }
        Err(error) => assert!(error.line > 0 && error.column > 0 && !error.problem.is_empty()),
    }
}
