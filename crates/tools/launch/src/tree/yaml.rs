//! Converts YAML to entities (`launch_yaml/launch_yaml/entity.py`). An action is a mapping with one
//! key, the name of the entity. The value of the key has attributes, lists of mappings that are
//! child entities with the name of the list's key (`param`, `remap`), and `children`. A group may
//! consist only of the list of its children.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use feros_yaml::{Limits, Place, Problem, ScalarStyle, YamlError};

use super::entity::{Attribute, AttributeValue, Entity, MAX_DEPTH, MAX_NODES, Scalar};
use crate::error::{LaunchError, hint, shown};
use crate::position::Position;

/// A node of a YAML document.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: Position,
    pub(crate) content: Content,
}

/// The content of a node.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Scalar(Scalar),
    List(Vec<Node>),
    Mapping(Vec<(Scalar, Node)>),
}

impl Node {
    fn describe(&self) -> String {
        match &self.content {
            Content::Scalar(scalar) => shown(&scalar.text),
            Content::List(items) => format!("a list of {}", items.len()),
            Content::Mapping(entries) => format!("a mapping of {}", entries.len()),
        }
    }
}

pub(super) fn parse(file: &Arc<Path>, text: &str) -> Result<Entity, LaunchError> {
    let root = document(file, text)?;
    let Content::Mapping(entries) = &root.content else {
        let problem = format!(
            "{} at the top: expected the key `launch` with a list of actions",
            root.describe()
        );
        return Err(LaunchError::at(&root.at, problem));
    };
    for (key, _) in entries {
        if key.text != "launch" {
            let problem = format!(
                "the key {} at the top: expected only `launch`{}",
                shown(&key.text),
                hint(&key.text, ["launch"])
            );
            return Err(LaunchError::at(&key.at, problem));
        }
    }
    match entries.as_slice() {
        [(key, node)] => entity(key, node),
        _ => Err(LaunchError::at(&root.at, "the key `launch` is given more than once")),
    }
}

/// Makes an entity from a key and its value.
fn entity(key: &Scalar, node: &Node) -> Result<Entity, LaunchError> {
    let mut entity = Entity {
        tag: key.text.clone(),
        at: key.at.clone(),
        attributes: Vec::new(),
        children: Vec::new(),
    };
    match &node.content {
        Content::List(items) => entity.children = actions(items)?,
        Content::Mapping(entries) => {
            for (name, value) in entries {
                entry(&mut entity, name, value)?;
            }
        }
        // Keys such as `shutdown:` have no content.
        Content::Scalar(scalar) if scalar.text.is_empty() && !scalar.quoted => {}
        Content::Scalar(scalar) => {
            let problem = format!(
                "{} under `{}`: expected its attributes as a mapping, or a list of actions",
                shown(&scalar.text),
                key.text
            );
            return Err(LaunchError::at(&scalar.at, problem));
        }
    }
    Ok(entity)
}

/// Adds a key of an entity's mapping to the entity.
fn entry(entity: &mut Entity, name: &Scalar, value: &Node) -> Result<(), LaunchError> {
    let attribute = |value| Attribute { name: name.text.clone(), at: name.at.clone(), value };
    match &value.content {
        Content::Scalar(scalar) => {
            entity.attributes.push(attribute(AttributeValue::One(scalar.clone())))
        }
        Content::List(items) if name.text == "children" => entity.children.extend(actions(items)?),
        Content::List(items)
            if items.iter().any(|item| matches!(item.content, Content::Mapping(_))) =>
        {
            for item in items {
                entity.children.push(named(name, item)?);
            }
        }
        Content::List(items) => {
            let scalars = items.iter().map(|item| match &item.content {
                Content::Scalar(scalar) => Ok(scalar.clone()),
                _ => Err(LaunchError::at(
                    &item.at,
                    format!("{} in the list `{}`: expected a value", item.describe(), name.text),
                )),
            });
            entity
                .attributes
                .push(attribute(AttributeValue::List(scalars.collect::<Result<_, _>>()?)));
        }
        Content::Mapping(_) => {
            let problem = format!(
                "a mapping under `{0}`: expected a list of mappings, `{0}: [{{...}}]`",
                name.text
            );
            return Err(LaunchError::at(&value.at, problem));
        }
    }
    Ok(())
}

