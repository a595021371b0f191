//! Converts the actions that Python hands over as JSON into the actions of a launch file.
//!
//! The host builds the JSON, but it runs the code of users, so everything is checked. The nesting
//! is limited by the parser of the lines.

mod action;
mod fields;
mod handler;
mod process;
mod template;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::action::{Item, LaunchFile};
use crate::error::LaunchError;
use crate::position::Position;
use crate::substitution::Template;
use fields::Fields;

pub(crate) use value::value_to_json;

/// Decodes the actions of one message, and collects the variables that they read.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    variables: BTreeSet<String>,
    reads_more: bool,
}

impl Decoder {
    /// The entities of a reply to `load`.
    pub(crate) fn launch_file(
        mut self,
        entities: &Json,
        at: &Position,
    ) -> Result<LaunchFile, LaunchError> {
        let items = self.items(entities, at)?;
        Ok(LaunchFile { items, variables: self.variables, reads_more: self.reads_more })
    }

    /// The names of the variables that the decoded actions and templates read.
    pub(crate) fn into_variables(self) -> BTreeSet<String> {
        self.variables
    }

    /// Decodes a list of actions. All mistakes are reported.
    pub(crate) fn items(&mut self, json: &Json, from: &Position) -> Result<Vec<Item>, LaunchError> {
        let Json::Array(entities) = json else {
            return Err(LaunchError::at(from, "Python's answer has no list of actions"));
        };
        let (mut items, mut errors) = (Vec::new(), Vec::new());
        for entity in entities {
            match self.item(entity, from) {
                Ok(item) => items.push(item),
                Err(error) => errors.push(error),
            }
        }
        LaunchError::of_all(errors)?;
        Ok(items)
    }

    fn item(&mut self, json: &Json, from: &Position) -> Result<Item, LaunchError> {
        let fields = Fields::new(json, from)?;
        let id = fields.id("id")?;
        let condition = self.condition(&fields)?;
        Ok(Item { id, condition, action: self.action(&fields, id)?, at: fields.at })
    }

    /// A template that may be missing.
    fn optional(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
    ) -> Result<Option<Template>, LaunchError> {
        fields.get(key).map(|json| self.template(json, &fields.at)).transpose()
    }

    /// A template that must be given.
    fn required(&mut self, fields: &Fields<'_>, key: &str) -> Result<Template, LaunchError> {
        let json = fields.required(key)?;
        self.template(json, &fields.at)
    }

    /// A list of templates; empty if it is missing.
    fn templates(&mut self, fields: &Fields<'_>, key: &str) -> Result<Vec<Template>, LaunchError> {
        fields.list(key)?.iter().map(|json| self.template(json, &fields.at)).collect()
    }

    /// A list of pairs of templates; empty if it is missing.
    fn pairs(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
    ) -> Result<Vec<(Template, Template)>, LaunchError> {
        let pair = |json: &Json| {
            let (first, second) = fields.pair(key, json)?;
            Ok((self.template(first, &fields.at)?, self.template(second, &fields.at)?))
        };
        fields.list(key)?.iter().map(pair).collect()
    }

    /// The actions within an action.
    fn actions(&mut self, fields: &Fields<'_>, key: &str) -> Result<Vec<Item>, LaunchError> {
        fields.get(key).map_or(Ok(Vec::new()), |json| self.items(json, &fields.at))
    }
}
