//! Content filters: expressions over the fields of messages, which select the messages that a
//! subscription receives.
//!
//! The language is that of DDS: comparisons of fields with values, other fields or parameters
//! (`%0`), with `LIKE` and `BETWEEN`, combined with `AND`, `OR`, `NOT` and parentheses.

mod parser;

use std::cmp::Ordering;

use super::path::PathError;
use super::types::DynamicType;
use super::value::{DynamicMessage, ValueRef};

/// The limits on the length of an expression, in bytes, and on the nesting of its parentheses and
/// `NOT`s.
const MAX_EXPRESSION_BYTES: usize = 16 << 10;
const MAX_DEPTH: usize = 64;

/// Selects messages of one type by an expression.
///
/// ```
/// use feros_message::dynamic::{ContentFilter, DynamicMessage, DynamicType};
/// let ty = DynamicType::resolve(feros_interface::shipped(), &"sensor_msgs/msg/BatteryState".parse()?)?;
/// let low = ContentFilter::parse(&ty, "percentage < %0 AND location LIKE 'slot %'", &["0.2"])?;
/// let state = DynamicMessage::from_yaml(&ty, "{percentage: 0.1, location: slot 3}")?;
/// assert!(low.matches(&state));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ContentFilter(Condition);

/// The reason why an expression is not a filter for messages of a type.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContentFilterError {
    /// The expression breaks the grammar.
    #[error("the filter `{expression}` has a syntax error at byte {at}: expected {expected}")]
    Syntax {
        /// The expression.
        expression: String,
        /// The position of the error in bytes, counted from 0.
        at: usize,
        /// The input that is allowed at that position.
        expected: &'static str,
    },
    /// The expression names a parameter that is not given.
    #[error(
        "the filter names parameter %{number}, but {count} parameters are given, counted from %0"
    )]
    NoParameter {
        /// The number of the parameter.
        number: usize,
        /// The number of given parameters.
        count: usize,
    },
    /// A parameter is not a literal value of the filter language.
    #[error(
        "parameter %{number} of the filter is {value:?}: write a number, TRUE, FALSE, or a string \
         in quotes, such as 'left'"
    )]
    ParameterValue {
        /// The number of the parameter.
        number: usize,
        /// The given string.
        value: String,
    },
    /// The expression names a field that the message type does not have.
    #[error("the filter names an unknown field: {0}")]
    Field(#[from] PathError),
    /// The two sides of a comparison can never be compared.
    #[error("the filter compares {left} with {right}")]
    Kinds {
        /// The operand on the left.
        left: &'static str,
        /// The operand on the right.
        right: &'static str,
    },
    /// The expression is too long or nested too deeply.
    #[error(
        "the filter is too large: at most {MAX_EXPRESSION_BYTES} bytes and {MAX_DEPTH} levels of parentheses"
    )]
    TooLarge,
}

#[derive(Clone, Debug, PartialEq)]
enum Condition {
    /// The empty expression, which is true for every message.
    Always,
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
    Compare(Operand, Relation, Operand),
    Between(Operand, Operand, Operand),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Like,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    /// The path of a field.
    Field(String),
    Literal(Scalar),
}

#[derive(Clone, Debug, PartialEq)]
enum Scalar {
    Bool(bool),
    Integer(i128),
    /// The value of a `float32` field. When it is compared with a `float64`, that value is first
    /// rounded to `float32`.
    Single(f32),
    Float(f64),
    String(String),
}

impl ContentFilter {
    /// Parses an expression for messages of a type. `%0`, `%1` and so on represent the parameters,
    /// which are written like values in the expression. The empty expression accepts all messages.
    ///
    /// # Errors
    /// Fails if the expression or a parameter cannot be parsed, or does not fit the fields of the
    /// type.
    pub fn parse(
        ty: &DynamicType,
        expression: &str,
        parameters: &[impl AsRef<str>],
    ) -> Result<Self, ContentFilterError> {
        let parameters: Vec<&str> = parameters.iter().map(AsRef::as_ref).collect();
        let condition = parser::parse(expression, &parameters)?;
        condition.check(&ty.default_message())?;
        Ok(Self(condition))
    }

    /// Whether the filter accepts a message. A comparison with an element that the message does not
    /// have is false.
    #[must_use]
    pub fn matches(&self, message: &DynamicMessage) -> bool {
        self.0.holds(message)
    }
}

