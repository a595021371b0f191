//! QoS profiles as rosbag2 writes them (`rosbag2_storage/src/rosbag2_storage/qos.cpp`): with words
//! since version 9 of the metadata, and with the numbers of rmw before. They are YAML within the
//! metadata, or a string that contains YAML.

use std::collections::BTreeMap;
use std::time::Duration;

use feros_engine::{
    Durability, History, Liveliness, QosDuration, QosPolicy, QosProfile, Reliability,
};

use crate::yaml::{Node, YamlError};

/// The value that rmw writes for "no limit": the largest i64 in nanoseconds.
const INFINITE: (u64, u64) = (9_223_372_036, 854_775_807);

/// Writes profiles as a YAML list, each line after `indent`.
pub(crate) fn write_profiles(out: &mut String, profiles: &[QosProfile], indent: &str) {
    for profile in profiles {
        let mut lines = vec![
            format!("history: {}", profile.history.to_string().to_lowercase()),
            format!("depth: {}", profile.depth),
            format!("reliability: {}", profile.reliability.to_string().to_lowercase()),
            format!("durability: {}", profile.durability.to_string().to_lowercase()),
        ];
        lines.extend(duration_lines("deadline", profile.deadline));
        lines.extend(duration_lines("lifespan", profile.lifespan));
        lines.push(format!("liveliness: {}", profile.liveliness.to_string().to_lowercase()));
        lines
            .extend(duration_lines("liveliness_lease_duration", profile.liveliness_lease_duration));
        lines.push(format!(
            "avoid_ros_namespace_conventions: {}",
            profile.avoid_ros_namespace_conventions
        ));
        for (number, line) in lines.iter().enumerate() {
            let begin = if number == 0 { "- " } else { "  " };
            out.push_str(&format!("{indent}{begin}{line}\n"));
        }
    }
}

fn duration_lines(name: &str, duration: QosDuration) -> [String; 3] {
    let (sec, nsec) = match duration.finite() {
        Some(finite) => (finite.as_secs(), u64::from(finite.subsec_nanos())),
        None => INFINITE,
    };
    [format!("{name}:"), format!("  sec: {sec}"), format!("  nsec: {nsec}")]
}

/// Reads profiles from a list, or from a string that contains the YAML of a list.
pub(crate) fn read_profiles(node: &Node) -> Result<Vec<QosProfile>, YamlError> {
    match node {
        Node::Null => Ok(Vec::new()),
        Node::Scalar(text) if text.trim().is_empty() || text == "[]" => Ok(Vec::new()),
        Node::Scalar(text) => match Node::parse(text)? {
            Node::Scalar(_) => {
                Err(YamlError::new("the profiles are a string", "a list of profiles"))
            }
            parsed => read_profiles(&parsed),
        },
        Node::List(profiles) => profiles.iter().map(read_profile).collect(),
        Node::Map(_) => Err(YamlError::new("the profiles are a mapping", "a list of profiles")),
    }
}

/// Reads the overrides of `--qos-profile-overrides-path`: topics with one profile each, in which
/// policies may be missing.
///
/// # Errors
/// When the text is not YAML, a profile has an unknown key, or a policy has an invalid value.
pub fn read_overrides(text: &str) -> Result<BTreeMap<String, QosProfile>, YamlError> {
    let Node::Map(topics) = Node::parse_only(text)? else {
        return Err(YamlError::new(
            "the file is not a mapping",
            "a mapping from topics to QoS profiles",
        ));
    };
    let mut overrides = BTreeMap::new();
    for (topic, node) in &topics {
        check_override(topic, node)?;
        if overrides.insert(topic.clone(), read_profile(node)?).is_some() {
            return Err(YamlError::new(format!("`{topic}` occurs twice"), "it once"));
        }
    }
    Ok(overrides)
}

/// Refuses mistakes that [`read_profile`] ignores because it reads files of rosbag2 as well.
fn check_override(topic: &str, node: &Node) -> Result<(), YamlError> {
    let names = QosPolicy::ALL.map(QosPolicy::name);
    node.only_has(&format!("the profile of `{topic}`"), &names)?;
    for policy in QosPolicy::ALL {
        let key = policy.name();
        if !policy.is_duration() {
            node.only_text(key)?;
        } else if let Some(duration) = node.get(key) {
            let whose = format!("`{key}` of `{topic}`");
            duration.only_has(&whose, &["sec", "nsec"])?;
            for part in ["sec", "nsec"] {
                if duration.only_text(part)?.is_none() {
                    return Err(YamlError::new(format!("{whose} has no {part}"), "sec and nsec"));
                }
            }
        }
    }
    Ok(())
}

