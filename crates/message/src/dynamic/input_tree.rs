//! The tree that YAML and JSON input have in common: scalars, lists and mappings, read without a
//! message type.

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::input_error::{InputError, InputErrorKind};

/// The greatest nesting depth of lists and mappings; it exceeds that of messages.
const MAX_DEPTH: usize = 2 * feros_interface::MAX_NESTING_DEPTH + 2;

#[derive(Debug)]
pub(super) struct InputNode {
    pub(super) content: Content,
    /// Line and column, counted from 1, where they are known.
    pub(super) position: Option<(usize, usize)>,
}

#[derive(Debug)]
pub(super) enum Content {
    /// A text, number, boolean or null; `plain` if it was not in quotes.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<InputNode>),
    Mapping(Vec<(String, InputNode)>),
}

impl InputNode {
    /// Whether no value was given, as in `field:`, `field: ~` and `field: null`.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(&self.content, Content::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null"))
    }

    /// Describes the given value in error messages.
    pub(super) fn describe(&self) -> String {
        match &self.content {
            Content::Scalar { text, plain } => {
                let mut shown: String = text.chars().take(40).collect();
                if shown.len() < text.len() {
                    shown.push_str("...");
                }
                if *plain { format!("`{shown}`") } else { format!("the text `{shown}`") }
            }
            Content::List(items) => format!("a list of {}", items.len()),
            Content::Mapping(_) => "a mapping".to_owned(),
        }
    }

    pub(super) fn from_json(value: serde_json::Value) -> Self {
        use serde_json::Value::{Array, Bool, Null, Number, Object, String};
        let content = match value {
            Null => Content::Scalar { text: "null".to_owned(), plain: true },
            Bool(value) => Content::Scalar { text: value.to_string(), plain: true },
            Number(value) => Content::Scalar { text: value.to_string(), plain: true },
            String(text) => Content::Scalar { text, plain: false },
            Array(items) => Content::List(items.into_iter().map(InputNode::from_json).collect()),
            Object(entries) => Content::Mapping(
                entries
                    .into_iter()
                    .map(|(key, value)| (key, InputNode::from_json(value)))
                    .collect(),
            ),
        };
        Self { content, position: None }
    }

    /// Reads one YAML document.
    pub(super) fn from_yaml(text: &str) -> Result<Self, InputError> {
        let mut builder = Builder { open: Vec::new(), root: None };
        let mut parser = Parser::new_from_str(text);
        while let Some(event) = parser.next_event() {
            let (event, span) = match event {
                Ok(event) => event,
                // All JSON is YAML with one exception: a character beyond U+FFFF may be escaped as
                // two surrogates, as many writers of JSON do.
                Err(error) => {
                    let json = serde_json::from_str(text).map_err(|_| syntax(&error))?;
                    return Ok(Self::from_json(json));
                }
            };
            builder.event(event, span)?;
        }
        Ok(builder.root.unwrap_or(InputNode {
            content: Content::Scalar { text: String::new(), plain: true },
            position: None,
        }))
    }
}

fn syntax(error: &ScanError) -> InputError {
    let marker = error.marker();
    let kind = InputErrorKind::Syntax { format: "YAML", message: error.info().to_owned() };
    InputError::new(kind, Some((marker.line(), marker.col() + 1)))
}

/// Builds the tree from the events of the parser, without recursion.
struct Builder {
    /// The lists and mappings that are still open; the innermost is the last.
    open: Vec<Open>,
    root: Option<InputNode>,
}

struct Open {
    node: InputNode,
    /// In a mapping: the key whose value comes next.
    key: Option<String>,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), InputError> {
        let position = Some((span.start.line(), span.start.col() + 1));
        match event {
            Event::Scalar(text, style, ..) => self.scalar(text, style, position),
            Event::SequenceStart(..) => self.open(Content::List(Vec::new()), position),
            Event::MappingStart(..) => self.open(Content::Mapping(Vec::new()), position),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(closed) => self.add(closed.node),
                None => Ok(()),
            },
            Event::Alias(_) => Err(InputError::new(InputErrorKind::Alias, position)),
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(InputError::new(InputErrorKind::SeveralDocuments, position))
            }
            _ => Ok(()),
        }
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        position: Option<(usize, usize)>,
    ) -> Result<(), InputError> {
        if let Some(Open {
            node: InputNode { content: Content::Mapping(_), .. },
            key: key @ None,
        }) = self.open.last_mut()
        {
            *key = Some(text.into_owned());
            return Ok(());
        }
        let plain = style == ScalarStyle::Plain;
        self.add(InputNode {
            content: Content::Scalar { text: text.into_owned(), plain },
            position,
        })
    }

    fn open(
        &mut self,
        content: Content,
        position: Option<(usize, usize)>,
    ) -> Result<(), InputError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(InputError::new(InputErrorKind::TooDeep { limit: MAX_DEPTH }, position));
        }
        if let Some(Open { node: InputNode { content: Content::Mapping(_), .. }, key: None }) =
            self.open.last()
        {
            return Err(InputError::new(InputErrorKind::Key, position));
        }
        self.open.push(Open { node: InputNode { content, position }, key: None });
        Ok(())
    }

    fn add(&mut self, node: InputNode) -> Result<(), InputError> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open { node: InputNode { content: Content::List(items), .. }, .. }) => {
                items.push(node)
            }
            Some(Open { node: InputNode { content: Content::Mapping(entries), .. }, key }) => {
                entries.push((key.take().unwrap_or_default(), node));
            }
            // Unreachable: only lists and mappings are opened.
            Some(Open { node: InputNode { content: Content::Scalar { .. }, .. }, .. }) => {}
        }
        Ok(())
    }
}
