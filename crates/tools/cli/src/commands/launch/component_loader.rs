//! Loads components into containers over the services of `composition_interfaces`.

use std::sync::Arc;
use std::time::Duration;

use feros::ParameterValue;
use feros::engine::NodeName;
use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros::msgs::rcl_interfaces::msg::{
    Parameter as ParameterMessage, ParameterValue as ParameterValueMessage,
};
use feros::parameter::file;
use feros_component::remote::ContainerClient;
use feros_launch::{Component, ComponentLoader, NodeFacts, Parameters, Value};

use super::ros_node::RosNode;

/// How long a component may take to be constructed.
const LOAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Loads components with the launch's node.
pub(super) struct ServiceComponentLoader {
    node: Arc<RosNode>,
}

impl ServiceComponentLoader {
    pub(super) fn new(node: &Arc<RosNode>) -> Self {
        Self { node: node.clone() }
    }
}

impl ComponentLoader for ServiceComponentLoader {
    fn load(
        &self,
        container: &str,
        component: &Component,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<String, String> {
        let request = request(component)?;
        let node = self.node.get()?;
        let client = ContainerClient::new(node, container).map_err(|error| error.to_string())?;
        let what = format!("the container {container}");
        self.node.wait(&what, is_cancelled, |period| client.wait(period))?;
        let loaded = client.load(&request, LOAD_TIMEOUT).map_err(|error| error.to_string())?;
        Ok(loaded.full_node_name)
    }
}

/// The request to the container.
///
/// # Errors
/// When a parameter file of the component cannot be used.
pub(super) fn request(component: &Component) -> Result<LoadNode_Request, String> {
    let node = &component.node;
    let extra = component.extra_arguments.iter().cloned();
    Ok(LoadNode_Request {
        package_name: component.package.clone(),
        plugin_name: component.plugin.clone(),
        node_name: node.name.clone().unwrap_or_default(),
        node_namespace: node.namespace.clone().unwrap_or_default(),
        remap_rules: node.remaps.iter().map(|(from, to)| format!("{from}:={to}")).collect(),
        parameters: parameters(node)?.into_iter().map(message).collect(),
        extra_arguments: extra
            .map(|(name, value)| message((name, parameter_value(value))))
            .collect(),
        ..LoadNode_Request::default()
    })
}

/// Returns the parameters of a component. A later value of a parameter replaces an earlier value.
fn parameters(node: &NodeFacts) -> Result<Vec<(String, ParameterValue)>, String> {
    let mut all: Vec<(String, ParameterValue)> = Vec::new();
    let mut set = |name: String, value: ParameterValue| match all
        .iter_mut()
        .find(|(known, _)| *known == name)
    {
        Some((_, there)) => *there = value,
        None => all.push((name, value)),
    };
    for source in &node.parameters {
        let overrides = match source {
            Parameters::Values(values) => {
                values
                    .iter()
                    .for_each(|(name, value)| set(name.clone(), parameter_value(value.clone())));
                continue;
            }
            Parameters::File(path) => file::read(path).map_err(|error| error.to_string())?,
            Parameters::Text(text) => file::parse(text).map_err(|error| error.to_string())?,
        };
        // If the component has no name, only the file's settings for all nodes apply.
        let name = node.name.as_deref().unwrap_or("_");
        let name = NodeName::new(node.namespace.as_deref().unwrap_or("/"), name)
            .map_err(|error| error.to_string())?;
        overrides.for_node(&name).into_iter().for_each(|(name, value)| set(name, value));
    }
    Ok(all)
}

fn message((name, value): (String, ParameterValue)) -> ParameterMessage {
    ParameterMessage { name, value: ParameterValueMessage::from(value) }
}

fn parameter_value(value: Value) -> ParameterValue {
    match value {
        Value::Bool(value) => ParameterValue::Bool(value),
        Value::Integer(value) => ParameterValue::Integer(value),
        Value::Double(value) => ParameterValue::Double(value),
        Value::String(value) => ParameterValue::String(value),
        Value::Bools(values) => ParameterValue::BoolArray(values),
        Value::Integers(values) => ParameterValue::IntegerArray(values),
        Value::Doubles(values) => ParameterValue::DoubleArray(values),
        Value::Strings(values) => ParameterValue::StringArray(values),
    }
}
