//! The tree of a launch file: entities with attributes, each with its position.

use crate::position::Position;

/// The most entities and values of one file.
pub(super) const MAX_NODES: usize = 100_000;
/// The most attributes of one entity: each is compared with the others.
pub(super) const MAX_ATTRIBUTES: usize = 1000;
/// The deepest nesting of entities.
pub(super) const MAX_DEPTH: usize = 64;

/// An element of XML, or a mapping of YAML under its name.
#[derive(Clone, Debug)]
pub(crate) struct Entity {
    pub(crate) tag: String,
    pub(crate) at: Position,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) children: Vec<Entity>,
}

impl Entity {
    /// Calls with each text in the entity and below it.
    pub(crate) fn scalars(&self, look: &mut impl FnMut(&Scalar)) {
        for attribute in &self.attributes {
            match &attribute.value {
                AttributeValue::One(scalar) => look(scalar),
                AttributeValue::List(scalars) => scalars.iter().for_each(&mut *look),
            }
        }
        for child in &self.children {
            child.scalars(look);
        }
    }
}

/// An attribute of an entity.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) at: Position,
    pub(crate) value: AttributeValue,
}

/// The value of an attribute.
#[derive(Clone, Debug)]
pub(crate) enum AttributeValue {
    One(Scalar),
    List(Vec<Scalar>),
}

/// A text with its place.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    /// Whether quotes in YAML make it a string, whatever its characters.
    pub(crate) quoted: bool,
    pub(crate) at: Position,
    /// Whether each character is literal in the file, so that a place within the text is a place in
    /// the file.
    pub(crate) verbatim: bool,
}

impl Scalar {
    /// The place of a character of the text.
    pub(crate) fn position(&self, characters: usize) -> Position {
        if self.verbatim { self.at.advanced(characters) } else { self.at.clone() }
    }
}
