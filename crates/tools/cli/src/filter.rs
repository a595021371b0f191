//! `--filter`: selects messages by an expression over the message `m`.
//!
//! `ros2` runs the text as Python. Here it is an expression that can only read: operators,
//! comparisons and methods of strings are Python's, the functions are the few below, and only the
//! values that the expression reads are copied.
//!
//! The evaluator of `$(eval ...)` in launch files does not serve here: it has no names, fields,
//! subscripts, functions or methods, and these are most of what minijinja gives a filter.

use std::sync::{Arc, OnceLock};

use feros_message::dynamic::{DynamicMessage, ValueRef};
use feros_sync::Mutex;
use minijinja::value::{Enumerator, Object, ObjectRepr, Rest, Value};
use minijinja::{Environment, Error, ErrorKind, Expression, UndefinedBehavior};
use minijinja_contrib::pycompat::unknown_method_callback;

use crate::nearest::did_you_mean;

/// The functions that an expression may call, in addition to the methods of strings and lists.
const FUNCTIONS: [&str; 9] = ["abs", "all", "any", "len", "max", "min", "round", "str", "sum"];

/// The methods of strings; lists have one of these methods.
const METHODS: [&str; 23] = [
    "capitalize",
    "count",
    "endswith",
    "find",
    "isalnum",
    "isalpha",
    "isascii",
    "isdigit",
    "islower",
    "isnumeric",
    "isupper",
    "join",
    "lower",
    "lstrip",
    "replace",
    "rfind",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "title",
    "upper",
];

/// An expression that a message satisfies or not.
#[derive(Debug)]
pub(crate) struct Filter {
    expression: Expression<'static, 'static>,
    /// The names that follow `m` in the expression, such as `name`, `endswith`.
    paths: Vec<Vec<String>>,
}

/// Parses an expression; for clap, which requires values that can be cloned.
pub(crate) fn parse_filter(text: &str) -> Result<Arc<Filter>, String> {
    let expression =
        environment().compile_expression_owned(text.to_owned()).map_err(|error| said(&error))?;
    let mut names: Vec<String> = expression.undeclared_variables(true).into_iter().collect();
    names.sort();
    let mut paths = Vec::new();
    for name in &names {
        let mut words = name.split('.').map(str::to_owned);
        match words.next().as_deref() {
            Some("m") => paths.push(words.collect()),
            Some(function) if FUNCTIONS.contains(&function) => {}
            head => {
                return Err(format!(
                    "unknown name {}: the message is m, and the functions are {}",
                    head.unwrap_or_default(),
                    FUNCTIONS.join(", ")
                ));
            }
        }
    }
    Ok(Arc::new(Filter { expression, paths }))
}

impl Filter {
    /// Whether a message, or the part of it at `path`, satisfies the expression; a message without
    /// that part does not.
    ///
    /// # Errors
    /// When the expression does not fit messages of this type.
    pub(crate) fn accepts(
        &self,
        message: &Arc<DynamicMessage>,
        path: Option<&str>,
    ) -> Result<bool, String> {
        let subject = Arc::new(Subject {
            message: message.clone(),
            path: path.map(str::to_owned),
            missing: Mutex::new(None),
        });
        let Some(whole) = subject.value() else { return Ok(false) };
        if let Some(wrong) = self.paths.iter().find_map(|path| wrong_step(whole, path)) {
            return Err(wrong);
        }
        let m = to_value(&subject, Vec::new(), whole);
        let outcome = self.expression.eval(minijinja::context! { m => m });
        if let Some(missing) = subject.missing.lock().take() {
            return Err(missing);
        }
        outcome.map(|value| value.is_true()).map_err(|error| said(&error))
    }
}

/// The error for a step into a value without parts; a missing field of a message is reported on
/// access.
fn wrong_step(whole: ValueRef<'_>, path: &[String]) -> Option<String> {
    let mut value = whole;
    for name in path {
        let noun = match value {
            ValueRef::Message(message) => {
                value = message.get(name)?.as_ref();
                continue;
            }
            ValueRef::Array(_) => "a list",
            ValueRef::String(_) | ValueRef::WString(_) => "a string",
            _ => return Some(format!("a number or boolean has no {name}")),
        };
        return (!METHODS.contains(&name.as_str())).then(|| format!("{noun} has no {name}"));
    }
    None
}

fn said(error: &Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::empty();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_unknown_method_callback(unknown_method_callback);
        environment.add_function("abs", abs);
        environment.add_function("all", all);
        environment.add_function("any", any);
        environment.add_function("len", len);
        environment.add_function("max", max);
        environment.add_function("min", min);
        environment.add_function("round", round);
        environment.add_function("str", str);
        environment.add_function("sum", sum);
        environment
    })
}

