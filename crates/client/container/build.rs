//! Sets the folders in which the binaries search for libferos_shared and the shared standard
//! library: the binary's own folder, as in cargo's target folder; the folder `lib` of the prefix in
//! which the binaries are installed; and the compiler's folder.

use std::process::Command;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let target = std::env::var("TARGET")?;
    let output =
        Command::new(rustc).args(["--print", "target-libdir", "--target", &target]).output()?;
    let compilers = String::from_utf8(output.stdout)?;
    for place in ["$ORIGIN", "$ORIGIN/deps", "$ORIGIN/..", "$ORIGIN/../lib", compilers.trim()] {
        println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{place}");
    }
    Ok(())
}