impl Condition {
    /// Refuses comparisons that are impossible for the type. `message` may be any message of the
    /// type.
    fn check(&self, message: &DynamicMessage) -> Result<(), ContentFilterError> {
        match self {
            Self::Always => Ok(()),
            Self::And(left, right) | Self::Or(left, right) => {
                left.check(message)?;
                right.check(message)
            }
            Self::Not(inner) => inner.check(message),
            Self::Compare(left, relation, right) => {
                let wants_string = *relation == Relation::Like;
                comparable(left.kind(message)?, right.kind(message)?, wants_string)
            }
            Self::Between(what, low, high) => {
                comparable(what.kind(message)?, low.kind(message)?, false)?;
                comparable(what.kind(message)?, high.kind(message)?, false)
            }
        }
    }

    fn holds(&self, message: &DynamicMessage) -> bool {
        match self {
            Self::Always => true,
            Self::And(left, right) => left.holds(message) && right.holds(message),
            Self::Or(left, right) => left.holds(message) || right.holds(message),
            Self::Not(inner) => !inner.holds(message),
            Self::Compare(left, relation, right) => {
                match (left.value(message), right.value(message)) {
                    (Some(left), Some(right)) => relation.holds(&left, &right),
                    _ => false,
                }
            }
            Self::Between(what, low, high) => {
                let values = (what.value(message), low.value(message), high.value(message));
                let (Some(what), Some(low), Some(high)) = values else { return false };
                let order = |bound| compare(&what, bound);
                order(&low).is_some_and(Ordering::is_ge)
                    && order(&high).is_some_and(Ordering::is_le)
            }
        }
    }
}

/// The kind of an operand's value, or `None` if it is unknown before a message arrives.
type Kind = Option<&'static str>;

const NUMBER: &str = "a number";
const STRING: &str = "a string";
const BOOLEAN: &str = "a boolean";

fn comparable(left: Kind, right: Kind, wants_string: bool) -> Result<(), ContentFilterError> {
    let string_or = |kind: Kind| if wants_string { Some(STRING) } else { kind };
    for (left, right) in [(left, right), (left, string_or(left)), (right, string_or(right))] {
        if let (Some(left), Some(right)) = (left, right)
            && left != right
        {
            return Err(ContentFilterError::Kinds { left, right });
        }
    }
    Ok(())
}

impl Operand {
    fn kind(&self, message: &DynamicMessage) -> Result<Kind, ContentFilterError> {
        let scalar = match self {
            Self::Literal(scalar) => Some(scalar.clone()),
            Self::Field(path) => match message.select(path) {
                // The length of a sequence is unknown before a message arrives.
                Err(PathError::Index { .. }) => return Ok(None),
                Err(error) => return Err(error.into()),
                Ok(selected) => scalar(selected.value()),
            },
        };
        match scalar {
            Some(Scalar::Bool(_)) => Ok(Some(BOOLEAN)),
            Some(Scalar::Integer(_) | Scalar::Single(_) | Scalar::Float(_)) => Ok(Some(NUMBER)),
            Some(Scalar::String(_)) => Ok(Some(STRING)),
            None => Err(ContentFilterError::Kinds {
                left: "a message, array or sequence as a whole",
                right: "a value",
            }),
        }
    }

    fn value(&self, message: &DynamicMessage) -> Option<Scalar> {
        match self {
            Self::Literal(scalar) => Some(scalar.clone()),
            Self::Field(path) => scalar(message.select(path).ok()?.value()),
        }
    }
}

/// The form of a value that can be compared, or `None` for messages, arrays and sequences.
fn scalar(value: ValueRef<'_>) -> Option<Scalar> {
    Some(match value {
        ValueRef::Bool(value) => Scalar::Bool(value),
        ValueRef::I8(value) => Scalar::Integer(value.into()),
        ValueRef::U8(value) => Scalar::Integer(value.into()),
        ValueRef::I16(value) => Scalar::Integer(value.into()),
        ValueRef::U16(value) => Scalar::Integer(value.into()),
        ValueRef::I32(value) => Scalar::Integer(value.into()),
        ValueRef::U32(value) => Scalar::Integer(value.into()),
        ValueRef::I64(value) => Scalar::Integer(value.into()),
        ValueRef::U64(value) => Scalar::Integer(value.into()),
        ValueRef::F32(value) => Scalar::Single(value),
        ValueRef::F64(value) => Scalar::Float(value),
        ValueRef::String(value) => Scalar::String(value.to_owned()),
        ValueRef::WString(value) => Scalar::String(value.to_string()),
        ValueRef::Message(_) | ValueRef::Array(_) => return None,
    })
}

