//! Types that the command does not know, or knows with another definition: the nodes that use such
//! a type describe it, through `~/get_type_description`.

use std::time::Duration;

use feros::{CallError, TypeDescriptionError, WaitError};
use feros_engine::graph::EndpointNode;
use feros_engine::{EndpointInfo, EndpointKind, GraphSnapshot, NodeName, TypeHash};
use feros_message::Schema;
use feros_message::dynamic::DynamicType;

use crate::asking::all_at_once;
use crate::connection::Connection;
use crate::error::CliError;
use crate::types::Types;

/// How long to wait for the names and services of nodes.
const PATIENCE: Duration = Duration::from_millis(2500);
/// How long to wait for the answers of nodes.
const ANSWER: Duration = Duration::from_secs(3);

/// Nodes that use one definition of a type.
struct Users {
    hash: TypeHash,
    node: NodeName,
    others: Vec<NodeName>,
}

/// The type of this name as a topic uses it: the command's own definition if it is the same,
/// otherwise the description from a node of the topic. `hash` is the hash that the publishers
/// announce, if they agree.
pub(crate) fn message_of_topic(
    connection: &Connection,
    types: &Types,
    topic: &str,
    name: &str,
    hash: Option<TypeHash>,
) -> Result<DynamicType, CliError> {
    let known = types.message(name);
    let is_same = |ty: &DynamicType| hash.is_none_or(|hash| hash.0 == ty.type_hash().0);
    if let Ok(ty) = &known
        && is_same(ty)
    {
        return known;
    }
    match (ask(connection, topic, name, hash), known) {
        (Ok(described), _) => Ok(described),
        (Err(CliError::Interrupted), _) => Err(CliError::Interrupted),
        // A definition that differs from the publishers' is better than no definition: its decoding
        // errors are more specific.
        (Err(_), Ok(known)) => Ok(known),
        (Err(unasked), Err(unknown)) => Err(CliError::failed(format!("{unknown}; {unasked}"))),
    }
}

/// Returns the command's own definition of a type, if there is one with this hash. Without a hash,
/// the definition must be certain.
pub(crate) fn own_schema(types: &Types, name: &str, hash: Option<TypeHash>) -> Option<Schema> {
    let ty = types.message(name).ok()?;
    let is_same = match hash {
        Some(hash) => hash.0 == ty.type_hash().0,
        None => types.certain().contains(ty.name()),
    };
    is_same.then(|| Schema::of_interface(types.set_with(name), ty.name()).ok())?
}

/// Returns the definition of a topic's type, for programs that store it with the messages or send
/// it on. Returns `None` if the type with this name and hash is unknown.
pub(crate) fn schema_of_topic(
    connection: &Connection,
    types: &Types,
    topic: &str,
    name: &str,
    hash: Option<TypeHash>,
) -> Option<Schema> {
    if let Some(own) = own_schema(types, name, hash) {
        return Some(own);
    }
    let ty = message_of_topic(connection, types, topic, name, hash).ok()?;
    // A type of the same name with another hash is not the topic's.
    hash.is_none_or(|hash| hash.0 == ty.type_hash().0).then(|| Schema::of_dynamic(&ty))
}

/// Asks the nodes of a topic to describe its type, in parallel if they have different definitions.
/// Returns the first description.
fn ask(
    connection: &Connection,
    topic: &str,
    name: &str,
    hash: Option<TypeHash>,
) -> Result<DynamicType, CliError> {
    let users = |graph: &GraphSnapshot| users(graph, topic, name, hash);
    let is_used = |graph: &GraphSnapshot| endpoints(graph, topic).any(|e| e.type_name == name);
    if !is_used(&connection.context.graph()) {
        return Err(CliError::failed(format!("nor does any node use it on {topic}")));
    }
    connection.wait_until(PATIENCE, |graph| !users(graph).is_empty())?;
    let mut refusal = CliError::failed(format!(
        "nor can any node on {topic} describe it (~/get_type_description)"
    ));
    let users = users(&connection.context.graph());
    for answer in all_at_once(&users, |users| describe(connection, users, name)) {
        match answer {
            Ok(ty) => return Ok(ty),
            Err(error) => refusal = error,
        }
    }
    Err(refusal)
}

/// Publishers and subscriptions of a topic, publishers first.
fn endpoints<'a>(
    graph: &'a GraphSnapshot,
    topic: &'a str,
) -> impl Iterator<Item = &'a EndpointInfo> {
    let kinds = [EndpointKind::Publisher, EndpointKind::Subscription];
    kinds.into_iter().flat_map(move |kind| graph.endpoints_of(kind, topic))
}

/// The nodes that have endpoints of this type and can describe it, grouped by their definition of
/// the type; publishers come first.
fn users(graph: &GraphSnapshot, topic: &str, name: &str, hash: Option<TypeHash>) -> Vec<Users> {
    let services = graph.services();
    let mut users: Vec<Users> = Vec::new();
    for endpoint in endpoints(graph, topic).filter(|endpoint| endpoint.type_name == name) {
        let (Some(its_hash), EndpointNode::Named(node)) = (endpoint.type_hash, &endpoint.node)
        else {
            continue;
        };
        let is_asked_for = hash.is_none_or(|hash| hash == its_hash);
        let answers = services.contains_key(&format!("{node}/get_type_description"));
        if !is_asked_for || !answers {
            continue;
        }
        match users.iter_mut().find(|users| users.hash == its_hash) {
            None => users.push(Users { hash: its_hash, node: node.clone(), others: Vec::new() }),
            Some(users) if users.node == *node || users.others.contains(node) => {}
            Some(users) => users.others.push(node.clone()),
        }
    }
    users
}

fn describe(connection: &Connection, users: &Users, name: &str) -> Result<DynamicType, CliError> {
    let Users { hash, node, others } = users;
    let hash = feros_message::TypeHash(hash.0);
    let described = connection.node.get_type_description_of_any(node, others, name, hash, ANSWER);
    let described = described.map_err(|error| match error {
        TypeDescriptionError::Call(CallError::Shutdown { .. })
        | TypeDescriptionError::NoService { source: WaitError::Shutdown { .. }, .. } => {
            CliError::Interrupted
        }
        other => CliError::failed(other),
    })?;
    let unusable = |reason: &dyn std::fmt::Display| {
        CliError::failed(format!("the description of `{name}` ({hash}) cannot be used: {reason}"))
    };
    let ty = DynamicType::from_description(&described).map_err(|error| unusable(&error))?;
    if ty.type_hash() != hash {
        return Err(unusable(&format!("the hash of the definition in it is {}", ty.type_hash())));
    }
    Ok(ty)
}
