//! Builds one message line by line: its fields and constants, and the comments that belong to them.

use std::collections::HashMap;

use super::error::{Located, ParseErrorKind, at};
use super::literal::{constant_value, default_value};
use crate::name::{TypeName, is_constant_name, is_field_name};
use crate::tree::{BaseType, Constant, Field, FieldType, MessageDefinition, Shape};

pub(super) struct MessageParser {
    message: MessageDefinition,
    /// The comment lines that belong to the next field or constant.
    pending: Vec<String>,
    last: Option<Last>,
    in_head: bool,
    field_lines: HashMap<String, u32>,
    constant_lines: HashMap<String, u32>,
}

/// The kind of the last element. An indented comment continues the comment of that element.
#[derive(Clone, Copy)]
enum Last {
    Field,
    Constant,
}

impl MessageParser {
    pub(super) fn new(name: TypeName) -> Self {
        Self {
            message: MessageDefinition::new(name, Vec::new()),
            pending: Vec::new(),
            last: None,
            in_head: true,
            field_lines: HashMap::new(),
            constant_lines: HashMap::new(),
        }
    }

    /// Processes one line, without its line break and without tabs.
    pub(super) fn line(&mut self, number: u32, line: &str) -> Result<(), Located> {
        let line = line.trim_end();
        // The comment at the start of the file ends at the first line that is not a comment.
        self.in_head &= line.starts_with('#');
        if self.in_head {
            self.message.comment.push(comment_text(line));
            return Ok(());
        }
        let (content, comment) = match line.split_once('#') {
            Some((content, comment)) => (content, Some(comment_text(comment))),
            None => (line, None),
        };
        let declaration = content.trim_end();
        if let Some(comment) = comment {
            if declaration.is_empty() && !content.is_empty() {
                self.continue_comment(comment);
                return Ok(());
            }
            self.pending.push(comment);
        }
        if declaration.is_empty() {
            return Ok(());
        }
        self.declaration(number, declaration)
    }

    pub(super) fn finish(mut self) -> MessageDefinition {
        self.message.closing_comment = self.pending;
        trim_blank_lines(&mut self.message.closing_comment);
        trim_blank_lines(&mut self.message.comment);
        for field in &mut self.message.fields {
            trim_blank_lines(&mut field.comment);
        }
        for constant in &mut self.message.constants {
            trim_blank_lines(&mut constant.comment);
        }
        self.message
    }

    fn continue_comment(&mut self, comment: String) {
        let lines = match self.last {
            Some(Last::Field) => self.message.fields.last_mut().map(|f| &mut f.comment),
            Some(Last::Constant) => self.message.constants.last_mut().map(|c| &mut c.comment),
            None => Some(&mut self.pending),
        };
        if let Some(lines) = lines {
            lines.push(comment);
        }
    }

