//! Stores the parameters of nodes on the master, where ROS 1 programs read them with `rosparam`.
//! Setting a parameter does not wait for the master, because the upkeep thread writes the values.
//!
//! Values that other nodes set on the master reach the node through [`crate::followed_parameters`].
//! A value of the node that has not been written yet has precedence over the master's value.

use std::collections::{BTreeMap, BTreeSet};

use feros_engine::engine::LOG_TARGET;
use feros_engine::{FailureCounter, ParameterData};
use feros_ros1::{Master, MasterError, Value};
use feros_sync::Mutex;

use crate::followed::Followed;
use crate::parameters::USE_SIM_TIME_OF_NODE;

/// The parameters of one node.
#[derive(Default)]
pub(crate) struct KeptParameters(pub(crate) Mutex<Kept>);

#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) values: BTreeMap<String, Value>,
    /// Names whose new value or deletion has not been written to the master yet.
    pub(crate) unwritten: BTreeSet<String>,
    pub(crate) followed: Followed,
    /// The names for which a warning has been logged that the master does not have the value.
    said: BTreeSet<String>,
}

impl KeptParameters {
    /// Records a new value or a deletion. Warns if ROS 1 cannot represent the value. Returns
    /// whether the upkeep thread has something to write.
    pub(crate) fn set(&self, node: &str, name: &str, value: Option<ParameterData<'_>>) -> bool {
        // If the master stored the node's own value, that value would override `/use_sim_time` at
        // the next start.
        if name == USE_SIM_TIME_OF_NODE {
            return false;
        }
        let mut kept = self.0.lock();
        let value = match value.map(|value| held(node, name, value, &kept.values)).transpose() {
            Ok(value) => value,
            Err(reason) => {
                let is_new = kept.said.insert(name.to_owned());
                drop(kept);
                if is_new {
                    tracing::warn!(
                        target: LOG_TARGET,
                        "{node}: the parameter {name} is not on the ROS 1 master: {reason}; only the node's own services \
                         have it"
                    );
                }
                return self.forget(name);
            }
        };
        let is_from_master = kept.followed.is_adopted(name, value.as_ref());
        match value {
            Some(value) if is_from_master => {
                kept.values.insert(name.to_owned(), value);
                kept.unwritten.remove(name);
                return false;
            }
            Some(value) => drop(kept.values.insert(name.to_owned(), value)),
            None if kept.values.remove(name).is_none() => return false,
            None => {}
        }
        kept.unwritten.insert(name.to_owned());
        true
    }

    /// Records that the value on the master is no longer valid.
    fn forget(&self, name: &str) -> bool {
        let mut kept = self.0.lock();
        kept.followed.is_adopted(name, None);
        kept.values.remove(name).is_some() && kept.unwritten.insert(name.to_owned())
    }

    /// Records that there is a new master or that the master has been restarted, so that all values
    /// are written again.
    pub(crate) fn write_again(&self) {
        let mut kept = self.0.lock();
        kept.unwritten = kept.values.keys().cloned().collect();
        kept.followed.begin_again();
    }

    /// Writes the values that have not been written. Stops if the master does not answer.
    pub(crate) fn write(&self, node: &str, master: &Master) {
        loop {
            let (name, value) = {
                let mut kept = self.0.lock();
                let Some(name) = kept.unwritten.pop_first() else { return };
                let value = kept.values.get(&name).cloned();
                (name, value)
            };
            let place = place(node, &name);
            let told = match value {
                Some(value) => master.set_parameter(&place, value),
                None => master.delete_parameter(&place),
            };
            match told {
                Ok(()) => {}
                Err(MasterError::Unreachable { .. }) => {
                    self.0.lock().unwritten.insert(name);
                    return;
                }
                Err(error) => {
                    static UNWRITTEN: FailureCounter = FailureCounter::new();
                    if let Some(so_far) = UNWRITTEN.so_far() {
                        tracing::warn!(target: LOG_TARGET, "{place}: {error}{so_far}");
                    }
                }
            }
        }
    }
}

/// Returns the name of the parameter on the master. The dots of a ROS 2 name become slashes,
/// because ROS 1 stores parameters as a tree.
pub(crate) fn place(node: &str, name: &str) -> String {
    format!("{node}/{}", name.replace('.', "/"))
}

