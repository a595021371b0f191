//! Parameters as elements.

use super::element::Element;
use super::refused;
use super::text::{is_word, literal, text};
use crate::action::{Parameter, ParameterContent, ParameterEntry, ParameterText};
use crate::error::LaunchError;
use crate::position::Position;
use crate::value::{Value, ValueType};

/// The separators of lists. A list gets the first separator that no item contains.
const SEPARATORS: [&str; 4] = [";", ",", "|", "~"];

pub(super) fn parameter(parameter: &Parameter) -> Result<Element, LaunchError> {
    match parameter {
        Parameter::Entry(entry) => self::entry("param", entry),
        Parameter::File { path, substitute, .. } => {
            let mut element = Element::new("param").with("from", text(path)?);
            element.set("allow_substs", super::text::flag(substitute.as_ref(), false)?);
            Ok(element)
        }
    }
}

pub(super) fn entry(tag: &'static str, entry: &ParameterEntry) -> Result<Element, LaunchError> {
    let mut element = Element::new(tag).with("name", text(&entry.name)?);
    let (value, kind) = match &entry.content {
        ParameterContent::Nested(entries) => {
            let nested = entries.iter().map(|nested| self::entry("param", nested));
            return Ok(element.with_children(nested.collect::<Result<Vec<_>, _>>()?));
        }
        ParameterContent::One { value, kind } => one(value, *kind, &entry.at)?,
        ParameterContent::List { items, kind } => {
            let (value, separator, kind) = list(items, *kind, &entry.at)?;
            element.set("value", Some(value));
            element.set("value-sep", separator.map(str::to_owned));
            element.set("type", kind.map(|kind| kind.to_string()));
            return Ok(element);
        }
    };
    element.set("value", Some(value));
    element.set("type", kind.map(|kind| kind.to_string()));
    Ok(element)
}

/// The text of a value, and the type that it needs.
fn one(
    value: &ParameterText,
    kind: Option<ValueType>,
    at: &Position,
) -> Result<(String, Option<ValueType>), LaunchError> {
    let template = match value {
        ParameterText::Known { value, source } => return constant(value.clone(), source, kind, at),
        ParameterText::Later(template) => template,
    };
    if let Some(source) = template.as_text() {
        let value = Value::from_yaml(source).map_err(|problem| LaunchError::at(at, problem))?;
        return constant(value, source, kind, at);
    }
    let written = text(template)?;
    let stays = match Value::from_yaml(&written) {
        Ok(Value::String(read)) => read == written,
        Ok(Value::Strings(_)) | Err(_) => true,
        Ok(_) => false,
    };
    if stays || matches!(kind, Some(ValueType::String | ValueType::Strings)) {
        return Ok((written, kind));
    }
    let cure = "YAML would change its text; write `ParameterValue(..., value_type=str)`";
    Err(refused(at, "the value of the parameter", cure))
}

fn constant(
    value: Value,
    source: &str,
    kind: Option<ValueType>,
    at: &Position,
) -> Result<(String, Option<ValueType>), LaunchError> {
    let value = match kind {
        Some(kind) => {
            value.coerced(kind, source).map_err(|problem| LaunchError::at(at, problem))?
        }
        None => value,
    };
    let written = match &value {
        Value::String(text) if is_word(text) => text.clone(),
        Value::String(text) => return Ok((literal(text, None), Some(ValueType::String))),
        other => literal(&other.to_string(), None),
    };
    let is_read_back = Value::from_yaml(&written).is_ok_and(|read| read == value);
    Ok((written, (!is_read_back).then(|| value.kind())))
}

type ListText = (String, Option<&'static str>, Option<ValueType>);

/// The text of a list, its separator, and the type that it needs.
fn list(
    items: &[ParameterText],
    kind: Option<ValueType>,
    at: &Position,
) -> Result<ListText, LaunchError> {
    if items.is_empty() {
        return Ok(("[]".to_owned(), None, kind));
    }
    let of_item = match kind {
        Some(ValueType::Bools) => Some(ValueType::Bool),
        Some(ValueType::Integers) => Some(ValueType::Integer),
        Some(ValueType::Doubles) => Some(ValueType::Double),
        Some(ValueType::Strings) => Some(ValueType::String),
        other => other,
    };
    let (mut texts, mut has_text) = (Vec::new(), false);
    for item in items {
        let (text, kind) = one(item, of_item, at)?;
        has_text |= kind == Some(ValueType::String);
        texts.push(text);
    }
    let is_later = |item: &ParameterText| matches!(item, ParameterText::Later(template) if template.as_text().is_none());
    let of_item = match (kind, has_text) {
        (None, true) if items.iter().any(is_later) => {
            let cure = "write `ParameterValue([...], value_type=List[str])`";
            return Err(refused(at, "the list of texts and substitutions", cure));
        }
        (None, true) => Some(ValueType::Strings),
        (kind, _) => kind,
    };
    let fits = |separator: &&str| texts.iter().all(|text| !text.contains(*separator));
    let Some(separator) = SEPARATORS.into_iter().find(fits) else {
        let cure = "its items contain each of the possible separators; write a parameter file";
        return Err(refused(at, "the list", cure));
    };
    Ok((texts.join(separator), Some(separator), of_item))
}
