//! The values that other nodes set on the master for a node's parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use feros_engine::TakesParameters;
use feros_ros1::Value;

/// If more names than this have changed, all parameters are read again.
pub(crate) const MOST_CHANGED: usize = 64;

/// The state of a node that follows its parameters on the master.
#[derive(Default)]
pub(crate) struct Followed {
    /// The object that takes over the values, or `None` until the node registers such an object.
    pub(crate) taker: Option<Arc<dyn TakesParameters>>,
    /// Whether the current master reports changes to the node.
    pub(crate) is_subscribed: bool,
    /// The names whose values on the master may have changed. A name also represents the names
    /// below it, and the empty name represents all parameters.
    pub(crate) changed: BTreeSet<String>,
    /// The values from the master that are being passed to the node. A value is removed if the node
    /// sets another value in the meantime.
    pub(crate) adopted: BTreeMap<String, Value>,
    /// The names whose values are being passed to the node. For each name, at most one value is
    /// passed at a time. The flag tells whether the value on the master has changed again in the
    /// meantime.
    pub(crate) under_way: BTreeMap<String, bool>,
}

impl Followed {
    /// Starts again for a new master, which does not report changes yet.
    pub(crate) fn begin_again(&mut self) {
        self.is_subscribed = false;
    }

    /// Whether the node's current value is from the master. Also removes the value from `adopted`.
    pub(crate) fn is_adopted(&mut self, name: &str, value: Option<&Value>) -> bool {
        let adopted = self.adopted.remove(name);
        adopted.zip(value).is_some_and(|(adopted, value)| is_same(&adopted, value))
    }

    pub(crate) fn note(&mut self, name: String) {
        if self.changed.len() >= MOST_CHANGED {
            self.changed.clear();
            self.changed.insert(String::new());
        }
        self.changed.insert(name);
    }
}

/// Whether two values are equal. Floating-point numbers are compared by their bits.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Double(one), Value::Double(other)) => one.to_bits() == other.to_bits(),
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_by_their_bits() {
        let list = |number| Value::List(vec![Value::Double(number)]);
        assert!(is_same(&list(f64::NAN), &list(f64::NAN)));
        assert!(!is_same(&list(0.0), &list(-0.0)) && !is_same(&Value::Int(1), &list(1.0)));
    }
}
