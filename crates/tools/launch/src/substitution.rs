//! Parses strings with substitutions such as `$(var rate)`. [`crate::plan`] evaluates the
//! substitutions.
//!
//! Outside of substitutions a backslash makes the next character literal, and quotes are ordinary
//! characters. Inside a substitution spaces separate arguments, and quotes of either kind keep an
//! argument together.

use std::collections::BTreeSet;

use crate::error::{LaunchError, hint, shown};
use crate::position::Position;
use crate::tree::Scalar;

/// The limit on the nesting of substitutions.
const MAX_DEPTH: usize = 32;

/// The limit on the length of a string with substitutions, since parsing takes many times its size
/// in memory.
const MAX_BYTES: usize = 64 << 10;

/// A string with substitutions.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
    /// The text as written in the file.
    pub(crate) source: String,
    pub(crate) at: Position,
}

#[derive(Clone, Debug)]
pub(crate) enum Part {
    Text(String),
    Call(Call),
    Object(Object),
}

/// One substitution.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) kind: Kind,
    pub(crate) arguments: Vec<Template>,
    pub(crate) at: Position,
    /// The object that evaluates the substitution in Python if this crate cannot.
    pub(crate) object: Option<u64>,
}

/// A Python object whose text only Python knows.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) id: u64,
    pub(crate) at: Position,
    /// The object in words.
    pub(crate) shown: String,
}

/// The most arguments that a text may give to a substitution with any number of arguments. Data has
/// no such limit.
const MANY: usize = 64;

macro_rules! kinds {
    ($($kind:ident $name:literal $least:literal ..= $most:literal $form:literal,)*) => {
        /// The known substitutions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind { $($kind),* }

        const KINDS: &[(Kind, &str, usize, usize, &str)] = &[$((Kind::$kind, $name, $least, $most, $form)),*];
    };
}

kinds! {
    Var "var" 1..=2 "$(var NAME [DEFAULT])",
    Env "env" 1..=2 "$(env NAME [DEFAULT])",
    OptionalEnv "optenv" 1..=2 "$(optenv NAME [DEFAULT])",
    FindPackageShare "find-pkg-share" 1..=1 "$(find-pkg-share PACKAGE)",
    FindPackagePrefix "find-pkg-prefix" 1..=1 "$(find-pkg-prefix PACKAGE)",
    ExecutableInPackage "exec-in-pkg" 2..=2 "$(exec-in-pkg EXECUTABLE PACKAGE)",
    FindExecutable "find-exec" 1..=1 "$(find-exec NAME)",
    Directory "dirname" 0..=0 "$(dirname)",
    File "filename" 0..=0 "$(filename)",
    FindPackageFile "find-pkg-file" 2..=2 "$(find-pkg-file PACKAGE PATH)",
    FileContent "file-content" 1..=1 "$(file-content PATH)",
    PathJoin "path-join" 1..=64 "$(path-join PART...)",
    LogFolder "log_dir" 0..=0 "$(log_dir)",
    LaunchLogFolder "launch_log_dir" 0..=0 "$(launch_log_dir)",
    Command "command" 1..=2 "$(command 'COMMAND' [ON_STDERR])",
    Parameter "param" 1..=2 "$(param NAME [DEFAULT])",
    Index "index" 1..=1 "$(index NAME)",
    ForVariable "for-var" 1..=2 "$(for-var NAME [DEFAULT])",
    Anonymous "anon" 1..=1 "$(anon NAME)",
    Eval "eval" 1..=2 "$(eval 'EXPRESSION')",
    Not "not" 1..=1 "$(not VALUE)",
    And "and" 2..=2 "$(and VALUE VALUE)",
    Or "or" 2..=2 "$(or VALUE VALUE)",
    Any "any" 0..=64 "$(any VALUE...)",
    All "all" 0..=64 "$(all VALUE...)",
    Equals "equals" 2..=2 "$(equals VALUE VALUE)",
    NotEquals "not-equals" 2..=2 "$(not-equals VALUE VALUE)",
    If "if" 2..=3 "$(if CONDITION VALUE [OTHERWISE])",
    StringJoin "string-join" 2..=64 "$(string-join DELIMITER TEXT...)",
    StringStrip "string-strip" 1..=1 "$(string-strip TEXT)",
    IsEmpty "is-empty" 1..=1 "$(is-empty TEXT)",
    NotEmpty "not-empty" 1..=1 "$(not-empty TEXT)",
}

