//! Reads the description of a field: the type of its elements, their number, and the functions of a
//! sequence.

use std::ffi::c_void;

use crate::distribution::Layout;
use crate::error::{CompileError, Field};
use crate::ffi::{MessageMember, MessageMembers, Sequence, field_type};
use crate::memory::Memory;
use crate::program::{Accessors, Element};

/// The type of a field's elements.
pub(crate) enum Kind<'a> {
    Primitive { width: usize, bools: bool },
    Text { bound: usize },
    WideText { bound: usize },
    Message(&'a MessageMembers),
}

/// The number of a field's elements.
pub(crate) enum Shape {
    Array(usize),
    Sequence {
        bound: usize,
    },
    /// A sequence of bytes that may be outside of the memory of the CPU.
    Buffer,
}

impl Kind<'_> {
    /// The size of an element in the struct, in bytes.
    pub(crate) fn size<M: Memory>(&self) -> usize {
        match self {
            Self::Primitive { width, .. } => *width,
            Self::Text { .. } => M::text_size(),
            Self::WideText { .. } => M::wide_text_size(),
            Self::Message(nested) => nested.size_of_,
        }
    }

    /// The size of a sequence of such elements in the struct, in bytes.
    pub(crate) fn sequence_size<M: Memory>(&self, layout: Layout) -> usize {
        match self {
            Self::Primitive { .. } => M::primitives_size(layout),
            _ => size_of::<Sequence>(),
        }
    }
}

/// The number of a field's elements.
pub(crate) fn shape(
    member: &MessageMember,
    is_buffer: bool,
    field: &Field,
) -> Result<Shape, CompileError> {
    let shape = match (member.is_array_, member.array_size_, member.is_upper_bound_) {
        (false, ..) => Shape::Array(1),
        (true, 0, false) => Shape::Sequence { bound: usize::MAX },
        (true, bound, true) => Shape::Sequence { bound },
        (true, count, false) => Shape::Array(count),
    };
    if !is_buffer {
        return Ok(shape);
    }
    match shape {
        Shape::Sequence { bound: usize::MAX } if member.type_id_ == field_type::UINT8 => {
            Ok(Shape::Buffer)
        }
        _ => Err(CompileError::OtherBuffer { field: field.clone() }),
    }
}

/// The type of a field's elements.
///
/// # Safety
/// The member belongs to introspection.
pub(crate) unsafe fn kind<'a>(
    member: &MessageMember,
    field: &Field,
) -> Result<Kind<'a>, CompileError> {
    use field_type as ty;
    let bound = match member.string_upper_bound_ {
        0 => usize::MAX,
        bound => bound,
    };
    let primitive = |width| Ok(Kind::Primitive { width, bools: false });
    let unsupported = |kind: String| Err(CompileError::Unsupported { field: field.clone(), kind });
    match member.type_id_ {
        ty::BOOLEAN => Ok(Kind::Primitive { width: 1, bools: true }),
        ty::CHAR | ty::OCTET | ty::UINT8 | ty::INT8 => primitive(1),
        ty::UINT16 | ty::INT16 => primitive(2),
        ty::FLOAT | ty::UINT32 | ty::INT32 => primitive(4),
        ty::DOUBLE | ty::UINT64 | ty::INT64 => primitive(8),
        ty::STRING => Ok(Kind::Text { bound }),
        ty::WSTRING => Ok(Kind::WideText { bound }),
        ty::MESSAGE => {
            // SAFETY: by this function's contract, the type support is null or belongs to the
            // introspection.
            let members = unsafe {
                member.members_.as_ref().and_then(|it| it.data.cast::<MessageMembers>().as_ref())
            };
            members.map(Kind::Message).ok_or_else(|| CompileError::Incomplete {
                message: field.message().to_owned(),
                what: "description of a nested message",
            })
        }
        ty::WCHAR => unsupported("wchar".to_owned()),
        ty::LONG_DOUBLE => unsupported("long double".to_owned()),
        other => unsupported(format!("number {other}")),
    }
}

/// The functions of a sequence. All of them are required, but bits need no get functions.
pub(crate) fn accessors(
    member: &MessageMember,
    element: &Element,
    field: &Field,
) -> Result<Accessors, CompileError> {
    // Stand-ins for the functions that `std::vector<bool>` cannot have; they are never called.
    unsafe extern "C" fn no_item(_: *const c_void, _: usize) -> *const c_void {
        std::ptr::null()
    }
    unsafe extern "C" fn no_item_mut(_: *mut c_void, _: usize) -> *mut c_void {
        std::ptr::null_mut()
    }
    let missing = |what| CompileError::Incomplete { message: field.message().to_owned(), what };
    let (mut get_const, mut get) = (member.get_const_function, member.get_function);
    if matches!(element, Element::Bits) {
        get_const = get_const.or(Some(no_item));
        get = get.or(Some(no_item_mut));
    }
    Ok(Accessors {
        size: member.size_function.ok_or(missing("size function of a sequence"))?,
        get_const: get_const.ok_or(missing("get function of a sequence"))?,
        get: get.ok_or(missing("get function of a sequence"))?,
        resize: member.resize_function.ok_or(missing("resize function of a sequence"))?,
    })
}

/// Refuses a field that does not lie within its message.
pub(crate) fn inside(
    field: &Field,
    start: usize,
    len: usize,
    size: usize,
) -> Result<(), CompileError> {
    let end = start.saturating_add(len);
    if end > size {
        return Err(CompileError::Outside { field: field.clone(), start, end, size });
    }
    Ok(())
}
