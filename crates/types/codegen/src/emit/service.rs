//! The marker types of services and actions, and their traits.

use feros_interface::{ActionDefinition, ResolveError, ServiceDefinition};

use crate::emit::identity;
use crate::emit::source::Source;
use crate::emit::types::Context;
use crate::names::type_identifier;

/// Writes a service; its messages are written separately.
pub(crate) fn emit_service(
    source: &mut Source,
    context: &Context<'_>,
    service: &ServiceDefinition,
) -> Result<(), ResolveError> {
    let m = context.message();
    let name = type_identifier(&service.name.name);
    source
        .doc([format!("The service `{}`: names its types, is never instantiated.", service.name)]);
    source.line("#[derive(Clone, Copy, Debug, PartialEq, Eq)]");
    source.line(format!("pub enum {name} {{}}"));
    source.line(format!("impl {m}::Service for {name} {{"));
    for part in ["Request", "Response", "Event"] {
        source.line(format!("type {part} = {}_{part};", service.name.name));
    }
    identity::emit(source, context, &service.name)?;
    emit_event(source, context, &service.name.name);
    source.line("}");
    Ok(())
}

/// Writes the function that makes the message of a service event.
fn emit_event(source: &mut Source, context: &Context<'_>, service: &str) {
    let m = context.message();
    let path = |package: &str, name: &str| {
        context.paths.of_type(&feros_interface::TypeName::message(package, name))
    };
    let (event_info, time) =
        (path("service_msgs", "ServiceEventInfo"), path("builtin_interfaces", "Time"));
    let option = "::std::option::Option";
    source.line(format!(
        "fn event(info: {m}::ServiceEventInfo, request: {option}<{service}_Request>, \
         response: {option}<{service}_Response>) -> {service}_Event {{"
    ));
    source.line(format!(
        "{service}_Event {{ info: {event_info} {{ event_type: info.kind as u8, \
         stamp: {time} {{ sec: info.sec, nanosec: info.nanosec }}, client_gid: info.client_gid, \
         sequence_number: info.sequence_number }}, request: request.into_iter().collect(), \
         response: response.into_iter().collect() }}"
    ));
    source.line("}");
}

/// Writes an action; its messages and services are written separately.
pub(crate) fn emit_action(
    source: &mut Source,
    context: &Context<'_>,
    action: &ActionDefinition,
) -> Result<(), ResolveError> {
    let m = context.message();
    let name = type_identifier(&action.name.name);
    let part = &action.name.name;
    source.doc([format!("The action `{}`: names its types, is never instantiated.", action.name)]);
    source.line("#[derive(Clone, Copy, Debug, PartialEq, Eq)]");
    source.line(format!("pub enum {name} {{}}"));
    source.line(format!("impl {m}::Action for {name} {{"));
    for ty in ["Goal", "Result", "Feedback", "SendGoal", "GetResult", "FeedbackMessage"] {
        source.line(format!("type {ty} = {part}_{ty};"));
    }
    identity::emit(source, context, &action.name)?;
    for (signature, body) in action_functions(context, part) {
        source.line(format!("fn {signature} {{"));
        source.line(body);
        source.line("}");
    }
    source.line("}");
    Ok(())
}

/// Returns the signatures and bodies of the functions in an action's trait.
fn action_functions(context: &Context<'_>, part: &str) -> [(String, String); 10] {
    let m = context.message();
    let path = |package: &str, name: &str| {
        context.paths.of_type(&feros_interface::TypeName::message(package, name))
    };
    let uuid = path("unique_identifier_msgs", "UUID");
    let time = path("builtin_interfaces", "Time");
    let id = format!("{m}::GoalId");
    [
        (
            format!(
                "send_goal_request(goal_id: {id}, goal: {part}_Goal) -> {part}_SendGoal_Request"
            ),
            format!("{part}_SendGoal_Request {{ goal_id: {uuid} {{ uuid: goal_id }}, goal }}"),
        ),
        (
            format!(
                "open_send_goal_request(request: {part}_SendGoal_Request) -> ({id}, {part}_Goal)"
            ),
            "(request.goal_id.uuid, request.goal)".to_owned(),
        ),
        (
            format!(
                "send_goal_response(accepted: bool, sec: i32, nanosec: u32) -> {part}_SendGoal_Response"
            ),
            format!("{part}_SendGoal_Response {{ accepted, stamp: {time} {{ sec, nanosec }} }}"),
        ),
        (
            format!(
                "open_send_goal_response(response: &{part}_SendGoal_Response) -> (bool, i32, u32)"
            ),
            "(response.accepted, response.stamp.sec, response.stamp.nanosec)".to_owned(),
        ),
        (
            format!("get_result_request(goal_id: {id}) -> {part}_GetResult_Request"),
            format!("{part}_GetResult_Request {{ goal_id: {uuid} {{ uuid: goal_id }} }}"),
        ),
        (
            format!("open_get_result_request(request: &{part}_GetResult_Request) -> {id}"),
            "request.goal_id.uuid".to_owned(),
        ),
        (
            format!(
                "get_result_response(status: i8, result: {part}_Result) -> {part}_GetResult_Response"
            ),
            format!("{part}_GetResult_Response {{ status, result }}"),
        ),
        (
            format!(
                "open_get_result_response(response: {part}_GetResult_Response) -> (i8, {part}_Result)"
            ),
            "(response.status, response.result)".to_owned(),
        ),
        (
            format!(
                "feedback_message(goal_id: {id}, feedback: {part}_Feedback) -> {part}_FeedbackMessage"
            ),
            format!("{part}_FeedbackMessage {{ goal_id: {uuid} {{ uuid: goal_id }}, feedback }}"),
        ),
        (
            format!(
                "open_feedback_message(message: {part}_FeedbackMessage) -> ({id}, {part}_Feedback)"
            ),
            "(message.goal_id.uuid, message.feedback)".to_owned(),
        ),
    ]
}
