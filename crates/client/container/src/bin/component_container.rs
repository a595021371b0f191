//! The container `component_container`; see [`feros_container::Kind::SingleThreaded`].
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    feros_container::main(feros_container::Kind::SingleThreaded, &feros_shared::stamp())
}
