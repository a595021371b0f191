//! Passes parameter values that other nodes set on the master, for example with `rosparam set`, to
//! the nodes that own the parameters.
//!
//! The master reports which parameters have changed. The upkeep thread first writes the values that
//! the node itself has set, and then reads the changed values. Another thread passes the changed
//! values to the node, and the node's callbacks run. A value that the node already has does not
//! count as a change, so the values that the node itself has written do not return to it. If the
//! node refuses a value, the node's own value is written to the master again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use feros_engine::TakesParameters;
use feros_engine::engine::LOG_TARGET;
use feros_ros1::{Lines, MasterError, Value};

use crate::bell::Bell;
use crate::followed::is_same;
use crate::kept_parameters::{Kept, KeptParameters, place};
use crate::parameters::{leaves, yaml};

/// The limit on values that have not been passed to their nodes yet. If there is no room for a
/// value, it is read again later.
const MOST_WAITING: usize = 256;

impl KeptParameters {
    /// Registers the object that takes over the values that other nodes set from now on.
    pub(crate) fn follow_with(&self, taker: Arc<dyn TakesParameters>) {
        let former = self.0.lock().followed.taker.replace(taker);
        drop(former); // after the lock has been released
    }

    /// Records that the parameter with this name on the master has changed. Returns false for
    /// parameters of other nodes.
    fn note(&self, node: &str, name: &str) -> bool {
        let below = match name.strip_prefix(node) {
            Some("") => "",
            Some(rest) if rest.starts_with('/') => &rest[1..],
            // If the name is a namespace that contains the node, any parameter of the node may have
            // changed.
            None if node.strip_prefix(name).is_some_and(|rest| rest.starts_with('/')) => "",
            _ => return false,
        };
        self.0.lock().followed.note(below.replace('/', "."));
        true
    }

    /// Reads the changed values from the master and passes them to the node.
    pub(crate) fn follow(
        self: &Arc<Self>,
        node: &feros_ros1::Node,
        bell: &Arc<Bell>,
        takers: &mut Takers,
    ) {
        let (taker, is_subscribed) = {
            let kept = self.0.lock();
            let Some(taker) = kept.followed.taker.clone() else { return };
            (taker, kept.followed.is_subscribed)
        };
        if !is_subscribed {
            let (kept, bell, name) = (self.clone(), bell.clone(), node.name().to_owned());
            let hears = move |changed: &str| {
                if kept.note(&name, changed) {
                    bell.ring();
                }
            };
            if let Err(error) = node.follow_parameters(Arc::new(hears)) {
                return tracing::debug!("{}: {error}", node.name());
            }
            let mut kept = self.0.lock();
            kept.followed.is_subscribed = true;
            // Values may have been set before the subscription, so all values are read.
            kept.followed.note(String::new());
        }
        let changed = std::mem::take(&mut self.0.lock().followed.changed);
        for name in &changed {
            let at =
                if name.is_empty() { node.name().to_owned() } else { place(node.name(), name) };
            match node.master().parameter(&at) {
                Ok(value) => leaves(name, &value, &mut |name, value| {
                    let taking =
                        Taking { kept: self.clone(), taker: taker.clone(), bell: bell.clone() };
                    taking.send(node.name(), name, value, takers);
                }),
                // The parameter was deleted. The node keeps its value.
                Err(MasterError::Refused { .. }) => {}
                Err(_) => return self.0.lock().followed.changed.extend(changed),
            }
        }
    }
}

/// A node that takes over values.
struct Taking {
    kept: Arc<KeptParameters>,
    taker: Arc<dyn TakesParameters>,
    bell: Arc<Bell>,
}

/// A value that is being passed to a node.
struct Way {
    taking: Taking,
    node: String,
    name: String,
    value: Value,
}

impl Taking {
    /// Passes a value of the master to the node, if the node has the parameter and its value
    /// differs.
    fn send(self, node: &str, name: &str, value: &Value, takers: &mut Takers) {
        if !self.taker.has_parameter(name) {
            return;
        }
        let kept = self.kept.clone();
        {
            let mut kept = kept.0.lock();
            let Kept { values, unwritten, followed, .. } = &mut *kept;
            // While one value is being passed, a second value would be mistaken for a value that
            // the node itself has set.
            if let Some(has_changed) = followed.under_way.get_mut(name) {
                *has_changed = true;
                return;
            }
            let is_known = values.get(name).is_some_and(|own| is_same(own, value));
            if is_known || unwritten.contains(name) {
                return;
            }
            followed.adopted.insert(name.to_owned(), value.clone());
            followed.under_way.insert(name.to_owned(), false);
        }
        let (node, name, value) = (node.to_owned(), name.to_owned(), value.clone());
        if let Err(name) = takers.send(Way { taking: self, node, name, value }) {
            let mut kept = kept.0.lock();
            kept.followed.adopted.remove(&name);
            kept.followed.under_way.remove(&name);
            kept.followed.note(name);
        }
    }
}

