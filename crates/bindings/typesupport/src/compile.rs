//! Compiles the introspection of a message into a [`Program`].

use std::sync::Arc;

use crate::description::{Kind, Shape, accessors, inside, kind, shape};
use crate::distribution::Layout;
use crate::error::{CompileError, Field};
use crate::ffi::{MessageMember, MessageMembers, text};
use crate::memory::Memory;
use crate::program::{Array, Block, Element, Op, Program, Sequence, align_up};
use crate::type_support::type_name;

/// The limit on levels of nested messages; the types of ROS 2 itself have fewer than 10.
const MAX_DEPTH: usize = 64;

/// The limit on steps for unrolling an array of messages of fixed size. The blocks of an unrolled
/// array can join the blocks around the array.
const MAX_UNROLLED: usize = 64;

/// Compiles a message.
///
/// # Safety
/// `members` and everything that it points to are introspection of a message in the language `M`
/// and in this layout.
pub(crate) unsafe fn compile<M: Memory>(
    members: &MessageMembers,
    layout: Layout,
) -> Result<Program, CompileError> {
    let mut builder = Builder::at(Position::BODY, layout);
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
    layout: Layout,
}

/// A message in the outermost struct.
struct Place {
    offset: usize,
    size: usize,
}

impl Builder {
    fn at(position: Position, layout: Layout) -> Self {
        Self { ops: Vec::new(), position, layout }
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
            let found = unsafe { self.layout.member(members.members_, index) };
            let Some((member, is_buffer)) = found else {
                let what = "name of a field";
                return Err(CompileError::Incomplete { message: name.to_string(), what });
            };
            // SAFETY: by this function's contract.
            let field = Field::new(&unsafe { text(member.name_) }, &name);
            let shape = shape(member, is_buffer, &field)?;
            let place = Place { offset, size: members.size_of_ };
            // SAFETY: by this function's contract.
            unsafe { self.member::<M>(member, shape, place, field, depth) }?;
        }
        Ok(())
    }

    /// Adds one field of a message.
    ///
    /// # Safety
    /// The contract of [`compile`].
    unsafe fn member<M: Memory>(
        &mut self,
        member: &MessageMember,
        shape: Shape,
        message: Place,
        field: Field,
        depth: usize,
    ) -> Result<(), CompileError> {
        // SAFETY: by this function's contract.
        let kind = unsafe { kind(member, &field) }?;
        let (start, size) = (member.offset_ as usize, message.size);
        let at = message.offset + start;
        let count = match shape {
            Shape::Array(count) => count,
            Shape::Sequence { bound } => {
                inside(&field, start, kind.sequence_size::<M>(self.layout), size)?;
                // SAFETY: by this function's contract.
                return unsafe { self.sequence::<M>(member, kind, bound, at, field, depth) };
            }
            Shape::Buffer => {
                inside(&field, start, M::buffer_size(self.layout), size)?;
                return self.buffer(member, at, field);
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
            match unsafe { self.element_of_messages::<M>(nested, &field, depth) }? {
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
            Kind::Primitive { width, bools } => primitive(width, bools, &field),
            Kind::Text { bound } => Element::Text { bound },
            Kind::WideText { bound } => Element::WideText { bound },
            Kind::Message(nested) => {
                // SAFETY: by this function's contract.
                unsafe { self.element_of_messages::<M>(nested, &field, depth) }?
            }
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

    /// Adds a buffer.
    fn buffer(
        &mut self,
        member: &MessageMember,
        offset: usize,
        field: Field,
    ) -> Result<(), CompileError> {
        let element = primitive(1, false, &field);
        let accessors = accessors(member, &element, &field)?;
        let (bound, least) = (usize::MAX, element.least());
        self.position = Position::UNKNOWN;
        self.ops.push(Op::Buffer(Sequence { offset, bound, element, least, accessors, field }));
        Ok(())
    }

    /// The compiled element of an array or sequence of messages. An element may begin at any offset
    /// in the body.
    ///
    /// # Safety
    /// The contract of [`compile`].
    unsafe fn element_of_messages<M: Memory>(
        &self,
        nested: &MessageMembers,
        field: &Field,
        depth: usize,
    ) -> Result<Element, CompileError> {
        let mut builder = Self::at(Position::UNKNOWN, self.layout);
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
}

/// The element of a sequence of primitives.
fn primitive(width: usize, bools: bool, field: &Field) -> Element {
    let (parts, field) = (Vec::new(), field.clone());
    let mut block = Block { offset: 0, align: width, len: 0, parts, bools: false, field };
    block.push(width, 1, bools);
    Element::Block(block)
}

#[cfg(test)]
mod tests {
    use feros_typesupport_tables::{FORMS, Form, Language, Type, type_support_in};

    use super::*;
    use crate::memory::{C, Cpp};

    /// Describes the steps of a type; a block is described by its length.
    fn steps(form: Form, language: Language, ty: Type) -> Vec<String> {
        let layout = match form {
            Form::Kilted => Layout::JAZZY_AND_KILTED,
            Form::Lyrical => Layout::LYRICAL,
        };
        let support =
            type_support_in(form, language, ty).cast::<crate::ffi::rosidl_message_type_support_t>();
        // SAFETY: the tables live as long as the process.
        let members = unsafe { &*(*support).data.cast::<MessageMembers>() };
        // SAFETY: the members belong to that language, and have that layout.
        let program = unsafe {
            match language {
                Language::C => compile::<C>(members, layout),
                Language::Cpp => compile::<Cpp>(members, layout),
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
            Op::Buffer(_) => "buffer".to_owned(),
        };
        program.ops.iter().map(step).collect()
    }

    #[test]
    fn bytes_alike_in_struct_and_body_are_one_block() {
        for form in FORMS {
            for (language, bits) in [(Language::C, "[1]"), (Language::Cpp, "[bits]")] {
                assert_eq!(steps(form, language, Type::Point), ["16"]);
                // The struct and the body have different padding.
                assert_eq!(steps(form, language, Type::Padded), ["1", "5", "10"]);
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
                assert_eq!(steps(form, language, Type::Sample), expected);
            }
        }
    }

    #[test]
    fn only_lyrical_has_buffers() {
        for (form, bytes) in [(Form::Kilted, "[1]"), (Form::Lyrical, "buffer")] {
            for (language, bits) in [(Language::C, "[1]"), (Language::Cpp, "[bits]")] {
                let fields = format!(
                    "1, {bytes}, 8, [1], [8], {bits}, 1 text, 4, {bytes}, 2 message, [message], 8"
                );
                assert_eq!(steps(form, language, Type::Blob).join(", "), fields);
            }
        }
    }

    #[test]
    fn threads_may_share_a_program() {
        fn shared<T: Send + Sync>() {}
        shared::<crate::MessageProgram>();
        shared::<crate::ServiceProgram>();
    }
}
