//! What is known of a node's parameters on the master beside what the node itself has set.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use feros_rmw::TakesParameters;
use feros_ros1::Value;

/// From so many names on that may have changed, all are looked at.
pub(crate) const MOST_CHANGED: usize = 64;

/// What of a node follows the master.
#[derive(Default)]
pub(crate) struct Followed {
    /// What takes over values; none until the node can.
    pub(crate) taker: Option<Arc<dyn TakesParameters>>,
    /// Whether the master, as it is now, says what changes.
    pub(crate) is_subscribed: bool,
    /// Names that may have another value on the master, or those below them; the empty one is all.
    pub(crate) changed: BTreeSet<String>,
    /// Values of the master that the node has not set yet, nor another one since.
    pub(crate) adopted: BTreeMap<String, Value>,
    /// Names that have a value on its way, one at a time, and whether they have changed since.
    pub(crate) under_way: BTreeMap<String, bool>,
}

impl Followed {
    /// The master is another one: it says nothing yet.
    pub(crate) fn begin_again(&mut self) {
        self.is_subscribed = false;
    }

    /// Whether what the node has now is what came from the master; from now on nothing is.
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

/// Whether two values are the same, numbers by their bits.
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