impl Relation {
    fn holds(self, left: &Scalar, right: &Scalar) -> bool {
        if self == Self::Like {
            return match (left, right) {
                (Scalar::String(value), Scalar::String(pattern)) => is_like(value, pattern),
                _ => false,
            };
        }
        let order = compare(left, right);
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::NotEqual => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrEqual => order.is_some_and(Ordering::is_le),
            Self::Greater => order == Some(Ordering::Greater),
            Self::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
            Self::Like => false,
        }
    }
}

/// Compares two values. Returns `None` if they cannot be compared, for example if one of them is
/// NaN.
fn compare(left: &Scalar, right: &Scalar) -> Option<Ordering> {
    #[expect(clippy::cast_precision_loss, reason = "as DDS compares integers with floats")]
    let float = |scalar: &Scalar| match scalar {
        Scalar::Integer(value) => Some(*value as f64),
        Scalar::Single(value) => Some(f64::from(*value)),
        Scalar::Float(value) => Some(*value),
        Scalar::Bool(_) | Scalar::String(_) => None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "a number as a `float32` has it")]
    let single = |value: f64| value as f32;
    match (left, right) {
        (Scalar::Single(left), Scalar::Float(right)) => left.partial_cmp(&single(*right)),
        (Scalar::Float(left), Scalar::Single(right)) => single(*left).partial_cmp(right),
        (Scalar::Bool(left), Scalar::Bool(right)) => Some(left.cmp(right)),
        (Scalar::Integer(left), Scalar::Integer(right)) => Some(left.cmp(right)),
        (Scalar::String(left), Scalar::String(right)) => Some(left.cmp(right)),
        _ => float(left)?.partial_cmp(&float(right)?),
    }
}

