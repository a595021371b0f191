//! Serializes and deserializes messages of stock C and C++ programs with Fast CDR, as rmw_fastrtps
//! uses it, and with Feros. Both run in one process, by turns; the medians are printed.
//!
//! Run `cargo bench -p feros-typesupport`, with `-- ROUNDS` for another number of rounds. `fresh`
//! also initializes and finalizes the message, as an rclcpp subscription does.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use feros_interface::{TypeName, shipped};
use feros_interop::Package;
use feros_message::dynamic::{Array, DynamicMessage, DynamicType, Value};
use feros_typesupport::{Layout, MessageProgram, ffi};

#[allow(dead_code)]
#[path = "../tests/it/owned.rs"]
mod owned;
#[allow(dead_code)]
#[path = "../tests/it/wheels.rs"]
mod wheels;

use owned::Owned;
use wheels::{FastCdr, LANGUAGES, Language, Serialized, Wheels};

/// The approximate time that each side gets in a round, which is long enough to convert a message
/// many times.
const ROUND: Duration = Duration::from_micros(500);

fn main() {
    let rounds = std::env::args().find_map(|argument| argument.parse().ok());
    let rounds: usize = rounds.unwrap_or(200);
    let Some(mut wheels) = Wheels::find() else { return };
    // No wheel contains tf2_msgs, and the scripts that build the package build only its C messages.
    let tf2 = Package::built("tf2_msgs", Path::new(env!("CARGO_TARGET_TMPDIR")));
    wheels.add_folder(tf2.libraries());
    let fast_cdr = wheels.fast_cdr();
    println!("medians of {rounds} rounds, ns per message: Fast CDR, Feros, speedup");
    println!("{:24} {:4} {:>26} {:>26} {:>26}", "", "", "serialize", "deserialize", "fresh");
    for language in LANGUAGES {
        for (label, message) in messages() {
            let name = message.ty().name().clone();
            if language == Language::Cpp && name.package == "tf2_msgs" {
                continue;
            }
            let support = wheels.message(language, &name);
            let mut line = format!("{label:24} {:4}", format!("{language:?}"));
            for times in measure(&fast_cdr, support, &message.to_cdr().unwrap(), rounds) {
                let [theirs, ours] = times;
                write!(line, " {theirs:>10.0} {ours:>9.0} {:>4.1}x", theirs / ours).unwrap();
            }
            println!("{line}");
        }
    }
}

fn of(name: &str, json: &str) -> DynamicMessage {
    let name: TypeName = name.parse().unwrap();
    let ty = DynamicType::resolve(shipped(), &name).unwrap();
    DynamicMessage::from_json(&ty, json).unwrap()
}

const HEADER: &str = r#""header": {"stamp": {"sec": 7, "nanosec": 8}, "frame_id": "base_link"}"#;

fn list(item: &str, count: usize) -> String {
    format!("[{}]", vec![item; count].join(","))
}

