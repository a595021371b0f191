//! Runs a node as the executable of its package.

use std::io::Write as _;
use std::path::Path;

use feros::{Context, Error, Executor, NodeOptions};
use feros_component::Component;
use feros_wording::harmless_block;

use crate::joint_state_publisher::JointStatePublisher;
use crate::robot_state_publisher::RobotStatePublisher;
use crate::static_arguments::{self, Line};
use crate::static_transform_publisher::StaticTransformPublisher;

const SUCCESS: u8 = 0;
/// The exit code for wrong usage.
const USAGE: u8 = 2;

/// Runs an executable of [`EXECUTABLES`](crate::EXECUTABLES) with its command line (without the
/// program's name), until a signal ends it. Returns its exit code, or `None` if there is no such
/// executable.
#[must_use]
pub fn run(package: &str, executable: &str, line: Vec<String>) -> Option<u8> {
    let main: fn(&Context, &[String]) -> u8 = match (package, executable) {
        ("joint_state_publisher", "joint_state_publisher") => joint_state_publisher,
        ("robot_state_publisher", "robot_state_publisher") => robot_state_publisher,
        ("tf2_ros", "static_transform_publisher") => static_transform_publisher,
        _ => return None,
    };
    Some(match Context::from_args(line) {
        Ok((context, rest)) => main(&context, &rest),
        Err(error) => failed(&error, USAGE),
    })
}

fn joint_state_publisher(context: &Context, arguments: &[String]) -> u8 {
    with_file("joint_state_publisher", arguments, |file| {
        JointStatePublisher::with_file(context, NodeOptions::default(), file)
    })
}

fn robot_state_publisher(context: &Context, arguments: &[String]) -> u8 {
    with_file("robot_state_publisher", arguments, |file| {
        RobotStatePublisher::of_program(context, file)
    })
}

/// Runs a node whose only argument is the file of a robot description.
fn with_file<C: Component>(
    executable: &str,
    arguments: &[String],
    make: impl FnOnce(Option<&Path>) -> Result<C, Error>,
) -> u8 {
    let usage = format!(
        "Usage: {executable} [FILE] [--ros-args -p NAME:=VALUE ...]\n\n\
         FILE is the description of a robot (URDF). Without it, the parameter robot_description has \
         the text of the description."
    );
    if arguments.iter().any(|argument| argument == "-h" || argument == "--help") {
        return show(&usage);
    }
    let file = match arguments {
        [] => None,
        [file] if !file.starts_with('-') => Some(Path::new(file)),
        [file] => return failed(&format!("unknown argument {file:?}\n{usage}"), USAGE),
        _ => return failed(&format!("{} arguments, at most 1\n{usage}", arguments.len()), USAGE),
    };
    spin(make(file))
}

/// Prints a help. The reader may have read enough, such as `head`.
fn show(help: &str) -> u8 {
    drop(writeln!(std::io::stdout(), "{help}"));
    SUCCESS
}

fn static_transform_publisher(context: &Context, arguments: &[String]) -> u8 {
    match static_arguments::read(arguments) {
        Ok(Line::Help) => show(static_arguments::USAGE),
        Ok(Line::Publish(transform)) => {
            spin(StaticTransformPublisher::of(context, NodeOptions::default(), &transform))
        }
        // Stock ends with 1 as well.
        Err(error) => failed(&format!("{error}\n{}", static_arguments::USAGE), 1),
    }
}

/// Runs a node until its context ends.
fn spin<C: Component>(made: Result<C, Error>) -> u8 {
    let spun = made.and_then(|component| {
        let executor = Executor::new();
        executor.add_node(component.node())?;
        executor.spin()?;
        Ok(())
    });
    spun.map_or_else(|error| failed(&error, 1), |()| SUCCESS)
}

fn failed(error: &dyn std::fmt::Display, code: u8) -> u8 {
    eprintln!("error: {}", harmless_block(&error.to_string()));
    code
}
