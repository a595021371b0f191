//! The state of a node's parameters on the master, besides the values that the node has set.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use feros_rmw::TakesParameters;
use feros_ros1::Value;

/// If this many names may have changed, all parameters are read.
pub(crate) const MOST_CHANGED: usize = 64;

/// How a node follows the master.
#[derive(Default)]
pub(crate) struct Followed {
    /// The receiver of values; `None` before the node registers one.
    pub(crate) taker: Option<Arc<dyn TakesParameters>>,
    /// Whether the current master reports changes.
    pub(crate) is_subscribed: bool,
    /// Names that may have a new value on the master, with those below them; the empty name means
    /// all.
    pub(crate) changed: BTreeSet<String>,
    /// Values of the master that are on the way to the node, if the node has set no other since.
    pub(crate) adopted: BTreeMap<String, Value>,
    /// Names with a value on its way, at most one each, and whether they have changed since.
    pub(crate) under_way: BTreeMap<String, bool>,
}

impl Followed {
    /// Starts over with a new master, which does not report changes yet.
    pub(crate) fn begin_again(&mut self) {
        self.is_subscribed = false;
    }

    /// Whether the node's current value came from the master. Forgets the master's value.
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

/// Whether two values are equal; numbers are compared by their bits.
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
