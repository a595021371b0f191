//! The command line of `static_transform_publisher`
//! (`tf2_ros/src/static_transform_broadcaster_program.cpp`): flags, or the older form of eight or
//! nine values without flags.

use feros_tf2::Transform;
use feros_tf2::glam::{DQuat, DVec3};
use feros_wording::did_you_mean;

use crate::description::rotation_of;

/// The text for `--help`, and after an error.
pub(crate) const USAGE: &str = "\
Usage: static_transform_publisher --frame-id PARENT --child-frame-id CHILD
         [--x X] [--y Y] [--z Z]
         [--roll ROLL] [--pitch PITCH] [--yaw YAW]
         [--qx QX] [--qy QY] [--qz QZ] [--qw QW]
   or: static_transform_publisher X Y Z YAW PITCH ROLL PARENT CHILD
   or: static_transform_publisher X Y Z QX QY QZ QW PARENT CHILD

Publishes the pose of the frame CHILD in the frame PARENT on /tf_static, until it is stopped.
X, Y and Z are metres, 0 by default. The rotation is given by angles about the fixed axes, in
radians, or by a quaternion; by default there is none. Mind the order of YAW, PITCH and ROLL in
the form without flags.";

const FLAGS: [&str; 12] = [
    "--x",
    "--y",
    "--z",
    "--roll",
    "--pitch",
    "--yaw",
    "--qx",
    "--qy",
    "--qz",
    "--qw",
    "--frame-id",
    "--child-frame-id",
];

/// The result of a command line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Line {
    Help,
    Publish(StaticTransform),
}

/// A transform that holds at any time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StaticTransform {
    pub(crate) parent: String,
    pub(crate) child: String,
    pub(crate) transform: Transform,
}

/// The reason why a transform cannot be published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StaticTransformError {
    #[error("{flag} needs a value")]
    NoValue { flag: String },
    #[error("{name} is {text:?}: expected a finite number")]
    NotANumber { name: String, text: String },
    #[error("{flag} is given twice")]
    Twice { flag: String },
    #[error("unknown argument {argument:?}{suggestion}")]
    Unknown { argument: String, suggestion: String },
    #[error(
        "{count} values without a flag: expected 8 (three for the position, three angles, two \
         frames) or 9 (with four numbers of a quaternion)"
    )]
    Values { count: usize },
    #[error("flags and values without a flag are mixed: use one of both forms")]
    Mixed,
    #[error("angles and a quaternion are both given: use one of both for the rotation")]
    TwoRotations,
    #[error("{flag} is missing: it names the {role} frame")]
    NoFrame { flag: &'static str, role: &'static str },
    #[error("{frame:?} is both the parent and the child frame: a frame cannot be its own parent")]
    SameFrame { frame: String },
    #[error("the quaternion is 0 0 0 0, which is no rotation: 0 0 0 1 means not rotated")]
    NoRotation,
}

impl StaticTransform {
    /// Makes a transform. The quaternion may have any length but 0, since its direction says the
    /// rotation.
    pub(crate) fn new(
        parent: &str,
        child: &str,
        translation: [f64; 3],
        rotation: [f64; 4],
    ) -> Result<Self, StaticTransformError> {
        let named = ["x", "y", "z", "qx", "qy", "qz", "qw"].into_iter();
        for (name, value) in named.zip(translation.into_iter().chain(rotation)) {
            if !value.is_finite() {
                let text = value.to_string();
                return Err(StaticTransformError::NotANumber { name: name.to_owned(), text });
            }
        }
        for (frame, flag, role) in
            [(parent, "--frame-id", "parent"), (child, "--child-frame-id", "child")]
        {
            if frame.is_empty() {
                return Err(StaticTransformError::NoFrame { flag, role });
            }
        }
        if parent == child {
            return Err(StaticTransformError::SameFrame { frame: parent.to_owned() });
        }
        // Scaled first, so that no square overflows.
        let largest = rotation.into_iter().fold(0.0, |largest: f64, part| largest.max(part.abs()));
        if largest < 1e-9 {
            return Err(StaticTransformError::NoRotation);
        }
        let rotation = DQuat::from_array(rotation.map(|part| part / largest)).normalize();
        let transform = Transform::new(DVec3::from_array(translation), rotation);
        Ok(Self { parent: parent.to_owned(), child: child.to_owned(), transform })
    }
}

