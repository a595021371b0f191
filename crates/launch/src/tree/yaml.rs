//! YAML to entities (`launch_yaml/launch_yaml/entity.py`). An action is a mapping of one key, the
//! entity's name; its value has attributes, lists of mappings that are entities of the key's name
//! (`param`, `remap`), and `children`. A group may be only the list of its children.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

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
    let root = Document::parse(file, text)?;
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

/// The entity of a key and its value.
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
        // `shutdown:` and similar keys have no content.
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

/// Adds one key of an entity's mapping to the entity.
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

/// An item of a list such as `param`, which has the list's name.
fn named(name: &Scalar, item: &Node) -> Result<Entity, LaunchError> {
    if !matches!(item.content, Content::Mapping(_)) {
        let problem = format!(
            "{} in the list `{}`: expected a mapping, as its other items are",
            item.describe(),
            name.text
        );
        return Err(LaunchError::at(&item.at, problem));
    }
    let mut read = entity(name, item)?;
    read.at = item.at.clone();
    Ok(read)
}

/// A list of actions, each a mapping of one key.
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

/// Reads one YAML document without recursion, bounded in depth and size.
pub(crate) struct Document<'a> {
    file: &'a Arc<Path>,
    /// The lists and mappings that are still open, the innermost last.
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
}

struct Open {
    node: Node,
    /// In a mapping, the key that waits for its value.
    key: Option<Scalar>,
    keys: HashSet<String>,
}

impl<'a> Document<'a> {
    pub(crate) fn parse(file: &'a Arc<Path>, text: &str) -> Result<Node, LaunchError> {
        let mut document = Document { file, open: Vec::new(), root: None, nodes: 0 };
        let mut parser = Parser::new_from_str(text);
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| {
                let marker = error.marker();
                let position = Position::new(file, marker.line(), marker.col() + 1);
                LaunchError::at(
                    &position,
                    format!("this is not well-formed YAML: {}", error.info()),
                )
            })?;
            document.event(event, span)?;
        }
        let empty = || {
            let at = Position::new(file, 1, 1);
            let scalar =
                Scalar { text: String::new(), quoted: false, at: at.clone(), verbatim: true };
            Node { at, content: Content::Scalar(scalar) }
        };
        Ok(document.root.unwrap_or_else(empty))
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), LaunchError> {
        let at = Position::new(self.file, span.start.line(), span.start.col() + 1);
        match event {
            Event::Scalar(text, style, _, tag) => {
                let forced =
                    tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
                let plain = style == ScalarStyle::Plain;
                // The characters of a quoted text are one column further; escapes and line breaks
                // move them.
                let verbatim = span.start.line() == span.end.line()
                    && !text.contains(['\\', '\'', '"'])
                    && matches!(
                        style,
                        ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted
                    );
                let start = if plain || !verbatim { at.clone() } else { at.advanced(1) };
                let scalar = Scalar {
                    text: text.into_owned(),
                    quoted: !plain || forced,
                    at: start,
                    verbatim,
                };
                self.scalar(scalar, at)
            }
            Event::SequenceStart(..) => self.open(Content::List(Vec::new()), at),
            Event::MappingStart(..) => self.open(Content::Mapping(Vec::new()), at),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(closed) => self.add(closed.node),
                None => Ok(()),
            },
            Event::Alias(_) => {
                Err(LaunchError::at(&at, "an alias (`*name`): write its value here instead"))
            }
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(LaunchError::at(&at, "a second YAML document (`---`): expected one"))
            }
            _ => Ok(()),
        }
    }

    fn scalar(&mut self, scalar: Scalar, at: Position) -> Result<(), LaunchError> {
        if let Some(Open {
            node: Node { content: Content::Mapping(_), .. },
            key: key @ None,
            keys,
        }) = self.open.last_mut()
        {
            if !keys.insert(scalar.text.clone()) {
                return Err(LaunchError::at(
                    &at,
                    format!("the key {} a second time in one mapping", shown(&scalar.text)),
                ));
            }
            *key = Some(scalar);
            return Ok(());
        }
        self.add(Node { at, content: Content::Scalar(scalar) })
    }

    fn open(&mut self, content: Content, at: Position) -> Result<(), LaunchError> {
        // An action's attributes are two levels below it, hence the factor.
        if self.open.len() >= 4 * MAX_DEPTH {
            return Err(LaunchError::at(
                &at,
                format!("lists and mappings are nested deeper than {}", 4 * MAX_DEPTH),
            ));
        }
        if let Some(Open { node: Node { content: Content::Mapping(_), .. }, key: None, .. }) =
            self.open.last()
        {
            return Err(LaunchError::at(&at, "a list or mapping as a key: expected a word"));
        }
        self.open.push(Open { node: Node { at, content }, key: None, keys: HashSet::new() });
        Ok(())
    }

    fn add(&mut self, node: Node) -> Result<(), LaunchError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(LaunchError::at(
                &node.at,
                format!("more than {MAX_NODES} values in one file"),
            ));
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open { node: Node { content: Content::List(items), .. }, .. }) => items.push(node),
            Some(Open { node: Node { content: Content::Mapping(entries), .. }, key, .. }) => {
                if let Some(key) = key.take() {
                    entries.push((key, node));
                }
            }
            Some(Open { node: Node { content: Content::Scalar(_), .. }, .. }) => {}
        }
        Ok(())
    }
}
