//! The parameters of nodes and components: evaluates values, and writes parameter files.

use std::path::Path;

use feros_parameter::file::{self, ParameterFileError};

use super::evaluator::Evaluator;
use super::steps::{ParameterFile, Parameters};
use crate::action::{Parameter, ParameterContent, ParameterEntry, ParameterText};
use crate::error::LaunchError;
use crate::position::Position;
use crate::substitution::Template;
use crate::tree::{self, Scalar};
use crate::value::{Value, ValueType, quoted};

impl Evaluator {
    pub(super) fn set_parameter(&mut self, entry: &ParameterEntry) -> Result<(), LaunchError> {
        let mut values = Vec::new();
        // Without the value, it is unknown which parameters are missing.
        self.entry("", entry, &mut values).inspect_err(|_| self.python.end_early())?;
        self.scope.parameters.push(Parameters::Values(values));
        Ok(())
    }

    pub(super) fn set_parameters_from_file(&mut self, path: &Template) -> Result<(), LaunchError> {
        let file = self.parameter_file(path, false, false)?;
        self.scope.parameters.extend(file);
        Ok(())
    }

    /// Evaluates parameters into sources. Consecutive values form one source, in which a later
    /// value replaces an earlier value with the same name.
    pub(super) fn parameters(
        &self,
        parameters: &[Parameter],
    ) -> Result<Vec<Parameters>, LaunchError> {
        let mut sources = Vec::new();
        let mut values = Vec::new();
        for parameter in parameters {
            match parameter {
                Parameter::Entry(entry) => self.tried(self.entry("", entry, &mut values))?,
                Parameter::File { path, substitute, may_be_missing } => {
                    if !values.is_empty() {
                        sources.push(Parameters::Values(std::mem::take(&mut values)));
                    }
                    let substitute = self.tried(self.optional_truth(substitute.as_ref(), false))?;
                    let file = self.parameter_file(path, substitute, *may_be_missing);
                    sources.extend(self.tried(file)?);
                }
            }
        }
        if !values.is_empty() {
            sources.push(Parameters::Values(values));
        }
        Ok(sources)
    }

    /// A parameter file. Stock launch skips a missing file, so files of Python may be missing
    /// (`launch_ros/launch_ros/actions/node.py`).
    fn parameter_file(
        &self,
        template: &Template,
        substitute: bool,
        may_be_missing: bool,
    ) -> Result<Option<Parameters>, LaunchError> {
        let path = self.resolve(&self.known_text(template)?);
        if !path.is_file() {
            let problem = format!("the parameter file {} does not exist", path.display());
            if may_be_missing {
                self.warn(&template.at, &problem);
                return Ok(None);
            }
            return Err(LaunchError::at(&template.at, problem));
        }
        let path = std::path::absolute(&path).unwrap_or(path);
        if !substitute {
            self.check_parameter_file(&path, &template.at);
            return Ok(Some(Parameters::File(path)));
        }
        let text = tree::read_text(&path, Some(&template.at))?;
        let at = Position::new(&path.as_path().into(), 1, 1);
        let scalar = Scalar { text, quoted: false, at, verbatim: false };
        let text = self.text(&Template::parse(&scalar)?)?;
        if !self.is_unknown(&text)
            && let Err(source) = file::parse(&text)
        {
            let error = ParameterFileError::Malformed { path, source };
            self.warn(&template.at, &error.to_string());
        }
        Ok(Some(Parameters::Text(text)))
    }

    /// Warns of a file that Feros cannot read, once for each file. It is no mistake, because a node
    /// of stock ROS 2 has a parser of its own.
    fn check_parameter_file(&self, path: &Path, at: &Position) {
        if self.checked_files.borrow_mut().insert(path.to_owned())
            && let Err(error) = file::read(path)
        {
            self.warn(at, &error.to_string());
        }
    }

    pub(super) fn entry(
        &self,
        outer: &str,
        entry: &ParameterEntry,
        values: &mut Vec<(String, Value)>,
    ) -> Result<(), LaunchError> {
        let own = self.known_text(&entry.name)?;
        if own.is_empty() {
            return Err(LaunchError::at(&entry.name.at, "a parameter without a name"));
        }
        let name = if outer.is_empty() { own } else { format!("{outer}.{own}") };
        let fail = |problem: String| {
            LaunchError::at(&entry.at, format!("the parameter `{name}`: {problem}"))
        };
        let value = match &entry.content {
            ParameterContent::Nested(entries) => {
                return entries.iter().try_for_each(|entry| {
                    let result = self.entry(&name, entry, values);
                    self.tried(result)
                });
            }
            ParameterContent::One { value, kind } => {
                self.value(value, *kind).map_err(|error| error.or(fail))?
            }
            ParameterContent::List { items, kind } => {
                let item_kind = kind.map(item_type);
                let items = items
                    .iter()
                    .map(|item| self.value(item, item_kind).map_err(|error| error.or(fail)));
                let list = Value::list(items.collect::<Result<_, _>>()?).map_err(fail)?;
                kind.map_or(Ok(list.clone()), |kind| list.coerced(kind, "")).map_err(fail)?
            }
        };
        values.retain(|(known, _)| *known != name);
        values.push((name, value));
        Ok(())
    }

    fn value(&self, text: &ParameterText, kind: Option<ValueType>) -> Result<Value, ValueError> {
        let (value, source) = match text {
            ParameterText::Known { value, source } => (value.clone(), source.clone()),
            ParameterText::Later(template) => {
                let text = self.known_text(template).map_err(ValueError::Substitution)?;
                (Value::from_yaml(&text).map_err(ValueError::Value)?, text)
            }
        };
        match kind {
            Some(kind) => value.coerced(kind, &source).map_err(ValueError::Value),
            None => Ok(value),
        }
    }
}

/// The error of a value. An error in a substitution has its own position; an error in the value
/// gets the position of the parameter.
enum ValueError {
    Substitution(LaunchError),
    Value(String),
}

impl ValueError {
    fn or(self, place: impl Fn(String) -> LaunchError) -> LaunchError {
        match self {
            Self::Substitution(error) => error,
            Self::Value(problem) => place(problem),
        }
    }
}

/// The type of the items of a list.
fn item_type(kind: ValueType) -> ValueType {
    match kind {
        ValueType::Strings => ValueType::String,
        ValueType::Bools => ValueType::Bool,
        ValueType::Integers => ValueType::Integer,
        ValueType::Doubles => ValueType::Double,
        scalar => scalar,
    }
}

/// Makes a parameter file with these values for one node, or for every node that reads the file if
/// no name is given.
pub(super) fn file_of(node: Option<&str>, values: &[(String, Value)]) -> ParameterFile {
    let mut text = format!("{}:\n  ros__parameters:\n", node.unwrap_or("/**"));
    for (name, value) in values {
        text.push_str(&format!("    {}: {value}\n", quoted(name)));
    }
    ParameterFile { text, entries: values.to_vec() }
}
