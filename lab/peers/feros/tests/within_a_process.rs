//! A pair within one process, with the policies for which the engine sends too.

use std::process::Command;

use feros_test_support::own_domain;

/// The engine writes these messages too, for a deadline and for late joiners, but they are
/// delivered within the process.
#[test]
fn a_deadline_and_late_joiners_leave_the_path_within_a_process() {
    let arguments = "--role pair --placement intra --topic deadline --type bytes --size 256 --rate 100 --count 5 --seconds 0 --warm-up 2 \
        --reliability reliable --durability transient_local --history keep_last --depth 10 --deadline-ms 100 --publish default \
        --timeout 60 --samples all --work-micros 0 --executor default --subscriptions 1";
    let mut program = Command::new(env!("CARGO_BIN_EXE_feros-lab-feros"));
    program.args(arguments.split_ascii_whitespace()).stdin(std::process::Stdio::piped());
    program
        .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        .env("ROS_DOMAIN_ID", own_domain().to_string());
    // The program's input stays open, since its end would stop the program.
    let mut child = program.stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    let input = child.stdin.take();
    let output = child.wait_with_output().expect("it ends");
    drop(input);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("\"received\":[7]"), "{said}");
}