fn read_profile(node: &Node) -> Result<QosProfile, YamlError> {
    let default = QosProfile::default();
    Ok(QosProfile {
        history: policy(node, "history", default.history, |number| {
            History::from_number(number).unwrap_or(History::Unknown)
        })?,
        depth: node.number("depth", default.depth)?,
        reliability: policy(node, "reliability", default.reliability, |number| {
            Reliability::from_number(number).unwrap_or(Reliability::SystemDefault)
        })?,
        durability: policy(node, "durability", default.durability, |number| {
            Durability::from_number(number).unwrap_or(Durability::SystemDefault)
        })?,
        deadline: duration(node, "deadline")?,
        lifespan: duration(node, "lifespan")?,
        liveliness: policy(node, "liveliness", default.liveliness, |number| {
            Liveliness::from_number(number).unwrap_or(Liveliness::SystemDefault)
        })?,
        liveliness_lease_duration: duration(node, "liveliness_lease_duration")?,
        avoid_ros_namespace_conventions: node.flag("avoid_ros_namespace_conventions")?,
    })
}

/// Reads a policy by its word or number; an unknown word, or `unknown` itself, gives the default.
fn policy<P: std::str::FromStr>(
    node: &Node,
    key: &str,
    default: P,
    numbered: impl Fn(u8) -> P,
) -> Result<P, YamlError> {
    let Some(text) = node.text(key) else { return Ok(default) };
    if let Ok(number) = text.parse() {
        return Ok(numbered(number));
    }
    match text.parse() {
        Ok(policy) => Ok(policy),
        Err(_) if text.eq_ignore_ascii_case("unknown") => Ok(default),
        Err(_) => Err(YamlError::new(
            format!("`{key}` is {text:?}"),
            "a value of this policy, such as reliable, volatile, keep_last or automatic",
        )),
    }
}

fn duration(node: &Node, key: &str) -> Result<QosDuration, YamlError> {
    let Some(value) = node.get(key) else { return Ok(QosDuration::Infinite) };
    let (sec, nsec): (u64, u64) = (value.number("sec", 0)?, value.number("nsec", 0)?);
    let older_infinity = (2_147_483_647, 4_294_967_295); // as Foxy and Galactic write it
    if sec >= INFINITE.0 || (sec, nsec) == older_infinity || nsec > 999_999_999 {
        return Ok(QosDuration::Infinite);
    }
    #[expect(clippy::cast_possible_truncation, reason = "below a second of nanoseconds")]
    Ok(Duration::new(sec, nsec as u32).into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn profiles_read_back() {
        let profiles = [
            QosProfile::keep_last(3).best_effort().transient_local(),
            QosProfile::keep_all()
                .deadline(Duration::from_millis(1500))
                .liveliness(Liveliness::ManualByTopic, Duration::from_secs(2)),
            QosProfile::system_default(),
        ];
        let mut text = String::new();
        write_profiles(&mut text, &profiles, "  ");
        assert!(text.starts_with("  - history: keep_last\n    depth: 3\n"), "{text}");
        assert_eq!(read_profiles(&Node::parse(&text).unwrap()).unwrap(), profiles);
        assert_eq!(read_profiles(&Node::Scalar(text)).unwrap(), profiles);
        assert_eq!(read_profiles(&Node::Scalar(String::new())).unwrap(), []);
    }

    #[test]
    fn bags_have_every_policy() {
        let lost = QosPolicy::lost_in(|given| {
            let mut text = String::new();
            write_profiles(&mut text, &[*given], "");
            read_profiles(&Node::parse(&text).unwrap()).unwrap()[0]
        });
        assert_eq!(lost, []);
    }

    #[test]
    fn numbers_of_rmw_are_read() {
        let text = "- history: 2\n  depth: 7\n  reliability: 2\n  durability: 1\n  deadline: {sec: 0, \
                    nsec: 5000000}\n  lifespan: {sec: 2147483647, nsec: 4294967295}\n  liveliness: 3\n";
        let expected = QosProfile { depth: 7, ..QosProfile::keep_all() }
            .best_effort()
            .transient_local()
            .deadline(Duration::from_millis(5));
        let expected = QosProfile { liveliness: Liveliness::ManualByTopic, ..expected };
        assert_eq!(read_profiles(&Node::Scalar(text.into())).unwrap(), [expected]);
    }

    #[test]
    fn overrides_name_topics() {
        let overrides = read_overrides("/a:\n  reliability: best_effort\n  depth: 2\n").unwrap();
        assert_eq!(overrides["/a"], QosProfile::keep_last(2).best_effort());
        assert!(read_overrides("/a: {reliability: sometimes}").is_err());
        for (wrong, expected) in [
            ("5", "the file is not a mapping"),
            ("/a: {relaibility: reliable}", "did you mean `reliability`?"),
            ("/a: {depth: [5]}", "`depth` is a list"),
            ("/a: {deadline: {sec: 1}}", "`deadline` of `/a` has no nsec"),
            ("/a: {deadline: 5}", "`deadline` of `/a` is not a mapping; expected sec, nsec"),
            ("/a: {lifespan: {sec: 1, nsecs: 2}}", "did you mean `nsec`?"),
            ("/a: {depth: 1}\n/a: {depth: 2}", "`/a` occurs twice"),
            ("/a: {depth: 1}\n---\n/b: {depth: 2}", "a second document"),
        ] {
            let error = read_overrides(wrong).unwrap_err().to_string();
            assert!(error.contains(expected), "{wrong}: {error}");
        }
    }
}
