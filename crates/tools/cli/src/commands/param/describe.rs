//! `feros param describe`: the descriptors of parameters.

use std::fmt::Write as _;

use feros::ParameterDescriptor;
use feros_interface::python_float;
use serde_json::json;

use super::python;
use super::remote::{NodeArgs, Remote};
use crate::error::CliError;
use crate::output::{self, foreign, foreign_block};

/// Print types, descriptions and constraints of parameters
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros param describe /camera rate exposure")]
pub(crate) struct Args {
    #[command(flatten)]
    node: NodeArgs,
    /// Names of the parameters
    #[arg(required = true)]
    parameters: Vec<String>,
    /// Print a JSON array of objects
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let remote = Remote::open(&args.node)?;
    let found = remote.ask(|client, left| client.describe(&args.parameters, left))?;
    if found.len() != args.parameters.len() {
        return Err(remote.not_declared(&args.parameters));
    }
    if args.json {
        output::print_json(&found.iter().map(to_json).collect::<Vec<_>>())
    } else {
        output::print(&found.iter().map(text).collect::<String>())
    }
}

fn text(descriptor: &ParameterDescriptor) -> String {
    let mut text = format!("Parameter name: {}\n", foreign(&descriptor.name));
    let mut line = |line: std::fmt::Arguments<'_>| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{line}");
    };
    line(format_args!("  Type: {}", python::type_name(descriptor.parameter_type)));
    if !descriptor.description.is_empty() {
        line(format_args!("  Description: {}", foreign_block(&descriptor.description)));
    }
    line(format_args!("  Constraints:"));
    if descriptor.read_only {
        line(format_args!("    Read only: true"));
    }
    if let Some(range) = &descriptor.floating_point_range {
        line(format_args!("    Min value: {}", python_float(range.from_value)));
        line(format_args!("    Max value: {}", python_float(range.to_value)));
        if range.step != 0.0 {
            line(format_args!("    Step: {}", python_float(range.step)));
        }
    } else if let Some(range) = &descriptor.integer_range {
        line(format_args!("    Min value: {}", range.from_value));
        line(format_args!("    Max value: {}", range.to_value));
        if range.step != 0 {
            line(format_args!("    Step: {}", range.step));
        }
    }
    if !descriptor.additional_constraints.is_empty() {
        let constraints = foreign_block(&descriptor.additional_constraints);
        line(format_args!("    Additional constraints: {constraints}"));
    }
    text
}

fn to_json(descriptor: &ParameterDescriptor) -> serde_json::Value {
    let range = match (&descriptor.floating_point_range, &descriptor.integer_range) {
        (Some(range), _) => {
            json!({"from": range.from_value, "to": range.to_value, "step": range.step})
        }
        (None, Some(range)) => {
            json!({"from": range.from_value, "to": range.to_value, "step": range.step})
        }
        (None, None) => serde_json::Value::Null,
    };
    json!({
        "name": descriptor.name,
        "type": python::type_name(descriptor.parameter_type),
        "description": descriptor.description,
        "additional_constraints": descriptor.additional_constraints,
        "read_only": descriptor.read_only,
        "dynamic_typing": descriptor.dynamic_typing,
        "range": range,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use feros::ParameterType;
    use feros::parameter::{FloatingPointRange, IntegerRange};

    #[test]
    fn text_is_that_of_ros2() {
        let rate = ParameterDescriptor {
            name: "rate".into(),
            parameter_type: ParameterType::Integer,
            description: "Images per second".into(),
            additional_constraints: "even".into(),
            read_only: true,
            integer_range: Some(IntegerRange { from_value: 0, to_value: 60, step: 2 }),
            ..ParameterDescriptor::default()
        };
        assert_eq!(
            text(&rate),
            "Parameter name: rate\n  Type: integer\n  Description: Images per second\n  Constraints:\n    Read only: \
             true\n    Min value: 0\n    Max value: 60\n    Step: 2\n    Additional constraints: even\n"
        );
        let range = FloatingPointRange { from_value: 0.0, to_value: 1e20, step: 0.0 };
        let gain = ParameterDescriptor {
            name: "gain".into(),
            parameter_type: ParameterType::Double,
            floating_point_range: Some(range),
            ..ParameterDescriptor::default()
        };
        assert_eq!(
            text(&gain),
            "Parameter name: gain\n  Type: double\n  Constraints:\n    Min value: 0.0\n    Max value: 1e+20\n"
        );
    }
}
