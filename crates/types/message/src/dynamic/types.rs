//! The type of a dynamic message: a definition whose references are all resolved.

use std::collections::HashMap;
use std::sync::Arc;

use feros_interface::{
    BaseType, DescriptionError, Field, InterfaceSet, ResolveError, Shape, TypeDescription,
    TypeHash, TypeName,
};

/// The limit on the fixed size of a message, without its strings and sequences. It limits the cost
/// of a default message, because the sizes of nested fixed arrays are multiplied.
pub const MAX_FIXED_BYTES: usize = 256 << 20;

/// A message type that is known only at run time. Cloning costs little.
#[derive(Clone, Debug)]
pub struct DynamicType(Arc<Structure>);

#[derive(Debug)]
struct Structure {
    name: TypeName,
    hash: TypeHash,
    fields: Vec<DynamicField>,
    least_bytes: usize,
}

/// A field of a [`DynamicType`].
#[derive(Debug)]
pub struct DynamicField {
    definition: Field,
    /// The type of the elements, if they are messages.
    nested: Option<DynamicType>,
}

/// The reason why a name is not a usable message type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DynamicTypeError {
    /// The type or a type to which it refers is not defined, or the references are circular.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The description is not the description of a message.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// The name belongs to a service or action. Only its parts are messages.
    #[error("`{name}` is not a message: name one of its parts, such as `{name}{suffix}`")]
    NotAMessage {
        /// The name.
        name: TypeName,
        /// A suffix that turns the name into the name of a message.
        suffix: &'static str,
    },
    /// The fixed arrays of the type are too large.
    #[error(
        "the fixed arrays of `{name}` take at least {bytes} bytes, more than the limit of \
         {MAX_FIXED_BYTES}"
    )]
    TooLarge {
        /// The type.
        name: TypeName,
        /// The minimum size of a message.
        bytes: usize,
    },
}

impl DynamicType {
    /// Resolves a message type with all its references.
    ///
    /// # Errors
    /// Fails if the type or a type to which it refers is missing, if a type contains itself, if
    /// `name` is not a message, or if its fixed arrays are too large.
    pub fn resolve(set: &InterfaceSet, name: &TypeName) -> Result<Self, DynamicTypeError> {
        // This call finds missing and circular references and limits the depth, so the code below
        // may use recursion.
        let references = set.references(name)?;
        if set.message(name).is_none() {
            let suffix = if set.service(name).is_some() { "_Request" } else { "_Goal" };
            return Err(DynamicTypeError::NotAMessage { name: name.clone(), suffix });
        }
        let mut resolved = HashMap::with_capacity(references.len() + 1);
        resolve(set, name, &mut resolved)
    }

    /// The message type that a description describes. The type has no defaults, because defaults
    /// are not a part of the [hash](DynamicType::type_hash). The caller must compare the hash with
    /// the expected hash, because nothing else shows that an untrusted description is correct.
    ///
    /// # Errors
    /// Fails if a name or the type of a field is not allowed in a message, or like
    /// [`DynamicType::resolve`].
    pub fn from_description(description: &TypeDescription) -> Result<Self, DynamicTypeError> {
        let set = description.to_messages()?;
        let name = description.type_description.type_name.parse();
        Self::resolve(&set, &name.map_err(DescriptionError::Name)?)
    }

    /// The full name.
    #[must_use]
    pub fn name(&self) -> &TypeName {
        &self.0.name
    }

    /// The hash with which stock ROS 2 compares types.
    #[must_use]
    pub fn type_hash(&self) -> TypeHash {
        self.0.hash
    }

    /// The fields in the order of the wire. The list is empty for a message without fields,
    /// although such a message has one byte on the wire.
    #[must_use]
    pub fn fields(&self) -> &[DynamicField] {
        &self.0.fields
    }

    /// The position of a field.
    pub(super) fn field_index(&self, name: &str) -> Option<usize> {
        self.0.fields.iter().position(|field| field.name() == name)
    }

    /// The minimum number of bytes of a message on the wire, without padding. It is never 0.
    pub(super) fn least_bytes(&self) -> usize {
        self.0.least_bytes
    }
}

/// Two types are equal if they have the same name and hash.
impl PartialEq for DynamicType {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.name == other.0.name && self.0.hash == other.0.hash)
    }
}

impl Eq for DynamicType {}

impl DynamicField {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The definition: the type, the default and the comment.
    #[must_use]
    pub fn definition(&self) -> &Field {
        &self.definition
    }

    /// The type of the elements, if they are messages.
    #[must_use]
    pub fn nested(&self) -> Option<&DynamicType> {
        self.nested.as_ref()
    }

    pub(super) fn base(&self) -> &BaseType {
        &self.definition.ty.base
    }

    pub(super) fn shape(&self) -> Shape {
        self.definition.ty.shape
    }

    /// The minimum number of bytes of one element on the wire, without padding. It is never 0.
    pub(super) fn least_element_bytes(&self) -> usize {
        match self.base() {
            BaseType::Bool | BaseType::Byte | BaseType::Char | BaseType::Int8 | BaseType::Uint8 => {
                1
            }
            BaseType::Int16 | BaseType::Uint16 => 2,
            BaseType::Int32 | BaseType::Uint32 | BaseType::Float32 => 4,
            BaseType::Int64 | BaseType::Uint64 | BaseType::Float64 => 8,
            BaseType::String { .. } | BaseType::WString { .. } => 4,
            BaseType::Nested(_) => self.nested.as_ref().map_or(1, DynamicType::least_bytes),
        }
    }

    fn least_bytes(&self) -> usize {
        match self.shape() {
            Shape::Single => self.least_element_bytes(),
            Shape::Array(size) => self.least_element_bytes().saturating_mul(size as usize),
            Shape::BoundedSequence(_) | Shape::Sequence => 4,
        }
    }
}

fn resolve(
    set: &InterfaceSet,
    name: &TypeName,
    resolved: &mut HashMap<TypeName, DynamicType>,
) -> Result<DynamicType, DynamicTypeError> {
    if let Some(known) = resolved.get(name) {
        return Ok(known.clone());
    }
    // `set.references` has checked the references, and messages refer only to messages.
    let Some(definition) = set.message(name) else {
        return Err(DynamicTypeError::NotAMessage { name: name.clone(), suffix: "" });
    };
    let mut fields = Vec::with_capacity(definition.fields.len());
    for field in &definition.fields {
        let nested = match &field.ty.base {
            BaseType::Nested(nested) => Some(resolve(set, nested, resolved)?),
            _ => None,
        };
        fields.push(DynamicField { definition: field.clone(), nested });
    }
    let sum = fields.iter().fold(0_usize, |sum, field| sum.saturating_add(field.least_bytes()));
    if sum > MAX_FIXED_BYTES {
        return Err(DynamicTypeError::TooLarge { name: name.clone(), bytes: sum });
    }
    let hash = set.type_hash(name)?;
    let ty = DynamicType(Arc::new(Structure {
        name: name.clone(),
        hash,
        fields,
        least_bytes: sum.max(1),
    }));
    resolved.insert(name.clone(), ty.clone());
    Ok(ty)
}
