//! The six services through which other nodes read and set a node's parameters.

use std::sync::Arc;

use feros_engine::QosProfile;
use feros_msgs::rcl_interfaces::msg::{
    ListParametersResult, Parameter as ParameterMessage, SetParametersResult,
};
use feros_msgs::rcl_interfaces::srv::{
    DescribeParameters, DescribeParameters_Request, DescribeParameters_Response, GetParameterTypes,
    GetParameterTypes_Request, GetParameterTypes_Response, GetParameters, GetParameters_Request,
    GetParameters_Response, ListParameters, ListParameters_Request, ListParameters_Response,
    SetParameters, SetParameters_Request, SetParameters_Response, SetParametersAtomically,
    SetParametersAtomically_Request, SetParametersAtomically_Response,
};
use feros_parameter::{GetParameterError, NamedValue, SetParameterError, Store};

use crate::create_error::CreateError;
use crate::node::Node;
use crate::services::service::{Service, ServiceOptions};

/// Keeps the services for a node's parameters running until it is dropped.
pub(crate) struct ParameterServices {
    _get: Service<GetParameters>,
    _types: Service<GetParameterTypes>,
    _set: Service<SetParameters>,
    _set_atomically: Service<SetParametersAtomically>,
    _describe: Service<DescribeParameters>,
    _list: Service<ListParameters>,
}

pub(crate) fn start(
    node: &Node,
    store: &Arc<Store>,
    local_requests_only: bool,
) -> Result<ParameterServices, CreateError> {
    let options = || ServiceOptions {
        qos: QosProfile::parameters(),
        replies_on_demand: true,
        local_requests_only,
        ..ServiceOptions::default()
    };
    let of = || store.clone();
    let (get, types, set, set_atomically, describe, list) = (of(), of(), of(), of(), of(), of());
    Ok(ParameterServices {
        _get: Service::new(
            node,
            "~/get_parameters",
            options(),
            move |request: GetParameters_Request| {
                let values = ask(get.get_all(request.names.iter().map(String::as_str)));
                GetParameters_Response { values: values.into_iter().map(Into::into).collect() }
            },
        )?,
        _types: Service::new(
            node,
            "~/get_parameter_types",
            options(),
            move |request: GetParameterTypes_Request| {
                let types = ask(types.types(&request.names));
                GetParameterTypes_Response {
                    types: types.into_iter().map(|ty| ty.number()).collect(),
                }
            },
        )?,
        _set: Service::new(
            node,
            "~/set_parameters",
            options(),
            move |request: SetParameters_Request| {
                let set = |parameter| result(set.set(vec![from_message(parameter)]), false);
                SetParameters_Response {
                    results: request.parameters.into_iter().map(set).collect(),
                }
            },
        )?,
        _set_atomically: Service::new(
            node,
            "~/set_parameters_atomically",
            options(),
            move |request: SetParametersAtomically_Request| {
                let parameters = request.parameters.into_iter().map(from_message).collect();
                SetParametersAtomically_Response {
                    result: result(set_atomically.set(parameters), true),
                }
            },
        )?,
        _describe: Service::new(
            node,
            "~/describe_parameters",
            options(),
            move |request: DescribeParameters_Request| {
                let descriptors = ask(describe.describe(&request.names));
                DescribeParameters_Response {
                    descriptors: descriptors.into_iter().map(Into::into).collect(),
                }
            },
        )?,
        _list: Service::new(
            node,
            "~/list_parameters",
            options(),
            move |request: ListParameters_Request| {
                let list = list.list(&request.prefixes, request.depth);
                let result = ListParametersResult { names: list.names, prefixes: list.prefixes };
                ListParameters_Response { result }
            },
        )?,
    })
}

fn from_message(message: ParameterMessage) -> NamedValue {
    (message.name, message.value.into())
}

/// Converts an error into an empty answer, since `rclcpp` gives an empty answer to a query about a
/// parameter that does not exist.
fn ask<T>(answer: Result<Vec<T>, GetParameterError>) -> Vec<T> {
    answer.unwrap_or_else(|error| {
        tracing::debug!("a request about parameters gets an empty response: {error}");
        Vec::new()
    })
}

fn result(set: Result<(), SetParameterError>, atomically: bool) -> SetParametersResult {
    let reason = match &set {
        Ok(()) => String::new(),
        Err(SetParameterError::NotDeclared { .. }) if atomically => {
            "One or more parameters were not declared before setting".to_owned()
        }
        // The reason from a callback may contain a NUL character, but a ROS string may not.
        Err(error) => error.to_string().replace('\0', "\u{fffd}"),
    };
    SetParametersResult { successful: set.is_ok(), reason }
}
