//! Converts messages in both directions. Compares the results with CDR that Feros's own codec
//! writes and reads, for all types that both sides have. Also converts hostile bytes.
#![allow(clippy::unwrap_used, missing_docs)]

use feros_interface::{InterfaceSet, TypeName, parse_message, shipped};
use feros_message::dynamic::DynamicType;
use feros_ros1::{Catalog, ConvertError, MappingError, Plans, Rules, parse_type};

fn plans(ros1: &str, ros2: &str) -> Result<Plans, MappingError> {
    let ty = Catalog::shipped().message(&parse_type(ros1).unwrap()).unwrap();
    Plans::new(&ty, shipped(), &ros2.parse().unwrap(), &Rules::default())
}

fn to_ros2(plans: &Plans, body: &[u8]) -> Result<Vec<u8>, ConvertError> {
    let mut out = Vec::new();
    plans.to_ros2.convert(body, &mut out).map(|()| out)
}

fn to_ros1(plans: &Plans, cdr: &[u8]) -> Result<Vec<u8>, ConvertError> {
    let mut out = Vec::new();
    plans.to_ros1.convert(cdr, &mut out).map(|()| out)
}

fn json(ty: &str, cdr: &[u8]) -> String {
    let ty = DynamicType::resolve(shipped(), &ty.parse().unwrap()).unwrap();
    format!("{:?}", ty.decode(cdr).unwrap())
}

