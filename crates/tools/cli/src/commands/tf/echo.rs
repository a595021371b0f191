//! `feros tf echo`: prints the pose of one frame in another, again and again.

use std::sync::Arc;
use std::time::Duration;

use feros_sync::Mutex;
use feros_tf2::glam::{DMat3, EulerRot};
use feros_tf2::{Buffer, LookupError, Time, Transform, TransformListener, WaitError};
use serde_json::json;

use crate::commands::topic::watch;
use crate::connection::Connection;
use crate::error::CliError;
use crate::value_parsers::parse_seconds;
use crate::{notices, output};

/// Print the pose of TARGET in SOURCE, again and again until Ctrl-C
#[derive(clap::Args)]
#[command(
    after_help = "SOURCE and TARGET have the same meaning as in tf2_echo: the printed transform brings \
                        coordinates of TARGET into SOURCE, so it is the pose of TARGET in \
                        SOURCE.\n\nExamples:\n  feros tf echo map base_link\n  feros tf echo map \
                        base_link 10 --precision 6"
)]
pub(crate) struct Args {
    /// The frame in which the pose is given
    source: String,
    /// The frame whose pose is printed
    target: String,
    /// How often to print, per second
    #[arg(value_name = "RATE", default_value = "1", value_parser = parse_rate)]
    rate: f64,
    /// How often to print, per second
    #[arg(
        short,
        long = "rate",
        value_name = "RATE",
        value_parser = parse_rate,
        conflicts_with = "rate"
    )]
    rate_option: Option<f64>,
    /// Print one transform and end
    #[arg(long)]
    once: bool,
    /// Fail if no transform comes within this time
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,
    /// Digits after the point
    #[arg(
        short,
        long,
        value_name = "DIGITS",
        default_value_t = 3,
        value_parser = clap::value_parser!(u8).range(0..=17)
    )]
    precision: u8,
    /// Use the simulated time of /clock
    #[arg(short = 's', long)]
    use_sim_time: bool,
    /// Print a JSON object for each transform
    #[arg(long)]
    json: bool,
}

fn parse_rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (0.001..=1000.0).contains(&rate) => Ok(rate),
        _ => Err("expected a number of times per second, from 0.001 to 1000".to_owned()),
    }
}

/// How long to wait for the first transform before printing the reason, as in tf2_echo.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The state of the command so far.
#[derive(Default)]
struct Progress {
    has_printed: bool,
    /// The reason why the latest lookup found no transform.
    missing: Option<LookupError>,
    failure: Option<CliError>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open_as(None, args.use_sim_time)?;
    let buffer = Buffer::new();
    let _listener = TransformListener::new(&connection.node, &buffer)?;
    let progress = Arc::new(Mutex::new(Progress::default()));
    let first = buffer.wait_for_transform(&args.source, &args.target, Time::ZERO);
    let first = first.wait(args.timeout.unwrap_or(FIRST_WAIT));
    match first {
        Err(_) if !connection.context.is_ok() => return Err(CliError::Interrupted),
        // No frame can have this name.
        Err(error @ WaitError::Hopeless(_)) => return Err(CliError::usage(error)),
        Err(error) if args.timeout.is_some() => return Err(CliError::failed(error)),
        _ => {}
    }
    let look = {
        let (progress, source, target) =
            (progress.clone(), args.source.clone(), args.target.clone());
        let (precision, json) = (usize::from(args.precision), args.json);
        move || {
            let found = buffer.lookup(&source, &target, Time::ZERO);
            let mut progress = progress.lock();
            match found {
                Ok((transform, time)) => {
                    progress.failure = print(&transform, time, precision, json).err();
                    progress.has_printed = true;
                    progress.missing = None;
                }
                Err(error) => tell_once(&mut progress, &source, &target, error),
            }
        }
    };
    // The first transform is printed as soon as it exists, whatever the rate.
    look();
    let period = Duration::from_secs_f64(1.0 / args.rate_option.unwrap_or(args.rate));
    let _timer = connection.node.create_wall_timer(period, look)?;
    watch::spin(&connection.node, None, || {
        let progress = progress.lock();
        progress.failure.is_some() || args.once && progress.has_printed
    })?;
    let failure = progress.lock().failure.take();
    failure.map_or(Ok(()), Err)
}

