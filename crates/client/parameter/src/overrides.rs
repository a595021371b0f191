//! Values from parameter files and `-p` that override the defaults of parameters, for all nodes.

use std::collections::{BTreeMap, HashMap};

use feros_engine::NodeName;

use crate::node_pattern::NodePattern;
use crate::value::ParameterValue;

/// Values for parameters, by node pattern. The patterns are in the order in which they were first
/// named.
///
/// A node gets the values of all entries whose patterns match it; if two entries disagree, the
/// later entry wins. As in `rcl`, an entry keeps the position at which its pattern was first named:
/// with a file that names `/**` and then `/camera`, a later `-p rate:=1` (which is for `/**`) does
/// not win over the file's values for `/camera`; `-p camera:rate:=1` does.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParameterOverrides {
    entries: Vec<(NodePattern, BTreeMap<String, ParameterValue>)>,
    index: HashMap<NodePattern, usize>,
}

impl ParameterOverrides {
    /// Sets the value of a parameter for the nodes that match; it replaces an earlier value for the
    /// same pattern.
    pub fn set(&mut self, nodes: NodePattern, name: impl Into<String>, value: ParameterValue) {
        self.entry(nodes).insert(name.into(), value);
    }

    /// Adds other overrides, which win over earlier values for the same patterns.
    pub fn merge(&mut self, others: Self) {
        for (nodes, values) in others.entries {
            self.entry(nodes).extend(values);
        }
    }

    /// Returns the values for one node, by parameter name.
    pub fn for_node(&self, node: &NodeName) -> BTreeMap<String, ParameterValue> {
        let fitting = self.entries.iter().filter(|(nodes, _)| nodes.matches(node));
        fitting
            .flat_map(|(_, values)| {
                values.iter().map(|(name, value)| (name.clone(), value.clone()))
            })
            .collect()
    }

    /// Whether there are no overrides.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Iterates over the patterns and their values, in the order in which the patterns were first
    /// named.
    pub fn iter(&self) -> impl Iterator<Item = (&NodePattern, &BTreeMap<String, ParameterValue>)> {
        self.entries.iter().map(|(nodes, values)| (nodes, values))
    }

    pub(crate) fn entry(&mut self, nodes: NodePattern) -> &mut BTreeMap<String, ParameterValue> {
        let next = self.entries.len();
        let position = *self.index.entry(nodes.clone()).or_insert(next);
        if position == next {
            self.entries.push((nodes, BTreeMap::new()));
        }
        &mut self.entries[position].1
    }
}
