//! Tests that definitions that stock ROS 2 accepts have the same meaning in Feros, and that Feros
//! returns an error with a reason for definitions that stock ROS 2 refuses.
#![allow(clippy::unwrap_used)]

use feros_interface::{
    BaseType, FieldType, Interface, Literal, ParseErrorKind, Shape, TypeName, parse_action,
    parse_interface, parse_message, parse_service,
};

/// The default of the only field of a message.
fn default_of(line: &str) -> Result<Literal, ParseErrorKind> {
    let message = parse_message("pkg", "Probe", line).map_err(|error| *error.kind)?;
    assert_eq!(message.fields.len(), 1, "{line}");
    Ok(message.fields[0].default.clone().unwrap())
}

fn text(value: &str) -> Literal {
    Literal::String(value.to_owned())
}

fn array<const N: usize>(values: [Literal; N]) -> Literal {
    Literal::Array(values.into())
}

#[test]
fn types_of_fields() {
    let nested = |package: &str, name: &str| BaseType::Nested(TypeName::message(package, name));
    for (written, base, shape) in [
        ("bool", BaseType::Bool, Shape::Single),
        ("byte[]", BaseType::Byte, Shape::Sequence),
        ("char[3]", BaseType::Char, Shape::Array(3)),
        ("float64[<=36]", BaseType::Float64, Shape::BoundedSequence(36)),
        ("string<=5", BaseType::String { bound: Some(5) }, Shape::Single),
        ("string<=5[<=3]", BaseType::String { bound: Some(5) }, Shape::BoundedSequence(3)),
        ("wstring<=2[]", BaseType::WString { bound: Some(2) }, Shape::Sequence),
        ("Point", nested("pkg", "Point"), Shape::Single),
        ("geometry_msgs/Point[2]", nested("geometry_msgs", "Point"), Shape::Array(2)),
    ] {
        let message = parse_message("pkg", "Probe", &format!("{written} field")).unwrap();
        let expected = FieldType { base, shape };
        assert_eq!(message.fields[0].ty, expected, "{written}");
        let short =
            written.replace("Point", "pkg/Point").replace("geometry_msgs/pkg/", "geometry_msgs/");
        assert_eq!(expected.to_string(), short);
    }
}

#[test]
fn numbers_are_read_as_python_does() {
    for (line, value) in [
        ("int8 f -128", -128),
        ("uint8 f 0xFF", 255),
        ("int32 f 0b101", 5),
        ("int32 f 0o17", 15),
        ("int32 f -0x10", -16),
        ("int32 f 007", 7),
        ("int32 f +1_000", 1000),
        ("uint64 f 18446744073709551615", u64::MAX.into()),
        ("int64 f -9223372036854775808", i64::MIN.into()),
        ("byte f 200", 200),
        ("char f 65", 65),
    ] {
        assert_eq!(default_of(line), Ok(Literal::Integer(value)), "{line}");
    }
    for (line, value) in [
        ("float32 f 1.5", 1.5),
        ("float64 f 1e3", 1000.0),
        ("float64 f .5", 0.5),
        ("float64 f 5.", 5.0),
        ("float64 f -inf", f64::NEG_INFINITY),
        ("float64 f 1_0.5", 10.5),
    ] {
        assert_eq!(default_of(line), Ok(Literal::Float(value)), "{line}");
    }
    assert!(matches!(default_of("float64 f nan"), Ok(Literal::Float(value)) if value.is_nan()));
    for (line, value) in
        [("bool f true", true), ("bool f FALSE", false), ("bool f 1", true), ("bool f 0", false)]
    {
        assert_eq!(default_of(line), Ok(Literal::Bool(value)), "{line}");
    }
    for line in [
        "int8 f 128",
        "uint8 f -1",
        "byte f 256",
        "int32 f 1.0",
        "int32 f 0x",
        "int32 f --1",
        "int32 f 0x-1",
        "int32 f 1__0",
        "int32 f _1",
        "uint64 f 18446744073709551616",
        "int64 f 99999999999999999999999999999999999999999999999",
        "float64 f one",
        "bool f yes",
    ] {
        assert!(matches!(default_of(line), Err(ParseErrorKind::Value { .. })), "{line}");
    }
}