fn refused(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, text.into())
}

fn number(value: Value) -> Result<f64, Error> {
    f64::try_from(value)
}

fn abs(value: Value) -> Result<f64, Error> {
    number(value).map(f64::abs)
}

fn all(list: Value) -> Result<bool, Error> {
    Ok(list.try_iter()?.all(|value| value.is_true()))
}

fn any(list: Value) -> Result<bool, Error> {
    Ok(list.try_iter()?.any(|value| value.is_true()))
}

fn len(value: Value) -> Result<usize, Error> {
    value.len().ok_or_else(|| refused(format!("a {} has no length", value.kind())))
}

fn max(values: Rest<Value>) -> Result<Value, Error> {
    compared(&values)?.into_iter().max().ok_or_else(|| refused("max needs at least one value"))
}

fn min(values: Rest<Value>) -> Result<Value, Error> {
    compared(&values)?.into_iter().min().ok_or_else(|| refused("min needs at least one value"))
}

fn round(value: Value) -> Result<f64, Error> {
    number(value).map(f64::round_ties_even)
}

fn str(value: Value) -> String {
    value.to_string()
}

fn sum(list: Value) -> Result<f64, Error> {
    list.try_iter()?.map(number).sum()
}

/// The values that `min` and `max` choose from: several arguments, or the elements of the only one.
fn compared(values: &[Value]) -> Result<Vec<Value>, Error> {
    match values {
        [list] => Ok(list.try_iter()?.collect()),
        several => Ok(several.to_vec()),
    }
}

/// The message that an expression reads.
#[derive(Debug)]
struct Subject {
    message: Arc<DynamicMessage>,
    /// The path of `m` within the message.
    path: Option<String>,
    /// The error for a field or an element that does not exist.
    missing: Mutex<Option<String>>,
}

impl Subject {
    fn value(&self) -> Option<ValueRef<'_>> {
        match &self.path {
            Some(path) => self.message.select(path).ok().map(|part| part.value()),
            None => Some(ValueRef::Message(&self.message)),
        }
    }

    fn note(&self, missing: impl FnOnce() -> String) {
        self.missing.lock().get_or_insert_with(missing);
    }

    fn note_missing(&self, message: &DynamicMessage, field: &str) {
        let known: Vec<&str> = message.ty().fields().iter().map(|field| field.name()).collect();
        let likely = did_you_mean(field, known.iter().copied());
        self.note(|| {
            format!(
                "{} has no field {field}: it has {}{likely}",
                message.ty().name(),
                known.join(", ")
            )
        });
    }
}

/// A message or an array within the subject; the steps are positions of fields and of elements.
#[derive(Debug)]
struct Part {
    subject: Arc<Subject>,
    steps: Vec<usize>,
}

impl Part {
    fn value(&self) -> Option<ValueRef<'_>> {
        self.steps.iter().try_fold(self.subject.value()?, |value, step| inner(value, *step))
    }
}

fn inner(value: ValueRef<'_>, step: usize) -> Option<ValueRef<'_>> {
    match value {
        ValueRef::Message(message) => message.fields().nth(step).map(|(_, value)| value.as_ref()),
        ValueRef::Array(array) => array.get(step),
        _ => None,
    }
}

fn to_value(subject: &Arc<Subject>, steps: Vec<usize>, value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Bool(value) => value.into(),
        ValueRef::U8(value) => value.into(),
        ValueRef::I8(value) => value.into(),
        ValueRef::U16(value) => value.into(),
        ValueRef::I16(value) => value.into(),
        ValueRef::U32(value) => value.into(),
        ValueRef::I32(value) => value.into(),
        ValueRef::U64(value) => value.into(),
        ValueRef::I64(value) => value.into(),
        ValueRef::F32(value) => f64::from(value).into(),
        ValueRef::F64(value) => value.into(),
        ValueRef::String(text) => text.into(),
        ValueRef::WString(text) => text.to_string().into(),
        ValueRef::Message(_) | ValueRef::Array(_) => {
            Value::from_object(Part { subject: subject.clone(), steps })
        }
        _ => Value::UNDEFINED,
    }
}

