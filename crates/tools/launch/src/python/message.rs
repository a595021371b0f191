//! The lines that the launcher and the Python host exchange.

use std::path::Path;

use serde_json::{Map, Value as Json};

use crate::error::shown;
use crate::position::Position;

/// A JSON object.
pub(crate) type Message = Map<String, Json>;

/// The limit on the frames that a failure names.
const MAX_CALLS: usize = 10;
/// The limit on the characters of the text of a failure.
const MAX_CHARACTERS: usize = 2000;
/// The limit on the further errors of a failure.
const MAX_OTHERS: usize = 100;

/// A line from the host.
#[derive(Debug)]
pub(crate) enum Line {
    /// A question, which the host waits for the answer of.
    Question { name: String, fields: Message },
    /// The result of a request.
    Done(Message),
    /// The reason why a request failed.
    Failed(Message),
}

/// Reads a line that is an object.
pub(super) fn object(line: &[u8]) -> Result<Message, String> {
    match serde_json::from_slice(line) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(other) => Err(format!("{} is not an object", shown(&other.to_string()))),
        Err(error) => Err(format!("{error}, in {}", shown(&String::from_utf8_lossy(line)))),
    }
}

impl Line {
    pub(crate) fn parse(line: &[u8]) -> Result<Self, String> {
        let mut fields = object(line)?;
        if let Some(Json::String(name)) = fields.get("ask") {
            return Ok(Self::Question { name: name.clone(), fields });
        }
        match (fields.remove("done"), fields.remove("failed")) {
            (Some(Json::Object(done)), None) => Ok(Self::Done(done)),
            (None, Some(Json::Object(failed))) => Ok(Self::Failed(failed)),
            _ => Err(format!(
                "{} is neither a question nor a reply",
                shown(&String::from_utf8_lossy(line))
            )),
        }
    }
}

/// What Python code has changed, and the variables that it has read.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) set: Vec<(String, String)>,
    pub(crate) unset: Vec<String>,
    /// The changes to the environment; `None` for a removed variable.
    pub(crate) environment: Vec<(String, Option<String>)>,
    pub(crate) read: Vec<String>,
}

impl Changes {
    pub(crate) fn from_json(message: &Message) -> Result<Self, String> {
        let object = |key: &str| match message.get(key) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::Object(object)) => Ok(Some(object)),
            Some(_) => Err(format!("`{key}` is not an object")),
        };
        let texts = |key: &str| -> Result<Vec<String>, String> {
            match message.get(key) {
                None | Some(Json::Null) => Ok(Vec::new()),
                Some(Json::Array(items)) => items.iter().map(|item| text(key, item)).collect(),
                Some(_) => Err(format!("`{key}` is not a list")),
            }
        };
        let mut changes = Self { unset: texts("unset")?, read: texts("read")?, ..Self::default() };
        for (name, value) in object("set")?.into_iter().flatten() {
            changes.set.push((name.clone(), text("set", value)?));
        }
        for (name, value) in object("environment")?.into_iter().flatten() {
            let value = if value.is_null() { None } else { Some(text("environment", value)?) };
            changes.environment.push((name.clone(), value));
        }
        Ok(changes)
    }
}

fn text(key: &str, value: &Json) -> Result<String, String> {
    let text = value.as_str().ok_or_else(|| format!("`{key}` holds a value that is no text"))?;
    Ok(text.to_owned())
}

/// An exception of Python code.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The position in the user's file.
    pub(crate) at: Option<Position>,
    /// The exception, and the calls that led to it, on lines of their own.
    pub(crate) problem: String,
    /// Errors that would occur later in the file, with their positions.
    pub(crate) others: Vec<(Position, String)>,
}

impl Failure {
    pub(crate) fn from_json(message: &Message) -> Self {
        let error = message.get("error").and_then(Json::as_str).unwrap_or("Python failed");
        let mut problem = shortened(error);
        let calls = message.get("calls").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        for call in calls.iter().take(MAX_CALLS) {
            let Some([file, line, function]) = call.as_array().map(Vec::as_slice) else { continue };
            let (file, function) = (file.as_str().unwrap_or(""), function.as_str().unwrap_or(""));
            let (line, file) = (line.as_u64().unwrap_or(0), feros_wording::harmless(file));
            let function = feros_wording::harmless(function);
            problem.push_str(&format!("\n  called at {file}:{line}, in {function}"));
        }
        let others = message.get("others").and_then(Json::as_array).into_iter().flatten();
        let others = others.filter_map(|other| {
            Some((position(other.get("at")?)?, shortened(other.get("error")?.as_str()?)))
        });
        Self {
            at: message.get("at").and_then(position),
            problem,
            others: others.take(MAX_OTHERS).collect(),
        }
    }
}

