//! Compiles the introspection of a message into a [`Program`].

use std::ffi::c_void;
use std::sync::Arc;

use crate::error::{CompileError, Field};
use crate::ffi::{MessageMember, MessageMembers, field_type, text};
use crate::memory::Memory;
use crate::program::{Accessors, Array, Block, Element, Op, Program, Sequence, align_up};
use crate::type_support::type_name;

/// The limit on levels of nested messages; the types of ROS 2 itself have fewer than 10.
const MAX_DEPTH: usize = 64;

/// The limit on steps for unrolling an array of messages of fixed size. The blocks of an unrolled
/// array can join the blocks around the array.
const MAX_UNROLLED: usize = 64;

/// Compiles a message.
///
/// # Safety
/// `members` and everything that it points to are introspection of a message in the language `M`.
pub(crate) unsafe fn compile<M: Memory>(members: &MessageMembers) -> Result<Program, CompileError> {
    let mut builder = Builder::at(Position::BODY);
    // SAFETY: by this function's contract.
    unsafe { builder.message::<M>(members, 0, 0) }?;
    Ok(builder.finish())
}

/// The compile-time knowledge about an offset in the body: its remainder modulo a power of two.
#[derive(Debug, Clone, Copy)]
struct Position {
    modulus: usize,
    remainder: usize,
}

impl Position {
    /// The start of a body.
    const BODY: Self = Self { modulus: 8, remainder: 0 };
    /// An offset about which nothing is known.
    const UNKNOWN: Self = Self { modulus: 1, remainder: 0 };

    fn multiple_of(align: usize) -> Self {
        Self { modulus: align, remainder: 0 }
    }

    fn is_aligned(self, align: usize) -> bool {
        self.modulus >= align && self.remainder.is_multiple_of(align)
    }

    fn aligned(self, align: usize) -> Self {
        if self.modulus < align {
            return Self::multiple_of(align);
        }
        Self { remainder: align_up(self.remainder, align) % self.modulus, ..self }
    }

    fn after(self, len: usize) -> Self {
        Self { remainder: (self.remainder + len) % self.modulus, ..self }
    }
}

struct Builder {
    ops: Vec<Op>,
    position: Position,
}

/// The type of a field's elements.
enum Kind<'a> {
    Primitive { width: usize, bools: bool },
    Text { bound: usize },
    WideText { bound: usize },
    Message(&'a MessageMembers),
}

/// The number of a field's elements.
enum Shape {
    Array(usize),
    Sequence { bound: usize },
}

impl Builder {
    fn at(position: Position) -> Self {
        Self { ops: Vec::new(), position }
    }

    fn finish(self) -> Program {
        Program { ops: self.ops.into() }
    }

    /// Adds the fields of a message at `offset`.
    ///
    /// # Safety
    /// The contract of [`compile`].
    unsafe fn message<M: Memory>(
        &mut self,
        members: &MessageMembers,
        offset: usize,
        depth: usize,
    ) -> Result<(), CompileError> {
        // SAFETY: by this function's contract.
        let name: Arc<str> =
            unsafe { type_name(members.message_namespace_, members.message_name_) }.into();
        if depth > MAX_DEPTH {
            return Err(CompileError::TooDeep { message: name.to_string(), limit: MAX_DEPTH });
        }
        if members.member_count_ > 0 && members.members_.is_null() {
            return Err(CompileError::Incomplete { message: name.to_string(), what: "fields" });
        }
        for index in 0..members.member_count_ as usize {
            // SAFETY: by this function's contract, there are `member_count_` fields.
            let member = unsafe { &*members.members_.add(index) };
            // SAFETY: by this function's contract.
            let field = Field::new(&unsafe { text(member.name_) }, &name);
            // SAFETY: by this function's contract.
            unsafe { self.member::<M>(member, members.size_of_, offset, field, depth) }?;
        }
        Ok(())
    }

