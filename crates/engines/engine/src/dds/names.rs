//! Converts ROS names and types to and from their form on the DDS wire. There, topics have the
//! prefix `rt/`, `rq/` or `rr/`, and types have the form `pkg::msg::dds_::Name_`.

use crate::engine::{CreateEndpointError, Created, front};

/// The topic on which participants announce their nodes. Its wire name has no prefix.
pub const DISCOVERY_TOPIC: &str = "ros_discovery_info";
/// The wire type of that topic.
pub const DISCOVERY_TYPE: &str = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";

/// Checks the name of an endpoint. On the wire, the name gets a prefix unless `as_it_is` is true.
///
/// # Errors
/// Fails with [`CreateEndpointError::Name`].
pub fn check(name: &str, as_it_is: bool) -> Result<(), CreateEndpointError> {
    if !as_it_is {
        return front::check_ros_name(name);
    }
    let fits = (1..=255).contains(&name.len()) && !name.contains('\0');
    front::check_wire_name(name, fits, "it must have 1 to 255 bytes, none of them NUL")
}

/// The wire name of a topic.
pub fn topic(name: &str, as_it_is: bool) -> String {
    if as_it_is { name.to_owned() } else { format!("rt{name}") }
}

/// The wire names of a service's request and reply topics.
pub fn service_topics(name: &str) -> (String, String) {
    (format!("rq{name}Request"), format!("rr{name}Reply"))
}

/// The wire name of a type `package/kind/Name`. `suffix` is appended to the last part.
///
/// # Errors
/// Returns an error if the name does not have this form.
pub fn type_name(name: &str, suffix: &str) -> Created<String> {
    let word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    match name.split('/').collect::<Vec<_>>()[..] {
        [package, kind, name] if word(package) && word(kind) && word(name) => {
            Ok(format!("{package}::{kind}::dds_::{name}{suffix}_"))
        }
        _ => Err(CreateEndpointError::TypeName {
            type_name: name.chars().take(300).collect(),
            expected: "package/msg/Name, such as std_msgs/msg/String",
        }),
    }
}

/// The meaning of a wire topic for ROS.
#[derive(Debug, PartialEq, Eq)]
pub enum RosTopic<'a> {
    /// The topic with this name.
    Topic(&'a str),
    /// The requests to the service with this name.
    Request(&'a str),
    /// The replies of the service with this name.
    Reply(&'a str),
    /// A topic that does not follow the ROS conventions, by its wire name.
    Other(&'a str),
}

/// Returns the meaning of a wire topic for ROS.
pub fn demangle_topic(wire: &str) -> RosTopic<'_> {
    let ros = |prefix: &str| {
        wire.strip_prefix(prefix).filter(|name| name.starts_with('/') && name.len() > 1)
    };
    if let Some(name) = ros("rt") {
        return RosTopic::Topic(name);
    }
    let service =
        |prefix: &str, suffix: &str| ros(prefix).and_then(|name| name.strip_suffix(suffix));
    match (service("rq", "Request"), service("rr", "Reply")) {
        (Some(name), _) => RosTopic::Request(name),
        (_, Some(name)) => RosTopic::Reply(name),
        _ => RosTopic::Other(wire),
    }
}

/// Converts a wire type to `package/msg/Name`. A type that does not follow the ROS conventions is
/// returned unchanged.
pub fn demangle_type(wire: &str) -> String {
    match wire.strip_suffix('_').and_then(|name| name.split_once("dds_::")) {
        Some((namespace, name)) => format!("{}{name}", namespace.replace("::", "/")),
        None => wire.to_owned(),
    }
}

/// Converts the wire type of a request or response to `package/srv/Name`.
pub fn demangle_service_type(wire: &str) -> String {
    let message = demangle_type(wire);
    let service = message.strip_suffix("_Request").or_else(|| message.strip_suffix("_Response"));
    service.map_or_else(|| message.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_go_to_the_wire_and_back() {
        assert_eq!(topic("/a/b", false), "rt/a/b");
        assert_eq!(topic("odd name", true), "odd name");
        assert_eq!(service_topics("/s"), ("rq/sRequest".into(), "rr/sReply".into()));
        assert_eq!(demangle_topic("rt/a/b"), RosTopic::Topic("/a/b"));
        assert_eq!(demangle_topic("rq/sRequest"), RosTopic::Request("/s"));
        assert_eq!(demangle_topic("rr/sReply"), RosTopic::Reply("/s"));
        for other in ["rt", "rt/", "rtx/a", "rq/s", "rr/sRequest", "", "ros_discovery_info"] {
            assert_eq!(demangle_topic(other), RosTopic::Other(other));
        }
    }

    #[test]
    fn types_go_to_the_wire_and_back() {
        let table = [
            ("std_msgs/msg/String", "", "std_msgs::msg::dds_::String_"),
            ("std_srvs/srv/SetBool", "_Request", "std_srvs::srv::dds_::SetBool_Request_"),
            ("p/action/Fib_SendGoal", "_Response", "p::action::dds_::Fib_SendGoal_Response_"),
        ];
        for (ros, suffix, wire) in table {
            assert_eq!(type_name(ros, suffix).unwrap(), wire);
            assert_eq!(demangle_service_type(wire), ros);
        }
        assert_eq!(demangle_type("HelloWorld"), "HelloWorld");
        for bad in ["String", "a/b", "a/b/c/d", "a//c", "a/msg/ü", "1a/msg/B"] {
            assert!(type_name(bad, "").is_err(), "{bad}");
        }
    }
}
