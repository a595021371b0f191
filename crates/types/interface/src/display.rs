//! Prints definitions as text that parses to the same tree.

use std::fmt::{self, Display, Formatter, Write as _};

use crate::tree::{
    ActionDefinition, BaseType, Constant, Field, FieldType, Interface, Literal, MessageDefinition,
    ServiceDefinition, Shape,
};

impl BaseType {
    /// The minimum and maximum value of an integer type, or `None` for other types. `byte` and
    /// `char` count as integers.
    pub fn integer_range(&self) -> Option<(i128, i128)> {
        Some(match self {
            BaseType::Byte | BaseType::Char | BaseType::Uint8 => (0, u8::MAX.into()),
            BaseType::Int8 => (i8::MIN.into(), i8::MAX.into()),
            BaseType::Int16 => (i16::MIN.into(), i16::MAX.into()),
            BaseType::Uint16 => (0, u16::MAX.into()),
            BaseType::Int32 => (i32::MIN.into(), i32::MAX.into()),
            BaseType::Uint32 => (0, u32::MAX.into()),
            BaseType::Int64 => (i64::MIN.into(), i64::MAX.into()),
            BaseType::Uint64 => (0, u64::MAX.into()),
            _ => return None,
        })
    }

    /// The keyword of a built-in type, without bounds, or `None` for a message type.
    pub fn keyword(&self) -> Option<&'static str> {
        Some(match self {
            BaseType::Bool => "bool",
            BaseType::Byte => "byte",
            BaseType::Char => "char",
            BaseType::Int8 => "int8",
            BaseType::Uint8 => "uint8",
            BaseType::Int16 => "int16",
            BaseType::Uint16 => "uint16",
            BaseType::Int32 => "int32",
            BaseType::Uint32 => "uint32",
            BaseType::Int64 => "int64",
            BaseType::Uint64 => "uint64",
            BaseType::Float32 => "float32",
            BaseType::Float64 => "float64",
            BaseType::String { .. } => "string",
            BaseType::WString { .. } => "wstring",
            BaseType::Nested(_) => return None,
        })
    }

    /// The built-in type with this keyword, without bounds.
    pub fn of_keyword(keyword: &str) -> Option<Self> {
        use BaseType::{
            Bool, Byte, Char, Float32, Float64, Int8, Int16, Int32, Int64, String, Uint8, Uint16,
            Uint32, Uint64, WString,
        };
        let numbers = [
            Bool, Byte, Char, Int8, Uint8, Int16, Uint16, Int32, Uint32, Int64, Uint64, Float32,
            Float64,
        ];
        let texts = [String { bound: None }, WString { bound: None }];
        numbers.into_iter().chain(texts).find(|ty| ty.keyword() == Some(keyword))
    }
}

impl Display for BaseType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            BaseType::Nested(name) => write!(f, "{}/{}", name.package, name.name),
            BaseType::String { bound: Some(bound) } => write!(f, "string<={bound}"),
            BaseType::WString { bound: Some(bound) } => write!(f, "wstring<={bound}"),
            builtin => f.write_str(builtin.keyword().unwrap_or_default()),
        }
    }
}

impl Display for FieldType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.shape {
            Shape::Single => write!(f, "{}", self.base),
            Shape::Array(size) => write!(f, "{}[{size}]", self.base),
            Shape::BoundedSequence(bound) => write!(f, "{}[<={bound}]", self.base),
            Shape::Sequence => write!(f, "{}[]", self.base),
        }
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Bool(value) => write!(f, "{value}"),
            Literal::Integer(value) => write!(f, "{value}"),
            Literal::Float(value) if value.is_nan() => f.write_str("nan"),
            Literal::Float(value) => write!(f, "{value:?}"),
            Literal::String(value) => write_escaped(f, value),
            Literal::Array(elements) => {
                f.write_char('[')?;
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    match element {
                        // Inside an array, only the quote is escaped.
                        Literal::String(text) => write!(f, "\"{}\"", text.replace('"', "\\\""))?,
                        other => write!(f, "{other}")?,
                    }
                }
                f.write_char(']')
            }
        }
    }
}

/// Escapes a string twice, because the parser resolves escapes twice. Also escapes `#` and `=`,
/// which would change the meaning of the line.
fn write_escaped(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\\\\\")?,
            '\n' => f.write_str("\\\\n")?,
            '\t' => f.write_str("\\\\t")?,
            '#' => f.write_str("\\\\x23")?,
            '=' => f.write_str("\\\\x3d")?,
            control if control.is_control() => write!(f, "\\\\u{:04x}", u32::from(control))?,
            other => f.write_char(other)?,
        }
    }
    f.write_char('"')
}

fn write_comment(f: &mut Formatter<'_>, lines: &[String]) -> fmt::Result {
    for line in lines {
        if line.is_empty() { writeln!(f, "#")? } else { writeln!(f, "# {line}")? }
    }
    Ok(())
}

impl Display for Field {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ty, self.name)?;
        match &self.default {
            Some(default) => write!(f, " {default}"),
            None => Ok(()),
        }
    }
}

impl Display for Constant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}={}", self.ty, self.name, self.value)
    }
}

/// Prints the definition with its comments. The constants are printed first.
impl Display for MessageDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_comment(f, &self.comment)?;
        let has_own_comment =
            |lines: Option<&Vec<String>>| lines.is_some_and(|lines| !lines.is_empty());
        let first =
            self.constants.first().map(|c| &c.comment).or(self.fields.first().map(|f| &f.comment));
        let first = first.or(Some(&self.closing_comment));
        // An empty line separates the comment at the start of the file from the comment of the
        // first element.
        if !self.comment.is_empty() || has_own_comment(first) {
            writeln!(f)?;
        }
        for constant in &self.constants {
            write_comment(f, &constant.comment)?;
            writeln!(f, "{constant}")?;
        }
        if !self.constants.is_empty() && !self.fields.is_empty() {
            writeln!(f)?;
        }
        for field in &self.fields {
            write_comment(f, &field.comment)?;
            writeln!(f, "{field}")?;
        }
        write_comment(f, &self.closing_comment)
    }
}

impl Display for ServiceDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}---\n{}", self.request, self.response)
    }
}

impl Display for ActionDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}---\n{}---\n{}", self.goal, self.result, self.feedback)
    }
}

impl Display for Interface {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Interface::Message(message) => message.fmt(f),
            Interface::Service(service) => service.fmt(f),
            Interface::Action(action) => action.fmt(f),
        }
    }
}
