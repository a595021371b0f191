//! The keys of a JSON object that stands for a Python object.

use serde_json::Value as Json;

use crate::error::{LaunchError, shown};
use crate::position::Position;
use crate::python::message::{self, Message};

/// Larger numbers are not exact in every reader of JSON.
const MAX_ID: u64 = 1 << 53;

/// The keys of an object, with its position. A key whose value is null counts as missing.
pub(super) struct Fields<'a> {
    object: &'a Message,
    /// The object in words, for mistakes.
    what: String,
    pub(super) at: Position,
}

impl<'a> Fields<'a> {
    /// Reads an object; `from` is the position that it has if it does not name any.
    pub(super) fn new(json: &'a Json, from: &Position) -> Result<Self, LaunchError> {
        let Json::Object(object) = json else {
            let problem = format!("{} from Python: expected an object", shown(&json.to_string()));
            return Err(LaunchError::at(from, problem));
        };
        let what = object.get("do").and_then(Json::as_str).unwrap_or("object");
        let mut fields = Self { object, what: what.to_owned(), at: from.clone() };
        if let Some(at) = fields.get("at") {
            let unfit = || fields.error(format!("`at` is {}", shown(&at.to_string())));
            fields.at = message::position(at).ok_or_else(unfit)?;
        }
        Ok(fields)
    }

    pub(super) fn error(&self, problem: impl AsRef<str>) -> LaunchError {
        let problem = format!("{} from Python: {}", shown(&self.what), problem.as_ref());
        LaunchError::at(&self.at, problem)
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Json> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn required(&self, key: &str) -> Result<&'a Json, LaunchError> {
        self.get(key).ok_or_else(|| self.error(format!("it has no `{key}`")))
    }

    fn unfit(&self, key: &str, expected: &str, json: &Json) -> LaunchError {
        self.error(format!("`{key}` is {}, expected {expected}", shown(&json.to_string())))
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, LaunchError> {
        self.get(key)
            .map(|json| json.as_str().ok_or_else(|| self.unfit(key, "a text", json)))
            .transpose()
    }

    pub(super) fn required_text(&self, key: &str) -> Result<&'a str, LaunchError> {
        self.text(key)?.ok_or_else(|| self.error(format!("it has no `{key}`")))
    }

    pub(super) fn truth(&self, key: &str) -> Result<bool, LaunchError> {
        self.get(key).map_or(Ok(false), |json| {
            json.as_bool().ok_or_else(|| self.unfit(key, "true or false", json))
        })
    }

    /// The number of a Python object.
    pub(super) fn id(&self, key: &str) -> Result<Option<u64>, LaunchError> {
        let id = |json: &Json| {
            let number = json.as_u64().filter(|number| (1..MAX_ID).contains(number));
            number.ok_or_else(|| self.unfit(key, "the number of an object", json))
        };
        self.get(key).map(id).transpose()
    }

    pub(super) fn required_id(&self, key: &str) -> Result<u64, LaunchError> {
        self.id(key)?.ok_or_else(|| self.error(format!("it has no `{key}`")))
    }

    /// A list; empty if it is missing.
    pub(super) fn list(&self, key: &str) -> Result<&'a [Json], LaunchError> {
        match self.get(key) {
            None => Ok(&[][..]),
            Some(Json::Array(items)) => Ok(items.as_slice()),
            Some(json) => Err(self.unfit(key, "a list", json)),
        }
    }

    /// An item of the list with this key that has two items itself.
    pub(super) fn pair<'j>(
        &self,
        key: &str,
        json: &'j Json,
    ) -> Result<(&'j Json, &'j Json), LaunchError> {
        match json.as_array().map(Vec::as_slice) {
            Some([first, second]) => Ok((first, second)),
            _ => Err(self.unfit(key, "pairs", json)),
        }
    }

    /// A list of the numbers of Python objects.
    pub(super) fn ids(&self, key: &str) -> Result<Vec<u64>, LaunchError> {
        let id = |json: &Json| {
            let number = json.as_u64().filter(|number| (1..MAX_ID).contains(number));
            number.ok_or_else(|| self.unfit(key, "the numbers of objects", json))
        };
        self.list(key)?.iter().map(id).collect()
    }

    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, LaunchError> {
        let text = |json: &Json| {
            let text = json.as_str().ok_or_else(|| self.unfit(key, "texts", json))?;
            Ok(text.to_owned())
        };
        self.list(key)?.iter().map(text).collect()
    }
}
