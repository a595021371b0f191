//! YAML documents as trees. Feros uses them to read parameter files, launch files, metadata of
//! bags, rules of bridges, and values on the command line.
//!
//! A tree stores the place of each value for error messages. It also stores the style of each
//! scalar, because the meaning of a plain scalar depends on the reader (rcl, launch and rosbag2
//! each have their own rules). Aliases are refused, because a short text with aliases can become a
//! large tree.
//!
//! # Invariants
//!
//! The input is untrusted. So the depth and the number of values are limited, and the reader does
//! not use recursion.

use saphyr_parser::{Event, Parser, Span};

pub use saphyr_parser::ScalarStyle;

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
}

impl Place {
    fn start_of(span: Span) -> Self {
        Self { line: span.start.line(), column: span.start.col() + 1 }
    }
}

/// A scalar: a string, a number, a boolean or null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// The value without quotes, and with its escapes replaced.
    pub text: String,
    /// Whether and how the value is quoted.
    pub style: ScalarStyle,
    /// Whether the tag `!!str` makes the value a string, no matter what it looks like.
    pub is_tagged_string: bool,
    /// The place where the scalar begins. This includes its opening quote.
    pub place: Place,
    /// Whether the scalar ends on the line on which it begins.
    pub is_on_one_line: bool,
}

impl Scalar {
    /// Whether the scalar is neither quoted nor a block.
    pub fn is_plain(&self) -> bool {
        self.style == ScalarStyle::Plain
    }
}

/// A value in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The place where the value begins.
    pub place: Place,
    /// The content of the value.
    pub content: Content,
}

/// The content of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A scalar.
    Scalar(Scalar),
    /// A sequence of values.
    List(Vec<Node>),
    /// The pairs of a key and a value, in the order of the text. A key may occur twice.
    Mapping(Vec<(Scalar, Node)>),
}

impl Content {
    /// A null without text. This is the content of an empty document, and of a key without a value.
    pub fn empty() -> Self {
        Self::Scalar(Scalar {
            text: String::new(),
            style: ScalarStyle::Plain,
            is_tagged_string: false,
            place: Place { line: 1, column: 1 },
            is_on_one_line: true,
        })
    }
}

/// The limits on the size of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest depth to which lists and mappings may be nested.
    pub depth: usize,
    /// The largest number of values that all documents may have in total.
    pub values: usize,
}

/// The reason why a text cannot be read, and the place of the problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {problem}", place.line, place.column)]
pub struct YamlError {
    /// The place of the problem.
    pub place: Place,
    /// The problem.
    pub problem: Problem,
}

/// A problem in a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text is not YAML.
    #[error("this is not YAML: {0}")]
    Syntax(String),
    /// An alias.
    #[error("aliases (`*name`) are not supported: write the value here instead")]
    Alias,
    /// A second document.
    #[error("there is a second document (`---`)")]
    SecondDocument,
    /// A key that is a list or mapping.
    #[error("a key is a list or mapping")]
    Key,
    /// Lists and mappings are nested more deeply than this depth.
    #[error("lists and mappings are nested deeper than {0}")]
    TooDeep(usize),
    /// More values than allowed.
    #[error("there are more than {0} values")]
    TooMany(usize),
}

/// Reads the only document of a text. Returns `None` for an empty text.
///
/// ```
/// use feros_yaml::{Content, Limits};
/// let limits = Limits { depth: 8, values: 100 };
/// let node = feros_yaml::document("rate: 5", limits)?.expect("there is a document");
/// let Content::Mapping(entries) = node.content else { panic!() };
/// assert_eq!(entries[0].0.text, "rate");
/// # Ok::<(), feros_yaml::YamlError>(())
/// ```
///
/// # Errors
/// See [`Problem`]. A second document is an error.
pub fn document(text: &str, limits: Limits) -> Result<Option<Node>, YamlError> {
    let mut reader = Reader::new(text, limits);
    let first = reader.next_document()?;
    match reader.next_document()? {
        Some(second) => Err(YamlError { place: second.place, problem: Problem::SecondDocument }),
        None => Ok(first),
    }
}

/// Reads the first document of a text, and ignores all further documents. Returns `None` for an
/// empty text.
///
/// # Errors
/// See [`Problem`].
pub fn first_document(text: &str, limits: Limits) -> Result<Option<Node>, YamlError> {
    Reader::new(text, limits).next_document()
}

/// Reads all documents of a text.
///
/// # Errors
/// See [`Problem`].
pub fn documents(text: &str, limits: Limits) -> Result<Vec<Node>, YamlError> {
    let mut reader = Reader::new(text, limits);
    let mut all = Vec::new();
    while let Some(document) = reader.next_document()? {
        all.push(document);
    }
    Ok(all)
}

/// A list or mapping whose end has not been read yet.
struct Open {
    node: Node,
    /// In a mapping, the key whose value has not been read yet.
    key: Option<Scalar>,
}

