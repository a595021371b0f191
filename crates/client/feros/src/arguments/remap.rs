//! Remap rules: `[node:]from:=to`, as `rcl/remap.h` describes them.

use feros_engine::{NameError, NodeName, name};

/// The kind of names to which a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemapKind {
    /// `__node:=name`
    NodeName,
    /// `__ns:=/namespace`
    Namespace,
    /// `rostopic://from:=to`
    Topic,
    /// `rosservice://from:=to`
    Service,
    /// `from:=to`
    TopicOrService,
}

/// One remap rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemapRule {
    /// The name of the nodes to which the rule applies; `None` means all nodes.
    pub node: Option<String>,
    /// The kind of names to which the rule applies.
    pub kind: RemapKind,
    /// The name that the rule replaces; empty for rules about node names and namespaces.
    pub from: String,
    /// The new name.
    pub to: String,
}

impl RemapRule {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (left, to) = text.split_once(":=").ok_or("there is no ':='")?;
        let (node, left) = split_node(left);
        let (kind, from) = match left {
            "__node" | "__name" => (RemapKind::NodeName, ""),
            "__ns" => (RemapKind::Namespace, ""),
            _ => match (left.strip_prefix("rostopic://"), left.strip_prefix("rosservice://")) {
                (Some(from), _) => (RemapKind::Topic, from),
                (_, Some(from)) => (RemapKind::Service, from),
                _ => (RemapKind::TopicOrService, left),
            },
        };
        let rule =
            Self { node: node.map(str::to_owned), kind, from: from.to_owned(), to: to.to_owned() };
        rule.check()?;
        Ok(rule)
    }

    fn check(&self) -> Result<(), String> {
        if let Some(node) = &self.node {
            name::validate_node_name(node).map_err(|e| e.to_string())?;
        }
        match self.kind {
            RemapKind::NodeName => name::validate_node_name(&self.to).map_err(|e| e.to_string()),
            RemapKind::Namespace => name::validate_namespace(&self.to).map_err(|e| e.to_string()),
            RemapKind::Topic | RemapKind::Service | RemapKind::TopicOrService => {
                if self.from.contains('*') || self.to.contains('\\') {
                    return Err(
                        "neither Feros nor stock ROS 2 implements wildcards: write the full name"
                            .into(),
                    );
                }
                // The expanded name depends on the node, which is not known yet. Whether the name
                // is valid can be checked with any node.
                let probe = NodeName::announced("/", "node");
                for name in [&self.from, &self.to] {
                    name::expand_topic_name(name, &probe).map_err(|e| e.to_string())?;
                }
                Ok(())
            }
        }
    }

    fn is_for(&self, node_name: &str) -> bool {
        self.node.as_deref().is_none_or(|node| node == node_name)
    }
}

/// Splits `node:rest`, but not at the colon of `rostopic://`.
fn split_node(left: &str) -> (Option<&str>, &str) {
    match left.split_once(':') {
        Some((node, rest)) if !rest.starts_with("//") => (Some(node), rest),
        _ => (None, left),
    }
}

impl super::Arguments {
    /// Applies the rules to the name and the namespace of a node.
    ///
    /// # Errors
    /// When the resulting name or namespace is not allowed.
    pub fn remap_node(&self, namespace: &str, node_name: &str) -> Result<NodeName, NameError> {
        remap_node(self.remap_rules.iter(), namespace, node_name)
    }

    /// Expands the name of a topic or service relative to `node`, and applies the first rule that
    /// matches.
    ///
    /// # Errors
    /// When the name, or the name to which it is remapped, is not allowed.
    pub fn remap_name(
        &self,
        name: &str,
        node: &NodeName,
        service: bool,
    ) -> Result<String, NameError> {
        remap_name(self.remap_rules.iter(), name, node, service)
    }
}

/// See [`super::Arguments::remap_node`]; the first rule that matches wins.
pub(crate) fn remap_node<'a>(
    rules: impl Iterator<Item = &'a RemapRule> + Clone,
    namespace: &str,
    node_name: &str,
) -> Result<NodeName, NameError> {
    let first = |kind| rules.clone().find(|rule| rule.kind == kind && rule.is_for(node_name));
    let new_name = first(RemapKind::NodeName).map_or(node_name, |rule| &rule.to);
    let new_namespace = first(RemapKind::Namespace).map_or(namespace, |rule| &rule.to);
    NodeName::new(new_namespace, new_name)
}

/// See [`super::Arguments::remap_name`]; the first rule that matches wins.
pub(crate) fn remap_name<'a>(
    rules: impl Iterator<Item = &'a RemapRule>,
    name: &str,
    node: &NodeName,
    service: bool,
) -> Result<String, NameError> {
    let expanded = name::expand_topic_name(name, node)?;
    for rule in rules.filter(|rule| rule.is_for(node.name())) {
        let kind_fits = match rule.kind {
            RemapKind::TopicOrService => true,
            RemapKind::Topic => !service,
            RemapKind::Service => service,
            RemapKind::NodeName | RemapKind::Namespace => false,
        };
        if kind_fits && name::expand_topic_name(&rule.from, node)? == expanded {
            return name::expand_topic_name(&rule.to, node);
        }
    }
    Ok(expanded)
}
