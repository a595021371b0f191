//! The words `auto` for headers and `now` for times. The fields that they stand for are set to the
//! current time when the message is sent.

use feros_interface::Namespace;

use super::input_tree::{Content, InputNode};
use super::types::DynamicType;
use super::value::{Array, DynamicMessage, Value};

/// The time fields of a message that are set when the message is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StampFields {
    paths: Vec<Vec<Step>>,
}

/// One step of a path: from a message to a field, and to an element if the field is an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    field: usize,
    index: Option<usize>,
}

impl StampFields {
    /// Whether there are no fields to set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Sets the fields to a time. `message` is the message that was read together with these
    /// fields, or a clone of it.
    pub fn set(&self, message: &mut DynamicMessage, sec: i32, nanosec: u32) {
        for path in &self.paths {
            let time = path.iter().try_fold(&mut *message, |message, step| inner(message, *step));
            if let Some([sec_field, nanosec_field]) = time.map(DynamicMessage::values_mut) {
                *sec_field = Value::I32(sec);
                *nanosec_field = Value::U32(nanosec);
            }
        }
    }
}

fn inner(message: &mut DynamicMessage, step: Step) -> Option<&mut DynamicMessage> {
    match (message.values_mut().get_mut(step.field)?, step.index) {
        (Value::Message(message), None) => Some(message),
        (Value::Array(Array::Message(items)), Some(index)) => items.get_mut(index),
        _ => None,
    }
}

/// Collects [`StampFields`] while a message is built.
pub(super) struct Stamps {
    is_on: bool,
    found: StampFields,
    path: Vec<Step>,
}

impl Stamps {
    pub(super) fn off() -> Self {
        Self { is_on: false, found: StampFields::default(), path: Vec::new() }
    }

    pub(super) fn on() -> Self {
        Self { is_on: true, ..Self::off() }
    }

    pub(super) fn finish(self) -> StampFields {
        self.found
    }

    pub(super) fn enter(&mut self, field: usize) {
        self.path.push(Step { field, index: None });
    }

    pub(super) fn leave(&mut self) {
        self.path.pop();
    }

    pub(super) fn at_index(&mut self, index: usize) {
        if let Some(step) = self.path.last_mut() {
            step.index = Some(index);
        }
    }

    /// Whether `node` is the word that requests a stamp in a message of type `ty`. If it is, adds
    /// the field.
    pub(super) fn take(&mut self, node: &InputNode, ty: &DynamicType) -> bool {
        let Content::Scalar { text, .. } = &node.content else { return false };
        let name = ty.name();
        let is = |package: &str, message: &str| {
            name.package == package && name.namespace == Namespace::Msg && name.name == message
        };
        let mut path = self.path.clone();
        if text == "auto" && is("std_msgs", "Header") {
            let Some(field) = ty.field_index("stamp") else { return false };
            path.push(Step { field, index: None });
        } else if !(text == "now" && is("builtin_interfaces", "Time")) {
            return false;
        }
        if self.is_on {
            self.found.paths.push(path);
        }
        self.is_on
    }
}
