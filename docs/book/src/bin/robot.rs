//! The robot of the book as a program: scripts/run_commands.py starts it beside the commands.

use std::process::ExitCode;

fn main() -> ExitCode {
    match feros_book::robot::run(None) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("robot: {error}");
            ExitCode::FAILURE
        }
    }
}
