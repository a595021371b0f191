//! The conditions of actions: `if` and `unless`.

use super::fields::Fields;
use crate::error::LaunchError;
use crate::position::Position;
use crate::substitution::Template;

/// The condition of an action or a component.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// The value of an `if` or `unless`.
    Truth { value: Template, negated: bool },
    /// Whether a variable has a value; without a value, whether the variable is missing
    /// (`launch/launch/conditions/launch_configuration_equals.py`).
    Equals { name: String, expected: Option<Template>, negated: bool },
    /// A condition that only Python can evaluate, by the number of its object.
    Python { id: u64, at: Position },
}

/// Reads the condition of an entity.
pub(super) fn condition(fields: &mut Fields) -> Result<Option<Condition>, LaunchError> {
    let if_given = fields.optional("if")?;
    let unless_given = fields.optional("unless")?;
    match (if_given, unless_given) {
        (Some(_), Some(_)) => Err(fields
            .error(format!("both `if` and `unless` of `{}`: expected one of them", fields.tag))),
        (Some(value), None) => Ok(Some(Condition::Truth { value, negated: false })),
        (None, Some(value)) => Ok(Some(Condition::Truth { value, negated: true })),
        (None, None) => Ok(None),
    }
}
