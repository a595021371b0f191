//! Strings with substitutions, command lines and conditions as texts of attributes.

use super::refused;
use crate::action::Condition;
use crate::commandline::shell_quoted;
use crate::error::{LaunchError, shown};
use crate::expression;
use crate::position::Position;
use crate::substitution::{Call, Kind, Part, Template};
use crate::value::Value;

/// The attribute that stands for a template.
pub(super) fn text(template: &Template) -> Result<String, LaunchError> {
    parts(&template.parts, None)
}

pub(super) fn optional(template: Option<&Template>) -> Result<Option<String>, LaunchError> {
    template.map(text).transpose()
}

/// The constant boolean of a template.
pub(super) fn truth(template: Option<&Template>) -> Option<bool> {
    match template?.as_text()?.to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// A boolean attribute; `None` if it has its default.
pub(super) fn flag(
    template: Option<&Template>,
    default: bool,
) -> Result<Option<String>, LaunchError> {
    match truth(template) {
        Some(value) if value == default => Ok(None),
        Some(value) => Ok(Some(value.to_string())),
        None => optional(template),
    }
}

fn parts(parts: &[Part], closing: Option<char>) -> Result<String, LaunchError> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(&literal(part, closing)),
            Part::Call(call) => text.push_str(&substitution(call)?),
            Part::Object(object) => {
                let cure = "Python evaluates it; use a substitution of `launch.substitutions` or \
                            `launch_ros.substitutions`, or keep the file in Python";
                return Err(refused(&object.at, &object.shown, cure));
            }
        }
    }
    Ok(text)
}

/// The characters as a reader takes them literally.
pub(super) fn literal(text: &str, closing: Option<char>) -> String {
    let mut written = String::new();
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let starts_substitution = character == '$' && rest.peek() == Some(&'(');
        if character == '\\' || Some(character) == closing || starts_substitution {
            written.push('\\');
        }
        written.push(character);
    }
    written
}

fn substitution(call: &Call) -> Result<String, LaunchError> {
    let (name, most) = (call.kind.name(), call.kind.most_arguments());
    if call.arguments.len() > most {
        let cure =
            format!("it has {} arguments, at most {most} are possible", call.arguments.len());
        return Err(refused(&call.at, format!("`$({name} ...)`"), &cure));
    }
    if call.kind == Kind::Eval
        && let Some(constant) = call.arguments.first().and_then(Template::as_text)
        && let Err(problem) = expression::evaluate(constant)
    {
        let cure = format!("only Python can evaluate it ({problem})");
        return Err(refused(&call.at, format!("the expression {}", shown(constant)), &cure));
    }
    let mut text = format!("$({name}");
    for argument in &call.arguments {
        text.push(' ');
        text.push_str(&self::argument(argument)?);
    }
    text.push(')');
    Ok(text)
}

fn argument(template: &Template) -> Result<String, LaunchError> {
    match template.parts.as_slice() {
        [Part::Call(call)] => substitution(call),
        [Part::Text(word)] if is_word(word) => Ok(word.clone()),
        several => Ok(format!("'{}'", parts(several, Some('\''))?)),
    }
}

/// Whether a text needs no quotes, in an argument or in YAML.
pub(super) fn is_word(text: &str) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    !text.is_empty() && text.chars().all(is_of_word)
}

/// A command line that is split into these words.
pub(super) fn line(words: &[Template]) -> Result<String, LaunchError> {
    let word = |word: &Template| {
        let mut quoted = String::new();
        for part in &word.parts {
            quoted.push_str(&match part {
                Part::Text(text) => literal(&shell_quoted([text.clone()]), None),
                other => parts(std::slice::from_ref(other), None)?,
            });
        }
        Ok(if quoted.is_empty() { "''".to_owned() } else { quoted })
    };
    Ok(words.iter().map(word).collect::<Result<Vec<_>, LaunchError>>()?.join(" "))
}

/// Words that a shell gets, joined by spaces.
pub(super) fn shell_line(words: &[Template]) -> Result<String, LaunchError> {
    Ok(words.iter().map(text).collect::<Result<Vec<_>, _>>()?.join(" "))
}

/// A condition as an attribute and its value.
pub(super) fn condition(
    condition: Option<&Condition>,
    at: &Position,
) -> Result<Option<(&'static str, String)>, LaunchError> {
    let name = |negated: bool| if negated { "unless" } else { "if" };
    Ok(match condition {
        None => None,
        Some(Condition::Truth { value, negated }) => Some((name(*negated), text(value)?)),
        Some(Condition::Equals { name: variable, expected, negated }) => {
            let expected = expected.as_ref().and_then(Template::as_text);
            Some((name(*negated), comparison(variable, expected, at)?))
        }
        Some(Condition::Python { at, .. }) => {
            let cure = "Python evaluates it; write `IfCondition` or `UnlessCondition` with \
                        substitutions, or keep the file in Python";
            return Err(refused(at, "the condition", cure));
        }
    })
}

/// The comparison of a variable with a constant. `$(equals ...)` compares booleans and numbers by
/// value, so these are compared as strings of an expression.
fn comparison(
    variable: &str,
    expected: Option<&str>,
    at: &Position,
) -> Result<String, LaunchError> {
    let variable = if is_word(variable) {
        variable.to_owned()
    } else {
        format!("'{}'", literal(variable, Some('\'')))
    };
    match expected {
        Some(word) if is_word(word) && matches!(Value::from_yaml(word), Ok(Value::String(_))) => {
            Ok(format!("$(equals $(var {variable} '') {word})"))
        }
        Some(word) if is_word(word) => {
            Ok(format!("$(eval '\\'$(var {variable} '')\\' == \\'{word}\\'')"))
        }
        _ => {
            let cure = "write `IfCondition(EqualsSubstitution(LaunchConfiguration(NAME), VALUE))`";
            Err(refused(at, "the comparison of `LaunchConfigurationEquals`", cure))
        }
    }
}
