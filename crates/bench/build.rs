//! Builds the C peers that need no ROS 2 installation: the Cyclone DDS program, linked against the
//! very library that Feros is built on, and the floors of the host. The program against `rcl` is
//! built when it is first run, because the ROS 2 installation may come later.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=peers");
    if let Err(message) = run() {
        println!("cargo::error={message}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), String> {
    let variable = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).ok_or(format!(
            "{name} is not set: this build script runs under cargo, after feros-cyclonedds-sys"
        ))
    };
    let peers = variable("CARGO_MANIFEST_DIR")?.join("peers");
    let out = variable("OUT_DIR")?;
    let floors = out.join("floors");
    compile(&peers.join("floors.c"), &floors, &["-lpthread"])?;
    println!("cargo::rustc-env=FEROS_BENCH_FLOORS={}", floors.display());

    let cyclonedds = out.join("cyclonedds_latency");
    let include = format!("-I{}", variable("DEP_FEROS_DDSC_INCLUDE")?.display());
    let library = variable("DEP_FEROS_DDSC_LIB")?.join("libddsc.a");
    println!("cargo::rerun-if-changed={}", library.display());
    let library = library.display().to_string();
    let arguments = [include.as_str(), &library, "-lpthread", "-ldl", "-lrt", "-lm"];
    compile(&peers.join("cyclonedds_latency.c"), &cyclonedds, &arguments)?;
    println!("cargo::rustc-env=FEROS_BENCH_CYCLONEDDS_LATENCY={}", cyclonedds.display());
    Ok(())
}

/// Compiles and links one program. Always optimised: a peer must not be slower because Feros is
/// being debugged.
fn compile(source: &Path, program: &Path, arguments: &[&str]) -> Result<(), String> {
    let compiler =
        cc::Build::new().opt_level(2).try_get_compiler().map_err(|error| error.to_string())?;
    let mut command: Command = compiler.to_command();
    command
        .args(["-std=gnu11", "-Wall", "-Wextra"])
        .arg(source)
        .args(arguments)
        .arg("-o")
        .arg(program);
    let output = command
        .output()
        .map_err(|error| format!("{} did not start: {error}", compiler.path().display()))?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr).replace('\n', " | ");
    Err(format!("{} could not be built: {reason}", source.display()))
}