/// Prints why there is no transform, and again only if the reason changes.
fn tell_once(progress: &mut Progress, source: &str, target: &str, error: LookupError) {
    let is_news = progress
        .missing
        .as_ref()
        .is_none_or(|last| std::mem::discriminant(last) != std::mem::discriminant(&error));
    if is_news {
        notices::note(format!("Waiting for transform {source} -> {target}: {error}"));
    }
    progress.missing = Some(error);
}

fn print(transform: &Transform, time: Time, precision: usize, json: bool) -> Result<(), CliError> {
    if json {
        output::print_json(&object(transform, time))
    } else {
        output::print(&text(transform, time, precision))
    }
}

/// Returns roll, pitch and yaw about fixed axes, in radians.
fn angles(transform: &Transform) -> [f64; 3] {
    let (yaw, pitch, roll) = transform.rotation.to_euler(EulerRot::ZYX);
    [roll, pitch, yaw]
}

fn object(transform: &Transform, time: Time) -> serde_json::Value {
    json!({
        "stamp_ns": time.as_nanos(),
        "translation": transform.translation.to_array(),
        "rotation_xyzw": transform.rotation.to_array(),
        "rpy_rad": angles(transform),
    })
}

/// A number, without a sign if it is shown as zero.
fn fixed(number: f64, precision: usize) -> String {
    let text = format!("{number:.precision$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|byte| matches!(byte, b'0' | b'.')) => digits.to_owned(),
        _ => text,
    }
}

/// The transform as tf2_echo prints it (`tf2_ros/src/tf2_echo.cpp`).
fn text(transform: &Transform, time: Time, precision: usize) -> String {
    let list = |numbers: &[f64]| {
        let shown: Vec<_> = numbers.iter().map(|number| fixed(*number, precision)).collect();
        shown.join(", ")
    };
    let rpy = angles(transform);
    let rotation = DMat3::from_quat(transform.rotation);
    let width = precision + 3;
    let columns =
        |numbers: [f64; 4]| numbers.map(|n| format!(" {:>width$}", fixed(n, precision))).concat();
    let row = |row: usize| {
        let [x, y, z] = [0, 1, 2].map(|column| rotation.col(column)[row]);
        columns([x, y, z, transform.translation[row]])
    };
    let last = columns([0.0, 0.0, 0.0, 1.0]);
    let nanos = time.as_nanos();
    format!(
        "At time {}.{:09}\n- Translation: [{}]\n- Rotation: in Quaternion (xyzw) [{}]\n- Rotation: in RPY (radian) \
         [{}]\n- Rotation: in RPY (degree) [{}]\n- Matrix:\n{}\n{}\n{}\n{last}\n",
        nanos.div_euclid(1_000_000_000),
        nanos.rem_euclid(1_000_000_000),
        list(&transform.translation.to_array()),
        list(&transform.rotation.to_array()),
        list(&rpy),
        list(&rpy.map(f64::to_degrees)),
        row(0),
        row(1),
        row(2),
    )
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use feros_tf2::glam::{DQuat, DVec3};

    use super::*;

    #[test]
    fn a_transform_is_printed_as_tf2_echo_does() {
        let transform =
            Transform::new(DVec3::new(2.796, -1.0394, 0.0), DQuat::from_rotation_z(FRAC_PI_2));
        let expected = "At time 12.000000005\n\
                        - Translation: [2.796, -1.039, 0.000]\n\
                        - Rotation: in Quaternion (xyzw) [0.000, 0.000, 0.707, 0.707]\n\
                        - Rotation: in RPY (radian) [0.000, 0.000, 1.571]\n\
                        - Rotation: in RPY (degree) [0.000, 0.000, 90.000]\n\
                        - Matrix:\n  \
                        0.000 -1.000  0.000  2.796\n  \
                        1.000  0.000  0.000 -1.039\n  \
                        0.000  0.000  1.000  0.000\n  \
                        0.000  0.000  0.000  1.000\n";
        assert_eq!(text(&transform, Time::from_nanos(12_000_000_005), 3), expected);
    }

    #[test]
    fn angles_are_about_fixed_axes() {
        let rotation =
            DQuat::from_rotation_z(0.3) * DQuat::from_rotation_y(0.2) * DQuat::from_rotation_x(0.1);
        let found = angles(&Transform::new(DVec3::ZERO, rotation));
        assert!(found.iter().zip([0.1, 0.2, 0.3]).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }
}