fn messages() -> Vec<(&'static str, DynamicMessage)> {
    let pose = r#"{"position": {"x": 1.5, "y": -2.0, "z": 0.25}, "orientation": {"w": 1.0}}"#;
    let stamped = format!("{{{HEADER}, \"pose\": {pose}}}");
    let transform = format!("{{{HEADER}, \"child_frame_id\": \"wheel_left_link\"}}");
    let mut image = of("sensor_msgs/msg/Image", &format!("{{{HEADER}, \"encoding\": \"rgb8\"}}"));
    image.set("data", Value::Array(Array::U8(vec![7; 1 << 20]))).unwrap();
    let fields = list(r#"{"name": "x", "datatype": 7, "count": 1}"#, 4);
    let cloud = format!("{{{HEADER}, \"fields\": {fields}, \"point_step\": 16}}");
    let mut cloud = of("sensor_msgs/msg/PointCloud2", &cloud);
    cloud.set("data", Value::Array(Array::U8(vec![7; 480_000]))).unwrap();
    vec![
        ("Twist", of("geometry_msgs/msg/Twist", r#"{"linear": {"x": 1.0}}"#)),
        (
            "Odometry",
            of("nav_msgs/msg/Odometry", &format!("{{{HEADER}, \"child_frame_id\": \"base\"}}")),
        ),
        (
            "PoseArray, 1000",
            of(
                "geometry_msgs/msg/PoseArray",
                &format!("{{{HEADER}, \"poses\": {}}}", list(pose, 1000)),
            ),
        ),
        (
            "Path, 200",
            of("nav_msgs/msg/Path", &format!("{{{HEADER}, \"poses\": {}}}", list(&stamped, 200))),
        ),
        ("Image, 1 MiB", image),
        ("PointCloud2, 480 kB", cloud),
        (
            "TFMessage, 20",
            of("tf2_msgs/msg/TFMessage", &format!("{{\"transforms\": {}}}", list(&transform, 20))),
        ),
        ("TransformStamped", of("geometry_msgs/msg/TransformStamped", &transform)),
    ]
}

/// Returns nanoseconds per message, of Fast CDR and of Feros, for serialize, deserialize and fresh.
fn measure(
    fast_cdr: &FastCdr,
    support: *const ffi::rosidl_message_type_support_t,
    bytes: &[u8],
    rounds: usize,
) -> [[f64; 2]; 3] {
    // SAFETY: the type support belongs to a library that stays loaded.
    let program = unsafe { MessageProgram::compile(support, Layout::JAZZY_AND_KILTED) }.unwrap();
    let mut message = Owned::new(&program);
    message.decode(bytes).unwrap();
    let mut other = Owned::new(&program);
    let mut buffer: Serialized = fast_cdr.buffer();
    let mut out = vec![0; bytes.len()];
    let serialize = in_turns(
        rounds,
        // SAFETY: here and below, the messages have the type of `support`.
        || unsafe { fast_cdr.serialize(support, message.as_ptr(), &mut buffer) },
        || {
            let len = message.serialized_len().unwrap();
            // SAFETY: as above.
            let written = unsafe { program.encode(message.as_ptr(), &mut out[..len]) };
            black_box(written.unwrap());
        },
    );
    let mut of_fast_cdr = Owned::new(&program);
    let deserialize = in_turns(
        rounds,
        // SAFETY: as above.
        || unsafe { fast_cdr.deserialize(support, bytes, of_fast_cdr.as_mut_ptr()) },
        || other.decode(bytes).unwrap(),
    );
    let fresh = in_turns(
        rounds,
        || {
            let mut message = Owned::new(&program);
            // SAFETY: as above.
            unsafe { fast_cdr.deserialize(support, bytes, message.as_mut_ptr()) };
        },
        || Owned::new(&program).decode(bytes).unwrap(),
    );
    fast_cdr.free(buffer);
    [serialize, deserialize, fresh]
}

/// The medians of both sides, in ns per call. The side that goes first alternates between rounds.
fn in_turns(rounds: usize, mut theirs: impl FnMut(), mut ours: impl FnMut()) -> [f64; 2] {
    let (times_theirs, times_ours) = (calls_per_round(&mut theirs), calls_per_round(&mut ours));
    let (mut of_theirs, mut of_ours) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            of_theirs.push(time(&mut theirs, times_theirs));
            of_ours.push(time(&mut ours, times_ours));
        } else {
            of_ours.push(time(&mut ours, times_ours));
            of_theirs.push(time(&mut theirs, times_theirs));
        }
    }
    [median(of_theirs), median(of_ours)]
}

fn calls_per_round(call: &mut impl FnMut()) -> u32 {
    call();
    let mut calls = 1;
    while time(call, calls) * f64::from(calls) < ROUND.as_nanos() as f64 {
        calls *= 2;
    }
    calls
}

fn time(call: &mut impl FnMut(), calls: u32) -> f64 {
    let began = Instant::now();
    for _ in 0..calls {
        call();
    }
    began.elapsed().as_nanos() as f64 / f64::from(calls)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
