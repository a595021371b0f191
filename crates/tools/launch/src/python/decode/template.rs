//! Templates and conditions.

use serde_json::Value as Json;

use super::value::number_to_text;
use super::{Decoder, Fields};
use crate::action::Condition;
use crate::error::{LaunchError, shown};
use crate::position::Position;
use crate::substitution::{Call, Kind, Object, Part, Template};

impl Decoder {
    /// A text, a number, a substitution, or a list of parts.
    pub(crate) fn template(&mut self, json: &Json, at: &Position) -> Result<Template, LaunchError> {
        match json {
            Json::String(text) => Ok(Template::of_text(text, at)),
            Json::Bool(true) => Ok(Template::of_text("True", at)),
            Json::Bool(false) => Ok(Template::of_text("False", at)),
            Json::Number(number) => Ok(Template::of_text(&number_to_text(number), at)),
            Json::Object(_) => {
                let part = self.part(json, at)?;
                Ok(Template::of_parts(vec![part], at))
            }
            Json::Array(parts) => {
                let parts = parts.iter().map(|part| self.part(part, at));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                let parts = parts
                    .into_iter()
                    .filter(|part| !matches!(part, Part::Text(text) if text.is_empty()));
                Ok(Template::of_parts(joined(parts), at))
            }
            Json::Null => Err(LaunchError::at(at, "null from Python: expected a text")),
        }
    }

    fn part(&mut self, json: &Json, at: &Position) -> Result<Part, LaunchError> {
        if let Json::String(text) = json {
            return Ok(Part::Text(text.clone()));
        }
        let fields = Fields::new(json, at)?;
        let object = fields.id("py")?;
        let Some(name) = fields.text("s")? else {
            let id = fields.required_id("py")?;
            self.reads_more = true;
            let shown = fields.text("describe")?.unwrap_or("a substitution of Python").to_owned();
            return Ok(Part::Object(Object { id, at: fields.at, shown }));
        };
        let arguments = self.templates(&fields, "a")?;
        let call = Call::of_data(name, arguments, object, &fields.at);
        let call = call.map_err(|problem| LaunchError::at(&fields.at, problem))?;
        if call.kind == Kind::Var
            && let Some(variable) = call.arguments.first()
        {
            match variable.as_text() {
                Some(name) => {
                    self.variables.insert(name.to_owned());
                }
                None => self.reads_more = true,
            }
        }
        Ok(Part::Call(call))
    }

    /// The condition of an action or a component.
    pub(super) fn condition(
        &mut self,
        fields: &Fields<'_>,
    ) -> Result<Option<Condition>, LaunchError> {
        fields.get("if").map(|json| self.one_condition(json, &fields.at)).transpose()
    }

    pub(crate) fn one_condition(
        &mut self,
        json: &Json,
        at: &Position,
    ) -> Result<Condition, LaunchError> {
        let fields = Fields::new(json, at)?;
        let negated = fields.truth("negated")?;
        if fields.get("truth").is_some() {
            let value = self.required(&fields, "truth")?;
            return Ok(Condition::Truth { value, negated });
        }
        if let Some(name) = fields.text("configuration")? {
            self.variables.insert(name.to_owned());
            let expected = self.optional(&fields, "expected")?;
            return Ok(Condition::Equals { name: name.to_owned(), expected, negated });
        }
        let Some(id) = fields.id("py")? else {
            let problem = format!("{} from Python is no condition", shown(&json.to_string()));
            return Err(LaunchError::at(at, problem));
        };
        self.reads_more = true;
        Ok(Condition::Python { id, at: fields.at })
    }
}

/// Joins neighbouring texts.
fn joined(parts: impl Iterator<Item = Part>) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match (joined.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (_, part) => joined.push(part),
        }
    }
    joined
}