impl Object for Part {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        match self.value() {
            Some(ValueRef::Array(_)) => ObjectRepr::Seq,
            _ => ObjectRepr::Map,
        }
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let value = self.value()?;
        let step = match value {
            ValueRef::Message(message) => {
                let name = key.as_str()?;
                let found = message.fields().position(|(field, _)| field.name() == name);
                if found.is_none() {
                    self.subject.note_missing(message, name);
                }
                found?
            }
            ValueRef::Array(array) => {
                let (wanted, len) = (key.as_i64()?, array.len());
                let found = index(wanted, len);
                if found.is_none() {
                    self.subject.note(|| format!("a list of {len} has no element {wanted}"));
                }
                found?
            }
            _ => return None,
        };
        let steps = [self.steps.as_slice(), &[step]].concat();
        Some(to_value(&self.subject, steps, inner(value, step)?))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match self.value() {
            Some(ValueRef::Array(array)) => Enumerator::Seq(array.len()),
            Some(ValueRef::Message(message)) => Enumerator::Values(
                message.ty().fields().iter().map(|field| Value::from(field.name())).collect(),
            ),
            _ => Enumerator::Empty,
        }
    }
}

/// The position that an index selects, if it exists; a negative one counts from the end.
fn index(index: i64, len: usize) -> Option<usize> {
    let count = i64::try_from(len).ok()?;
    let position = if index < 0 { index.checked_add(count)? } else { index };
    usize::try_from(position).ok().filter(|position| *position < len)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use feros_message::dynamic::DynamicType;

    fn message(name: &str, yaml: &str) -> Arc<DynamicMessage> {
        let ty = DynamicType::resolve(feros_interface::shipped(), &name.parse().unwrap()).unwrap();
        Arc::new(DynamicMessage::from_yaml(&ty, yaml).unwrap())
    }

    fn accepts(text: &str, message: &Arc<DynamicMessage>) -> Result<bool, String> {
        parse_filter(text).unwrap().accepts(message, None)
    }

    #[test]
    fn expressions_are_those_of_python() {
        let log = message("rcl_interfaces/msg/Log", "{level: 30, name: talker, msg: Timeout of 5}");
        for (text, expected) in [
            ("m.name == 'talker'", true),
            ("m.name=='x' or m.level >= 30", true),
            ("m.name.endswith(\"er\") and \"timeout\" in m.msg.lower()", true),
            ("m.name.startswith('x')", false),
            ("not m.level > 20", false),
            ("20 < m.level < 30", false),
            ("20 < m.level <= 30", true),
            ("m.level in [10, 30] and m.name not in ['a', 'b']", true),
            ("m.level * 0.5 + 1 == 16", true),
            ("m.level % 7 == 2", true),
            ("True and m.stamp.sec == 0", true),
            ("len(m.msg) == 12", true),
            ("m.msg.split(' ')[-1] == '5'", true),
        ] {
            assert_eq!(accepts(text, &log), Ok(expected), "{text}");
        }
    }

    #[test]
    fn arrays_and_numbers_are_looked_at_where_they_are() {
        let scan =
            message("sensor_msgs/msg/LaserScan", "{angle_min: -0.5, ranges: [1.5, 0.25, 4.0]}");
        for (text, expected) in [
            ("min(m.ranges) < 0.5", true),
            ("max(m.ranges) == 4", true),
            ("sum(m.ranges) > 5.7 and len(m.ranges) == 3", true),
            ("m.ranges[1] == 0.25 and m.ranges[-1] == 4.0", true),
            ("4 in m.ranges", true),
            ("any(m.ranges) and not any(m.intensities)", true),
            ("abs(m.angle_min) == 0.5", true),
            ("min(m.angle_min, 3) == -0.5", true),
        ] {
            assert_eq!(accepts(text, &scan), Ok(expected), "{text}");
        }
        let filter = parse_filter("m > 1").unwrap();
        assert_eq!(filter.accepts(&scan, Some("ranges[0]")), Ok(true));
        assert_eq!(filter.accepts(&scan, Some("ranges[1]")), Ok(false));
        assert_eq!(filter.accepts(&scan, Some("ranges[9]")), Ok(false), "it is not there");
        let error = accepts("m.ranges[3] > 1", &scan);
        assert_eq!(error, Err("a list of 3 has no element 3".to_owned()));
    }

    #[test]
    fn mistakes_are_told() {
        let text = message("std_msgs/msg/String", "{data: hello}");
        let error = accepts("m.dta == 'hello'", &text).unwrap_err();
        assert!(error.contains("has no field dta") && error.contains("data"), "{error}");
        for (wrong, word) in [
            ("m.data ==", "syntax error"),
            ("data == 'x'", "unknown name data"),
            ("open('/etc/passwd')", "unknown name open"),
            ("__import__('os')", "unknown name __import__"),
        ] {
            let error = parse_filter(wrong).unwrap_err();
            assert!(error.contains(word), "{wrong}: {error}");
        }
        assert_eq!(accepts("m.data.size > 2", &text), Err("a string has no size".to_owned()));
        assert!(accepts("m.data + 1 > 2", &text).is_err());
        assert!(accepts("m.data.nothing()", &text).is_err());
    }
}