impl Kind {
    fn entry(self) -> Option<&'static (Self, &'static str, usize, usize, &'static str)> {
        KINDS.iter().find(|entry| entry.0 == self)
    }

    /// The name in a launch file.
    pub(crate) fn name(self) -> &'static str {
        self.entry().map_or("", |entry| entry.1)
    }

    /// The most arguments that a text may give.
    pub(crate) fn most_arguments(self) -> usize {
        self.entry().map_or(0, |entry| entry.3)
    }
}

impl Template {
    /// Parses the substitutions of a string.
    pub(crate) fn parse(scalar: &Scalar) -> Result<Self, LaunchError> {
        if scalar.text.len() > MAX_BYTES && scalar.text.contains("$(") {
            let problem = format!(
                "a string of {} bytes with substitutions: at most {MAX_BYTES} bytes are allowed",
                scalar.text.len()
            );
            return Err(LaunchError::at(&scalar.at, problem));
        }
        let characters: Vec<char> = scalar.text.chars().collect();
        let mut reader = Reader { scalar, characters: &characters, next: 0 };
        let parts = reader.parts(None, 0)?;
        Ok(Self { parts, source: scalar.text.clone(), at: scalar.at.clone() })
    }

    /// The text of the template, if it contains no substitutions.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}

impl Template {
    /// A template of parts that are already separate, as launch files in Python have them.
    pub(crate) fn of_parts(parts: Vec<Part>, at: &Position) -> Self {
        let source = parts.iter().map(Part::source).collect();
        Self { parts, source, at: at.clone() }
    }

    /// A template without substitutions.
    pub(crate) fn of_text(text: &str, at: &Position) -> Self {
        let parts = if text.is_empty() { vec![] } else { vec![Part::Text(text.to_owned())] };
        Self { parts, source: text.to_owned(), at: at.clone() }
    }

    /// Collects the names that `$(var NAME ...)` in the template reads.
    pub(crate) fn variables(&self, found: &mut BTreeSet<String>) {
        for part in &self.parts {
            let Part::Call(call) = part else { continue };
            let name = call.arguments.first().and_then(Self::as_text);
            if let (Kind::Var, Some(name)) = (call.kind, name) {
                found.insert(name.to_owned());
            }
            for argument in &call.arguments {
                argument.variables(found);
            }
        }
    }
}

impl Part {
    /// The part as a launch file in XML writes it.
    fn source(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Object(object) => object.shown.clone(),
            Self::Call(call) => {
                let name = call.kind.name();
                let arguments = call.arguments.iter().map(|argument| {
                    let source = &argument.source;
                    let is_word = !source.is_empty()
                        && (source.starts_with("$(")
                            || !source.contains(|c: char| c.is_whitespace() || c == '('));
                    if is_word { format!(" {source}") } else { format!(" '{source}'") }
                });
                format!("$({name}{})", arguments.collect::<String>())
            }
        }
    }
}

impl Call {
    /// A call with arguments that are already separate, as launch files in Python have them.
    ///
    /// # Errors
    /// Returns the reason why there is no such substitution, as text for users.
    pub(crate) fn of_data(
        name: &str,
        arguments: Vec<Template>,
        object: Option<u64>,
        at: &Position,
    ) -> Result<Self, String> {
        let Some((kind, _, least, most, form)) = KINDS.iter().find(|kind| kind.1 == name) else {
            return Err(format!("unknown substitution {}", shown(name)));
        };
        let given = arguments.len();
        if given < *least || (given > *most && *most < MANY) {
            return Err(format!("`$({name} ...)` has {given} arguments, expected `{form}`"));
        }
        Ok(Self { kind: *kind, arguments, at: at.clone(), object })
    }
}

