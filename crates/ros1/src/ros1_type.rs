//! Messages and services of ROS 1 with all that they refer to, and their checksums.

use std::collections::BTreeMap;
use std::sync::Arc;

use feros_interface::{BaseType, MAX_NESTING_DEPTH, TypeName};
use md5::{Digest as _, Md5};

use crate::definition::{DefinitionError, Ros1Message, SEPARATOR, field_type_text, type_text};

/// Most fields of a message, with those of the messages in it, each as often as it is there.
pub const MAX_FIELDS: usize = 1 << 16;

/// A type of ROS 1 that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// Nobody defined it.
    #[error(
        "the ROS 1 type {name} is not known: its publisher tells it, or ROS_PACKAGE_PATH names the folder with its package"
    )]
    Unknown {
        /// The type.
        name: String,
    },
    /// Its definition is wrong.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// It contains itself, or nests too deep.
    #[error(
        "the ROS 1 type {name} contains itself, or nests messages more than {MAX_NESTING_DEPTH} deep"
    )]
    TooDeep {
        /// The outermost type.
        name: String,
    },
    /// It has too many fields.
    #[error(
        "the ROS 1 type {name} has more than the {MAX_FIELDS} fields that are read, with those of the messages in it: \
         have lists of messages in their place"
    )]
    TooManyFields {
        /// The outermost type.
        name: String,
    },
    /// What a peer says of its type cannot be true.
    #[error(
        "{who} contradicts itself: it says that {name} has the md5sum {said}, and the definition that it sends has {computed}; \
         compile the node again with the messages that it is to use"
    )]
    Contradiction {
        /// Who says it.
        who: String,
        /// The type.
        name: String,
        /// The checksum that the peer says.
        said: String,
        /// The checksum of the definition that came with it.
        computed: String,
    },
    /// The definition that is known is not the peer's.
    #[error(
        "{who} has another definition of {name} than is known here: md5sum {theirs} there, {ours} here. Here it is:\n{definition}"
    )]
    Differs {
        /// Who has the other one.
        who: String,
        /// The type.
        name: String,
        /// The checksum of the peer's definition.
        theirs: String,
        /// The checksum of the one that is known.
        ours: String,
        /// The one that is known.
        definition: String,
    },
}

/// A message of ROS 1 with all that it refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Ros1Type {
    /// Its name, `package/msg/Name`, or that of the part of a service.
    pub name: TypeName,
    /// The message and all that it refers to, by name.
    pub messages: BTreeMap<TypeName, Arc<Ros1Message>>,
    /// The checksum, 32 hexadecimal digits.
    pub md5sum: String,
}

/// A service of ROS 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Ros1Service {
    /// Its name, `package/srv/Name`.
    pub name: TypeName,
    /// What a client sends.
    pub request: Ros1Type,
    /// What a server answers.
    pub response: Ros1Type,
    /// The checksum over both.
    pub md5sum: String,
}

impl Ros1Type {
    /// The text with all that it refers to, as publishers of ROS 1 say it.
    #[must_use]
    pub fn full_text(&self) -> String {
        let mut text =
            self.messages.get(&self.name).map(|own| own.text.clone()).unwrap_or_default();
        for (name, message) in self.messages.iter().filter(|(name, _)| **name != self.name) {
            text.push_str(&format!("\n{SEPARATOR}\nMSG: {}\n{}", type_text(name), message.text));
        }
        text
    }

    /// The definition of a message of it.
    #[must_use]
    pub fn message(&self, name: &TypeName) -> Option<&Arc<Ros1Message>> {
        self.messages.get(name)
    }

    /// Whether it begins with a `Header`, whose number the publisher counts.
    #[must_use]
    pub fn begins_with_header(&self) -> bool {
        let first = self.messages.get(&self.name).and_then(|own| own.definition.fields.first());
        first.is_some_and(|field| {
            field.ty.shape == feros_interface::Shape::Single
                && field.ty.base == BaseType::Nested(TypeName::message("std_msgs", "Header"))
        })
    }
}

impl Ros1Type {
    /// This type, if it is the one with this checksum.
    ///
    /// # Errors
    /// [`CatalogError::Differs`], which says both.
    pub fn checked(self, who: &str, md5sum: &str) -> Result<Self, CatalogError> {
        if md5sum == "*" || md5sum.eq_ignore_ascii_case(&self.md5sum) {
            return Ok(self);
        }
        Err(CatalogError::Differs {
            who: who.to_owned(),
            name: type_text(&self.name),
            theirs: md5sum.to_owned(),
            ours: self.md5sum.clone(),
            definition: self.full_text(),
        })
    }

    /// This type, whose definition a peer sends, if it is the one with the checksum that it says.
    ///
    /// # Errors
    /// [`CatalogError::Contradiction`], which says both.
    pub(crate) fn agreed(self, who: &str, md5sum: &str) -> Result<Self, CatalogError> {
        if md5sum == "*" || md5sum.eq_ignore_ascii_case(&self.md5sum) {
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
    /// This service, if it is the one with this checksum.
    ///
    /// # Errors
    /// [`CatalogError::Differs`], which says both.
    pub fn checked(self, who: &str, md5sum: &str) -> Result<Self, CatalogError> {
        if md5sum == "*" || md5sum.eq_ignore_ascii_case(&self.md5sum) {
            return Ok(self);
        }
        let definition = format!("{}---\n{}", self.request.full_text(), self.response.full_text());
        Err(CatalogError::Differs {
            who: who.to_owned(),
            name: type_text(&self.name),
            theirs: md5sum.to_owned(),
            ours: self.md5sum.clone(),
            definition,
        })
    }
}

pub(crate) fn unknown(name: &TypeName) -> CatalogError {
    CatalogError::Unknown { name: type_text(name) }
}

pub(crate) fn md5(text: &str) -> String {
    Md5::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text whose checksum is that of the message (`genmsg/gentools.py`).
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

/// Refuses a message of too many fields: plans look at each of them, and a message of two fields
/// that nests one of two, and so on, has more than any memory.
///
/// # Errors
/// [`CatalogError::TooManyFields`]. How deep messages nest is known to be fine.
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
