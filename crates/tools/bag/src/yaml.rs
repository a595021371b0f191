//! The YAML of bags as a tree: `metadata.yaml`, QoS profiles, QoS overrides.

use feros_wording::harmless;
use feros_yaml::{Content, Limits, Problem, Scalar};

/// The limits on nesting and on the number of values. Even the metadata of a bag with as many
/// topics as a bag can have stays far below them.
const LIMITS: Limits = Limits { depth: 32, values: 1 << 23 };
/// A longer key is written after a `?`, since YAML finds other keys only within 1024 characters
/// (YAML 1.2, section 7.4).
const MAX_SIMPLE_KEY_BYTES: usize = 1000;

/// The error for a text that is not the expected YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; expected {expected}")]
pub struct YamlError {
    /// The problem, with its position if known.
    pub problem: String,
    /// The expected content.
    pub expected: String,
}

impl YamlError {
    pub(crate) fn new(problem: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { problem: problem.into(), expected: expected.into() }
    }
}

/// A value of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    /// No value: nothing, `~` or `null`, all without quotes.
    Null,
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    /// Parses the first document of a text; an empty text gives [`Node::Null`].
    pub(crate) fn parse(text: &str) -> Result<Self, YamlError> {
        Ok(tree(text)?.map_or(Self::Null, Self::from))
    }

    /// Parses the only document of a text that a user wrote.
    pub(crate) fn parse_only(text: &str) -> Result<Self, YamlError> {
        Ok(feros_yaml::document(text, LIMITS)?.map_or(Self::Null, Self::from))
    }

    /// Refuses keys that no code would read: keys that are not in `known`, and repeated keys.
    /// `whose` names the owner of the keys.
    pub(crate) fn only_has(&self, whose: &str, known: &[&str]) -> Result<(), YamlError> {
        let Self::Map(entries) = self else {
            return Err(YamlError::new(format!("{whose} is not a mapping"), known.join(", ")));
        };
        for (index, (key, _)) in entries.iter().enumerate() {
            if !known.contains(&key.as_str()) {
                let nearest = feros_wording::did_you_mean(key, known.iter().copied());
                let problem = format!("{whose} has no key `{}`{nearest}", harmless(key));
                return Err(YamlError::new(problem, known.join(", ")));
            }
            if entries[..index].iter().any(|(before, _)| before == key) {
                return Err(YamlError::new(
                    format!("{whose} has the key `{key}` twice"),
                    "it once",
                ));
            }
        }
        Ok(())
    }

    /// The text under a key; `None` if there is no value. Unlike [`Node::text`], this refuses a
    /// list and a mapping.
    pub(crate) fn only_text(&self, key: &str) -> Result<Option<&str>, YamlError> {
        match self.get(key) {
            None | Some(Self::Null) => Ok(None),
            Some(Self::Scalar(text)) => Ok(Some(text)),
            Some(Self::List(_)) => Err(YamlError::new(format!("`{key}` is a list"), "one value")),
            Some(Self::Map(_)) => Err(YamlError::new(format!("`{key}` is a mapping"), "one value")),
        }
    }

    /// The boolean under a key, in the words of YAML 1.1, which rosbag2 reads; `false` if the key
    /// is missing.
    pub(crate) fn flag(&self, key: &str) -> Result<bool, YamlError> {
        let Some(text) = self.only_text(key)? else { return Ok(false) };
        match text {
            "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "y" | "Y" => {
                Ok(true)
            }
            "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "n"
            | "N" => Ok(false),
            _ => Err(YamlError::new(
                format!("`{key}` is {text:?}"),
                "true or false, without quotes around it",
            )),
        }
    }

    /// The strings of the list under a key; empty if the key is missing.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<String>, YamlError> {
        let elements = match self.get(key) {
            None | Some(Self::Null) => return Ok(Vec::new()),
            Some(Self::List(elements)) => elements,
            Some(Self::Scalar(text)) => {
                let problem = format!("`{key}` is {text:?}, which is not a list");
                return Err(YamlError::new(problem, format!("a list, such as `{key}: [{text}]`")));
            }
            Some(Self::Map(_)) => {
                return Err(YamlError::new(format!("`{key}` is a mapping"), "a list of strings"));
            }
        };
        let text = |element: &Self| match element {
            Self::Scalar(text) => Ok(text.clone()),
            _ => Err(YamlError::new(format!("an element of `{key}` is not a string"), "a string")),
        };
        elements.iter().map(text).collect()
    }

    /// The value of a key of a mapping.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The text of the scalar under a key; `None` if there is no scalar.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Self::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of the list under a key; empty if there is no list.
    pub(crate) fn list(&self, key: &str) -> &[Self] {
        match self.get(key) {
            Some(Self::List(elements)) => elements,
            _ => &[],
        }
    }

    /// The entries of the mapping under a key; empty if there is no mapping.
    pub(crate) fn entries(&self, key: &str) -> &[(String, Self)] {
        match self.get(key) {
            Some(Self::Map(entries)) => entries,
            _ => &[],
        }
    }

    /// The whole number under a key; `default` if there is no scalar.
    pub(crate) fn number<N: std::str::FromStr>(
        &self,
        key: &str,
        default: N,
    ) -> Result<N, YamlError> {
        let Some(text) = self.text(key) else { return Ok(default) };
        text.parse().map_err(|_| {
            let expected = format!("a whole number of at most {} bits", 8 * size_of::<N>());
            YamlError::new(format!("`{key}` is {text:?}"), expected)
        })
    }
}

