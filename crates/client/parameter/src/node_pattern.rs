//! Patterns for node names in parameter files, with the wildcards of rclcpp
//! (`rclcpp/src/rclcpp/parameter_map.cpp`).

use std::fmt;
use std::str::FromStr;

use feros_engine::{NodeName, name};

/// A pattern for full names of nodes, in which `*` stands for one part and `**` for any number of
/// parts: `/robot/camera`, `/*/camera`, `/**`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodePattern(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Part {
    Name(String),
    One,
    Any,
}

impl NodePattern {
    /// Returns the pattern that matches every node: `/**`.
    pub fn every_node() -> Self {
        Self(vec![Part::Any])
    }

    /// Whether the pattern has no wildcards, so that it matches only one node.
    pub fn is_literal(&self) -> bool {
        self.0.iter().all(|part| matches!(part, Part::Name(_)))
    }

    /// Whether the pattern matches this node.
    pub fn matches(&self, node: &NodeName) -> bool {
        let full = node.fully_qualified();
        let names: Vec<&str> = full.split('/').filter(|part| !part.is_empty()).collect();
        // `reached[n]`: the parts handled so far can match exactly the first `n` names.
        let mut reached = vec![false; names.len() + 1];
        reached[0] = true;
        for part in &self.0 {
            let mut next = vec![false; names.len() + 1];
            for position in 0..=names.len() {
                next[position] = match part {
                    Part::Any => reached[position] || (position > 0 && next[position - 1]),
                    Part::One => position > 0 && reached[position - 1],
                    Part::Name(name) => {
                        position > 0 && reached[position - 1] && names[position - 1] == name
                    }
                };
            }
            reached = next;
        }
        reached[names.len()]
    }
}

impl FromStr for NodePattern {
    type Err = String;

    /// Reads a pattern; the leading slash may be left out.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.strip_prefix('/').unwrap_or(text).split('/');
        let parts = parts.map(|part| match part {
            "**" => Ok(Part::Any),
            "*" => Ok(Part::One),
            _ if part.contains('*') => {
                Err(format!("{part:?} mixes a wildcard with other characters"))
            }
            _ => name::validate_node_name(part)
                .map(|()| Part::Name(part.to_owned()))
                .map_err(|error| format!("{text:?} is not the name of a node: {}", error.reason)),
        });
        parts.collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for NodePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Name(name) => write!(f, "/{name}"),
            Part::One => f.write_str("/*"),
            Part::Any => f.write_str("/**"),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn wildcards_stand_for_parts() {
        let node = NodeName::new("/robot/arm", "camera").unwrap();
        for (pattern, matches) in [
            ("/**", true),
            ("/robot/arm/camera", true),
            ("robot/arm/camera", true),
            ("/**/camera", true),
            ("/robot/**", true),
            ("/robot/arm/camera/**", true),
            ("/*/*/*", true),
            ("/*/arm/*", true),
            ("/**/*/**", true),
            ("/*", false),
            ("/*/camera", false),
            ("/camera", false),
            ("/*/*/*/*", false),
            ("/**/robot", false),
        ] {
            assert_eq!(
                pattern.parse::<NodePattern>().unwrap().matches(&node),
                matches,
                "{pattern}"
            );
        }
        let many: NodePattern = "/**/*".repeat(500).parse().unwrap();
        assert!(!many.matches(&node), "it must not take forever either");
    }

    #[test]
    fn invalid_patterns_are_refused() {
        for pattern in ["", "/", "/**foo", "/foo*", "/a//b", "/2fast", "/a b", "/a/"] {
            assert!(pattern.parse::<NodePattern>().is_err(), "{pattern}");
        }
        assert_eq!("a/*/**".parse::<NodePattern>().unwrap().to_string(), "/a/*/**");
    }
}
