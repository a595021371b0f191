//! Parameters and their values.

use serde_json::{Number, Value as Json, json};

use super::{Decoder, Fields};
use crate::action::{Parameter, ParameterContent, ParameterEntry, ParameterText};
use crate::error::{LaunchError, hint, shown};
use crate::position::Position;
use crate::value::{Value, ValueType};

impl Decoder {
    /// The sources of a node's parameters.
    pub(super) fn parameters(
        &mut self,
        fields: &Fields<'_>,
    ) -> Result<Vec<Parameter>, LaunchError> {
        let mut parameters = Vec::new();
        for json in fields.list("parameters")? {
            let source = Fields::new(json, &fields.at)?;
            if source.get("file").is_some() {
                let path = self.required(&source, "file")?;
                let substitute = self.optional(&source, "substitute")?;
                parameters.push(Parameter::File { path, substitute, may_be_missing: true });
            } else {
                parameters.extend(self.entries(&source)?.into_iter().map(Parameter::Entry));
            }
        }
        Ok(parameters)
    }

    /// The extra arguments of a component.
    pub(super) fn extra_arguments(
        &mut self,
        fields: &Fields<'_>,
    ) -> Result<Vec<ParameterEntry>, LaunchError> {
        let mut entries = Vec::new();
        for json in fields.list("extra_arguments")? {
            entries.extend(self.entries(&Fields::new(json, &fields.at)?)?);
        }
        Ok(entries)
    }

    /// The entries of `map`: names and values.
    fn entries(&mut self, fields: &Fields<'_>) -> Result<Vec<ParameterEntry>, LaunchError> {
        fields.required("map")?;
        let mut entries = Vec::new();
        for json in fields.list("map")? {
            let (name, value) = fields.pair("map", json)?;
            entries.push(ParameterEntry {
                name: self.template(name, &fields.at)?,
                at: fields.at.clone(),
                content: self.content(value, &fields.at)?,
            });
        }
        Ok(entries)
    }

    /// The value of a parameter, or the parameters below its name.
    pub(crate) fn content(
        &mut self,
        json: &Json,
        at: &Position,
    ) -> Result<ParameterContent, LaunchError> {
        let fields = Fields::new(json, at)?;
        if fields.get("map").is_some() {
            return Ok(ParameterContent::Nested(self.entries(&fields)?));
        }
        let kind = fields.text("type")?.map(|name| value_type(name, &fields)).transpose()?;
        if let Some(items) = fields.get("list") {
            let Json::Array(items) = items else {
                return Err(fields.error("`list` is not a list"));
            };
            let items = items.iter().map(|item| self.item_of_list(item, &fields.at));
            return Ok(ParameterContent::List { items: items.collect::<Result<_, _>>()?, kind });
        }
        if let Some(Json::Array(items)) = fields.get("is") {
            let items = items.iter().map(|item| constant(item, &fields));
            return Ok(ParameterContent::List { items: items.collect::<Result<_, _>>()?, kind });
        }
        Ok(ParameterContent::One { value: self.one(&fields)?, kind })
    }

    fn item_of_list(&mut self, json: &Json, at: &Position) -> Result<ParameterText, LaunchError> {
        self.one(&Fields::new(json, at)?)
    }

    /// A constant, or a text with substitutions.
    fn one(&mut self, fields: &Fields<'_>) -> Result<ParameterText, LaunchError> {
        match fields.get("is") {
            Some(json) => constant(json, fields),
            None => Ok(ParameterText::Later(self.required(fields, "text")?)),
        }
    }
}

fn value_type(name: &str, fields: &Fields<'_>) -> Result<ValueType, LaunchError> {
    let known = ValueType::NAMES.iter().find(|(known, _)| *known == name);
    known.map(|(_, kind)| *kind).ok_or_else(|| {
        let names = ValueType::NAMES.iter().map(|(name, _)| *name);
        fields.error(format!("unknown type {}{}", shown(name), hint(name, names)))
    })
}

fn constant(json: &Json, fields: &Fields<'_>) -> Result<ParameterText, LaunchError> {
    let value = scalar(json).map_err(|problem| LaunchError::at(&fields.at, problem))?;
    let source = value.as_python();
    Ok(ParameterText::Known { value, source })
}

/// A value that is not a list.
fn scalar(json: &Json) -> Result<Value, String> {
    match json {
        Json::Bool(value) => return Ok(Value::Bool(*value)),
        Json::String(text) => return Ok(Value::String(text.clone())),
        Json::Number(number) => {
            if let Some(number) = number.as_i64() {
                return Ok(Value::Integer(number));
            }
            if let Some(number) = number.as_f64().filter(|_| number.is_f64()) {
                return Ok(Value::Double(number));
            }
        }
        Json::Object(object) => match object.get("float").and_then(Json::as_str) {
            Some("nan") => return Ok(Value::Double(f64::NAN)),
            Some("inf") => return Ok(Value::Double(f64::INFINITY)),
            Some("-inf") => return Ok(Value::Double(f64::NEG_INFINITY)),
            _ => {
                if let Some(digits) = object.get("int").and_then(Json::as_str) {
                    let problem = "does not fit the 64 bits of a parameter's whole number";
                    return Err(format!("{} {problem}", shown(digits)));
                }
            }
        },
        Json::Null | Json::Array(_) => {}
    }
    let problem = "is not a value of a parameter: expected a boolean, a number or a text";
    Err(format!("{} {problem}", shown(&json.to_string())))
}

/// The text of a number as Python's `str()` writes it.
pub(super) fn number_to_text(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(value) => Value::Double(value).as_python(),
        None => number.to_string(),
    }
}

/// A value as the host reads it.
pub(crate) fn value_to_json(value: &Value) -> Json {
    fn double(value: f64) -> Json {
        Number::from_f64(value)
            .map_or_else(|| json!({"float": Value::Double(value).as_python()}), Json::Number)
    }
    match value {
        Value::Bool(value) => json!(value),
        Value::Integer(value) => json!(value),
        Value::Double(value) => double(*value),
        Value::String(value) => json!(value),
        Value::Bools(values) => json!(values),
        Value::Integers(values) => json!(values),
        Value::Doubles(values) => Json::Array(values.iter().map(|value| double(*value)).collect()),
        Value::Strings(values) => json!(values),
    }
}
