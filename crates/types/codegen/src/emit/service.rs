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
    action_functions(source, context, part);
    source.line("}");
    Ok(())
}

/// Writes the functions of an action's trait.
fn action_functions(source: &mut Source, context: &Context<'_>, part: &str) {
    let path = |package: &str, name: &str| {
        context.paths.of_type(&feros_interface::TypeName::message(package, name))
    };
    let uuid = path("unique_identifier_msgs", "UUID");
    let time = path("builtin_interfaces", "Time");
    let id = format!("{}::GoalId", context.message());
    source.lines(format!(
        "fn send_goal_request(goal_id: {id}, goal: {part}_Goal) -> {part}_SendGoal_Request {{
             {part}_SendGoal_Request {{ goal_id: {uuid} {{ uuid: goal_id }}, goal }}
         }}
         fn open_send_goal_request(request: {part}_SendGoal_Request) -> ({id}, {part}_Goal) {{
             (request.goal_id.uuid, request.goal)
         }}
         fn send_goal_response(accepted: bool, sec: i32, nanosec: u32) -> {part}_SendGoal_Response {{
             {part}_SendGoal_Response {{ accepted, stamp: {time} {{ sec, nanosec }} }}
         }}
         fn open_send_goal_response(response: &{part}_SendGoal_Response) -> (bool, i32, u32) {{
             (response.accepted, response.stamp.sec, response.stamp.nanosec)
         }}
         fn get_result_request(goal_id: {id}) -> {part}_GetResult_Request {{
             {part}_GetResult_Request {{ goal_id: {uuid} {{ uuid: goal_id }} }}
         }}
         fn open_get_result_request(request: &{part}_GetResult_Request) -> {id} {{
             request.goal_id.uuid
         }}
         fn get_result_response(status: i8, result: {part}_Result) -> {part}_GetResult_Response {{
             {part}_GetResult_Response {{ status, result }}
         }}
         fn open_get_result_response(response: {part}_GetResult_Response) -> (i8, {part}_Result) {{
             (response.status, response.result)
         }}
         fn feedback_message(goal_id: {id}, feedback: {part}_Feedback) -> {part}_FeedbackMessage {{
             {part}_FeedbackMessage {{ goal_id: {uuid} {{ uuid: goal_id }}, feedback }}
         }}
         fn open_feedback_message(message: {part}_FeedbackMessage) -> ({id}, {part}_Feedback) {{
             (message.goal_id.uuid, message.feedback)
         }}"
    ));
}