/// Whether a string matches a pattern, in which `%` and `*` represent any number of characters, and
/// `_` and `?` represent one character. The time is at most proportional to the product of both
/// lengths.
fn is_like(value: &str, pattern: &str) -> bool {
    let (value, pattern): (Vec<char>, Vec<char>) =
        (value.chars().collect(), pattern.chars().collect());
    let is_any = |character: char| matches!(character, '%' | '*');
    let (mut at, mut in_pattern) = (0, 0);
    // The positions in the string and in the pattern from which to retry if the pattern after the
    // last `%` does not match. Each retry starts one character further in the string.
    let mut retry: Option<(usize, usize)> = None;
    while at < value.len() {
        match pattern.get(in_pattern) {
            Some(&character) if is_any(character) => {
                in_pattern += 1;
                retry = Some((at, in_pattern));
            }
            Some(&character) if matches!(character, '_' | '?') || character == value[at] => {
                (at, in_pattern) = (at + 1, in_pattern + 1);
            }
            _ => {
                let Some((from, after)) = retry else { return false };
                retry = Some((from + 1, after));
                (at, in_pattern) = (from + 1, after);
            }
        }
    }
    pattern[in_pattern..].iter().all(|&character| is_any(character))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn ty(name: &str) -> DynamicType {
        DynamicType::resolve(feros_interface::shipped(), &name.parse().unwrap()).unwrap()
    }

    fn joints(expression: &str, parameters: &[&str]) -> Result<bool, String> {
        let ty = ty("sensor_msgs/msg/JointState");
        let filter = ContentFilter::parse(&ty, expression, parameters);
        let filter = filter.map_err(|error| error.to_string())?;
        let message = DynamicMessage::from_yaml(
            &ty,
            "{header: {stamp: {sec: 7, nanosec: 5}, frame_id: left arm}, name: [elbow], position: [1.5, .nan]}",
        );
        Ok(filter.matches(&message.unwrap()))
    }

    #[test]
    fn messages_are_judged() {
        for (expression, expected) in [
            ("", true),
            ("header.stamp.sec = 7", true),
            ("header.stamp.sec <> 7", false),
            ("header.stamp.sec != 8", true),
            ("7 = header.stamp.sec", true),
            ("header.stamp.sec > header.stamp.nanosec", true),
            ("header.stamp.sec >= 7.5 or header.stamp.nanosec <= 5", true),
            ("header.stamp.sec = 0x7", true),
            ("header.frame_id = 'left arm'", true),
            ("header.frame_id < 'm'", true),
            ("header.frame_id LIKE 'l%a_m'", true),
            ("header.frame_id like '%right%'", false),
            ("NOT header.frame_id LIKE '*right*' AND header.stamp.sec = 7", true),
            ("NOT (header.frame_id LIKE 'l%' AND header.stamp.sec = 7)", false),
            ("header.stamp.sec BETWEEN 5 AND 7", true),
            ("header.stamp.sec NOT BETWEEN 5 AND 7", false),
            ("header.stamp.sec = 1 OR header.stamp.sec = 7 AND header.stamp.nanosec = 5", true),
            ("position[0] > 1.25 and name[0] = 'elbow'", true),
            ("position[1] = 0 OR position[1] < 1 OR position[1] > 0", false),
            ("position[5] > 0", false),
            ("position[5] <> 0", false),
            ("header.stamp.sec = -1", false),
            ("position[0] = 15e-1", true),
        ] {
            assert_eq!(joints(expression, &[]), Ok(expected), "{expression}");
        }
        let expression = "header.frame_id = %1 AND header.stamp.sec >= %0";
        assert_eq!(joints(expression, &["7", "'left arm'"]), Ok(true));
        let ty = ty("std_msgs/msg/Bool");
        let set = DynamicMessage::from_yaml(&ty, "data: true").unwrap();
        assert!(ContentFilter::parse(&ty, "data = %0", &["TRUE"]).unwrap().matches(&set));
        assert!(!ContentFilter::parse(&ty, "data = false", &[""; 0]).unwrap().matches(&set));
    }

    /// The `float32` nearest to 0.1 differs from the `float64` nearest to 0.1.
    #[test]
    fn a_float32_is_compared_with_as_many_digits_as_it_has() {
        let ty = ty("sensor_msgs/msg/BatteryState");
        let state = DynamicMessage::from_yaml(&ty, "{percentage: 0.1}").unwrap();
        for (expression, expected) in [
            ("percentage = 0.1", true),
            ("0.1 = percentage", true),
            ("percentage > 0.1", false),
            ("percentage BETWEEN 0.1 AND 0.2", true),
            ("percentage = 0.11", false),
        ] {
            let filter = ContentFilter::parse(&ty, expression, &[""; 0]).unwrap();
            assert_eq!(filter.matches(&state), expected, "{expression}");
        }
    }

    #[test]
    fn invalid_filters_are_refused_with_the_place() {
        for (expression, expected) in [
            ("header", "at byte 6: expected a comparison"),
            ("header.stamp.sec =", "at byte 18: expected a field or a value"),
            ("header.stamp.sec = 7 8", "at byte 21: expected AND, OR or the end"),
            ("(header.stamp.sec = 7", "at byte 21: expected `)`"),
            ("header.stamp.sec = 'x", "at byte 19: expected a closing quote"),
            ("header.stamp.sec = 99999999999999999999999999999999999999999", "a number that fits"),
            ("header.stamp.sec BETWEEN 1 OR 2", "expected AND"),
            ("header.stamp.sec = %", "expected a parameter number"),
            ("header.stamp.sec ~ 1", "expected a comparison"),
            ("header.stamp.sec = %2", "names parameter %2, but 1 parameters are given"),
            ("header.stamp.sec = 'x'", "compares a number with a string"),
            ("header.stamp.sec LIKE 7", "compares a number with a string"),
            ("header.stamp = 1", "compares a message, array or sequence as a whole with a value"),
            ("header.stam.sec = 1", "has no field `stam`"),
            ("höhe = 1", "at byte 1: expected a comparison"),
        ] {
            let error = joints(expression, &["1"]).unwrap_err();
            assert!(error.contains(expected), "{expression}: {error}");
        }
        let error = joints("header.stamp.sec = %0", &["left"]).unwrap_err();
        assert!(error.contains("parameter %0 of the filter is \"left\""), "{error}");
        let deep = format!("{}header.stamp.sec = 1{}", "(".repeat(5000), ")".repeat(5000));
        assert!(joints(&deep, &[]).unwrap_err().contains("too large"));
        assert!(joints(&"NOT ".repeat(3000), &[]).unwrap_err().contains("too large"));
        assert!(
            joints(&" ".repeat(MAX_EXPRESSION_BYTES + 1), &[]).unwrap_err().contains("too large")
        );
    }

    #[test]
    fn patterns_match_in_bounded_time() {
        for (value, pattern, expected) in [
            ("", "", true),
            ("", "%", true),
            ("a", "", false),
            ("abc", "a%c", true),
            ("abcc", "a%c", true),
            ("abc", "_?_", true),
            ("grün", "gr_n", true),
            ("abd", "a%c", false),
        ] {
            assert_eq!(is_like(value, pattern), expected, "{value} like {pattern}");
        }
        let (value, pattern) = ("a".repeat(5000), "%a".repeat(2000) + "b");
        assert!(!is_like(&value, &pattern));
    }
}
