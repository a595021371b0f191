//! Messages and services of ROS 1 with all that they refer to, and their checksums.

use std::collections::BTreeMap;
use std::sync::Arc;

use feros_interface::{BaseType, MAX_NESTING_DEPTH, TypeName};
use md5::{Digest as _, Md5};

use crate::definition::{DefinitionError, Ros1Message, SEPARATOR, field_type_text, type_text};

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
