//! The Rust types of fields, in owned structs and in views.

use feros_interface::{BaseType, Field, FieldType, InterfaceSet, Shape, TypeName};

use crate::names::{Paths, derived_identifier, type_identifier};

/// Arrays of fixed size up to this many bytes are copied into views. Larger arrays are borrowed.
const MAX_COPIED_ARRAY_BYTES: u64 = 1024;

/// The information about other messages that is needed to generate one message.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) paths: &'a Paths,
    /// Every type that definitions may refer to, whether it is generated here or not. All
    /// references have been checked.
    pub(crate) set: &'a InterfaceSet,
}

/// The type of a field in a view, and the expression that reads the field.
pub(crate) struct ViewField {
    pub(crate) ty: String,
    pub(crate) read: String,
}

impl Context<'_> {
    /// Returns the path of the crate that holds the traits.
    pub(crate) fn message(&self) -> &str {
        &self.paths.message
    }

    /// Returns the type of a field in the owned struct.
    pub(crate) fn owned_type(&self, ty: &FieldType) -> String {
        let element = match &ty.base {
            BaseType::String { .. } => "::std::string::String".to_owned(),
            BaseType::WString { .. } => format!("{}::WString", self.message()),
            BaseType::Nested(name) => self.paths.of_type(name),
            number => primitive(number).map_or_else(String::new, |(name, _)| name.to_owned()),
        };
        match ty.shape {
            Shape::Single => element,
            Shape::Array(len) => format!("[{element}; {len}]"),
            Shape::Sequence | Shape::BoundedSequence(_) => format!("::std::vec::Vec<{element}>"),
        }
    }

    /// Whether a message is its own view, because it contains nothing for which borrowing is
    /// useful.
    pub(crate) fn is_plain(&self, name: &TypeName) -> bool {
        self.set
            .message(name)
            .is_some_and(|message| message.fields.iter().all(|field| self.is_copied(&field.ty)))
    }

    /// Whether views hold a field of this type by value.
    fn is_copied(&self, ty: &FieldType) -> bool {
        let is_element_copied = match &ty.base {
            BaseType::Nested(name) => self.is_plain(name),
            base => primitive(base).is_some(),
        };
        is_element_copied
            && match ty.shape {
                Shape::Single => true,
                Shape::Array(_) => {
                    self.fixed_bytes_of(ty).is_some_and(|bytes| bytes <= MAX_COPIED_ARRAY_BYTES)
                }
                Shape::Sequence | Shape::BoundedSequence(_) => false,
            }
    }

    /// Returns the path of a message's view from another module. If the view has a lifetime, the
    /// path includes it.
    pub(crate) fn view_path(&self, name: &TypeName) -> String {
        if self.is_plain(name) {
            return self.paths.of_type(name);
        }
        format!("{}<'a>", self.paths.of_derived(name, &self.view_name(name)))
    }

    /// Returns the name of the view struct of a message that is not its own view.
    pub(crate) fn view_name(&self, name: &TypeName) -> String {
        let view = derived_identifier(name, "View", |other| self.set.contains(other));
        type_identifier(&view)
    }

    /// Returns the form of `field` in the view of a message.
    pub(crate) fn view_field(&self, field: &Field) -> ViewField {
        let m = self.message();
        let (ty, read) = match (&field.ty.base, field.ty.shape) {
            _ if self.is_copied(&field.ty) => {
                (self.owned_type(&field.ty), format!("{m}::Decode::decode(r)?"))
            }
            (BaseType::Byte | BaseType::Char | BaseType::Uint8, Shape::Array(len)) => {
                (format!("&'a [u8; {len}]"), "r.read_byte_array()?".to_owned())
            }
            (BaseType::Byte | BaseType::Char | BaseType::Uint8, _) => {
                ("&'a [u8]".to_owned(), "r.read_byte_sequence()?".to_owned())
            }
            (base, shape) => match (self.view_element(base), shape) {
                (Element::Primitive(ty), Shape::Array(len)) => {
                    (format!("{m}::PrimitiveSlice<'a, {ty}>"), format!("r.read_slice({len})?"))
                }
                (Element::Primitive(ty), _) => {
                    (format!("{m}::PrimitiveSlice<'a, {ty}>"), "r.read_sequence()?".to_owned())
                }
                (Element::View(ty), Shape::Single) => (ty, format!("{m}::View::read(r)?")),
                (Element::View(ty), Shape::Array(len)) => (
                    format!("{m}::SequenceView<'a, {ty}>"),
                    format!("{m}::SequenceView::read_array(r, {len})?"),
                ),
                (Element::View(ty), _) => (
                    format!("{m}::SequenceView<'a, {ty}>"),
                    format!("{m}::SequenceView::read_sequence(r)?"),
                ),
            },
        };
        ViewField { ty, read }
    }

    fn view_element(&self, base: &BaseType) -> Element {
        match base {
            BaseType::String { .. } => Element::View("&'a str".to_owned()),
            BaseType::WString { .. } => {
                Element::View(format!("{}::WStringView<'a>", self.message()))
            }
            BaseType::Nested(name) => Element::View(self.view_path(name)),
            number => Element::Primitive(primitive(number).map_or("u8", |(name, _)| name)),
        }
    }

    /// Returns the sum of the sizes of all parts of a message, if no part is a string or a
    /// sequence.
    fn fixed_bytes(&self, name: &TypeName) -> Option<u64> {
        let definition = self.set.message(name)?;
        definition.wire_fields().iter().try_fold(0u64, |sum, field| {
            self.fixed_bytes_of(&field.ty).map(|bytes| sum.saturating_add(bytes))
        })
    }

    fn fixed_bytes_of(&self, ty: &FieldType) -> Option<u64> {
        let element = match &ty.base {
            BaseType::String { .. } | BaseType::WString { .. } => return None,
            BaseType::Nested(name) => self.fixed_bytes(name)?,
            number => primitive(number)?.1,
        };
        match ty.shape {
            Shape::Single => Some(element),
            Shape::Array(len) => Some(element.saturating_mul(u64::from(len))),
            Shape::Sequence | Shape::BoundedSequence(_) => None,
        }
    }
}

enum Element {
    Primitive(&'static str),
    View(String),
}

/// Returns the Rust name and the size in bytes of a number type, or `None` for all other types.
pub(crate) fn primitive(base: &BaseType) -> Option<(&'static str, u64)> {
    Some(match base {
        BaseType::Bool => ("bool", 1),
        BaseType::Byte | BaseType::Char | BaseType::Uint8 => ("u8", 1),
        BaseType::Int8 => ("i8", 1),
        BaseType::Int16 => ("i16", 2),
        BaseType::Uint16 => ("u16", 2),
        BaseType::Int32 => ("i32", 4),
        BaseType::Uint32 => ("u32", 4),
        BaseType::Int64 => ("i64", 8),
        BaseType::Uint64 => ("u64", 8),
        BaseType::Float32 => ("f32", 4),
        BaseType::Float64 => ("f64", 8),
        BaseType::String { .. } | BaseType::WString { .. } | BaseType::Nested(_) => return None,
    })
}

/// Returns the bounds in a field's type: the bound of the sequence, and the bound of the strings in
/// the field.
pub(crate) fn bounds(ty: &FieldType) -> (Option<u32>, Option<u32>) {
    let sequence = match ty.shape {
        Shape::BoundedSequence(bound) => Some(bound),
        _ => None,
    };
    let string = match ty.base {
        BaseType::String { bound } | BaseType::WString { bound } => bound,
        _ => None,
    };
    (sequence, string)
}