/// Reads the arguments after the ROS arguments have been removed.
pub(crate) fn read(arguments: &[String]) -> Result<Line, StaticTransformError> {
    let mut flags: [Option<&str>; FLAGS.len()] = [None; FLAGS.len()];
    let mut values = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "-h" || argument == "--help" {
            return Ok(Line::Help);
        }
        let (flag, own) = match argument.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
            _ => (argument.as_str(), None),
        };
        let Some(place) = FLAGS.iter().position(|known| *known == flag) else {
            if flag.starts_with("--") {
                let (argument, suggestion) = (argument.clone(), did_you_mean(flag, FLAGS));
                return Err(StaticTransformError::Unknown { argument, suggestion });
            }
            values.push(argument.as_str());
            continue;
        };
        let missing = || StaticTransformError::NoValue { flag: flag.to_owned() };
        let value = own.or_else(|| arguments.next().map(String::as_str)).ok_or_else(missing)?;
        if flags[place].replace(value).is_some() {
            return Err(StaticTransformError::Twice { flag: flag.to_owned() });
        }
    }
    let has_flags = flags.iter().any(Option::is_some);
    match (has_flags, values.len()) {
        (true, 1..) => Err(StaticTransformError::Mixed),
        (_, 0) => of_flags(&flags),
        (false, 8 | 9) => of_values(&values),
        (false, count) => Err(StaticTransformError::Values { count }),
    }
    .map(Line::Publish)
}

fn of_flags(flags: &[Option<&str>; FLAGS.len()]) -> Result<StaticTransform, StaticTransformError> {
    let number = |place: usize, default: f64| {
        flags[place].map_or(Ok(default), |text| number(FLAGS[place], text))
    };
    let translation = [number(0, 0.0)?, number(1, 0.0)?, number(2, 0.0)?];
    let angles = [number(3, 0.0)?, number(4, 0.0)?, number(5, 0.0)?];
    let quaternion = [number(6, 0.0)?, number(7, 0.0)?, number(8, 0.0)?, number(9, 1.0)?];
    let is_given = |mut places: std::ops::Range<usize>| places.any(|place| flags[place].is_some());
    let rotation = match (is_given(3..6), is_given(6..10)) {
        (true, true) => return Err(StaticTransformError::TwoRotations),
        (true, false) => rotation_of(angles[0], angles[1], angles[2]).to_array(),
        (false, _) => quaternion,
    };
    let frame = |place: usize| flags[place].unwrap_or_default();
    StaticTransform::new(frame(10), frame(11), translation, rotation)
}

fn of_values(values: &[&str]) -> Result<StaticTransform, StaticTransformError> {
    let names: &[&str] = match values.len() {
        8 => &["x", "y", "z", "yaw", "pitch", "roll"],
        _ => &["x", "y", "z", "qx", "qy", "qz", "qw"],
    };
    let numbers: Vec<f64> = names
        .iter()
        .zip(values)
        .map(|(name, text)| number(name, text))
        .collect::<Result<_, _>>()?;
    let (rotation, frames) = match numbers[3..] {
        [yaw, pitch, roll] => (rotation_of(roll, pitch, yaw).to_array(), &values[6..]),
        _ => ([numbers[3], numbers[4], numbers[5], numbers[6]], &values[7..]),
    };
    StaticTransform::new(frames[0], frames[1], [numbers[0], numbers[1], numbers[2]], rotation)
}