    /// Adds one field of a message that is at `offset` and has `size` bytes.
    ///
    /// # Safety
    /// The contract of [`compile`].
    unsafe fn member<M: Memory>(
        &mut self,
        member: &MessageMember,
        size: usize,
        offset: usize,
        field: Field,
        depth: usize,
    ) -> Result<(), CompileError> {
        // SAFETY: by this function's contract.
        let kind = unsafe { kind(member, &field) }?;
        let shape = match (member.is_array_, member.array_size_, member.is_upper_bound_) {
            (false, ..) => Shape::Array(1),
            (true, 0, false) => Shape::Sequence { bound: usize::MAX },
            (true, bound, true) => Shape::Sequence { bound },
            (true, count, false) => Shape::Array(count),
        };
        let start = member.offset_ as usize;
        let at = offset + start;
        let count = match shape {
            Shape::Array(count) => count,
            Shape::Sequence { bound } => {
                inside(&field, start, size_of::<[usize; 3]>(), size)?;
                // SAFETY: by this function's contract.
                return unsafe { self.sequence::<M>(member, kind, bound, at, field, depth) };
            }
        };
        inside(&field, start, count.saturating_mul(kind.size::<M>()), size)?;
        match kind {
            Kind::Primitive { width, bools } => self.primitives(at, width, count, bools, field),
            Kind::Text { bound } => {
                self.array(at, count, Element::Text { bound }, field);
                self.position = Position::UNKNOWN;
            }
            Kind::WideText { bound } => {
                self.array(at, count, Element::WideText { bound }, field);
                self.position = Position::multiple_of(4);
            }
            Kind::Message(nested) => {
                // SAFETY: by this function's contract.
                unsafe { self.messages::<M>(nested, at, count, field, depth) }?;
            }
        }
        Ok(())
    }

    /// Adds adjacent primitives. They join the last block if they follow it directly in the struct
    /// and in the body.
    fn primitives(&mut self, offset: usize, width: usize, count: usize, bools: bool, field: Field) {
        let joins = self.position.is_aligned(width);
        match self.ops.last_mut() {
            Some(Op::Block(block)) if joins && block.offset + block.len == offset => {
                block.push(width, count, bools);
            }
            _ => {
                let parts = Vec::new();
                let mut block = Block { offset, align: width, len: 0, parts, bools: false, field };
                block.push(width, count, bools);
                self.ops.push(Op::Block(block));
                self.position = self.position.aligned(width);
            }
        }
        self.position = self.position.after(width * count);
    }

    fn array(&mut self, offset: usize, count: usize, element: Element, field: Field) {
        self.ops.push(Op::Array(Array { offset, count, element, field }));
    }

    /// Adds adjacent nested messages.
    ///
    /// # Safety
    /// The contract of [`compile`].
    unsafe fn messages<M: Memory>(
        &mut self,
        nested: &MessageMembers,
        offset: usize,
        count: usize,
        field: Field,
        depth: usize,
    ) -> Result<(), CompileError> {
        if count > 1 {
            // SAFETY: by this function's contract.
            match unsafe { element_of_messages::<M>(nested, &field, depth) }? {
                Element::Block(block) if block.only_width().is_some() => {
                    let width = block.align;
                    self.primitives(offset, width, count * (block.len / width), false, field);
                    return Ok(());
                }
                Element::Message { program, .. }
                    if program.is_fixed() && count * program.ops.len() <= MAX_UNROLLED => {}
                element => {
                    self.position = match &element {
                        Element::Block(block) => Position::multiple_of(block.align),
                        _ => Position::UNKNOWN,
                    };
                    self.array(offset, count, element, field);
                    return Ok(());
                }
            }
        }
        for index in 0..count {
            // SAFETY: by this function's contract.
            unsafe { self.message::<M>(nested, offset + index * nested.size_of_, depth + 1) }?;
        }
        Ok(())
    }

    /// Adds a sequence.
    ///
    /// # Safety
    /// The contract of [`compile`].
    unsafe fn sequence<M: Memory>(
        &mut self,
        member: &MessageMember,
        kind: Kind<'_>,
        bound: usize,
        offset: usize,
        field: Field,
        depth: usize,
    ) -> Result<(), CompileError> {
        let element = match kind {
            Kind::Primitive { bools: true, .. } if M::BITS => Element::Bits,
            Kind::Primitive { width, bools } => {
                let parts = Vec::new();
                let field = field.clone();
                let mut block =
                    Block { offset: 0, align: width, len: 0, parts, bools: false, field };
                block.push(width, 1, bools);
                Element::Block(block)
            }
            Kind::Text { bound } => Element::Text { bound },
            Kind::WideText { bound } => Element::WideText { bound },
            // SAFETY: by this function's contract.
            Kind::Message(nested) => unsafe { element_of_messages::<M>(nested, &field, depth) }?,
        };
        let accessors = accessors(member, &element, &field)?;
        self.position = match &element {
            // An empty sequence has no element that would be aligned, so only the alignment of the
            // count is certain.
            Element::Block(block) => Position::multiple_of(block.align.min(4)),
            Element::WideText { .. } => Position::multiple_of(4),
            _ => Position::UNKNOWN,
        };
        let least = element.least();
        self.ops.push(Op::Sequence(Sequence { offset, bound, element, least, accessors, field }));
        Ok(())
    }
}

