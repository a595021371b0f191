//! Reads the parameters on the master as the initial parameters of nodes. A Feros node starts with
//! the values that a ROS 1 node would find as its private parameters.

use feros_ros1::{Master, MasterError, Value, shown_name};

/// The parameter on the master that makes all ROS 1 nodes follow `/clock`.
const USE_SIM_TIME: &str = "/use_sim_time";
/// The corresponding parameter of a ROS 2 node.
pub(crate) const USE_SIM_TIME_OF_NODE: &str = "use_sim_time";
/// The limit on the number of parameters that are read.
const MOST: usize = 10_000;

/// Returns the parameters below the name of a node, with their values in YAML. The list is empty if
/// no master answers.
pub(crate) fn of_node(master: &Master, node: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    match master.parameter(USE_SIM_TIME) {
        Ok(value @ Value::Bool(_)) => found.push((USE_SIM_TIME_OF_NODE.to_owned(), yaml(&value))),
        // If the master does not answer, it is not queried a second time.
        Err(MasterError::Unreachable { .. }) => return found,
        _ => {}
    }
    if let Ok(tree @ Value::Struct(_)) = master.parameter(node) {
        leaves("", &tree, &mut |name, value| found.push((name.to_owned(), yaml(value))));
    }
    found
}

/// Calls `each` for each leaf of a tree, up to the limit. The parts of a name are joined by dots,
/// as in ROS 2.
pub(crate) fn leaves(name: &str, value: &Value, each: &mut dyn FnMut(&str, &Value)) {
    let mut left = MOST;
    leaves_of(name, value, &mut left, each);
}

fn leaves_of(name: &str, value: &Value, left: &mut usize, each: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Struct(members) => {
            for (member, value) in members {
                let dot = if name.is_empty() { "" } else { "." };
                leaves_of(&format!("{name}{dot}{member}"), value, left, each);
            }
        }
        // Names that need escaping are skipped, because no node can have declared them.
        value if *left > 0 && !name.is_empty() && shown_name(name) == name => {
            *left -= 1;
            each(name, value);
        }
        _ => {}
    }
}

pub(crate) fn yaml(value: &Value) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        // This format always has a decimal point. Without the point, YAML would read an integer.
        Value::Double(number) if number.is_finite() => format!("{number:?}"),
        Value::Double(number) if number.is_nan() => ".nan".to_owned(),
        Value::Double(number) => if *number > 0.0 { ".inf" } else { "-.inf" }.to_owned(),
        Value::Text(text) => quoted(text),
        Value::List(values) => {
            let values: Vec<String> = values.iter().map(yaml).collect();
            format!("[{}]", values.join(", "))
        }
        // ROS 2 has no counterpart to structures in lists.
        Value::Struct(_) => quoted("a structure"),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control.is_control() => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_parameters_with_dots() {
        let tree = Value::Struct(vec![
            ("rate".into(), Value::Double(5.0)),
            ("frames".into(), Value::Struct(vec![("base".into(), "a\"b\n".into())])),
            ("on".into(), Value::Bool(true)),
            ("off\u{1b}[2J".into(), Value::Bool(true)),
            ("long".repeat(300), Value::Bool(true)),
            ("limits".into(), Value::List(vec![Value::Int(1), Value::Int(2)])),
        ]);
        let mut text = Vec::new();
        leaves("", &tree, &mut |name, value| text.push(format!("{name}: {}", yaml(value))));
        assert_eq!(
            text,
            ["rate: 5.0", "frames.base: \"a\\\"b\\u000a\"", "on: true", "limits: [1, 2]"]
        );
    }
}