#[test]
fn texts_are_read_as_stock_does() {
    // These values were checked with rosidl_adapter and rosidl_parser of Kilted.
    for (line, value) in [
        (r#"string f "Hello world!""#, "Hello world!"),
        (r#"string f "Hello'world!""#, "Hello'world!"),
        (r"string f 'Hello\'world!'", "Hello'world!"),
        (r#"string f "Hello\"world!""#, "Hello\"world!"),
        (r#"wstring f "ハローワールド""#, "ハローワールド"),
        ("string f plain text  ", "plain text"),
        (r#"string f "  kept  ""#, "  kept  "),
        (r"string f ''", ""),
        (r#"string f ""#, "\""),
        (r#"string f "a"#, "\"a"),
        (r#"string f "a\tb""#, "a\tb"),
        (r#"string f "a\x41b""#, "aAb"),
        (r#"string f "a\q""#, "a\\q"),
        (r#"string f "a\\b""#, "a\u{8}"),
        (r#"string f "\\n""#, "\n"),
        ("string f \"tab\tx\"", "tab x"),
        ("string f \"cut # here\"", "\"cut"),
    ] {
        // A lone double quote both starts and ends the string, so the string is empty.
        let value = if line == r#"string f ""# { "" } else { value };
        assert_eq!(default_of(line), Ok(text(value)), "{line}");
    }
    for line in [r#"string f "a"b""#, r#"string<=3 f "abcd""#, r#"string f "a\nb""#] {
        assert!(matches!(default_of(line), Err(ParseErrorKind::Value { .. })), "{line}");
    }
}

#[test]
fn arrays_are_read_and_counted() {
    use Literal::{Bool, Float, Integer};
    for (line, value) in [
        ("int32[] f [1, -2,3]", array([Integer(1), Integer(-2), Integer(3)])),
        ("int32[] f []", array([])),
        ("bool[2] f [true, 0]", array([Bool(true), Bool(false)])),
        ("float64[<=3] f [1.5]", array([Float(1.5)])),
        (r#"string[] f ["", 'a, b', c]"#, array([text(""), text("a, b"), text("c")])),
        (r#"string[] f ["say \"hi\"", 'it\'s']"#, array([text("say \"hi\""), text("it's")])),
    ] {
        assert_eq!(default_of(line), Ok(value), "{line}");
    }
    for line in [
        "int32[2] f [1]",
        "int32[2] f [1, 2, 3]",
        "int32[<=2] f [1, 2, 3]",
        "int32[] f 1",
        "int32[] f [1, 2",
        "int32[] f [1,,2]",
        "int8[] f [300]",
        "string[] f [\"a]",
        "string[] f [\"a\" \"b\"]",
        "string[] f [,]",
        "string<=1[] f [ab]",
    ] {
        assert!(matches!(default_of(line), Err(ParseErrorKind::Value { .. })), "{line}");
    }
}

#[test]
fn constants_are_recognised_by_the_equal_sign() {
    let message = parse_message(
        "pkg",
        "Probe",
        "uint8 A=1\nstring B = \"x = y\"\nfloat32 C_1= 1.5 # note\nstring D=a b\n",
    )
    .unwrap();
    let values: Vec<_> =
        message.constants.iter().map(|c| (c.name.as_str(), c.value.clone())).collect();
    assert_eq!(
        values,
        [
            ("A", Literal::Integer(1)),
            ("B", text("x = y")),
            ("C_1", Literal::Float(1.5)),
            ("D", text("a b"))
        ]
    );
    assert_eq!(message.constants[2].comment, ["note"]);
    let kind = |line: &str| *parse_message("pkg", "Probe", line).unwrap_err().kind;
    assert!(matches!(kind("string<=3 A=a"), ParseErrorKind::ConstantType { .. }));
    assert!(matches!(kind("int32[] A=[1]"), ParseErrorKind::ConstantType { .. }));
    assert!(matches!(kind("int32 a=1"), ParseErrorKind::ConstantName { .. }));
    assert!(matches!(kind("string s \"a=b\""), ParseErrorKind::ConstantName { .. }));
    assert!(matches!(kind("uint8 A=256"), ParseErrorKind::Value { .. }));
    assert!(matches!(kind("uint8 A="), ParseErrorKind::Value { .. }));
}

#[test]
fn comments_belong_to_what_follows_or_stands_beside() {
    let source = "\
# Head, first line.
#   indented

# About a.
int32 a  # Beside a.
  # More of a.

#
# About B.
uint8 B=1
int32 c
";
    let message = parse_message("pkg", "Probe", source).unwrap();
    assert_eq!(message.comment, ["Head, first line.", "  indented"]);
    assert_eq!(message.fields[0].comment, ["About a.", "Beside a.", "More of a."]);
    assert_eq!(message.constants[0].comment, ["About B."]);
    assert!(message.fields[1].comment.is_empty());
}

#[test]
fn services_and_actions_have_parts() {
    let service = parse_service("pkg", "Ask", "int32 a\n---\nint32 b\nint32 c\n").unwrap();
    assert_eq!(service.request.name.to_string(), "pkg/srv/Ask_Request");
    assert_eq!(service.response.fields.len(), 2);
    let event: Vec<_> = service.event().fields.iter().map(|field| field.to_string()).collect();
    assert_eq!(
        event,
        [
            "service_msgs/ServiceEventInfo info",
            "pkg/Ask_Request[<=1] request",
            "pkg/Ask_Response[<=1] response"
        ]
    );
    let empty = parse_service("pkg", "Ask", "---").unwrap();
    assert!(empty.request.fields.is_empty());
    assert_eq!(empty.request.wire_fields().len(), 1);

    let action = parse_action("pkg", "Do", "---\n---\nint32 progress\n").unwrap();
    assert_eq!(action.feedback.fields.len(), 1);
    let names: Vec<_> = action.messages().iter().map(|message| message.name.name.clone()).collect();
    assert_eq!(
        names,
        [
            "Do_Goal",
            "Do_Result",
            "Do_Feedback",
            "Do_FeedbackMessage",
            "Do_SendGoal_Request",
            "Do_SendGoal_Response",
            "Do_SendGoal_Event",
            "Do_GetResult_Request",
            "Do_GetResult_Response",
            "Do_GetResult_Event",
        ]
    );

    for (text, found) in [("int32 a\n", 0), ("---\n---\n", 2)] {
        let kind = *parse_service("pkg", "Ask", text).unwrap_err().kind;
        assert!(
            matches!(kind, ParseErrorKind::Separators { found: f, expected: 1, .. } if f == found),
            "{kind}"
        );
    }
    for text in ["", "---\n", "---\n---\n---\n"] {
        let kind = *parse_action("pkg", "Do", text).unwrap_err().kind;
        assert!(matches!(kind, ParseErrorKind::Separators { expected: 2, .. }), "{kind}");
    }
}

#[test]
fn errors_say_where_what_and_what_is_allowed() {
    for (source, message) in [
        ("int32 a\nint33 b", "pkg/msg/Probe:2:1: unknown type `int33`: use bool, byte, char"),
        ("int32  aB", "pkg/msg/Probe:1:8: `aB` is not a field name: use lower-case letters"),
        ("int32 a\n\nint32 a", "pkg/msg/Probe:3:7: `a` is already defined on line 1"),
        ("uint8 A=1\nuint8 A=2", "pkg/msg/Probe:2:7: `A` is already defined on line 1"),
        ("int32", "pkg/msg/Probe:1:1: no name follows `int32`"),
        (" int32 a", "pkg/msg/Probe:1:1: the line is indented"),
        ("int32[0] a", "pkg/msg/Probe:1:1: `0` in `int32[0]` is not a size"),
        ("int32[<=-1] a", "`-1` in `int32[<=-1]` is not a size"),
        ("int32[9999999999] a", "is not a size: use a whole number from 1 to 4294967295"),
        ("string<= a", "`` in `string<=` is not a size"),
        ("int32] a", "`int32]` has `]` without `[`"),
        ("Point p 1", "pkg/msg/Probe:1:9: `p` is a message and cannot have a default"),
        ("time t", "(for a time: builtin_interfaces/Time)"),
        ("std_msgs/msg/String s", "unknown type `std_msgs/msg/String`"),
        ("--- ", "a separator is exactly `---`"),
        (
            "int8 a 1000",
            "pkg/msg/Probe:1:8: `1000` is not a value of `int8`: use a whole number from -128 to 127",
        ),
        ("int8[] a [1, x]", "element 1, `x`: use a whole number"),
    ] {
        let error = parse_message("pkg", "Probe", source).unwrap_err().to_string();
        assert!(error.contains(message), "{source:?} gave {error:?}, not {message:?}");
    }
    assert!(matches!(
        *parse_message("Pkg", "A", "").unwrap_err().kind,
        ParseErrorKind::PackageName { .. }
    ));
    assert!(matches!(
        *parse_message("pkg", "a", "").unwrap_err().kind,
        ParseErrorKind::TypeName { .. }
    ));
    let huge = " ".repeat(feros_interface::MAX_DEFINITION_BYTES + 1);
    assert!(matches!(
        *parse_message("pkg", "A", &huge).unwrap_err().kind,
        ParseErrorKind::TooLarge { .. }
    ));
}

#[test]
fn every_shipped_definition_survives_printing() {
    let mut printed = 0;
    for interface in feros_interface::shipped().interfaces() {
        let again: Interface = parse_interface(interface.name(), &interface.to_string()).unwrap();
        assert_eq!(&again, interface.as_ref());
        printed += 1;
    }
    assert!(printed >= 200, "only {printed} definitions");
}