/// The compiled element of an array or sequence of messages. An element may begin at any offset in
/// the body.
///
/// # Safety
/// The contract of [`compile`].
unsafe fn element_of_messages<M: Memory>(
    nested: &MessageMembers,
    field: &Field,
    depth: usize,
) -> Result<Element, CompileError> {
    let mut builder = Builder::at(Position::UNKNOWN);
    // SAFETY: by this function's contract.
    unsafe { builder.message::<M>(nested, 0, depth + 1) }?;
    let stride = nested.size_of_;
    if let [Op::Block(block)] = &builder.ops[..]
        && block.offset == 0
        && block.len == stride
        && stride.is_multiple_of(block.align)
        && let Some(Op::Block(mut block)) = builder.ops.pop()
    {
        block.field = field.clone();
        return Ok(Element::Block(block));
    }
    Ok(Element::Message { stride, program: builder.finish() })
}

impl Kind<'_> {
    /// The size of an element in the struct, in bytes.
    fn size<M: Memory>(&self) -> usize {
        match self {
            Self::Primitive { width, .. } => *width,
            Self::Text { .. } => M::text_size(),
            Self::WideText { .. } => M::wide_text_size(),
            Self::Message(nested) => nested.size_of_,
        }
    }
}

/// The type of a field's elements.
///
/// # Safety
/// The contract of [`compile`].
unsafe fn kind<'a>(member: &MessageMember, field: &Field) -> Result<Kind<'a>, CompileError> {
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
fn accessors(
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
fn inside(field: &Field, start: usize, len: usize, size: usize) -> Result<(), CompileError> {
    let end = start.saturating_add(len);
    if end > size {
        return Err(CompileError::Outside { field: field.clone(), start, end, size });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use feros_typesupport_tables::{Language, Type, type_support};

    use super::*;
    use crate::memory::{C, Cpp};

    /// Describes the steps of a type; a block is described by its length.
    fn steps(language: Language, ty: Type) -> Vec<String> {
        let support =
            type_support(language, ty).cast::<crate::ffi::rosidl_message_type_support_t>();
        // SAFETY: the tables live as long as the process.
        let members = unsafe { &*(*support).data.cast::<MessageMembers>() };
        // SAFETY: the members belong to that language.
        let program = unsafe {
            match language {
                Language::C => compile::<C>(members),
                Language::Cpp => compile::<Cpp>(members),
            }
        }
        .unwrap();
        let element = |element: &Element| match element {
            Element::Block(block) => block.len.to_string(),
            Element::Text { .. } => "text".to_owned(),
            Element::WideText { .. } => "wide text".to_owned(),
            Element::Message { .. } => "message".to_owned(),
            Element::Bits => "bits".to_owned(),
        };
        let step = |op: &Op| match op {
            Op::Block(block) => block.len.to_string(),
            Op::Array(array) => format!("{} {}", array.count, element(&array.element)),
            Op::Sequence(sequence) => format!("[{}]", element(&sequence.element)),
        };
        program.ops.iter().map(step).collect()
    }

    #[test]
    fn bytes_alike_in_struct_and_body_are_one_block() {
        for (language, bits) in [(Language::C, "[1]"), (Language::Cpp, "[bits]")] {
            assert_eq!(steps(language, Type::Point), ["16"]);
            // The struct and the body have different padding.
            assert_eq!(steps(language, Type::Padded), ["1", "5", "10"]);
            let expected = [
                "24",
                "1 text",
                "2",
                "1 text",
                "1 wide text", // flag to big, ... wide_text
                "26",
                "2 text", // numbers with flags, texts
                "1",
                "5",
                "10",
                "1",
                "5",
                "10", // padded
                "32",
                "2 message", // points, inners
                "[4]",
                bits,
                "[1]",
                "[text]",
                "[wide text]",
                "[16]",
                "[message]",
                "[message]",
                "1",
                "16", // empty, point
            ];
            assert_eq!(steps(language, Type::Sample), expected);
        }
    }

    #[test]
    fn threads_may_share_a_program() {
        fn shared<T: Send + Sync>() {}
        shared::<crate::MessageProgram>();
        shared::<crate::ServiceProgram>();
    }
}