/// Serializes a ROS 1 string.
fn text(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

#[test]
fn a_header_loses_and_gets_its_number() {
    let plans = plans("std_msgs/Header", "std_msgs/msg/Header").unwrap();
    let body = [&7_u32.to_le_bytes()[..], &1_u32.to_le_bytes(), &2_u32.to_le_bytes(), &text("map")]
        .concat();
    let cdr = to_ros2(&plans, &body).unwrap();
    assert_eq!(cdr, [&[0, 1, 0, 0][..], &[1, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0], b"map\0"].concat());
    let back = to_ros1(&plans, &cdr).unwrap();
    assert_eq!((&back[..4], &back[4..]), (&[0; 4][..], &body[4..]));
}

#[test]
fn all_types_that_both_have_convert_their_defaults_both_ways() {
    let (catalog, rules, mut count) = (Catalog::shipped(), Rules::default(), 0);
    for line in include_str!("md5sums.tsv").lines() {
        let [name, "msg", _] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let name = parse_type(name).unwrap();
        let found = rules.of_ros1(&name).into_iter().find(|name| shipped().message(name).is_some());
        let Some(ros2) = found else { continue };
        let ty = catalog.message(&name).unwrap();
        let plans = Plans::new(&ty, shipped(), &ros2, &rules);
        let plans = plans.unwrap_or_else(|error| panic!("{line}: {error}"));
        let default = DynamicType::resolve(shipped(), &ros2).unwrap();
        let cdr = default.default_message().to_cdr().unwrap();
        let body = to_ros1(&plans, &cdr).unwrap_or_else(|error| panic!("{line}: {error}"));
        let again = to_ros2(&plans, &body).unwrap_or_else(|error| panic!("{line}: {error}"));
        let body_again = to_ros1(&plans, &again).unwrap();
        assert_eq!(body_again, body, "{line}");
        default.decode(&again).unwrap_or_else(|error| panic!("{line}: {error}"));
        count += 1;
    }
    assert!(count > 100, "{count}");
}

#[test]
fn runs_of_numbers_are_aligned() {
    let plans = plans("sensor_msgs/JointState", "sensor_msgs/msg/JointState").unwrap();
    let body = [
        &[0; 12][..],
        &text("a"),
        &[1, 0, 0, 0],
        &text("joint"),
        &[2, 0, 0, 0],
        &1.5_f64.to_le_bytes(),
        &2.5_f64.to_le_bytes(),
        &[0; 8],
    ]
    .concat();
    let cdr = to_ros2(&plans, &body).unwrap();
    let decoded = json("sensor_msgs/msg/JointState", &cdr);
    assert!(decoded.contains("1.5") && decoded.contains("joint"), "{decoded}");
    assert_eq!(to_ros1(&plans, &cdr).unwrap(), body);
}

#[test]
fn log_levels_are_those_of_each_side() {
    let plans = plans("rosgraph_msgs/Log", "rcl_interfaces/msg/Log").unwrap();
    for (one, two) in [(1, 10), (2, 20), (4, 30), (8, 40), (16, 50)] {
        let body = [
            &[0; 4][..],
            &[3, 0, 0, 0, 4, 0, 0, 0],
            &text(""),
            &[one],
            &text("node"),
            &text("said"),
            &text("file"),
            &text("f"),
            &9_u32.to_le_bytes(),
            &[0; 4],
        ]
        .concat();
        let cdr = to_ros2(&plans, &body).unwrap();
        assert_eq!((cdr[4], cdr[12]), (3, two), "{cdr:?}");
        assert_eq!(to_ros1(&plans, &cdr).unwrap(), body);
    }
}

#[test]
fn a_time_of_its_own_is_that_of_builtin_interfaces() {
    let plans = plans("std_msgs/Time", "builtin_interfaces/msg/Time").unwrap();
    let cdr = to_ros2(&plans, &[1, 0, 0, 0, 2, 0, 0, 0]).unwrap();
    assert_eq!(cdr, [0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
}

/// Creates plans between a ROS 1 and a ROS 2 definition of `a_msgs/A`.
fn own(ros1: &str, ros2: &str, rules: &str) -> Result<Plans, MappingError> {
    let name = parse_type("a_msgs/A").unwrap();
    let ty = Catalog::shipped().message_of_peer("/x", &name, ros1, "*").unwrap();
    let mut set: InterfaceSet = shipped().clone();
    set.insert(feros_interface::Interface::Message(parse_message("a_msgs", "A", ros2).unwrap()))
        .unwrap();
    Plans::new(&ty, &set, &TypeName::message("a_msgs", "A"), &Rules::parse(rules).unwrap())
}

#[test]
fn fields_go_by_name_in_whatever_order() {
    let plans =
        own("uint8 a\nstring b\nfloat64 c\n", "float64 c\nstring b\nuint8 a\n", "").unwrap();
    let body = [&[7][..], &text("xy"), &1.5_f64.to_le_bytes()].concat();
    let cdr = to_ros2(&plans, &body).unwrap();
    assert_eq!(cdr[4..], [&1.5_f64.to_le_bytes()[..], &[3, 0, 0, 0], b"xy\0", &[7]].concat());
    assert_eq!(to_ros1(&plans, &cdr).unwrap(), body);
    // Names are compared in lower case.
    assert!(own("float64[9] K\n", "float64[9] k\n", "").is_ok());
}

/// If the names of several ROS 1 fields differ only in case, or are equal in a hostile definition,
/// these fields are paired with the same ROS 2 field. In a conversion to ROS 2, the first of the
/// ROS 1 fields gives the value. In a conversion to ROS 1, all of them get the value of the ROS 2
/// field.
#[test]
fn fields_of_one_name_share_that_of_ros2() {
    for ros1 in ["uint8 X\nuint8 x\nuint8 y\n", "uint8 x\nuint8 x\nuint8 y\n"] {
        let plans = own(ros1, "uint8 x\nuint8 y\n", "").unwrap();
        assert_eq!(to_ros2(&plans, &[7, 8, 9]).unwrap(), [0, 1, 0, 0, 7, 9]);
        assert_eq!(to_ros1(&plans, &[0, 1, 0, 0, 7, 9]).unwrap(), [7, 7, 9]);
    }
}

#[test]
fn fields_of_one_side_alone_are_left_out() {
    let plans = own("uint8 a\nstring[] b\n", "uint8 a\n", "").unwrap();
    let body = [&[7, 2, 0, 0, 0][..], &text("x"), &text("yz")].concat();
    let cdr = to_ros2(&plans, &body).unwrap();
    assert_eq!(cdr[4..], [7]);
    assert_eq!(to_ros1(&plans, &cdr).unwrap(), [7, 0, 0, 0, 0]);
    let plans = own("uint8 a\n", "uint8 a\nwstring b\nfloat64 c\n", "").unwrap();
    assert_eq!(to_ros2(&plans, &[7]).unwrap().len(), 4 + 16);
    assert_eq!(to_ros1(&plans, &to_ros2(&plans, &[7]).unwrap()).unwrap(), [7]);

    let error = own("uint8 a\nuint8 b\n", "uint8 a\nuint8 c\n", "").unwrap_err();
    assert!(matches!(error, MappingError::Fields { .. }), "{error}");
    let rule = "- {ros1_package_name: a_msgs, ros1_message_name: A, ros2_package_name: a_msgs, \
                ros2_message_name: A, fields_1_to_2: {b: c}}";
    let plans = own("uint8 a\nuint8 b\n", "uint8 a\nuint8 c\n", rule).unwrap();
    assert_eq!(to_ros2(&plans, &[1, 2]).unwrap()[4..], [0, 2]);
    let error = own("uint8 a\n", "uint8 c\n", rule).unwrap_err();
    assert!(matches!(error, MappingError::Rule { .. }), "{error}");
}

#[test]
fn fields_of_other_types_are_no_pair() {
    for (one, two) in [
        ("uint8 a\n", "uint16 a\n"),
        ("float32 a\n", "uint32 a\n"),
        ("bool a\n", "uint8 a\n"),
        ("uint8[3] a\n", "uint8[4] a\n"),
        ("uint8[] a\n", "uint8[4] a\n"),
        ("string a\n", "wstring a\n"),
        ("geometry_msgs/Point a\n", "geometry_msgs/Vector3 a\n"),
    ] {
        let error = own(one, two, "").unwrap_err();
        assert!(matches!(error, MappingError::Type { .. }), "{one} {two}: {error}");
    }
}

#[test]
fn hostile_bytes_are_refused() {
    let texts = own("string a\n", "string<=4 a\n", "").unwrap();
    assert!(matches!(to_ros2(&texts, &text("12345")), Err(ConvertError::Bound { .. })));
    assert!(matches!(to_ros2(&texts, &text("a\0b")), Err(ConvertError::Text { .. })));
    assert!(matches!(to_ros2(&texts, &[255; 4]), Err(ConvertError::Truncated { .. })));
    assert!(matches!(to_ros2(&texts, &[0; 5]), Err(ConvertError::Trailing { left: 1 })));
    assert!(matches!(to_ros1(&texts, &[0, 0, 0, 0]), Err(ConvertError::Header)));
    assert!(matches!(to_ros1(&texts, &[0, 1]), Err(ConvertError::Truncated { .. })));
    assert!(matches!(
        to_ros1(&texts, &[0, 1, 0, 0, 1, 0, 0, 0, b'a']),
        Err(ConvertError::Text { .. })
    ));
    let empties = own("std_msgs/Empty[] a\n", "std_msgs/Empty[] a\n", "").unwrap();
    assert_eq!(to_ros2(&empties, &[3, 0, 0, 0]).unwrap()[4..], [3, 0, 0, 0, 0, 0, 0]);
    assert!(matches!(to_ros2(&empties, &[255; 4]), Err(ConvertError::Count { .. })));
    let filled = own("uint8[] a\nfloat64[4000000] b\n", "uint8[] a\n", "").unwrap();
    let cdr = [0, 1, 0, 0, 0, 0, 0, 0];
    assert!(matches!(to_ros1(&filled, &cdr), Err(ConvertError::TooLarge { .. })));
    // Booleans may be any bytes in ROS 1, but are 0 or 1 in ROS 2.
    let bools = own("bool[] a\n", "bool[] a\n", "").unwrap();
    assert_eq!(to_ros2(&bools, &[2, 0, 0, 0, 7, 0]).unwrap()[8..], [1, 0]);
}

/// Pseudorandom numbers, which are the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % below.max(1)
    }
}

#[test]
fn mutated_messages_are_refused_or_convert_back() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let (mut taken, mut refused) = (0, 0);
    for (ros1, ros2) in [
        ("sensor_msgs/PointCloud2", "sensor_msgs/msg/PointCloud2"),
        ("tf2_msgs/TFMessage", "tf2_msgs/msg/TFMessage"),
        ("visualization_msgs/Marker", "visualization_msgs/msg/Marker"),
        ("diagnostic_msgs/DiagnosticArray", "diagnostic_msgs/msg/DiagnosticArray"),
    ] {
        let plans = plans(ros1, ros2).unwrap();
        let ty = DynamicType::resolve(shipped(), &ros2.parse().unwrap()).unwrap();
        let valid = to_ros1(&plans, &ty.default_message().to_cdr().unwrap()).unwrap();
        for _ in 0..5_000 {
            let mut bytes = valid.clone();
            for _ in 0..dice.roll(8) {
                let at = dice.roll(bytes.len());
                match dice.roll(3) {
                    _ if bytes.len() < 2 => bytes.push(1),
                    0 => bytes[at] = dice.roll(5) as u8,
                    1 => bytes.insert(at, dice.roll(256) as u8),
                    _ => drop(bytes.remove(at)),
                }
            }
            let Ok(cdr) = to_ros2(&plans, &bytes) else {
                refused += 1;
                continue;
            };
            taken += 1;
            let back = to_ros1(&plans, &cdr).unwrap();
            assert_eq!(to_ros2(&plans, &back).unwrap(), cdr);
            // The only possible error is a string that is not UTF-8. The plan converts such a
            // string, but the reader here refuses it.
            if let Err(error) = ty.decode(&cdr) {
                assert!(error.to_string().contains("UTF-8"), "{error}");
            }
        }
    }
    assert!(taken > 1_000 && refused > 1_000, "{taken} taken, {refused} refused");
}
