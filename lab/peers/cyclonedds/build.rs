//! Builds the C program, linked with the same library as Feros.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=cyclonedds.c");
    println!("cargo::rerun-if-changed=../contract.h");
    match build() {
        Ok(program) => println!("cargo::rustc-env=FEROS_LAB_CYCLONEDDS={}", program.display()),
        Err(message) => {
            println!("cargo::error={message}");
            std::process::exit(1);
        }
    }
}

fn build() -> Result<PathBuf, String> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .ok_or(format!("{name} is not set: this runs under cargo"))
    };
    let include = format!("-I{}", variable("DEP_FEROS_DDSC_INCLUDE")?.display());
    let library = variable("DEP_FEROS_DDSC_LIB")?.join("libddsc.a");
    let program = variable("OUT_DIR")?.join("cyclonedds");
    println!("cargo::rerun-if-changed={}", library.display());
    // Always optimised: a peer must not be slower because Feros is being debugged.
    let compiler =
        cc::Build::new().opt_level(2).try_get_compiler().map_err(|error| error.to_string())?;
    let mut command: Command = compiler.to_command();
    command.args([
        "-std=gnu11",
        "-Wall",
        "-Wextra",
        "-DSYSTEM=\"cyclonedds\"",
        &include,
        "cyclonedds.c",
    ]);
    command.arg(library).args(["-lpthread", "-ldl", "-lrt", "-lm", "-o"]).arg(&program);
    let output = command
        .output()
        .map_err(|error| format!("{} did not start: {error}", compiler.path().display()))?;
    if output.status.success() {
        return Ok(program);
    }
    let reason = String::from_utf8_lossy(&output.stderr).replace('\n', " | ");
    Err(format!("cyclonedds.c could not be built: {reason}"))
}