fn number(name: &str, text: &str) -> Result<f64, StaticTransformError> {
    let parsed = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    parsed.ok_or_else(|| StaticTransformError::NotANumber {
        name: name.to_owned(),
        text: text.chars().take(80).collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    fn line(text: &str) -> Result<Line, StaticTransformError> {
        read(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn transform(text: &str) -> StaticTransform {
        match line(text) {
            Ok(Line::Publish(transform)) => transform,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn close(found: DVec3, x: f64, y: f64, z: f64) {
        assert!((found - DVec3::new(x, y, z)).length() < 1e-12, "{found} is not {x} {y} {z}");
    }

    #[test]
    fn flags_may_come_in_any_order_and_have_defaults() {
        let found = transform("--child-frame-id b --x 1 --z=-.5 --frame-id a");
        assert_eq!((found.parent.as_str(), found.child.as_str()), ("a", "b"));
        close(found.transform.translation, 1.0, 0.0, -0.5);
        assert_eq!(found.transform.rotation, DQuat::IDENTITY);
        let half = FRAC_PI_2;
        let turned =
            transform(&format!("--frame-id a --child-frame-id b --roll {half} --yaw {half}"));
        // A quarter about x takes y to z, which z leaves there.
        close(turned.transform.transform_vector(DVec3::Y), 0.0, 0.0, 1.0);
        close(turned.transform.transform_vector(DVec3::Z), 1.0, 0.0, 0.0);
        let pitched = transform(&format!("--frame-id a --child-frame-id b --pitch {half}"));
        close(pitched.transform.transform_vector(DVec3::X), 0.0, 0.0, -1.0);
        let turned = transform("--frame-id a --child-frame-id b --qz 2 --qw 0");
        close(turned.transform.transform_vector(DVec3::X), -1.0, 0.0, 0.0);
        assert!(turned.transform.rotation.is_normalized());
    }

    #[test]
    fn values_without_flags_have_yaw_first_or_a_quaternion() {
        let half = FRAC_PI_2;
        let yawed = transform(&format!("1 -2 3 {half} 0 0 a b"));
        close(yawed.transform.translation, 1.0, -2.0, 3.0);
        close(yawed.transform.transform_vector(DVec3::X), 0.0, 1.0, 0.0);
        let rolled = transform(&format!("0 0 0 0 0 {half} a b"));
        close(rolled.transform.transform_vector(DVec3::Y), 0.0, 0.0, 1.0);
        let by_quaternion = transform("0 0 0 1 0 0 0 base_link laser");
        close(by_quaternion.transform.transform_vector(DVec3::Y), 0.0, -1.0, 0.0);
        assert_eq!(
            (by_quaternion.parent.as_str(), by_quaternion.child.as_str()),
            ("base_link", "laser")
        );
        let huge = transform("0 0 0 0 0 1e300 1e300 a b");
        close(huge.transform.transform_vector(DVec3::X), 0.0, 1.0, 0.0);
    }

    #[test]
    fn help_is_given_wherever_it_is_asked_for() {
        assert_eq!(line("--help"), Ok(Line::Help));
        assert_eq!(line("--x 1 -h"), Ok(Line::Help));
        assert!(FLAGS.iter().all(|flag| USAGE.contains(flag)));
    }

    #[test]
    fn mistakes_are_named() {
        let frames = "--frame-id a --child-frame-id b";
        for (text, expected) in [
            ("".to_owned(), "--frame-id is missing: it names the parent frame"),
            ("--frame-id a".to_owned(), "--child-frame-id is missing: it names the child frame"),
            ("--frame-id= --child-frame-id b".to_owned(), "--frame-id is missing"),
            (
                "--frame-id a --child-frame-id a".to_owned(),
                "\"a\" is both the parent and the child",
            ),
            (format!("{frames} --x"), "--x needs a value"),
            (format!("{frames} --x one"), "--x is \"one\": expected a finite number"),
            (format!("{frames} --qx nan"), "--qx is \"nan\": expected a finite number"),
            (format!("{frames} --x 1 --x 2"), "--x is given twice"),
            (format!("{frames} --rol 1"), "unknown argument \"--rol\"; did you mean `--roll`?"),
            (format!("{frames} --yaw 0 --qw 1"), "angles and a quaternion are both given"),
            (format!("{frames} --qw 0"), "the quaternion is 0 0 0 0"),
            (format!("1 2 3 {frames}"), "are mixed"),
            ("1 2 3".to_owned(), "3 values without a flag: expected 8"),
            ("1 2 3 4 5 6 7 8 a b".to_owned(), "10 values without a flag"),
            ("0 0 0 0 0 0 0 a b".to_owned(), "the quaternion is 0 0 0 0"),
            ("0 0 0 0 inf 0 a b".to_owned(), "pitch is \"inf\""),
            ("0 0 0 0 0 0 a a".to_owned(), "both the parent and the child"),
        ] {
            let error = line(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
