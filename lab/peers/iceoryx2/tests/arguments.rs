//! The program exists, and refuses unknown arguments.

use std::process::Command;

#[test]
fn an_unknown_argument_is_refused() {
    let program = env!("CARGO_BIN_EXE_feros-lab-iceoryx2");
    let output = Command::new(program)
        .args(["--role", "pair", "--colour", "red"])
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert!(said.contains("--colour") && output.stdout.is_empty(), "{said}");
}