fn shortened(error: &str) -> String {
    match error.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}...", harmless(&error[..end])),
        None => harmless(error),
    }
}

/// The text of an exception, whose lines after the first are indented.
fn harmless(text: &str) -> String {
    feros_wording::harmless_block(text.trim_end()).into_owned()
}

/// Reads `[file, line, column]`.
pub(super) fn position(json: &Json) -> Option<Position> {
    let [file, line, column] = json.as_array()?.as_slice() else { return None };
    let number = |json: &Json| json.as_u64().map(|number| usize::try_from(number).unwrap_or(0));
    Some(Position::new(&Path::new(file.as_str()?).into(), number(line)?, number(column)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Line, String> {
        Line::parse(line.as_bytes())
    }

    #[test]
    fn hostile_lines_are_refused() {
        for line in [
            "",
            "{",
            "[]",
            "{}",
            "null",
            "NaN",
            r#"{"done":{}"#,
            r#"{"done":[]}"#,
            r#"{"done":{},"failed":{}}"#,
            r#"{"answer":1}"#,
            r#"{"ask":5}"#,
            r#"{"done":{"text":"\ud800"}}"#,
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
        let deep = format!("{{\"done\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(parse(&deep).unwrap_err().contains("recursion limit"), "{deep:.80}");
        assert!(Line::parse(b"{\"done\":{\"a\":\"\xff\"}}").is_err());
        assert!(parse("\u{1b}[2J").unwrap_err().contains("\\u{1b}[2J"));
    }

    #[test]
    fn a_failure_names_its_place_and_its_callers() {
        let line = r#"{"failed":{"error":"ValueError: a\nb\u001b[2J","at":["r.launch.py",12,9],
            "calls":[["b.launch.py",30,"setup"],["x"],5,["c.launch.py",2,"<module>"]]}}"#;
        let Line::Failed(failed) = parse(&line.replace('\n', "")).unwrap() else { panic!() };
        let failure = Failure::from_json(&failed);
        assert_eq!(failure.at.unwrap().to_string(), "r.launch.py:12:9");
        assert_eq!(
            failure.problem,
            "ValueError: a\n  b\\u{1b}[2J\n  called at b.launch.py:30, in setup\n  \
             called at c.launch.py:2, in <module>"
        );
        let others = serde_json::json!({"error": "a", "others": [
            {"at": ["f", 1, 2], "error": "b\u{1b}"}, {"at": ["f"], "error": "c"}, 5, {"at": ["f", 1, 2]}]});
        let others = Failure::from_json(others.as_object().unwrap()).others;
        let told: Vec<String> = others.iter().map(|(at, text)| format!("{at}: {text}")).collect();
        assert_eq!(told, ["f:1:2: b\\u{1b}"]);
        let unknown = Failure::from_json(&Message::new());
        assert_eq!((unknown.at, unknown.problem.as_str()), (None, "Python failed"));
        let long = serde_json::json!({"error": "é".repeat(5000), "at": ["f", -1, 2]});
        let long = Failure::from_json(long.as_object().unwrap());
        assert_eq!((long.at, long.problem.chars().count()), (None, MAX_CHARACTERS + 3));
    }

    #[test]
    fn changes_hold_texts() {
        let changes = |text: &str| {
            let json: Json = serde_json::from_str(text).unwrap();
            Changes::from_json(json.as_object().unwrap())
        };
        let all = changes(
            r#"{"set":{"a":"1"},"unset":["b"],"environment":{"C":"2","D":null},"read":["e"]}"#,
        );
        let all = all.unwrap();
        assert_eq!((all.set, all.unset), (vec![("a".into(), "1".into())], vec!["b".into()]));
        let environment = vec![("C".to_owned(), Some("2".to_owned())), ("D".to_owned(), None)];
        assert_eq!((all.environment, all.read), (environment, vec!["e".to_owned()]));
        assert!(changes(r#"{"set":null,"more":1}"#).is_ok());
        for wrong in [r#"{"set":[]}"#, r#"{"set":{"a":1}}"#, r#"{"unset":"a"}"#, r#"{"read":[1]}"#]
        {
            assert!(changes(wrong).is_err(), "{wrong}");
        }
    }
}
