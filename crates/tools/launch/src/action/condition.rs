//! The conditions of actions: `if` and `unless`.

use super::fields::Fields;
use crate::error::LaunchError;
use crate::substitution::Template;

/// The value of an `if` or `unless`.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) value: Template,
    pub(crate) negated: bool,
}

/// Reads the condition of an entity.
pub(super) fn condition(fields: &mut Fields) -> Result<Option<Condition>, LaunchError> {
    let if_given = fields.optional("if")?;
    let unless_given = fields.optional("unless")?;
    match (if_given, unless_given) {
        (Some(_), Some(_)) => Err(fields
            .error(format!("both `if` and `unless` of `{}`: expected one of them", fields.tag))),
        (Some(value), None) => Ok(Some(Condition { value, negated: false })),
        (None, Some(value)) => Ok(Some(Condition { value, negated: true })),
        (None, None) => Ok(None),
    }
}