impl Way {
    /// Passes the value to the node, whose callbacks run during the call.
    fn end(self, lines: &Lines) {
        let Self { taking: Taking { kept, taker, bell }, node, name, value } = self;
        let taken = catch_unwind(AssertUnwindSafe(|| taker.take_over(&name, &yaml(&value))));
        match taken {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                if let Some(end) = lines.next() {
                    tracing::warn!(
                        target: LOG_TARGET,
                        "{node}: {}, set on the ROS 1 master by another node, is not taken over: {error}; the master \
                         gets the node's value again{end}",
                        place(&node, &name)
                    );
                }
            }
            Err(_) => {
                if let Some(end) = lines.next() {
                    tracing::error!(
                        target: LOG_TARGET,
                        "{node}: a parameter callback panicked when {} was set on the ROS 1 master{end}",
                        place(&node, &name)
                    );
                }
            }
        }
        let mut kept = kept.0.lock();
        let has_changed = kept.followed.under_way.remove(&name) == Some(true);
        if has_changed {
            kept.followed.note(name.clone());
        }
        let is_kept = kept.followed.adopted.remove(&name).is_some();
        // If the value on the master has changed again, it must be read before the node's own value
        // overwrites it.
        let is_unwritten = is_kept && !has_changed && kept.values.contains_key(&name);
        if is_unwritten {
            kept.unwritten.insert(name);
        }
        drop(kept);
        if has_changed || is_unwritten {
            bell.ring();
        }
    }
}

/// The thread that passes values to nodes, or `None` until it is needed.
#[derive(Default)]
pub(crate) struct Takers(Option<SyncSender<Way>>);

impl Takers {
    /// # Errors
    /// Returns the name if there is no room or the thread cannot be started.
    fn send(&mut self, way: Way) -> Result<(), String> {
        if self.0.is_none() {
            let (sender, ways) = sync_channel(MOST_WAITING);
            let thread = std::thread::Builder::new().name("feros-ros1-set".into());
            match thread.spawn(move || take(&ways)) {
                Ok(_) => self.0 = Some(sender),
                Err(error) => {
                    tracing::warn!(target: LOG_TARGET, "the thread that sets parameters cannot be \
                                                        started: {error}");
                    return Err(way.name);
                }
            }
        }
        let Some(sender) = &self.0 else { return Err(way.name) };
        sender.try_send(way).map_err(|error| match error {
            TrySendError::Full(way) | TrySendError::Disconnected(way) => way.name,
        })
    }
}

fn take(ways: &Receiver<Way>) {
    let lines = Lines::default();
    while let Ok(way) = ways.recv() {
        way.end(&lines);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use feros_engine::ParameterData;

    use super::*;
    use crate::followed::MOST_CHANGED;

    #[test]
    fn names_that_change_are_bounded() {
        let kept = KeptParameters::default();
        assert!(kept.note("/a/node", "/a/node/frames/base"));
        assert_eq!(kept.0.lock().followed.changed, BTreeSet::from(["frames.base".to_owned()]));
        assert!(!kept.note("/a/node", "/a/nodes/x") && !kept.note("/a/node", "/b"));
        for number in 0..10_000 {
            assert!(kept.note("/a/node", &format!("/a/node/p{number}")));
        }
        assert!(kept.0.lock().followed.changed.len() <= MOST_CHANGED + 1);
        assert!(kept.0.lock().followed.changed.contains(""));
    }

    #[test]
    fn values_from_the_master_are_not_written_back() {
        let kept = KeptParameters::default();
        let adopt = |number| {
            kept.0.lock().followed.adopted.insert("rate".to_owned(), Value::Int(number));
        };
        adopt(5);
        assert!(!kept.set("/node", "rate", Some(ParameterData::Integer(5))));
        assert!(kept.0.lock().unwritten.is_empty());
        // The node has set another value in the meantime. This value must be written, because the
        // master has a different value.
        adopt(6);
        assert!(kept.set("/node", "rate", Some(ParameterData::Integer(7))));
        assert!(kept.0.lock().followed.adopted.is_empty());
        assert!(kept.set("/node", "rate", Some(ParameterData::Integer(6))));
    }
}
