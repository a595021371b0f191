//! The options that name a component and configure its node.

use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros::msgs::rcl_interfaces::msg::Parameter;
use feros::{LogLevel, ParameterValue};

/// The component, and the settings of its node.
#[derive(clap::Args, Clone)]
pub(super) struct ComponentArgs {
    /// The package that contains the component
    #[arg(value_name = "PACKAGE")]
    package_name: String,
    /// Name of the component, such as pipeline::Camera
    #[arg(value_name = "PLUGIN")]
    plugin_name: String,
    /// Name of its node
    #[arg(short, long, value_name = "NAME")]
    node_name: Option<String>,
    /// Namespace of its node
    #[arg(long, value_name = "NAMESPACE")]
    node_namespace: Option<String>,
    /// Least severe level that its node logs
    #[arg(long, value_name = "LEVEL", value_parser = log_level)]
    log_level: Option<u8>,
    /// A remap rule of its node, as from:=to; may be repeated
    #[arg(short, long = "remap-rule", value_name = "FROM:=TO")]
    remap_rules: Vec<String>,
    /// A parameter of its node, as name:=value; may be repeated
    #[arg(short, long = "parameter", value_name = "NAME:=VALUE", value_parser = parameter)]
    parameters: Vec<Parameter>,
    /// An argument for the container, as name:=value, such as use_intra_process_comms:=true; may be
    /// repeated
    #[arg(short, long = "extra-argument", value_name = "NAME:=VALUE", value_parser = parameter)]
    extra_arguments: Vec<Parameter>,
}

fn log_level(text: &str) -> Result<u8, String> {
    match (text.parse::<u8>(), text.parse::<LogLevel>()) {
        (Ok(number), _) => Ok(number),
        (_, Ok(level)) => Ok(level as u8),
        _ => Err("expected debug, info, warn, error or fatal".to_owned()),
    }
}

fn parameter(text: &str) -> Result<Parameter, String> {
    let (name, yaml) =
        text.split_once(":=").filter(|(name, _)| !name.is_empty()).ok_or("expected name:=value")?;
    let value = ParameterValue::from_yaml(yaml).map_err(|error| error.to_string())?;
    Ok(Parameter { name: name.to_owned(), value: value.into() })
}

impl ComponentArgs {
    pub(super) fn request(&self) -> LoadNode_Request {
        LoadNode_Request {
            package_name: self.package_name.clone(),
            plugin_name: self.plugin_name.clone(),
            node_name: self.node_name.clone().unwrap_or_default(),
            node_namespace: self.node_namespace.clone().unwrap_or_default(),
            log_level: self.log_level.unwrap_or_default(),
            remap_rules: self.remap_rules.clone(),
            parameters: self.parameters.clone(),
            extra_arguments: self.extra_arguments.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_as_rcl_reads_them() {
        let read = |text: &str| ParameterValue::from(parameter(text).unwrap().value);
        assert_eq!(read("rate:=5"), ParameterValue::Integer(5));
        assert_eq!(read("use_intra_process_comms:=true"), ParameterValue::Bool(true));
        assert_eq!(parameter("a.b:=x").unwrap().name, "a.b");
        for bad in ["rate", ":=5", "a:=[1, x"] {
            assert!(parameter(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn levels_have_names_and_numbers() {
        assert_eq!(log_level("debug"), Ok(10));
        assert_eq!(log_level("40"), Ok(40));
        assert!(log_level("loud").is_err());
    }
}