struct Reader<'a> {
    scalar: &'a Scalar,
    characters: &'a [char],
    next: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.next).copied()
    }

    fn starts_substitution(&self) -> bool {
        self.peek() == Some('$') && self.characters.get(self.next + 1) == Some(&'(')
    }

    fn error(&self, at: usize, problem: &str) -> LaunchError {
        LaunchError::at(
            &self.scalar.position(at),
            format!("{problem}, in {}", shown(&self.scalar.text)),
        )
    }

    /// Parses text and substitutions up to the closing quote, or to the end of the text.
    fn parts(&mut self, closing: Option<char>, depth: usize) -> Result<Vec<Part>, LaunchError> {
        let mut parts = Vec::new();
        let mut text = String::new();
        while let Some(character) = self.peek() {
            if Some(character) == closing {
                break;
            }
            if self.starts_substitution() {
                push_text(&mut parts, &mut text);
                parts.push(Part::Call(self.call(depth)?));
            } else {
                text.push(self.character(character));
            }
        }
        push_text(&mut parts, &mut text);
        Ok(parts)
    }

    /// Reads one character, or the character after a backslash.
    fn character(&mut self, character: char) -> char {
        self.next += 1;
        match self.peek() {
            Some(escaped) if character == '\\' => {
                self.next += 1;
                escaped
            }
            _ => character,
        }
    }

    fn call(&mut self, depth: usize) -> Result<Call, LaunchError> {
        let start = self.next;
        if depth >= MAX_DEPTH {
            return Err(
                self.error(start, &format!("substitutions are nested deeper than {MAX_DEPTH}"))
            );
        }
        self.next += 2;
        let is_of_name = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let name: String =
            self.characters[self.next..].iter().take_while(|c| is_of_name(c)).collect();
        let (kind, _, least, most, form) = *self.kind(&name, start)?;
        self.next += name.len();
        let arguments = self.arguments(start, depth)?;
        if !(least..=most).contains(&arguments.len()) {
            let problem =
                format!("`$({name} ...)` has {} arguments, expected `{form}`", arguments.len());
            let cure = if arguments.len() > most {
                " (quotes keep an argument with spaces together)"
            } else {
                ""
            };
            return Err(self.error(start, &format!("{problem}{cure}")));
        }
        Ok(Call { kind, arguments, at: self.scalar.position(start), object: None })
    }

    fn kind(
        &self,
        name: &str,
        start: usize,
    ) -> Result<&'static (Kind, &'static str, usize, usize, &'static str), LaunchError> {
        if let Some(kind) = KINDS.iter().find(|kind| kind.1 == name) {
            return Ok(kind);
        }
        let problem = if name.is_empty() {
            "`$(` without the name of a substitution (write `\\$(` for the characters themselves)"
                .to_owned()
        } else {
            format!("unknown substitution `{name}`{}", hint(name, KINDS.iter().map(|kind| kind.1)))
        };
        Err(self.error(start, &problem))
    }

    fn arguments(&mut self, start: usize, depth: usize) -> Result<Vec<Template>, LaunchError> {
        let mut arguments = Vec::new();
        loop {
            let before = self.next;
            while self.peek().is_some_and(char::is_whitespace) {
                self.next += 1;
            }
            match self.peek() {
                None => return Err(self.error(start, "`$(` without its `)`")),
                Some(')') => {
                    self.next += 1;
                    return Ok(arguments);
                }
                Some(_) if self.next == before => {
                    return Err(self.error(before, "expected a space or `)`"));
                }
                Some(quote @ ('"' | '\'')) => arguments.push(self.quoted(quote, depth)?),
                Some(_) => arguments.push(self.unquoted(depth)?),
            }
        }
    }

    fn quoted(&mut self, quote: char, depth: usize) -> Result<Template, LaunchError> {
        let start = self.next;
        self.next += 1;
        let parts = self.parts(Some(quote), depth + 1)?;
        if self.peek() != Some(quote) {
            return Err(self.error(start, &format!("unclosed {quote}")));
        }
        self.next += 1;
        Ok(self.template(parts, start + 1, self.next - 1))
    }

    fn unquoted(&mut self, depth: usize) -> Result<Template, LaunchError> {
        let start = self.next;
        let mut parts = Vec::new();
        let mut text = String::new();
        while let Some(character) = self.peek() {
            match character {
                ')' => break,
                _ if character.is_whitespace() => break,
                _ if self.starts_substitution() => {
                    push_text(&mut parts, &mut text);
                    parts.push(Part::Call(self.call(depth + 1)?));
                }
                '(' => {
                    return Err(
                        self.error(self.next, "`(` in an argument: put the argument in quotes")
                    );
                }
                _ => text.push(self.character(character)),
            }
        }
        push_text(&mut parts, &mut text);
        Ok(self.template(parts, start, self.next))
    }

    fn template(&self, parts: Vec<Part>, start: usize, end: usize) -> Template {
        let source = self.characters[start..end].iter().collect();
        Template { parts, source, at: self.scalar.position(start) }
    }
}

