//! The tree of a launch file: entities and attributes, each with its position.

use crate::position::Position;

/// The limit on entities and values in one file.
pub(super) const MAX_NODES: usize = 100_000;
/// The limit on attributes of one entity, since each attribute is compared with the others.
pub(super) const MAX_ATTRIBUTES: usize = 1000;
/// The limit on the nesting of entities.
pub(super) const MAX_DEPTH: usize = 64;

/// An XML element, or a YAML mapping under the name of the entity.
#[derive(Clone, Debug)]
pub(crate) struct Entity {
    pub(crate) tag: String,
    pub(crate) at: Position,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) children: Vec<Entity>,
}

impl Entity {
    /// Calls `look` with each value in the entity and its children.
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

/// A value as text, with its position.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    /// Whether YAML quotes make the value a string, even if its text looks like another type.
    pub(crate) quoted: bool,
    pub(crate) at: Position,
    /// Whether each character of the text is literal in the file, so that positions within the text
    /// can be converted to positions in the file.
    pub(crate) verbatim: bool,
}

impl Scalar {
    /// The position of a character of the text in the file.
    pub(crate) fn position(&self, characters: usize) -> Position {
        if self.verbatim { self.at.advanced(characters) } else { self.at.clone() }
    }
}