impl From<feros_yaml::Node> for Node {
    fn from(node: feros_yaml::Node) -> Self {
        match node.content {
            Content::Scalar(scalar)
                if scalar.is_plain()
                    && matches!(&*scalar.text, "" | "~" | "null" | "Null" | "NULL") =>
            {
                Self::Null
            }
            Content::Scalar(scalar) => Self::Scalar(scalar.text),
            Content::List(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Content::Mapping(entries) => Self::Map(
                entries.into_iter().map(|(key, value)| (key.text, value.into())).collect(),
            ),
        }
    }
}

impl From<feros_yaml::YamlError> for YamlError {
    fn from(error: feros_yaml::YamlError) -> Self {
        let expected = match error.problem {
            Problem::SecondDocument => "one document",
            Problem::Key => "a string",
            Problem::TooDeep(_) | Problem::TooMany(_) => "the metadata of a bag",
            _ => "YAML",
        };
        Self::new(error.to_string(), expected)
    }
}

/// The first document of a text, with the styles of its scalars; `None` for an empty text.
pub(crate) fn tree(text: &str) -> Result<Option<feros_yaml::Node>, YamlError> {
    Ok(feros_yaml::first_document(text, LIMITS)?)
}

/// Returns an entry of a mapping as lines that mean the same as the text from which it was read.
pub(crate) fn lines_of_entry(key: &Scalar, value: &feros_yaml::Node) -> Vec<String> {
    let key = match written(key) {
        // A key must not be nothing.
        nothing if nothing.is_empty() => "~".to_owned(),
        key => key,
    };
    let lines = lines_of(value);
    if key.len() > MAX_SIMPLE_KEY_BYTES {
        let value = below(&lines, ": ");
        return std::iter::once(format!("? {key}")).chain(value).collect();
    }
    let is_beside_key = match &value.content {
        Content::Scalar(_) => true,
        Content::List(items) => items.is_empty(),
        Content::Mapping(entries) => entries.is_empty(),
    };
    if is_beside_key {
        return below(&lines, &format!("{key}: "));
    }
    let inner = lines.iter().map(|line| format!("  {line}"));
    std::iter::once(format!("{key}:")).chain(inner).collect()
}

/// Returns a value as lines. The depth of the recursion is that of the tree, which is limited.
fn lines_of(node: &feros_yaml::Node) -> Vec<String> {
    match &node.content {
        Content::Scalar(scalar) => vec![written(scalar)],
        Content::List(items) if items.is_empty() => vec!["[]".to_owned()],
        Content::List(items) => {
            items.iter().flat_map(|item| below(&lines_of(item), "- ")).collect()
        }
        Content::Mapping(entries) if entries.is_empty() => vec!["{}".to_owned()],
        Content::Mapping(entries) => {
            entries.iter().flat_map(|(key, value)| lines_of_entry(key, value)).collect()
        }
    }
}

/// Returns lines with a mark before the first, and as many spaces before the others.
fn below(lines: &[String], mark: &str) -> Vec<String> {
    let mark = |index| if index == 0 { mark } else { "  " };
    let lines = lines.iter().enumerate();
    lines.map(|(index, line)| format!("{}{line}", mark(index)).trim_end().to_owned()).collect()
}

/// Returns a scalar that was read, without quotes only if it had none.
fn written(read: &Scalar) -> String {
    let text = match read.is_plain() && !read.text.contains('\n') {
        true => read.text.clone(),
        false => scalar(&read.text),
    };
    if read.is_tagged_string && read.is_plain() { format!("!!str {text}") } else { text }
}

/// Returns a key with its value: one line, or two lines for a long key, without the last line end.
pub(crate) fn entry(key: &str, value: &str) -> String {
    let (key, value) = (scalar(key), scalar(value));
    if key.len() <= MAX_SIMPLE_KEY_BYTES {
        return format!("{key}: {value}");
    }
    format!("? {key}\n: {value}")
}

/// Returns a string as a scalar, in quotes if its meaning would change without them.
pub(crate) fn scalar(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "/_.".contains(c))
        && text.chars().any(|c| c.is_ascii_alphabetic())
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
        )
        && !text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if is_plain {
        return text.to_owned();
    }
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_control() => {
                quoted.push_str(&format!("\\U{:08x}", u32::from(control)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn documents_are_trees() {
        let node = Node::parse("a: 5\nb: [x, 'y z']\nc:\n  - d: ~\n").unwrap();
        assert_eq!(node.number("a", 0), Ok(5));
        assert_eq!(node.number("missing", 7), Ok(7));
        assert_eq!(node.list("b")[1], Node::Scalar("y z".into()));
        assert_eq!(node.list("c")[0].text("d"), None);
        assert_eq!(Node::parse("").unwrap(), Node::Null);
        let nothing = Node::parse("[~, '~', null, \"null\"]").unwrap();
        let text = |text: &str| Node::Scalar(text.into());
        assert_eq!(nothing, Node::List(vec![Node::Null, text("~"), Node::Null, text("null")]));
        assert!(node.number::<u8>("b", 0).is_ok(), "a list is not a number: the default");
    }

    #[test]
    fn unknown_keys_and_wrong_values_are_refused() {
        let read = |text: &str| Node::parse_only(text).unwrap();
        let whole = |text: &str| read(text).only_has("a bag", &["topics", "all"]);
        assert_eq!(whole("{topics: [/x], all: yes}"), Ok(()));
        let problem = |text: &str| whole(text).unwrap_err().to_string();
        let unknown = "a bag has no key `topcis`; did you mean `topics`?; expected topics, all";
        assert_eq!(problem("topcis: [/x]"), unknown);
        assert_eq!(
            problem("{all: true, all: false}"),
            "a bag has the key `all` twice; expected it once"
        );
        assert!(problem("[all]").starts_with("a bag is not a mapping"));
        let topics = |text: &str| read(text).texts("topics").map_err(|error| error.to_string());
        assert_eq!(topics("topics: [/x, '5']"), Ok(vec!["/x".to_owned(), "5".to_owned()]));
        assert_eq!(topics("topics: ~"), Ok(vec![]));
        assert!(topics("topics: /x").unwrap_err().ends_with("such as `topics: [/x]`"));
        assert!(topics("topics: [[]]").is_err() && topics("topics: {a: b}").is_err());
        assert_eq!(read("all: True").flag("all"), Ok(true));
        assert_eq!(read("all: off").flag("all"), Ok(false));
        assert!(read("all: [true]").flag("all").is_err() && read("all: 1").flag("all").is_err());
        assert!(Node::parse_only("a: 1\n---\nb: 2").is_err());
    }

    #[test]
    fn invalid_yaml_is_an_error() {
        for text in ["a: [", "a: *b", "{a: 1", "? [a]: b", &"[".repeat(100_000)] {
            assert!(Node::parse(text).is_err(), "{:.20}", text);
        }
        assert!(Node::parse("a: x").unwrap().number("a", 1).is_err());
    }

    #[test]
    fn scalars_read_back() {
        for text in [
            "",
            "/a/b",
            "null",
            "no",
            "1.5",
            "a: b",
            "x\n\"y\"\\",
            "\u{7}",
            "ü",
            "~",
            "-",
            "RIHS01_0",
        ] {
            let document = format!("key: {}\n", scalar(text));
            let node = Node::parse(&document).unwrap();
            assert_eq!(node.get("key"), Some(&Node::Scalar(text.into())), "{document}");
        }
    }
}