/// Converts a value to the ROS 1 format, or returns the reason why ROS 1 cannot represent it.
fn held(
    node: &str,
    name: &str,
    value: ParameterData<'_>,
    others: &BTreeMap<String, Value>,
) -> Result<Value, String> {
    if name.contains('/') || !feros_ros1::is_allowed_name(&place(node, name)) {
        return Err(
            "a ROS 1 name has only letters, digits and `_`, and no empty part between dots".into(),
        );
    }
    let below = format!("{name}.");
    let is_below = |other: &&String| {
        other.starts_with(&below)
            || name.strip_prefix(&***other).is_some_and(|rest| rest.starts_with('.'))
    };
    if let Some(other) = others.keys().find(is_below) {
        return Err(format!(
            "{other} exists, and in ROS 1 a name has either a value or a tree of values"
        ));
    }
    in_ros1(value)
}

fn in_ros1(value: ParameterData<'_>) -> Result<Value, String> {
    let whole = |number: i64| match i32::try_from(number) {
        Ok(_) => Ok(Value::Int(number)),
        Err(_) => {
            Err(format!("{number} does not fit into 32 bits, the size of an integer in ROS 1"))
        }
    };
    Ok(match value {
        ParameterData::Bool(value) => Value::Bool(value),
        ParameterData::Integer(number) => whole(number)?,
        ParameterData::Double(number) => Value::Double(number),
        ParameterData::String(text) => in_xml(text)?,
        ParameterData::ByteArray(_) => {
            return Err("a byte array would come back as an array of integers".into());
        }
        ParameterData::BoolArray(values) => {
            Value::List(values.iter().map(|value| Value::Bool(*value)).collect())
        }
        ParameterData::IntegerArray(values) => {
            Value::List(values.iter().map(|number| whole(*number)).collect::<Result<_, _>>()?)
        }
        ParameterData::DoubleArray(values) => {
            Value::List(values.iter().map(|number| Value::Double(*number)).collect())
        }
        ParameterData::StringArray(values) => {
            Value::List(values.iter().map(|text| in_xml(text)).collect::<Result<_, _>>()?)
        }
    })
}

/// Converts a string to a value, unless it contains a character that XML cannot represent.
fn in_xml(text: &str) -> Result<Value, String> {
    let is_none = |character: char| matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    match text.chars().find(|character| is_none(*character)) {
        None => Ok(text.into()),
        Some(found) => Err(format!("the master's XML cannot represent the character {found:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_ros1_cannot_hold_are_not_kept() {
        let kept = KeptParameters::default();
        for (name, value) in [
            ("large", ParameterData::Integer(1 << 31)),
            ("many", ParameterData::IntegerArray(&[1, i64::MIN])),
            ("bytes", ParameterData::ByteArray(&[1])),
            ("control", ParameterData::String("a\u{1}")),
            ("a..b", ParameterData::Bool(true)),
            (".a", ParameterData::Bool(true)),
            ("qos_overrides./chatter.publisher.depth", ParameterData::Integer(1)),
            ("a b", ParameterData::Bool(true)),
            ("use_sim_time", ParameterData::Bool(true)),
        ] {
            assert!(!kept.set("/node", name, Some(value)), "{name}");
        }
        assert!(kept.set("/node", "frames.base", Some(ParameterData::String("base"))));
        for name in ["frames", "frames.base.x"] {
            assert!(!kept.set("/node", name, Some(ParameterData::Bool(true))), "{name}");
        }
        assert!(kept.set("/node", "frames.bases", Some(ParameterData::Double(0.5))));
    }

    #[test]
    fn a_value_that_cannot_be_held_ends_the_one_before() {
        let kept = KeptParameters::default();
        assert!(kept.set("/node", "number", Some(ParameterData::Integer(5))));
        kept.0.lock().unwritten.clear();
        assert!(kept.set("/node", "number", Some(ParameterData::Integer(1 << 40))));
        assert!(kept.0.lock().values.is_empty());
        assert!(!kept.set("/node", "number", None));
        assert_eq!(kept.0.lock().unwritten.len(), 1);
    }
}
