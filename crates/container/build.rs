//! Where the binaries look for libferos_shared and the shared standard library: beside themselves,
//! as cargo lays them; in the `lib` of the prefix that they are installed in; and where the
//! compiler has its own.

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
