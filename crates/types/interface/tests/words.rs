//! Tests of `interfaces/words.tsv`: its rows are about what exists, and some packages are complete.
#![allow(clippy::unwrap_used)]

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use feros_interface::{
    EMPTY_MESSAGE_FIELD, Interface, InterfaceSet, MessageDefinition, TypeName, parse_message,
    shipped,
};

/// The packages of which some parts have no words: types for tests, and packages with parts whose
/// meaning their definitions do not say.
const INCOMPLETE: [&str; 10] = [
    "apriltag_msgs",
    "irobot_create_msgs",
    "mavros_msgs",
    "moveit_msgs",
    "realsense2_camera_msgs",
    "rosapi_msgs",
    "test_msgs",
    "turtlebot3_msgs",
    "ur_dashboard_msgs",
    "ur_msgs",
];

fn message(name: &str) -> &'static MessageDefinition {
    shipped().message(&name.parse().unwrap()).unwrap_or_else(|| panic!("there is no {name}"))
}

#[test]
fn every_row_is_about_a_part_of_a_message() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../interfaces/words.tsv");
    let table = std::fs::read_to_string(path).unwrap();
    let mut rows = table.lines();
    assert_eq!(rows.next(), Some("type\tpart\ttext"));
    let mut seen = BTreeSet::new();
    for row in rows {
        let columns: Vec<&str> = row.split('\t').collect();
        let [name, part, text] = columns[..] else { panic!("three columns, not {row:?}") };
        assert!(seen.insert((name, part)), "a second row of {name} {part}");
        let message = message(name);
        let parts = message.fields.iter().map(|field| &field.name);
        let mut parts = parts.chain(message.constants.iter().map(|constant| &constant.name));
        assert!(part == "-" || parts.any(|known| known == part), "{name} has no {part}");
        assert!(text.ends_with('.') && text.trim() == text && !text.contains("  "), "{row:?}");
        assert!(text.chars().count() <= 160 && !text.contains(['<', '>', '#']), "{row:?}");
    }
    assert!(seen.len() > 6_300, "{} rows only", seen.len());
    let types: BTreeSet<&str> = seen.iter().map(|(name, _)| *name).collect();
    assert!(types.iter().all(|name| seen.contains(&(*name, "-"))), "a type without a text");
}

#[test]
fn most_packages_have_words_for_every_part() {
    let interfaces = shipped().interfaces();
    for interface in interfaces.filter(|i| !INCOMPLETE.contains(&i.name().package.as_str())) {
        let parts = match interface.as_ref() {
            Interface::Message(message) => vec![message],
            Interface::Service(service) => vec![&service.request, &service.response],
            Interface::Action(action) => vec![&action.goal, &action.result, &action.feedback],
        };
        for part in parts {
            let described = part.with_words();
            assert!(!described.comment.is_empty(), "{} has no words", part.name);
            for field in described.fields.iter().filter(|f| f.name != EMPTY_MESSAGE_FIELD) {
                assert!(!field.comment.is_empty(), "{} {} has no words", part.name, field.name);
            }
            for constant in &described.constants {
                assert!(!constant.comment.is_empty(), "{} {}", part.name, constant.name);
            }
        }
    }
}

#[test]
fn words_are_comments_and_change_nothing_else() {
    let plain = message("geometry_msgs/msg/Twist");
    let described = plain.with_words();
    assert_eq!(
        described.comment,
        ["Velocity of a rigid body, such as a command for a mobile base."]
    );
    assert!(described.fields[1].comment[0].contains("in rad/s"));
    let mut set = InterfaceSet::new();
    set.insert(Interface::Message(described.into_owned())).unwrap();
    set.add_packages(shipped().clone());
    set.insert(Interface::Message(message("geometry_msgs/msg/Vector3").clone())).unwrap();
    assert_eq!(set.type_hash(&plain.name).unwrap(), shipped().type_hash(&plain.name).unwrap());
    let printed = parse_message("geometry_msgs", "Twist", &plain.with_words().to_string()).unwrap();
    assert_eq!(printed, *plain.with_words());
}

#[test]
fn comments_of_others_stay() {
    let with = |text: &str| parse_message("geometry_msgs", "Twist", text).unwrap();
    for text in
        ["# Head.\n\nVector3 linear\n", "Vector3 linear # beside\n", "Vector3 linear\n# End."]
    {
        let message = with(text);
        assert!(matches!(message.with_words(), Cow::Borrowed(same) if *same == message), "{text}");
    }
    // A definition of that name with other fields gets words for those that it has.
    let other = with("Vector3 linear\nint32 more\n");
    let described = other.with_words();
    assert!(!described.fields[0].comment.is_empty() && described.fields[1].comment.is_empty());
    let unknown = MessageDefinition::new(TypeName::message("my_msgs", "Mine"), Vec::new());
    assert!(matches!(unknown.with_words(), Cow::Borrowed(_)));
}
