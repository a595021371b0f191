//! The container `component_container_isolated`; see [`feros_container::Kind::Isolated`].
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    feros_container::main(feros_container::Kind::Isolated, &feros_shared::stamp())
}
