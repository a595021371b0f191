//! The options that a load request sets for the node, as in `ComponentManager::create_node_options`
//! (`rclcpp_components/src/component_manager.cpp`).

use feros::logging;
use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros::msgs::rcl_interfaces::msg::Parameter;
use feros::{Arguments, LogLevel, NodeOptions, ParameterValue};

/// The remap rules of a request, those for the name and the namespace of the node among them.
pub(crate) fn rules(request: &LoadNode_Request) -> Vec<String> {
    let mut rules = request.remap_rules.clone();
    if !request.node_name.is_empty() {
        rules.push(format!("__node:={}", request.node_name));
    }
    if !request.node_namespace.is_empty() {
        rules.push(format!("__ns:={}", request.node_namespace));
    }
    rules
}

/// Returns the options for the node of a component. They come from the request and not from the
/// container's own arguments.
pub(crate) fn node_options(request: &LoadNode_Request) -> Result<NodeOptions, String> {
    let line = rules(request).into_iter().flat_map(|rule| ["-r".to_owned(), rule]);
    let (arguments, _) = Arguments::parse(["--ros-args".to_owned()].into_iter().chain(line))
        .map_err(|error| format!("Component constructor threw an exception: {error}"))?;
    let overrides =
        request.parameters.iter().map(|p| (p.name.clone(), ParameterValue::from(p.value.clone())));
    let options = NodeOptions::default()
        .use_global_arguments(false)
        .arguments(arguments)
        .parameter_overrides(overrides.collect::<Vec<_>>());
    request.extra_arguments.iter().try_fold(options, with_extra_argument)
}

fn with_extra_argument(options: NodeOptions, argument: &Parameter) -> Result<NodeOptions, String> {
    let value = || match ParameterValue::from(argument.value.clone()) {
        ParameterValue::Bool(value) => Ok(value),
        _ => Err(format!("Extra component argument '{}' must be a boolean", argument.name)),
    };
    Ok(match argument.name.as_str() {
        "forward_global_arguments" => options.use_global_arguments(value()?),
        "enable_rosout" => options.enable_rosout(value()?),
        "use_intra_process_comms" => options.use_intra_process_comms(value()?),
        // Stock containers know these options, but Feros has no topic statistics, no thread for the
        // clock and no logger service per node.
        "enable_topic_statistics" | "use_clock_thread" | "enable_logger_service" => {
            value()?;
            options
        }
        "start_parameter_services" => options.start_parameter_services(value()?),
        "start_parameter_event_publisher" => options.start_parameter_event_publisher(value()?),
        other => {
            return Err(format!(
                "Extra component argument '{other}' is not known; the known arguments are forward_global_arguments, \
                 enable_rosout, use_intra_process_comms, enable_topic_statistics, start_parameter_services, \
                 start_parameter_event_publisher, use_clock_thread, enable_logger_service"
            ));
        }
    })
}

/// Applies the request's log level to the loggers of the component. 0, the default, changes
/// nothing.
pub(crate) fn apply_log_level(request: &LoadNode_Request, logger: &str) {
    let level = match request.log_level {
        1..=10 => LogLevel::Debug,
        11..=20 => LogLevel::Info,
        21..=30 => LogLevel::Warn,
        31..=40 => LogLevel::Error,
        41.. => LogLevel::Fatal,
        0 => return,
    };
    logging::set_level(Some(logger), level);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extra(name: &str, value: ParameterValue) -> LoadNode_Request {
        let argument = Parameter { name: name.into(), value: value.into() };
        LoadNode_Request { extra_arguments: vec![argument], ..LoadNode_Request::default() }
    }

    #[test]
    fn extra_arguments_are_known_and_boolean() {
        for name in [
            "forward_global_arguments",
            "enable_rosout",
            "use_intra_process_comms",
            "enable_topic_statistics",
            "start_parameter_services",
            "start_parameter_event_publisher",
            "use_clock_thread",
            "enable_logger_service",
        ] {
            assert!(node_options(&extra(name, ParameterValue::Bool(true))).is_ok(), "{name}");
            let error = node_options(&extra(name, ParameterValue::Integer(1))).unwrap_err();
            assert_eq!(error, format!("Extra component argument '{name}' must be a boolean"));
        }
        let error =
            node_options(&extra("use_intra_proces_comms", ParameterValue::Bool(true))).unwrap_err();
        assert!(
            error.starts_with("Extra component argument 'use_intra_proces_comms' is not known"),
            "{error}"
        );
    }

    #[test]
    fn a_bad_remap_rule_is_named() {
        let request =
            LoadNode_Request { remap_rules: vec!["nonsense".into()], ..Default::default() };
        let error = node_options(&request).unwrap_err();
        assert!(error.contains("nonsense"), "{error}");
    }
}