struct Reader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    limits: Limits,
    /// The lists and mappings that are open. The innermost is last.
    open: Vec<Open>,
    values: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, limits: Limits) -> Self {
        Self { parser: Parser::new_from_str(text), limits, open: Vec::new(), values: 0 }
    }

    /// The next document, or `None` at the end of the text.
    fn next_document(&mut self) -> Result<Option<Node>, YamlError> {
        while let Some(event) = self.parser.next_event() {
            let (event, span) = event.map_err(|error| {
                let marker = error.marker();
                YamlError {
                    place: Place { line: marker.line(), column: marker.col() + 1 },
                    problem: Problem::Syntax(error.info().to_owned()),
                }
            })?;
            let place = Place::start_of(span);
            let refused = |problem| Err(YamlError { place, problem });
            let finished = match event {
                Event::Scalar(text, style, _, tag) => {
                    let scalar = Scalar {
                        text: text.into_owned(),
                        style,
                        is_tagged_string: tag
                            .is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str"),
                        place,
                        is_on_one_line: span.start.line() == span.end.line(),
                    };
                    self.scalar(scalar)?
                }
                Event::SequenceStart(..) => {
                    self.open(Content::List(Vec::new()), place)?;
                    None
                }
                Event::MappingStart(..) => {
                    self.open(Content::Mapping(Vec::new()), place)?;
                    None
                }
                Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                    Some(closed) => self.add(closed.node)?,
                    None => None,
                },
                Event::Alias(_) => return refused(Problem::Alias),
                Event::StreamEnd => return Ok(None),
                _ => None,
            };
            if finished.is_some() {
                return Ok(finished);
            }
        }
        Ok(None)
    }

    /// Takes a scalar as a key or as a value. Returns the scalar if it is a whole document.
    fn scalar(&mut self, scalar: Scalar) -> Result<Option<Node>, YamlError> {
        if let Some(Open { node: Node { content: Content::Mapping(_), .. }, key: key @ None }) =
            self.open.last_mut()
        {
            *key = Some(scalar);
            return Ok(None);
        }
        self.add(Node { place: scalar.place, content: Content::Scalar(scalar) })
    }

    fn open(&mut self, content: Content, place: Place) -> Result<(), YamlError> {
        let refused = |problem| Err(YamlError { place, problem });
        if self.open.len() >= self.limits.depth {
            return refused(Problem::TooDeep(self.limits.depth));
        }
        if let Some(Open { node: Node { content: Content::Mapping(_), .. }, key: None }) =
            self.open.last()
        {
            return refused(Problem::Key);
        }
        self.open.push(Open { node: Node { place, content }, key: None });
        Ok(())
    }

    /// Adds a value to the list or mapping that contains it. Returns the value if it is a whole
    /// document.
    fn add(&mut self, node: Node) -> Result<Option<Node>, YamlError> {
        self.values += 1;
        if self.values > self.limits.values {
            let problem = Problem::TooMany(self.limits.values);
            return Err(YamlError { place: node.place, problem });
        }
        let Some(around) = self.open.last_mut() else { return Ok(Some(node)) };
        match &mut around.node.content {
            Content::List(items) => items.push(node),
            // The value belongs to the key that was read before it.
            Content::Mapping(entries) => entries.extend(around.key.take().map(|key| (key, node))),
            Content::Scalar(_) => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { depth: 8, values: 20 };

    fn problem(text: &str) -> (Problem, Place) {
        let error = document(text, LIMITS).expect_err("it is refused");
        (error.problem, error.place)
    }

    #[test]
    fn a_tree_has_places_and_styles() {
        let node = document("a: 5\nb: [x, 'y z', !!str 7]\n", LIMITS);
        let node = node.expect("it is YAML").expect("it has a document");
        let Content::Mapping(entries) = node.content else { panic!("it is a mapping") };
        assert_eq!(entries[0].0.text, "a");
        let Content::List(items) = &entries[1].1.content else { panic!("it is a list") };
        let scalar = |index: usize| match &items[index].content {
            Content::Scalar(scalar) => scalar.clone(),
            _ => panic!("it is a scalar"),
        };
        assert_eq!((scalar(0).place, scalar(0).is_plain()), (Place { line: 2, column: 5 }, true));
        assert_eq!((&*scalar(1).text, scalar(1).style), ("y z", ScalarStyle::SingleQuoted));
        assert!(scalar(2).is_tagged_string && scalar(2).is_on_one_line);
    }

    #[test]
    fn documents_are_counted() {
        assert_eq!(document("", LIMITS), Ok(None));
        let two = "1\n---\n2";
        assert_eq!(documents(two, LIMITS).map(|all| all.len()), Ok(2));
        assert!(first_document(two, LIMITS).is_ok_and(|first| first.is_some()));
        assert_eq!(problem(two), (Problem::SecondDocument, Place { line: 3, column: 1 }));
    }

    #[test]
    fn harmful_documents_are_refused() {
        assert!(matches!(problem("a: [").0, Problem::Syntax(_)));
        assert_eq!(problem("&a [1, *a]"), (Problem::Alias, Place { line: 1, column: 8 }));
        assert_eq!(problem("? [a]\n: b").0, Problem::Key);
        let nested = format!("{}{}", "[".repeat(9), "]".repeat(9));
        assert_eq!(problem(&nested).0, Problem::TooDeep(8));
        // The parser has its own limit. An input may reach that limit before the parser returns an
        // event.
        for open in ["[", "{a: ", "- "] {
            let (found, _) = problem(&open.repeat(100_000));
            assert!(matches!(found, Problem::TooDeep(8) | Problem::Syntax(_)), "{found:?}");
        }
        assert_eq!(problem(&format!("[{}]", "1,".repeat(30))).0, Problem::TooMany(20));
    }
}
