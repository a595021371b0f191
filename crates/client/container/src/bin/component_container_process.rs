//! The container `component_container_process`; see [`feros_container::Kind::Process`].
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    feros_container::main(feros_container::Kind::Process, &feros_shared::stamp())
}
