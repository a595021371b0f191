//! Tests that the parser never panics, and that a printed definition parses to the same tree.
#![allow(clippy::unwrap_used)]

use feros_interface::{
    ParseError, TypeName, parse_action, parse_interface, parse_message, parse_service, shipped,
};
use proptest::prelude::*;

fn parse_all(text: &str) -> [Result<String, ParseError>; 3] {
    [
        parse_message("pkg", "Probe", text).map(|m| m.to_string()),
        parse_service("pkg", "Probe", text).map(|s| s.to_string()),
        parse_action("pkg", "Probe", text).map(|a| a.to_string()),
    ]
}

/// Lines of words that occur in definitions, in any order.
fn almost_definition() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "int32",
        "string",
        "wstring<=3",
        "bool",
        "float64[]",
        "byte[3]",
        "Name",
        "pkg/Name",
        "x",
        "FOO",
        "=",
        "#",
        "\"",
        "'",
        "\\",
        "[",
        "]",
        "<=",
        ",",
        "0x1f",
        "-1",
        "1.5e3",
        "nan",
        "true",
        "---",
        "\t",
        "\n",
        "\n",
        "\r\n",
        " ",
        " ",
        " ",
        "ü",
        "😀",
        "\u{85}",
        "_",
    ]);
    prop::collection::vec(word, 0..60).prop_map(|words| words.concat())
}

/// The text of a valid definition, with defaults of every kind.
fn definition() -> impl Strategy<Value = String> {
    // Within arrays, the notation cannot express a backslash, `#`, `=`, or spaces at the ends of a
    // string.
    let plain = "([a-zäß,\"'\\[\\]]([a-zäß,\"'\\[\\] ]{0,6}[a-z])?)?";
    let quoted = |text: &String| format!("\"{}\"", text.replace('"', "\\\""));
    let field = prop_oneof![
        Just("bool[] @ [true, 0]".to_owned()),
        any::<i64>().prop_map(|v| format!("int64 @ {v}")),
        any::<u8>().prop_map(|v| format!("byte @ {v:#x}")),
        any::<f64>()
            .prop_filter("equal to itself", |v| !v.is_nan())
            .prop_map(|v| format!("float64 @ {v:?}")),
        prop::collection::vec(any::<f32>().prop_filter("equal to itself", |v| !v.is_nan()), 0..4)
            .prop_map(|v| format!("float32[<=4] @ {v:?}")),
        prop::collection::vec(plain, 0..4).prop_map(move |v| format!(
            "string[] @ [{}]",
            v.iter().map(quoted).collect::<Vec<_>>().join(", ")
        )),
        "[^#=\r\n\"]{0,12}".prop_map(|v| format!("wstring @ \"x{v}y\"")),
        Just("std_msgs/Header @".to_owned()),
        Just("Other[3] @  # a comment".to_owned()),
    ];
    prop::collection::vec((field, "(# [a-z ]{0,10}\n)?"), 0..8).prop_map(|fields| {
        let line = |(index, (field, comment)): (usize, &(String, String))| {
            format!("{comment}{}\n", field.replacen('@', &format!("f{index}"), 1))
        };
        fields.iter().enumerate().map(line).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        let _ = parse_all(&text);
    }

    #[test]
    fn accepted_definitions_print_to_the_same_text(text in almost_definition()) {
        for (namespace, printed) in ["msg", "srv", "action"].into_iter().zip(parse_all(&text)) {
            let Ok(printed) = printed else { continue };
            let name: TypeName = format!("pkg/{namespace}/Probe").parse().unwrap();
            let again = parse_interface(&name, &printed)
                .unwrap_or_else(|error| panic!("{error}\nprinted:\n{printed}"));
            prop_assert_eq!(again.to_string(), printed);
        }
    }

    #[test]
    fn definitions_survive_printing(text in definition()) {
        // A generated string may contain an escape that stock ROS 2 refuses.
        let Ok(first) = parse_message("pkg", "Probe", &text) else { return Ok(()) };
        let again = parse_message("pkg", "Probe", &first.to_string()).unwrap();
        prop_assert_eq!(again, first);
    }

    #[test]
    fn looking_up_never_panics(text in "[a-z_/A-Z0-9]{0,40}|\\PC{0,20}") {
        let _ = shipped().find(&text);
        let _ = text.parse::<TypeName>();
        let _ = TypeName::from_dds_type_name(&text);
    }
}
