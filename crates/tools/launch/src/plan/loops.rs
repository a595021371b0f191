//! Loops over actions: `for` and `for_each`.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::actions::MAX_ACTIONS;
use super::evaluator::Evaluator;
use crate::action::{Body, ForEach, Item, Loop};
use crate::error::{LaunchError, shown};
use crate::position::Position;
use crate::python::value_to_json;
use crate::tree::{Content, Node, Scalar, document};
use crate::value::Value;

/// The names and values of the loop variables in one iteration.
type Variables = Vec<(String, Value)>;

impl Evaluator {
    pub(super) fn rounds(&mut self, rounds: &Loop, at: &Position) -> Result<(), LaunchError> {
        // Without its rounds, it is unknown which variables are missing.
        let length = self.rounds_of(rounds).inspect_err(|_| self.python.end_early())?;
        if length > MAX_ACTIONS {
            let problem = format!("more than {MAX_ACTIONS} rounds");
            return Err(LaunchError::at(at, problem));
        }
        (0..length).try_for_each(|index| match &rounds.body {
            Body::Actions(actions) => {
                self.round(vec![(rounds.name.clone(), index.to_string())], actions)
            }
            Body::Python(id) => {
                let actions = self.iterate(*id, "index", json!(index), at)?;
                self.round(vec![(rounds.name.clone(), index.to_string())], &actions)
            }
        })
    }

    fn rounds_of(&self, rounds: &Loop) -> Result<usize, LaunchError> {
        let text = self.known_text(&rounds.length)?;
        text.trim().parse().map_err(|_| {
            let problem = format!("{} for `len` of `for`: expected a whole number", shown(&text));
            LaunchError::at(&rounds.length.at, problem)
        })
    }

    pub(super) fn for_each(
        &mut self,
        for_each: &ForEach,
        at: &Position,
    ) -> Result<(), LaunchError> {
        let sets = self.sets_of(for_each).inspect_err(|_| self.python.end_early())?;
        if sets.is_empty() {
            self.warn(at, "`for_each` without values: its actions are skipped");
        }
        sets.into_iter().try_for_each(|variables| match &for_each.body {
            Body::Actions(actions) => self.round(texts(variables), actions),
            Body::Python(id) => {
                let pairs =
                    variables.iter().map(|(name, value)| json!([name, value_to_json(value)]));
                let pairs: Json = pairs.collect();
                let actions = self.iterate(*id, "values", pairs, at)?;
                self.round(texts(variables), &actions)
            }
        })
    }

    /// The names and values of the loop variables in each iteration.
    fn sets_of(&self, for_each: &ForEach) -> Result<Vec<Variables>, LaunchError> {
        let text = self.known_text(&for_each.values)?;
        let sets = text.split(';').map(str::trim).filter(|set| !set.is_empty());
        let sets = sets.map(variables).collect::<Result<Vec<_>, _>>();
        sets.map_err(|problem| LaunchError::at(&for_each.values.at, problem))
    }

    /// Evaluates the actions of a loop once, with the variables of this iteration.
    fn round(
        &mut self,
        variables: Vec<(String, String)>,
        actions: &[Item],
    ) -> Result<(), LaunchError> {
        let outer = self.scope.loop_variables.clone();
        self.scope.loop_variables.extend(variables);
        let result = self.items(actions);
        self.scope.loop_variables = outer;
        result
    }
}

/// The values as Python prints them.
fn texts(variables: Variables) -> Vec<(String, String)> {
    variables.into_iter().map(|(name, value)| (name, value.as_python())).collect()
}

/// Parses one set of values.
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
        Content::Scalar(scalar) => Ok((name.text, Value::from_scalar(&scalar))),
        _ => Err(unfit("a list or mapping as a value")),
    };
    entries.into_iter().map(variable).collect()
}

#[cfg(test)]
mod tests {
    use super::{texts, variables};

    #[test]
    fn values_are_as_python_prints_them() {
        let set = "{a: x y, b: 1, c: 2.50, d: yes, e: '1', f: \"\", g: 0x10}";
        let values: Vec<String> =
            texts(variables(set).unwrap()).into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, ["x y", "1", "2.5", "True", "1", "", "16"]);
        assert_eq!(variables("{}").unwrap(), []);
    }
}
