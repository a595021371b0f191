//! Access rules for the router of a fleet: each robot may use only the names below its own
//! namespace. Zenoh's router knows the sessions by the common names of their certificates, and
//! needs the key expressions of all that Feros and `rmw_zenoh` send for a name.

use std::collections::BTreeSet;

use feros_engine::NamePrefix;

use crate::wire::{announcement, token};

/// The kinds of messages that Zenoh's access control distinguishes.
const MESSAGES: &str = r#"["put", "delete", "declare_subscriber", "query", "reply", "declare_queryable", "liveliness_token", "liveliness_query", "declare_liveliness_subscriber"]"#;

/// The kinds by which sessions confirm that messages have arrived.
const CONFIRMATIONS: &str = r#"["query", "reply", "declare_queryable"]"#;

/// The error for text that cannot be the common name of a certificate in the rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} cannot be an operator in the access rules: give the common name of its certificate, \
     which may have letters, digits, spaces and the characters . - _ @"
)]
pub struct OperatorError {
    /// The refused name.
    pub name: String,
}

/// Returns the value of `access_control` for the router of a fleet, as JSON.
///
/// A session whose certificate has the common name `robot1` may use names below `/robot1`, if this
/// is among `robots`. A session whose certificate has the common name of one of the `operators` may
/// use all names. All other sessions are connected, but may use nothing.
///
/// # Errors
/// Returns an error if an operator's name has characters that are not allowed.
///
/// ```
/// use feros_engine::NamePrefix;
/// let robots = [NamePrefix::new("robot1")?, NamePrefix::new("robot2")?];
/// let rules = feros_zenoh::access_of_fleet(&robots, &["operator".to_owned()])?;
/// assert!(rules.contains("*/robot1/**") && rules.contains("\"operator\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn access_of_fleet(
    robots: &[NamePrefix],
    operators: &[String],
) -> Result<String, OperatorError> {
    let everywhere = ["**", "**/@adv/**", "@ros2_lv/**", "@feros/**"].map(str::to_owned);
    let fence = announcement::fence_of_all();
    let mut rules = vec![
        rule("all names", MESSAGES, &everywhere),
        rule("that messages arrived", CONFIRMATIONS, &[fence]),
    ];
    let (mut subjects, mut policies) = (Vec::new(), Vec::new());
    for robot in BTreeSet::from_iter(robots) {
        let name = robot.namespace().trim_start_matches('/');
        rules.push(rule(name, MESSAGES, &keys_below(robot)));
        subjects.push(format!(r#"{{"id": "{name}", "cert_common_names": ["{name}"]}}"#));
        policies.push(format!(
            r#"{{"rules": ["{name}", "that messages arrived"], "subjects": ["{name}"]}}"#
        ));
    }
    if !operators.is_empty() {
        let names = operators.iter().map(|name| quoted(name)).collect::<Result<Vec<_>, _>>()?;
        let names = names.join(", ");
        subjects.push(format!(r#"{{"id": "the operators", "cert_common_names": [{names}]}}"#));
        policies.push(r#"{"rules": ["all names"], "subjects": ["the operators"]}"#.to_owned());
    }
    let [rules, subjects, policies] = [rules, subjects, policies].map(|all| all.join(",\n    "));
    Ok(format!(
        "{{\n  \"enabled\": true,\n  \"default_permission\": \"deny\",\n  \
         \"rules\": [\n    {rules}\n  ],\n  \"subjects\": [\n    {subjects}\n  ],\n  \
         \"policies\": [\n    {policies}\n  ]\n}}"
    ))
}

/// The key expressions of all that passes for names below a namespace: messages, requests and
/// responses; the histories of latched topics; the tokens of the robot's nodes and of endpoints;
/// and the announcements of endpoints of Feros.
fn keys_below(robot: &NamePrefix) -> [String; 5] {
    let name = robot.namespace().trim_start_matches('/');
    [
        format!("*/{name}/**"),
        format!("*/{name}/**/@adv/**"),
        token::nodes_in(robot),
        token::all("*", Some(robot)),
        announcement::all("*", Some(robot)),
    ]
}

fn rule(id: &str, messages: &str, keys: &[String]) -> String {
    let keys: Vec<_> = keys.iter().map(|key| format!("\"{key}\"")).collect();
    format!(
        r#"{{"id": "{id}", "permission": "allow", "flows": ["ingress", "egress"], "messages": {messages}, "key_exprs": [{}]}}"#,
        keys.join(", ")
    )
}

fn quoted(name: &str) -> Result<String, OperatorError> {
    let is_allowed = |letter: char| letter.is_alphanumeric() || " .-_@".contains(letter);
    if name.trim().is_empty() || !name.chars().all(is_allowed) {
        return Err(OperatorError { name: name.to_owned() });
    }
    Ok(format!("\"{name}\""))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use zenoh::key_expr::KeyExpr;

    #[test]
    fn a_robot_s_keys_include_its_names_and_no_others() {
        let keys = keys_below(&NamePrefix::new("/robot1").unwrap());
        let keys = keys.map(|key| KeyExpr::try_from(key).unwrap());
        let allows = |key: &str| {
            let key = KeyExpr::try_from(key).unwrap();
            keys.iter().any(|allowed| allowed.includes(&key))
        };
        for (robot, allowed) in [("robot1", true), ("robot10", false), ("robot2", false)] {
            for key in [
                format!("7/{robot}/scan/T/H"),
                format!("7/{robot}/scan/T/H/@adv/pub/ab/1/_/_"),
                format!("@ros2_lv/7/ab/0/0/NN/%/%{robot}/feros_bridge"),
                format!("@ros2_lv/7/ab/0/1/MP/%/%/tool/%{robot}%scan/T/H/::,1:,:,:,,"),
                format!("@ros2_lv/7/*/*/*/*/*/*/*/%{robot}%$*/**"),
                format!("@feros/7/ab/says/%{robot}%scan/1/1/=x"),
                format!("@feros/7/*/says/%{robot}%$*/**"),
            ] {
                assert_eq!(allows(&key), allowed, "{key}");
            }
        }
        for key in ["**", "7/**", "@ros2_lv/7/**", "@feros/7/*/says/**", "7/scan/T/H"] {
            assert!(!allows(key), "{key}");
        }
    }

    #[test]
    fn the_rules_are_json_that_zenoh_accepts() {
        let robots = ["robot1", "/site/robot2"].map(|robot| NamePrefix::new(robot).unwrap());
        let operators = ["operator".to_owned(), "Ann O. Perator".to_owned()];
        let rules = access_of_fleet(&robots, &operators).unwrap();
        let json: serde_json::Value = serde_json::from_str(&rules).unwrap();
        assert_eq!(json["subjects"][1]["cert_common_names"][0], "site/robot2");
        assert_eq!(json["subjects"][2]["cert_common_names"][1], "Ann O. Perator");
        assert_eq!(json["default_permission"], "deny");
        let mut config = zenoh::Config::default();
        config.insert_json5("access_control", &rules).unwrap();
        for wrong in ["", " ", "a\"b", "a\\", "a\n"] {
            let error = access_of_fleet(&robots, &[wrong.to_owned()]).unwrap_err().to_string();
            assert!(error.contains("common name"), "{error}");
        }
    }
}