/// Makes an entity from an item of a list such as `param`; the entity has the name of the list's
/// key.
fn named(name: &Scalar, item: &Node) -> Result<Entity, LaunchError> {
    if !matches!(item.content, Content::Mapping(_)) {
        let problem = format!(
            "{} in the list `{}`: expected a mapping, like the other items of the list",
            item.describe(),
            name.text
        );
        return Err(LaunchError::at(&item.at, problem));
    }
    let mut read = entity(name, item)?;
    read.at = item.at.clone();
    Ok(read)
}

/// Reads a list of actions, each of which is a mapping with one key.
fn actions(items: &[Node]) -> Result<Vec<Entity>, LaunchError> {
    let action = |item: &Node| match &item.content {
        Content::Mapping(entries) => match entries.as_slice() {
            [(key, node)] => entity(key, node),
            _ => {
                let keys: Vec<&str> =
                    entries.iter().take(4).map(|(key, _)| key.text.as_str()).collect();
                let problem = format!(
                    "a mapping of the keys {}: expected one key, the name of the action, with the others under it (indented further)",
                    keys.join(", ")
                );
                Err(LaunchError::at(&item.at, problem))
            }
        },
        _ => Err(LaunchError::at(
            &item.at,
            format!("{}: expected an action such as `node: {{...}}`", item.describe()),
        )),
    };
    items.iter().map(action).collect()
}

/// The limits on the depth and the values of a document. The factor allows for the YAML levels of
/// one entity, whose attributes are two levels below it.
const LIMITS: Limits = Limits { depth: 4 * MAX_DEPTH, values: MAX_NODES };

/// Reads one YAML document.
pub(crate) fn document(file: &Arc<Path>, text: &str) -> Result<Node, LaunchError> {
    let document = feros_yaml::document(text, LIMITS).map_err(|error| refused(file, error))?;
    let document = document.unwrap_or_else(|| feros_yaml::Node {
        place: Place { line: 1, column: 1 },
        content: feros_yaml::Content::empty(),
    });
    node(file, document)
}

fn position(file: &Arc<Path>, place: Place) -> Position {
    Position::new(file, place.line, place.column)
}

fn refused(file: &Arc<Path>, error: YamlError) -> LaunchError {
    let problem = match error.problem {
        Problem::Syntax(problem) => format!("the file is not well-formed YAML: {problem}"),
        Problem::SecondDocument => "a second YAML document (`---`): expected one".to_owned(),
        Problem::Key => "a list or mapping as a key: expected a word".to_owned(),
        Problem::TooMany(limit) => format!("more than {limit} values in one file"),
        other => other.to_string(),
    };
    LaunchError::at(&position(file, error.place), problem)
}

fn node(file: &Arc<Path>, node: feros_yaml::Node) -> Result<Node, LaunchError> {
    let read = |item| self::node(file, item);
    let content = match node.content {
        feros_yaml::Content::Scalar(of_yaml) => Content::Scalar(scalar(file, of_yaml)),
        feros_yaml::Content::List(items) => {
            Content::List(items.into_iter().map(read).collect::<Result<_, _>>()?)
        }
        feros_yaml::Content::Mapping(entries) => {
            let mut keys = HashSet::new();
            let mut entry = |(key, value): (feros_yaml::Scalar, _)| {
                if !keys.insert(key.text.clone()) {
                    let problem =
                        format!("the key {} occurs a second time in one mapping", shown(&key.text));
                    return Err(LaunchError::at(&position(file, key.place), problem));
                }
                Ok((scalar(file, key), read(value)?))
            };
            Content::Mapping(entries.into_iter().map(&mut entry).collect::<Result<_, _>>()?)
        }
    };
    Ok(Node { at: position(file, node.place), content })
}

fn scalar(file: &Arc<Path>, scalar: feros_yaml::Scalar) -> Scalar {
    let (at, plain) = (position(file, scalar.place), scalar.is_plain());
    let is_block = matches!(scalar.style, ScalarStyle::Literal | ScalarStyle::Folded);
    // Escapes and line breaks shift the characters after them.
    let verbatim = scalar.is_on_one_line && !is_block && !scalar.text.contains(['\\', '\'', '"']);
    // The characters of a quoted string are one column further to the right.
    let at = if plain || !verbatim { at } else { at.advanced(1) };
    Scalar { text: scalar.text, quoted: !plain || scalar.is_tagged_string, at, verbatim }
}
