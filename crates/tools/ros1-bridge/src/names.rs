//! The names that can be bridged.

use feros_engine::name::validate_full_topic_name;
use feros_ros1::{MAX_NAME_BYTES, is_allowed_name, shown_name};

/// Returns the reason why one side does not allow a name of the other side, and the cure; `None` if
/// both sides allow the name.
pub(crate) fn forbidden(name: &str) -> Option<String> {
    if name.len() > MAX_NAME_BYTES {
        let len = name.len();
        return Some(format!("the name has {len} bytes, more than the limit of {MAX_NAME_BYTES}"));
    }
    let cure =
        || format!("; remap it in its node, for example with `{}:=/other`", shown_name(name));
    if let Err(error) = validate_full_topic_name(name) {
        return Some(format!("ROS 2 does not allow this name: {}{}", error.reason, cure()));
    }
    (!is_allowed_name(name)).then(|| {
        let rule =
            "a name begins with a letter or `_` and consists of letters, digits, `_` and `/`";
        format!("ROS 1 does not allow this name: {rule}{}", cure())
    })
}

/// Whether a part of a name begins with `_`. Such names belong to tools and to the parts of
/// actions.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.contains("/_")
}

/// Whether a service is one that each ROS 1 node has for its own log.
pub(crate) fn is_of_every_node(service: &str) -> bool {
    service.ends_with("/get_loggers") || service.ends_with("/set_logger_level")
}

/// Whether a service type is one that ROS 2 nodes use for themselves.
pub(crate) fn is_of_ros2_itself(ty: &str) -> bool {
    let package = ty.split('/').next().unwrap_or_default();
    matches!(
        package,
        "rcl_interfaces"
            | "type_description_interfaces"
            | "lifecycle_msgs"
            | "composition_interfaces"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_that_one_side_forbids_is_refused_with_the_rule() {
        for (name, rule) in [
            ("/a-b", "it contains '-'"),
            ("/sensors/2d", "its part \"2d\" starts with a digit"),
            ("/2d", "its part \"2d\" starts with a digit"),
            ("/a//b", "it contains '//'"),
            ("/a/", "it ends with '/'"),
            ("relative", "it does not start with '/'"),
            ("/a b", "it contains ' '"),
            ("/a\u{1b}[2J", "it contains '\\u{1b}'"),
        ] {
            let said = forbidden(name).unwrap();
            assert!(said.contains(rule) && said.contains("remap it"), "{name:?}: {said}");
            assert!(!said.contains('\u{1b}'), "{said}");
        }
        let long = forbidden(&format!("/{}", "a".repeat(5000))).unwrap();
        assert!(long.contains("5001 bytes") && long.len() < 200, "{long}");
        assert!(forbidden(&format!("/{}", "a".repeat(300))).unwrap().contains("the limit of 247"));
        // Stock ROS 2 also allows these names.
        for name in ["/a", "/a__b", "/a/b_2", "/A/b"] {
            assert_eq!(forbidden(name), None);
        }
    }
}
