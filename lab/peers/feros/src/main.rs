//! Feros as a system under test, composed by hand.

fn main() -> std::process::ExitCode {
    feros_lab_feros::main()
}
