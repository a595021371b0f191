//! ROS 1 messages and services with all types that they refer to, and their checksums.

use std::collections::BTreeMap;
use std::sync::Arc;

use feros_interface::{BaseType, MAX_NESTING_DEPTH, TypeName};
use md5::{Digest as _, Md5};

use crate::definition::{DefinitionError, Ros1Message, SEPARATOR, field_type_text, type_text};

/// The limit on the number of fields of a message. The fields of a nested message are counted each
/// time that the message occurs.
pub const MAX_FIELDS: usize = 1 << 16;

/// The reason why a ROS 1 type cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The type is unknown.
    #[error(
        "the definition of the ROS 1 type {name} is unknown: wait for a publisher, which sends it, \
         or let ROS_PACKAGE_PATH name the folder of its package"
    )]
    Unknown {
        /// The type.
        name: String,
    },
    /// The definition of the type is malformed.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// The type contains itself, or nests too deeply.
    #[error(
        "the ROS 1 type {name} contains itself, or nests messages more than {MAX_NESTING_DEPTH} levels deep"
    )]
    TooDeep {
        /// The outermost type.
        name: String,
    },
    /// The type has too many fields.
    #[error(
        "the ROS 1 type {name} has more than {MAX_FIELDS} fields, the limit, including those of nested messages: use \
         lists of messages instead"
    )]
    TooManyFields {
        /// The outermost type.
        name: String,
    },
    /// Another node sends a definition that contradicts the checksum that it states.
    #[error(
        "{who} contradicts itself: it states the md5sum {said} for {name}, but the definition that it sends has {computed}; \
         rebuild the node with the right messages"
    )]
    Contradiction {
        /// The other node.
        who: String,
        /// The type.
        name: String,
        /// The checksum that the other node states.
        said: String,
        /// The checksum of the definition that the other node sent.
        computed: String,
    },
    /// The other node uses a definition that differs from the definition that is known here.
    #[error(
        "{who} has another definition of {name} than this process: md5sum {theirs} there, {ours} \
         here. The definition here is:\n{definition}"
    )]
    Differs {
        /// The other node.
        who: String,
        /// The type.
        name: String,
        /// The checksum of the other node's definition.
        theirs: String,
        /// The checksum of the known definition.
        ours: String,
        /// The known definition.
        definition: String,
    },
}

/// A ROS 1 message with all types that it refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Ros1Type {
    /// The name of the message, `package/msg/Name`; for a part of a service,
    /// `package/srv/Name_Request` or `package/srv/Name_Response`.
    pub name: TypeName,
    /// The message and all types that it refers to, by name.
    pub messages: BTreeMap<TypeName, Arc<Ros1Message>>,
    /// The checksum, as 32 hexadecimal digits.
    pub md5sum: String,
}

/// A ROS 1 service.
#[derive(Clone, Debug, PartialEq)]
pub struct Ros1Service {
    /// The name of the service, `package/srv/Name`.
    pub name: TypeName,
    /// The message from client to server.
    pub request: Ros1Type,
    /// The message from server to client.
    pub response: Ros1Type,
    /// The checksum over both messages.
    pub md5sum: String,
}

impl Ros1Type {
    /// Returns the definition with all types that it refers to, in the form that ROS 1 publishers
    /// send.
    #[must_use]
    pub fn full_text(&self) -> String {
        let mut text =
            self.messages.get(&self.name).map(|own| own.text.clone()).unwrap_or_default();
        for (name, message) in self.messages.iter().filter(|(name, _)| **name != self.name) {
            text.push_str(&format!("\n{SEPARATOR}\nMSG: {}\n{}", type_text(name), message.text));
        }
        text
    }

    /// Returns the definition of one of the messages.
    #[must_use]
    pub fn message(&self, name: &TypeName) -> Option<&Arc<Ros1Message>> {
        self.messages.get(name)
    }

    /// Whether the message begins with a `Header`, which contains a number that publishers
    /// increment.
    #[must_use]
    pub fn begins_with_header(&self) -> bool {
        let first = self.messages.get(&self.name).and_then(|own| own.definition.fields.first());
        first.is_some_and(|field| {
            field.ty.shape == feros_interface::Shape::Single
                && field.ty.base == BaseType::Nested(TypeName::message("std_msgs", "Header"))
        })
    }

    /// Returns this type if it has this checksum. In the error, `who` names the other node.
    ///
    /// # Errors
    /// Returns [`CatalogError::Differs`], which contains both checksums.
    pub fn checked(self, who: &str, md5sum: &str) -> Result<Self, CatalogError> {
        check_sum(who, &self.name, md5sum, &self.md5sum, || self.full_text())?;
        Ok(self)
    }

