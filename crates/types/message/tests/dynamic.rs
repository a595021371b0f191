//! Compares dynamic messages with real samples and with the output of PyYAML, and checks their
//! errors.
#![allow(clippy::unwrap_used)]

use feros_interface::{Interface, InterfaceSet, TypeName, parse_message, shipped};
use feros_message::cdr::ByteOrder;
use feros_message::dynamic::{
    Array, DynamicMessage, DynamicType, DynamicTypeError, InputErrorKind, PathError, PrintOptions,
    Value, ValueRef,
};

const ALL: PrintOptions =
    PrintOptions { truncate_length: None, no_arr: false, no_str: false, flow_style: false };

fn ty(name: &str) -> DynamicType {
    DynamicType::resolve(shipped(), &name.parse().unwrap()).unwrap()
}

/// The type `pkg/msg/Probe` with these fields. It may refer to shipped types and to `definitions`.
fn probe_with(definitions: &[(&str, &str)], fields: &str) -> Result<DynamicType, DynamicTypeError> {
    let mut set: InterfaceSet = shipped().clone();
    for (name, text) in definitions.iter().chain([&("Probe", fields)]) {
        set.insert(Interface::Message(parse_message("pkg", name, text).unwrap())).unwrap();
    }
    DynamicType::resolve(&set, &TypeName::message("pkg", "Probe"))
}

