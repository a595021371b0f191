//! All fuzz targets in one program, so that linking is done only once. `FEROS_FUZZ_TARGET` names
//! the target to run, since the command line belongs to libFuzzer. Each other file in this folder
//! is a target with the file's name, so `scripts/fuzz.sh` finds the targets by their files.
#![no_main]

mod action_messages;
mod announcement;
mod bag_reader;
mod decode;
mod discovery_message;
mod dynamic_decode;
mod dynamic_input;
mod interface_parser;
mod launch_data;
mod launch_file;
mod parameter_file;
mod ros1;
mod tf2_tree;
mod trace_file;
mod trace_growing_file;
mod view_frame;
mod zenoh_wire;

use std::process::exit;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

type Target = fn(&[u8]);

const VARIABLE: &str = "FEROS_FUZZ_TARGET";
const TARGETS: &[(&str, Target)] = &[
    ("action_messages", action_messages::run),
    ("announcement", announcement::run),
    ("bag_reader", bag_reader::run),
    ("decode", decode::run),
    ("discovery_message", discovery_message::run),
    ("dynamic_decode", dynamic_decode::run),
    ("dynamic_input", |bytes| dynamic_input::run(text(bytes))),
    ("interface_parser", |bytes| interface_parser::run(text(bytes))),
    ("launch_data", launch_data::run),
    ("launch_file", |bytes| launch_file::run(text(bytes))),
    ("parameter_file", |bytes| parameter_file::run(text(bytes))),
    ("ros1", ros1::run),
    ("tf2_tree", tf2_tree::run),
    ("trace_file", trace_file::run),
    ("trace_growing_file", trace_growing_file::run),
    ("view_frame", view_frame::run),
    ("zenoh_wire", zenoh_wire::run),
];

fuzz_target!(init: { target(); }, |bytes: &[u8]| target()(bytes));

/// The requested target. Without a request, the program ends before it fuzzes anything.
fn target() -> Target {
    static TARGET: OnceLock<Target> = OnceLock::new();
    *TARGET.get_or_init(|| {
        let wanted = std::env::var(VARIABLE).unwrap_or_default();
        let found = TARGETS.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, target)| *target).unwrap_or_else(|| {
            let known: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
            eprintln!("{VARIABLE} is {wanted:?}, which is not a target: {}", known.join(", "));
            exit(2);
        })
    })
}

/// The text at the beginning of any bytes: the longest valid UTF-8 prefix, which is how `arbitrary`
/// makes a `&str`.
fn text(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}
