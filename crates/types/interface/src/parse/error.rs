//! Errors in definitions, with the position, the problem and how to correct it.

use crate::name::TypeName;

/// The error of a definition that violates the rules.
///
/// It is displayed as `place:line:column: what is wrong and what is allowed`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{origin}:{line}:{column}: {kind}")]
pub struct ParseError {
    /// The definition, for example `std_msgs/msg/String`, or the file from which it was read.
    pub origin: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// The problem.
    pub kind: Box<ParseErrorKind>,
}

/// A problem in a definition.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The text is larger than the limit of Feros.
    #[error("the definition has {bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The name of the package violates the rules.
    #[error(
        "`{name}` is not a package name: use lower-case letters, digits and single underscores, starting with a \
         letter and not ending with an underscore"
    )]
    PackageName {
        /// The name.
        name: String,
    },
    /// The name of a type violates the rules.
    #[error("`{name}` is not a type name: use letters and digits, starting with a capital letter")]
    TypeName {
        /// The name.
        name: String,
    },
    /// The name of a field violates the rules.
    #[error(
        "`{name}` is not a field name: use lower-case letters, digits and single underscores, starting with a letter \
         and not ending with an underscore"
    )]
    FieldName {
        /// The name.
        name: String,
    },
    /// The name of a constant violates the rules.
    #[error(
        "`{name}` is not a constant name: use capital letters, digits and single underscores, starting with a letter \
         and not ending with an underscore (a default value may not contain `=`: any `=` makes the line a constant)"
    )]
    ConstantName {
        /// The name.
        name: String,
    },
    /// A line starts with spaces.
    #[error("the line is indented: start it with the type")]
    Indented,
    /// A line has a type and nothing else.
    #[error(
        "no name follows `{ty}`: write `type name`, `type name default` or `type NAME=value`{}",
        if ty.starts_with("---") { " (a separator is exactly `---`, without blanks)" } else { "" }
    )]
    MissingName {
        /// The type.
        ty: String,
    },
    /// A type is not built in, and does not have the form of a message name.
    #[error(
        "unknown type `{ty}`: use bool, byte, char, int8..int64, uint8..uint64, float32, float64, string, wstring, \
         `Name` of a message of this package, or `package/Name`{}",
        match ty.as_str() {
            "time" => " (for a time: builtin_interfaces/Time)",
            "duration" => " (for a duration: builtin_interfaces/Duration)",
            "float" => " (float is float32 or float64)",
            "double" => " (double is float64)",
            "int" => " (int is int32 or int64)",
            _ => "",
        }
    )]
    UnknownType {
        /// The type.
        ty: String,
    },
    /// A bound or size in a type is not a positive number.
    #[error("`{given}` in `{ty}` is not a size: use a whole number from 1 to 4294967295")]
    Size {
        /// The type.
        ty: String,
        /// The part that is wrong.
        given: String,
    },
    /// A type ends with `]` but has no `[`.
    #[error("`{ty}` has `]` without `[`: arrays are `T[N]`, `T[<=N]` and `T[]`")]
    Bracket {
        /// The type.
        ty: String,
    },
    /// A constant's type is not an unbounded built-in type.
    #[error(
        "a constant cannot be `{ty}`: use a built-in type without a bound and without brackets"
    )]
    ConstantType {
        /// The type.
        ty: String,
    },
    /// A name is used twice in one message.
    #[error("`{name}` is already defined on line {first_line}: names are unique in a message")]
    Duplicate {
        /// The name.
        name: String,
        /// The line in which the name was first used.
        first_line: u32,
    },
    /// A field whose type is a message has a default.
    #[error(
        "`{name}` is a message and cannot have a default: set the defaults in the definition of `{ty}`"
    )]
    DefaultOfMessage {
        /// The field.
        name: String,
        /// The type.
        ty: String,
    },
    /// A value is not a value of its type.
    #[error("`{value}` is not a value of `{ty}`: {allowed}")]
    Value {
        /// The value.
        value: String,
        /// The type.
        ty: String,
        /// The values that are allowed.
        allowed: String,
    },
    /// A service or action has the wrong number of parts.
    #[error("the definition has {found} lines `---`, but needs {expected} between {parts}")]
    Separators {
        /// The number of separators that were found, or a lower limit on that number.
        found: usize,
        /// The number of separators that are expected.
        expected: usize,
        /// The names of the parts that the separators divide.
        parts: &'static str,
    },
}

/// An error with its position. The name of the definition is added later.
#[derive(Debug)]
pub(super) struct Located {
    line: u32,
    column: u32,
    kind: Box<ParseErrorKind>,
}

/// Gives an error its position. `column` is counted in characters, from 1.
pub(super) fn at(line: u32, column: u32, kind: ParseErrorKind) -> Located {
    Located { line, column, kind: Box::new(kind) }
}

impl Located {
    pub(super) fn in_definition(self, name: &TypeName) -> ParseError {
        ParseError {
            origin: name.to_string(),
            line: self.line,
            column: self.column,
            kind: self.kind,
        }
    }
}
