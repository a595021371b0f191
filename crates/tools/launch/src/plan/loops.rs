//! Loops over actions: `for` and `for_each`.

use std::path::Path;
use std::sync::Arc;

use super::actions::MAX_ACTIONS;
use super::evaluator::Evaluator;
use crate::action::{ForEach, Item, Loop};
use crate::error::{LaunchError, shown};
use crate::position::Position;
use crate::tree::{Content, Node, Scalar, document};
use crate::value::Value;

/// The names and values of the loop variables in one iteration.
type Variables = Vec<(String, String)>;

impl Evaluator<'_> {
    pub(super) fn rounds(&mut self, rounds: &Loop, at: &Position) -> Result<(), LaunchError> {
        let text = self.text(&rounds.length)?;
        let length: usize = text.trim().parse().map_err(|_| {
            let problem = format!("{} for `len` of `for`: expected a whole number", shown(&text));
            LaunchError::at(&rounds.length.at, problem)
        })?;
        if length > MAX_ACTIONS {
            let problem = format!("more than {MAX_ACTIONS} rounds");
            return Err(LaunchError::at(at, problem));
        }
        (0..length).try_for_each(|index| {
            self.round(vec![(rounds.name.clone(), index.to_string())], &rounds.actions)
        })
    }

    pub(super) fn for_each(
        &mut self,
        for_each: &ForEach,
        at: &Position,
    ) -> Result<(), LaunchError> {
        let text = self.text(&for_each.values)?;
        let sets = text.split(';').map(str::trim).filter(|set| !set.is_empty());
        let sets = sets.map(variables).collect::<Result<Vec<_>, _>>();
        let sets = sets.map_err(|problem| LaunchError::at(&for_each.values.at, problem))?;
        if sets.is_empty() {
            self.warn(at, "`for_each` without values: its actions are skipped");
        }
        sets.into_iter().try_for_each(|variables| self.round(variables, &for_each.actions))
    }

    /// Evaluates the actions of a loop once, with the variables of this iteration.
    fn round(&mut self, variables: Variables, actions: &[Item]) -> Result<(), LaunchError> {
        let outer = self.scope.loop_variables.clone();
        self.scope.loop_variables.extend(variables);
        let result = self.items(actions);
        self.scope.loop_variables = outer;
        result
    }
}

/// Parses one set of values; the values are formatted as Python prints them.
fn variables(set: &str) -> Result<Variables, String> {
    let unfit = |reason: &str| {
        let example = "expected mappings such as {name: a, id: 1};{name: b, id: 2}";
        format!("{} for `values` of `for_each`: {reason}; {example}", shown(set))
    };
    let nowhere: Arc<Path> = Arc::from(Path::new(""));
    let node = document(&nowhere, set).map_err(|_| unfit("this is not YAML"))?;
    let Content::Mapping(entries) = node.content else {
        return Err(unfit("this is not a mapping"));
    };
    let variable = |(name, value): (Scalar, Node)| match value.content {
        Content::Scalar(scalar) => Ok((name.text, Value::from_scalar(&scalar).as_python())),
        _ => Err(unfit("a list or mapping as a value")),
    };
    entries.into_iter().map(variable).collect()
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn values_are_as_python_prints_them() {
        let set = "{a: x y, b: 1, c: 2.50, d: yes, e: '1', f: \"\", g: 0x10}";
        let texts: Vec<String> =
            variables(set).unwrap().into_iter().map(|(_, value)| value).collect();
        assert_eq!(texts, ["x y", "1", "2.5", "True", "1", "", "16"]);
        assert_eq!(variables("{}").unwrap(), []);
    }
}
