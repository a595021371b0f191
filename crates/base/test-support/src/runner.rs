//! Starts programs that were built for the machine of the test, also on a machine of another kind
//! with an emulator. The kernel of that machine starts the emulator, but not the program itself.

use std::ffi::{OsStr, OsString};
use std::process::Command;

/// The variable that names the emulator with its arguments, separated by spaces, such as
/// `qemu-aarch64`. It is what `CARGO_TARGET_<TARGET>_RUNNER` is for the tests that cargo starts.
const RUNNER: &str = "FEROS_TEST_RUNNER";

/// A command that starts another process of this test program.
///
/// # Panics
/// When the path of this program is unknown.
#[must_use]
pub fn this_program() -> Command {
    command_of(std::env::current_exe().expect("a test knows its own path"))
}

/// A command that starts a program which was built together with the tests.
#[must_use]
pub fn command_of(program: impl AsRef<OsStr>) -> Command {
    command(&words_of(program))
}

/// The words of [`command_of`], for a command that starts another command. The path of the program
/// is the last word, and may come after the words of an emulator.
#[must_use]
pub fn words_of(program: impl AsRef<OsStr>) -> Vec<OsString> {
    words(&std::env::var(RUNNER).unwrap_or_default(), program.as_ref())
}

fn words(runner: &str, program: &OsStr) -> Vec<OsString> {
    let runner = runner.split_whitespace().map(OsString::from);
    runner.chain([program.to_owned()]).collect()
}

fn command(words: &[OsString]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_runner_the_program_is_started_itself() {
        for nothing in ["", "  "] {
            assert_eq!(words(nothing, OsStr::new("/a b/test")), ["/a b/test"]);
        }
    }

    #[test]
    fn a_runner_with_its_arguments_starts_the_program() {
        let words = words(" env RAN_BY=runner ", OsStr::new("env"));
        assert_eq!(words, ["env", "RAN_BY=runner", "env"]);
        let output = command(&words).output().expect("it starts");
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.lines().any(|line| line == "RAN_BY=runner"), "{shown}");
    }
}
