//! The container `component_container_mt`; see [`feros_container::Kind::MultiThreaded`].
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    feros_container::main(feros_container::Kind::MultiThreaded, &feros_shared::stamp())
}