fn probe(fields: &str) -> DynamicType {
    probe_with(&[], fields).unwrap()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// JSON writers escape characters beyond U+FFFF in this way.
#[test]
fn json_with_surrogates_is_read_where_yaml_is() {
    let ty = probe("string data\nint32 n");
    let text = r#"{"data": "\ud83d\ude00", "n": 3}"#;
    let message = DynamicMessage::from_yaml(&ty, text).unwrap();
    assert_eq!(message.to_json(&ALL), DynamicMessage::from_json(&ty, text).unwrap().to_json(&ALL));
    assert!(message.to_json(&ALL).contains('😀'));
    let lone = DynamicMessage::from_yaml(&ty, r#"{"data": "\ud83d"}"#).unwrap_err();
    assert!(matches!(lone.kind(), InputErrorKind::Syntax { format: "YAML", .. }), "{lone}");
}

#[test]
fn samples_of_stock_ros_2_decode_and_encode() {
    let mut compared = 0;
    for line in include_str!("golden/dynamic_cdr.tsv").lines() {
        let [name, hex, json] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let (ty, sample) = (ty(name), bytes_of(hex));
        let message = ty.decode(&sample).unwrap();
        let expected: serde_json::Value = serde_json::from_str(json).unwrap();
        let decoded: serde_json::Value = serde_json::from_str(&message.to_json(&ALL)).unwrap();
        assert_eq!(decoded, expected, "{name}");

        let encoded = message.to_cdr().unwrap();
        assert!(encoded.len() <= sample.len(), "{name}");
        for (at, (ours, theirs)) in encoded.iter().zip(&sample).enumerate() {
            // Stock ROS 2 leaves arbitrary bytes in the padding, where Feros writes zero.
            assert!(
                ours == theirs || *ours == 0,
                "{name}: byte {at} is {ours:#x}, not {theirs:#x}"
            );
        }
        assert_eq!(ty.decode(&encoded).unwrap().to_json(&ALL), message.to_json(&ALL));

        let from_json = DynamicMessage::from_json(&ty, json).unwrap();
        assert_eq!(from_json.to_cdr().unwrap(), encoded, "{name}");
        let from_yaml = DynamicMessage::from_yaml(&ty, &message.to_yaml(&ALL)).unwrap();
        assert_eq!(from_yaml.to_cdr().unwrap(), encoded, "{name}:\n{}", message.to_yaml(&ALL));
        let flow = message.to_yaml(&PrintOptions { flow_style: true, ..ALL });
        assert_eq!(
            DynamicMessage::from_yaml(&ty, &flow).unwrap().to_cdr().unwrap(),
            encoded,
            "{flow}"
        );
        let big_endian = message.to_cdr_in(ByteOrder::Big).unwrap();
        assert_eq!(ty.decode(&big_endian).unwrap().to_cdr().unwrap(), encoded, "{name}");
        compared += 1;
    }
    assert!(compared >= 60, "{compared} samples only");
}

#[test]
fn defaults_are_those_of_stock_ros_2() {
    let mut compared = 0;
    for line in include_str!("golden/dynamic_cdr.tsv").lines() {
        let [name, hex, _] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        // In each group of three rows, the first row is the default message.
        if compared % 3 == 0 {
            let theirs = ty(name).decode(&bytes_of(hex)).unwrap();
            assert_eq!(ty(name).default_message(), theirs, "{name}");
        }
        compared += 1;
    }
    let defaults = ty("test_msgs/msg/Defaults").default_message();
    assert_eq!(defaults.get("int16_value"), Some(&Value::I16(-1000)));
    assert!(compared >= 60);
}

#[test]
fn yaml_is_written_as_pyyaml_does() {
    let golden: serde_json::Value =
        serde_json::from_str(include_str!("golden/dynamic_yaml.json")).unwrap();
    let (string, strings, float) =
        (probe("string data"), probe("string[] strings"), probe("float64 data"));
    let flow = PrintOptions { flow_style: true, ..ALL };
    let rows = golden["texts"].as_array().unwrap();
    assert!(rows.len() > 700);
    for row in rows {
        let text = row["text"].as_str().unwrap();
        let mut message = string.default_message();
        message.set("data", Value::String(text.to_owned())).unwrap();
        assert_eq!(message.to_yaml(&ALL), row["block"].as_str().unwrap(), "{text:?}");
        assert_eq!(message.to_yaml(&flow), row["flow"].as_str().unwrap(), "{text:?}");
        let mut list = strings.default_message();
        list.set("strings", Value::Array(Array::String(vec![text.to_owned(), "-".to_owned()])))
            .unwrap();
        assert_eq!(list.to_yaml(&ALL), row["items"].as_str().unwrap(), "{text:?}");
        assert_eq!(
            DynamicMessage::from_yaml(&strings, &list.to_yaml(&ALL)).unwrap(),
            list,
            "{text:?}"
        );
    }
    for row in golden["floats"].as_array().unwrap() {
        let block = row["block"].as_str().unwrap();
        let message = DynamicMessage::from_yaml(&float, block).unwrap();
        assert_eq!(message.to_yaml(&ALL), block);
    }
}

#[test]
fn structures_are_indented_as_pyyaml_does() {
    let nested = [("Inner", "int32 a\nint32[] list\nEmpty nothing"), ("Empty", "")];
    let ty =
        probe_with(&nested, "Inner one\nInner[] many\nEmpty[2] empties\nuint8[] none").unwrap();
    let message =
        DynamicMessage::from_yaml(&ty, "{one: {list: [1, 2]}, many: [{a: 1, list: [3]}, {}]}")
            .unwrap();
    let expected = "\
one:
  a: 0
  list:
  - 1
  - 2
  nothing: {}
many:
- a: 1
  list:
  - 3
  nothing: {}
- a: 0
  list: []
  nothing: {}
empties:
- {}
- {}
none: []
";
    assert_eq!(message.to_yaml(&ALL), expected);
    assert_eq!(probe("").default_message().to_yaml(&ALL), "{}\n");
    assert_eq!(probe("").default_message().to_json(&ALL), "{}");
    assert_eq!(
        message.to_json(&ALL),
        r#"{"one":{"a":0,"list":[1,2],"nothing":{}},"many":[{"a":1,"list":[3],"nothing":{}},{"a":0,"list":[],"nothing":{}}],"empties":[{},{}],"none":[]}"#
    );
    assert_eq!(message.select("many").unwrap().to_yaml(&ALL).lines().next(), Some("- a: 1"));
    assert_eq!(message.select("one.list[1]").unwrap().to_yaml(&ALL), "2\n");
}

#[test]
fn long_values_are_cut_as_asked() {
    let ty = probe(
        "uint8[] data\nfloat64[3] fixed\nstring<=9[<=5] words\nstd_msgs/Header[] headers\nstring text\nbyte one",
    );
    let message = DynamicMessage::from_yaml(
        &ty,
        "{data: [1, 2, 3], words: [aäbcd], headers: [{}], text: abcdef, one: 7}",
    )
    .unwrap();
    let cut = message.to_yaml(&PrintOptions { truncate_length: Some(2), ..ALL });
    assert!(
        cut.starts_with(
            "data:\n- 1\n- 2\n- '...'\nfixed:\n- 0.0\n- 0.0\n- '...'\nwords:\n- aä...\n"
        ),
        "{cut}"
    );
    assert!(cut.ends_with("text: ab...\none: \"\\a\"\n"), "{cut}");
    assert!(
        message
            .to_json(&PrintOptions { truncate_length: Some(2), ..ALL })
            .starts_with(r#"{"data":[1,2,"..."],"#)
    );
    let none = message.to_yaml(&PrintOptions { no_arr: true, no_str: true, ..ALL });
    assert_eq!(
        none,
        "data: '<sequence type: uint8, length: 3>'\nfixed: <array type: double[3]>\n\
         words: '<sequence type: string[5], length: 1>'\nheaders: '<sequence type: std_msgs/msg/Header, length: 1>'\n\
         text: '<string length: <6>>'\none: \"\\a\"\n"
            .replace("<array type: double[3]>", "'<array type: double[3]>'")
    );
}

#[test]
fn partial_input_keeps_defaults() {
    let ty = ty("test_msgs/msg/Defaults");
    for text in ["", "{}", "~", "uint8_value:", "# nothing"] {
        assert_eq!(DynamicMessage::from_yaml(&ty, text).unwrap(), ty.default_message(), "{text}");
    }
    let message =
        DynamicMessage::from_json(&ty, r#"{"uint8_value": 3, "int8_value": null}"#).unwrap();
    assert_eq!(message.get("uint8_value"), Some(&Value::U8(3)));
    assert_eq!(message.get("int8_value"), Some(&Value::I8(-50)));
}

#[test]
fn wrong_input_names_place_field_expectation_and_what_came() {
    let nested = [("Point", "float64 x\nfloat64 y")];
    let ty = probe_with(
        &nested,
        "Point[] points\nint8 small\nstring<=3 short\nbool flag\nint32[2] pair\nuint8[<=1] few\nstd_msgs/Header header",
    )
    .unwrap();
    for (text, message) in [
        (
            "{points: [{x: 1}, {x: 1, z: 2}]}",
            "line 1, column 29: field `points[1]`: `pkg/msg/Point` has no field `z`: it has `x`, `y`",
        ),
        (
            "{pionts: []}",
            "`pkg/msg/Probe` has no field `pionts` (did you mean `points`?): it has `points`, `small`",
        ),
        (
            "{points: [{x:1}]}",
            "field `points[0]`: `x:1` is a single word in YAML: write a space after the colon, `x: \
             1`",
        ),
        (
            "small:5",
            "`small:5` is a single word in YAML: write a space after the colon, `small: 5`",
        ),
        (
            "small: 200",
            "line 1, column 8: field `small`: expected int8 (a whole number from -128 to 127), got `200`",
        ),
        ("small: [1]", "field `small`: expected int8, got a list of 1"),
        ("short: abcd", "field `short`: expected at most 3 bytes, but this has 4, got `abcd`"),
        ("flag: maybe", "field `flag`: expected bool (true or false), got `maybe`"),
        (
            "pair: [1, 2, 3]",
            "field `pair`: expected int32[2] (exactly 2 elements), got a list of 3",
        ),
        ("few: [1, 2]", "field `few`: expected uint8[<=1] (at most 1 elements), got a list of 2"),
        ("few: 1", "field `few`: expected uint8[<=1] (a list, such as [1, 2]), got `1`"),
        ("pair: [1, a]", "field `pair[1]`: expected int32 (a whole number"),
        (
            "header:\n  stamp:\n    sec: x",
            "line 3, column 10: field `header.stamp.sec`: expected int32",
        ),
        (
            "header: 5",
            "field `header`: expected a mapping with the fields of std_msgs/msg/Header (`stamp`, `frame_id`)",
        ),
        ("5", "line 1, column 1: expected a mapping with the fields of pkg/msg/Probe"),
        ("[1]", "expected a mapping with the fields of pkg/msg/Probe"),
        ("{small: 1, small: 2}", "the field `small` is given twice"),
        ("{small: 1", "this is not YAML: "),
        ("a: &x 1\nb: *x", "aliases (`*name`) are not supported"),
        ("small: 1\n---\nsmall: 2", "there is more than one document"),
        ("? [a]\n: b", "a key is a list or mapping"),
        ("small: 010", "without a leading zero"),
    ] {
        let error = DynamicMessage::from_yaml(&ty, text).unwrap_err().to_string();
        assert!(error.contains(message), "{text:?} gave {error:?}, not {message:?}");
    }
    let error =
        DynamicMessage::from_json(&ty, r#"{"header": {"stamp": {"sec": 1.5}}}"#).unwrap_err();
    assert_eq!(error.path(), "header.stamp.sec");
    assert!(matches!(error.kind(), InputErrorKind::WrongType { given, .. } if given == "`1.5`"));
    let error = DynamicMessage::from_json(&ty, "{").unwrap_err().to_string();
    assert!(error.starts_with("this is not JSON: "), "{error}");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(DynamicMessage::from_yaml(&ty, &deep).is_err());
    assert!(DynamicMessage::from_json(&ty, &deep).is_err());
}

#[test]
fn stamps_are_set_when_sent() {
    let ty = ty("nav_msgs/msg/Path");
    let text = "{header: auto, poses: [{}, {header: {stamp: now}}]}";
    assert!(DynamicMessage::from_yaml(&ty, text).is_err());
    let (mut message, stamps) = DynamicMessage::from_yaml_with_stamps(&ty, text).unwrap();
    assert!(!stamps.is_empty());
    stamps.set(&mut message, 7, 8);
    for (path, sec) in
        [("header.stamp", 7), ("poses[1].header.stamp", 7), ("poses[0].header.stamp", 0)]
    {
        assert_eq!(
            message.select(&format!("{path}.sec")).unwrap().value(),
            ValueRef::I32(sec),
            "{path}"
        );
    }
    let (_, none) = DynamicMessage::from_yaml_with_stamps(&ty, "{}").unwrap();
    assert!(none.is_empty());
}

#[test]
fn paths_select_parts() {
    let ty = ty("sensor_msgs/msg/JointState");
    let message = DynamicMessage::from_yaml(&ty, "{name: [a, b], position: [1.5]}").unwrap();
    assert_eq!(message.select("name[1]").unwrap().value(), ValueRef::String("b"));
    assert_eq!(message.select("position").unwrap().to_json(&ALL), "[1.5]");
    assert_eq!(message.select("header.stamp").unwrap().to_yaml(&ALL), "sec: 0\nnanosec: 0\n");
    for (path, error) in [
        ("", "`` is not a field path"),
        ("header..stamp", "is not a field path"),
        ("name[x]", "is not a field path"),
        ("name[0", "is not a field path"),
        ("name[0]x", "is not a field path"),
        ("nam", "`sensor_msgs/msg/JointState` has no field `nam`: it has `header`, `name`"),
        ("name[2]", "`name` has 2 elements, so index 2"),
        ("name.x", "`name` is of type `string[]`, which has no fields"),
        ("name[0][1]", "`name[0]` is of type `string`, which has no elements"),
        ("header[0]", "`header` is of type `std_msgs/Header`, which has no elements"),
    ] {
        let message = message.select(path).unwrap_err().to_string();
        assert!(message.contains(error), "{path:?} gave {message:?}");
    }
    assert!(matches!(message.select("a"), Err(PathError::UnknownField { .. })));
}

#[test]
fn fields_take_only_what_fits() {
    let ty = probe("int32 a\nbyte b\nstring<=2[<=1] c\nstd_msgs/Header d\nuint8[2] e");
    let mut message = ty.default_message();
    let unchanged = message.clone();
    let text = |text: &str| Value::Array(Array::String(vec![text.to_owned()]));
    let point = self::ty("geometry_msgs/msg/Point").default_message();
    for (field, wrong) in [
        ("a", Value::U32(1)),
        ("b", Value::I8(1)),
        ("c", text("abc")),
        ("c", Value::Array(Array::String(vec![String::new(); 2]))),
        ("d", Value::Message(point)),
        ("e", Value::Array(Array::U8(vec![0; 3]))),
        ("e", Value::U8(0)),
        ("f", Value::U8(0)),
    ] {
        assert!(message.set(field, wrong).is_err(), "{field}");
    }
    assert_eq!(message, unchanged);
    for (field, right) in [
        ("a", Value::I32(1)),
        ("b", Value::U8(1)),
        ("c", text("ab")),
        ("d", Value::Message(self::ty("std_msgs/msg/Header").default_message())),
        ("e", Value::Array(Array::U8(vec![1, 2]))),
    ] {
        message.set(field, right).unwrap();
    }
    assert_eq!(ty.decode(&message.to_cdr().unwrap()).unwrap(), message);
}

#[test]
fn hostile_samples_are_refused_with_the_field() {
    let nested = [("Item", "string name"), ("Empty", "")];
    let ty =
        probe_with(&nested, "Item[] items\nEmpty[] empties\nfloat64[] numbers\nstring<=2 short")
            .unwrap();
    let decode = |body: &[u8]| {
        let error = ty.decode(&[&[0, 1, 0, 0], body].concat()).unwrap_err();
        (error.path(), error.to_string())
    };
    // A sequence that claims to have 4 G elements, tested for each kind of element.
    let huge = [0xff; 4];
    assert_eq!(decode(&huge).0, "items");
    assert_eq!(decode(&[[0; 4], huge].concat()).0, "empties");
    assert_eq!(decode(&[[0; 4], [0; 4], huge].concat()).0, "numbers");
    let (path, message) = decode(&[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(path, "items[0].name");
    assert!(message.starts_with("field `items[0].name`: "), "{message}");
    let (path, message) = decode(&[&[0; 12][..], &[4, 0, 0, 0, b'a', b'b', b'c', 0]].concat());
    assert_eq!(path, "short");
    assert!(message.contains("length 3, but the type allows at most 2"), "{message}");
    assert_eq!(decode(&[]).0, "items");
    for sample in [&[][..], &[0, 1, 0], &[0, 7, 0, 0, 0, 0, 0, 0]] {
        assert_eq!(ty.decode(sample).unwrap_err().path(), "");
    }
    // Every incomplete beginning of a valid sample is refused.
    let good = DynamicMessage::from_yaml(
        &ty,
        "{items: [{name: a}], empties: [{}], numbers: [1], short: b}",
    )
    .unwrap();
    let sample = good.to_cdr().unwrap();
    assert_eq!(ty.decode(&sample).unwrap(), good);
    assert_eq!(ty.decode(&[&sample[..], &[9; 3]].concat()).unwrap(), good, "padding is ignored");
    for end in 0..sample.len() {
        assert!(ty.decode(&sample[..end]).is_err(), "{end}");
    }
}

#[test]
fn a_nul_in_a_text_is_refused_with_the_field() {
    let ty = probe("std_msgs/Header[] headers");
    let message = DynamicMessage::from_yaml(&ty, r#"{headers: [{frame_id: "a\0b"}]}"#).unwrap();
    let error = message.to_cdr().unwrap_err().to_string();
    assert!(error.starts_with("field `headers[0].frame_id`: a string holds a NUL"), "{error}");
}

#[test]
fn types_that_cannot_be_handled_are_refused() {
    let resolve = |name: &str| {
        DynamicType::resolve(shipped(), &name.parse().unwrap()).unwrap_err().to_string()
    };
    assert!(resolve("std_srvs/srv/SetBool").contains(
        "is not a message: name one of its parts, such as `std_srvs/srv/SetBool_Request`"
    ));
    assert!(resolve("std_msgs/msg/Strin").contains("did you mean `std_msgs/msg/String`"));
    // Nested arrays: a definition of 64 bytes gives a message of 4 G elements.
    let nested = [("A", "B[1000] b"), ("B", "C[1000] c"), ("C", "uint8[4000] x")];
    assert!(matches!(
        probe_with(&nested, "A a"),
        Err(DynamicTypeError::TooLarge { bytes: 4_000_000_000, .. })
    ));
    assert!(matches!(
        probe_with(&[], "uint64[4294967295] a"),
        Err(DynamicTypeError::TooLarge { .. })
    ));
    assert!(matches!(probe_with(&[], "Probe[] a"), Err(DynamicTypeError::Resolve(_))));
}

#[test]
fn every_shipped_message_makes_the_round() {
    let mut messages = 0;
    for definition in shipped().messages() {
        let ty = DynamicType::resolve(shipped(), &definition.name).unwrap();
        assert_eq!(ty.type_hash(), shipped().type_hash(&definition.name).unwrap());
        let message = ty.default_message();
        assert_eq!(ty.decode(&message.to_cdr().unwrap()).unwrap(), message, "{}", definition.name);
        assert_eq!(
            DynamicMessage::from_yaml(&ty, &message.to_yaml(&ALL)).unwrap(),
            message,
            "{}",
            definition.name
        );
        assert_eq!(
            DynamicMessage::from_json(&ty, &message.to_json(&ALL)).unwrap(),
            message,
            "{}",
            definition.name
        );
        messages += 1;
    }
    assert!(messages > 300, "{messages} messages only");
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(name in prop::sample::select(vec![
            "test_msgs/msg/UnboundedSequences", "test_msgs/msg/BoundedSequences", "test_msgs/msg/Arrays",
            "test_msgs/msg/WStrings", "visualization_msgs/msg/MarkerArray", "rcl_interfaces/msg/ParameterEvent",
        ]), bytes in prop::collection::vec(prop_oneof![Just(0_u8), Just(1), any::<u8>()], 0..300), swap in any::<bool>()) {
            let ty = ty(name);
            let sample = [&[0, u8::from(!swap), 0, 0], &bytes[..]].concat();
            if let Ok(message) = ty.decode(&sample) {
                let again = ty.decode(&message.to_cdr().unwrap()).unwrap();
                prop_assert_eq!(again.to_json(&ALL), message.to_json(&ALL));
                // A `wstring` may contain unpaired surrogates, which text formats cannot express.
                let yaml = DynamicMessage::from_yaml(&ty, &message.to_yaml(&ALL)).unwrap();
                prop_assert_eq!(yaml.to_json(&ALL), message.to_json(&ALL));
            }
        }

        #[test]
        fn arbitrary_text_never_panics(text in "\\PC*|[\\[\\]{}:,&*? a-d0-9'\"\n-]{0,40}") {
            let ty = ty("rcl_interfaces/msg/ParameterEvent");
            let _ = DynamicMessage::from_yaml(&ty, &text);
            let _ = DynamicMessage::from_json(&ty, &text);
            let _ = ty.default_message().select(&text);
        }

        #[test]
        fn texts_survive_yaml_and_json(text in any::<String>()) {
            let ty = probe("string data\nstring[] list\nwstring wide");
            let mut message = ty.default_message();
            message.set("data", Value::String(text.clone())).unwrap();
            message.set("list", Value::Array(Array::String(vec![text.clone()]))).unwrap();
            message.set("wide", Value::WString(text.as_str().into())).unwrap();
            for flow_style in [false, true] {
                let yaml = message.to_yaml(&PrintOptions { flow_style, ..ALL });
                prop_assert_eq!(&DynamicMessage::from_yaml(&ty, &yaml).unwrap(), &message, "{}", yaml);
            }
            prop_assert_eq!(&DynamicMessage::from_json(&ty, &message.to_json(&ALL)).unwrap(), &message);
        }

        #[test]
        fn numbers_survive_yaml_and_json(float in any::<f64>(), narrow in any::<f32>(), int in any::<i64>(), byte in any::<u8>()) {
            let ty = probe("float64 a\nfloat32 b\nint64 c\nbyte d\nbyte[] e");
            let mut message = ty.default_message();
            message.set("a", Value::F64(float)).unwrap();
            message.set("b", Value::F32(narrow)).unwrap();
            message.set("c", Value::I64(int)).unwrap();
            message.set("d", Value::U8(byte)).unwrap();
            message.set("e", Value::Array(Array::U8(vec![byte; 2]))).unwrap();
            let json = message.to_json(&ALL);
            prop_assert_eq!(DynamicMessage::from_json(&ty, &json).unwrap().to_json(&ALL), json.clone());
            let yaml = message.to_yaml(&ALL);
            prop_assert_eq!(DynamicMessage::from_yaml(&ty, &yaml).unwrap().to_json(&ALL), json);
        }
    }
}