    /// Returns this type, which another node has defined, if it has the checksum that the node
    /// states.
    ///
    /// # Errors
    /// Returns [`CatalogError::Contradiction`], which contains both checksums.
    pub(crate) fn agreed(self, who: &str, md5sum: &str) -> Result<Self, CatalogError> {
        if is_sum(md5sum, &self.md5sum) {
            return Ok(self);
        }
        Err(CatalogError::Contradiction {
            who: who.to_owned(),
            name: type_text(&self.name),
            said: md5sum.to_owned(),
            computed: self.md5sum.clone(),
        })
    }
}

impl Ros1Service {
    /// Returns this service if it has this checksum. In the error, `who` names the other node.
    ///
    /// # Errors
    /// Returns [`CatalogError::Differs`], which contains both checksums.
    pub fn checked(self, who: &str, md5sum: &str) -> Result<Self, CatalogError> {
        check_sum(who, &self.name, md5sum, &self.md5sum, || {
            format!("{}---\n{}", self.request.full_text(), self.response.full_text())
        })?;
        Ok(self)
    }
}

/// Whether a node that states the checksum `stated` means the type with the checksum `own`.
fn is_sum(stated: &str, own: &str) -> bool {
    stated == "*" || stated.eq_ignore_ascii_case(own)
}

fn check_sum(
    who: &str,
    name: &TypeName,
    theirs: &str,
    ours: &str,
    definition: impl FnOnce() -> String,
) -> Result<(), CatalogError> {
    if is_sum(theirs, ours) {
        return Ok(());
    }
    Err(CatalogError::Differs {
        who: who.to_owned(),
        name: type_text(name),
        theirs: theirs.to_owned(),
        ours: ours.to_owned(),
        definition: definition(),
    })
}

pub(crate) fn unknown(name: &TypeName) -> CatalogError {
    CatalogError::Unknown { name: type_text(name) }
}

pub(crate) fn md5(text: &str) -> String {
    Md5::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the text from which the message's checksum is computed (`genmsg/gentools.py`).
pub(crate) fn md5_text(ty: &Ros1Type) -> Result<String, CatalogError> {
    let mut known = BTreeMap::new();
    md5_text_of(ty, &ty.name, &mut known, 0)
}

fn md5_text_of(
    ty: &Ros1Type,
    name: &TypeName,
    known: &mut BTreeMap<TypeName, String>,
    depth: usize,
) -> Result<String, CatalogError> {
    if depth > MAX_NESTING_DEPTH {
        return Err(CatalogError::TooDeep { name: type_text(&ty.name) });
    }
    let message = ty.messages.get(name).ok_or_else(|| unknown(name))?;
    let mut lines = message.constants.clone();
    for field in &message.definition.fields {
        let is_message = match &field.ty.base {
            BaseType::Nested(nested) if nested.package != "builtin_interfaces" => Some(nested),
            _ => None,
        };
        let word = match is_message {
            Some(nested) => match known.get(nested) {
                Some(sum) => sum.clone(),
                None => {
                    let sum = md5(&md5_text_of(ty, nested, known, depth + 1)?);
                    known.insert(nested.clone(), sum.clone());
                    sum
                }
            },
            None => field_type_text(&field.ty).unwrap_or_default(),
        };
        lines.push(format!("{word} {}", field.name));
    }
    Ok(lines.join("\n").trim().to_owned())
}

/// Refuses a message with too many fields, because a plan has steps for each field. In a chain of
/// types, each with two fields of the next type, the number of fields doubles with each type.
///
/// # Errors
/// Returns [`CatalogError::TooManyFields`]. The nesting depth must have been checked before.
pub(crate) fn check_fields(ty: &Ros1Type) -> Result<(), CatalogError> {
    if fields_of(ty, &ty.name, &mut BTreeMap::new()) > MAX_FIELDS {
        return Err(CatalogError::TooManyFields { name: type_text(&ty.name) });
    }
    Ok(())
}

fn fields_of(ty: &Ros1Type, name: &TypeName, known: &mut BTreeMap<TypeName, usize>) -> usize {
    if let Some(count) = known.get(name) {
        return *count;
    }
    let fields = ty.messages.get(name).map(|found| &*found.definition.fields).unwrap_or_default();
    let mut count = fields.len();
    for field in fields {
        if let BaseType::Nested(nested) = &field.ty.base {
            count = count.saturating_add(fields_of(ty, nested, known));
        }
    }
    known.insert(name.clone(), count);
    count
}
