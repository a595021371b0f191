//! The unit of figures and tables: one record, or one subscription of it.

use crate::record::{Record, Value};

/// A record, or one of its subscriptions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'a> {
    pub(crate) record: &'a Record,
    pub(crate) subscription: Option<usize>,
}

impl Sample<'_> {
    pub(crate) fn value(&self, dimension: &str) -> Option<Value> {
        match (dimension, self.subscription) {
            ("subscription", Some(index)) => Some(Value::Number(index as f64 + 1.0)),
            ("repetition", _) => Some(Value::Number(f64::from(self.record.repetition))),
            _ => self.record.dimensions.get(dimension).cloned(),
        }
    }
}