fn push_text(parts: &mut Vec<Part>, text: &mut String) {
    if !text.is_empty() {
        parts.push(Part::Text(std::mem::take(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Part, Template};
    use crate::position::Position;
    use crate::tree::Scalar;
    use std::path::Path;
    use std::sync::Arc;

    fn parse(text: &str) -> Result<Template, String> {
        let at = Position::new(&Arc::from(Path::new("f.xml")), 1, 1);
        let scalar = Scalar { text: text.to_owned(), quoted: false, at, verbatim: true };
        Template::parse(&scalar).map_err(|error| error.to_string())
    }

    #[test]
    fn quotes_escapes_and_nesting() {
        assert_eq!(parse(r"it's \$(plain) $5 \\").unwrap().as_text(), Some(r"it's $(plain) $5 \"));
        let template = parse(r#"a$(eval "'$(var x)' == \"b c\"")z"#).unwrap();
        let [Part::Text(a), Part::Call(call), Part::Text(z)] = template.parts.as_slice() else {
            panic!("{template:?}");
        };
        assert_eq!((a.as_str(), z.as_str(), call.kind), ("a", "z", Kind::Eval));
        let [Part::Text(open), Part::Call(inner), Part::Text(rest)] =
            call.arguments[0].parts.as_slice()
        else {
            panic!("{call:?}");
        };
        assert_eq!((open.as_str(), inner.kind, rest.as_str()), ("'", Kind::Var, r#"' == "b c""#));
    }

    #[test]
    fn mistakes_name_their_place() {
        for (text, expected) in [
            (
                "ab $(vra x)",
                "f.xml:1:4: unknown substitution `vra`; did you mean `var`?, in `ab $(vra x)`",
            ),
            ("$(var x", "f.xml:1:1: `$(` without its `)`, in `$(var x`"),
            ("$(env 'x)", "f.xml:1:7: unclosed ', in `$(env 'x)`"),
            (
                "$(not a b)",
                "f.xml:1:1: `$(not ...)` has 2 arguments, expected `$(not VALUE)` (quotes keep an argument with spaces \
                 together), in `$(not a b)`",
            ),
            (
                "$(command xacro robot.urdf warn)",
                "f.xml:1:1: `$(command ...)` has 3 arguments, expected `$(command 'COMMAND' [ON_STDERR])` (quotes keep an \
                 argument with spaces together), in `$(command xacro robot.urdf warn)`",
            ),
            (
                "$(eval (1))",
                "f.xml:1:8: `(` in an argument: put the argument in quotes, in `$(eval (1))`",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), expected);
        }
        assert!(parse(&"$(not ".repeat(100)).unwrap_err().contains("nested deeper"));
        let huge = format!("$(any{})", " a".repeat(1 << 20));
        assert!(
            parse(&huge).unwrap_err().contains("2097158 bytes with substitutions: at most 65536")
        );
        assert!(parse(&"a".repeat(1 << 20)).is_ok(), "without a substitution it is only text");
    }
}