    fn declaration(&mut self, number: u32, line: &str) -> Result<(), Located> {
        if line.starts_with(char::is_whitespace) {
            return Err(at(number, 1, ParseErrorKind::Indented));
        }
        let column_of = |part: &str| {
            let offset = part.as_ptr().addr() - line.as_ptr().addr();
            u32::try_from(line[..offset].chars().count()).unwrap_or(u32::MAX).saturating_add(1)
        };
        let (ty_text, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim_start();
        if rest.is_empty() {
            return Err(at(number, 1, ParseErrorKind::MissingName { ty: ty_text.to_owned() }));
        }
        if let Some((name, value)) = rest.split_once('=') {
            let (name, value) = (name.trim_end(), value.trim_start());
            let ty = constant_type(ty_text).map_err(|kind| at(number, 1, kind))?;
            if !is_constant_name(name) {
                let kind = ParseErrorKind::ConstantName { name: name.to_owned() };
                return Err(at(number, column_of(rest), kind));
            }
            unique(&mut self.constant_lines, name, number)
                .map_err(|kind| at(number, column_of(rest), kind))?;
            let value =
                constant_value(&ty, value).map_err(|kind| at(number, column_of(value), kind))?;
            let comment = std::mem::take(&mut self.pending);
            self.message.constants.push(Constant { name: name.to_owned(), ty, value, comment });
            self.last = Some(Last::Constant);
        } else {
            let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
            let value = value.trim_start();
            let ty = field_type(ty_text, &self.message.name.package)
                .map_err(|kind| at(number, 1, kind))?;
            if !is_field_name(name) {
                let kind = ParseErrorKind::FieldName { name: name.to_owned() };
                return Err(at(number, column_of(rest), kind));
            }
            unique(&mut self.field_lines, name, number)
                .map_err(|kind| at(number, column_of(rest), kind))?;
            let default = if value.is_empty() {
                None
            } else {
                Some(
                    default_value(name, &ty, value)
                        .map_err(|kind| at(number, column_of(value), kind))?,
                )
            };
            let comment = std::mem::take(&mut self.pending);
            self.message.fields.push(Field { name: name.to_owned(), ty, default, comment });
            self.last = Some(Last::Field);
        }
        Ok(())
    }
}

fn unique(lines: &mut HashMap<String, u32>, name: &str, number: u32) -> Result<(), ParseErrorKind> {
    match lines.insert(name.to_owned(), number) {
        None => Ok(()),
        Some(first_line) => Err(ParseErrorKind::Duplicate { name: name.to_owned(), first_line }),
    }
}

fn comment_text(line: &str) -> String {
    let text = line.trim_start_matches('#');
    text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned()
}

fn trim_blank_lines(lines: &mut Vec<String>) {
    let is_text = |line: &String| !line.is_empty();
    let end = lines.iter().rposition(is_text).map_or(0, |last| last + 1);
    lines.truncate(end);
    let start = lines.iter().position(is_text).unwrap_or(0);
    lines.drain(..start);
}

fn constant_type(text: &str) -> Result<BaseType, ParseErrorKind> {
    BaseType::of_keyword(text).ok_or_else(|| ParseErrorKind::ConstantType { ty: text.to_owned() })
}

fn field_type(text: &str, package: &str) -> Result<FieldType, ParseErrorKind> {
    let Some(open) = text.strip_suffix(']') else {
        return Ok(FieldType::single(base_type(text, package)?));
    };
    let Some((element, size_text)) = open.rsplit_once('[') else {
        return Err(ParseErrorKind::Bracket { ty: text.to_owned() });
    };
    let shape = if size_text.is_empty() {
        Shape::Sequence
    } else if let Some(bound) = size_text.strip_prefix("<=") {
        Shape::BoundedSequence(size(bound, text)?)
    } else {
        Shape::Array(size(size_text, text)?)
    };
    Ok(FieldType { base: base_type(element, package)?, shape })
}

fn base_type(text: &str, package: &str) -> Result<BaseType, ParseErrorKind> {
    if let Some(base) = BaseType::of_keyword(text) {
        return Ok(base);
    }
    if let Some(bound) = text.strip_prefix("string<=") {
        return Ok(BaseType::String { bound: Some(size(bound, text)?) });
    }
    if let Some(bound) = text.strip_prefix("wstring<=") {
        return Ok(BaseType::WString { bound: Some(size(bound, text)?) });
    }
    let (package, name) = text.split_once('/').unwrap_or((package, text));
    // A message with a name such as `Request` cannot clash with a part of a service, because fields
    // cannot have parts of services as types.
    TypeName::message(package, name)
        .to_string()
        .parse()
        .map(BaseType::Nested)
        .map_err(|_| ParseErrorKind::UnknownType { ty: text.to_owned() })
}

fn size(given: &str, ty: &str) -> Result<u32, ParseErrorKind> {
    let is_number = !given.is_empty() && given.bytes().all(|b| b.is_ascii_digit());
    match given.parse() {
        Ok(size) if is_number && size > 0 => Ok(size),
        _ => Err(ParseErrorKind::Size { ty: ty.to_owned(), given: given.to_owned() }),
    }
}
