//! Generates the standard packages. For the tests, it also generates a list of all their types, and
//! code that builds a message of each type.

use std::path::PathBuf;

use feros_interface::{Interface, TypeName, standard};

#[path = "tests/support/rebuild.rs"]
mod rebuild;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    feros_codegen::Generator::new()
        .standard_packages()
        .message_path("::feros_message")
        .msgs_path("crate")
        .generate()?;

    let out_dir = PathBuf::from(
        std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: run this with cargo")?,
    );
    let actions =
        standard().interfaces().filter(|interface| matches!(***interface, Interface::Action(_)));
    for (file, names) in [
        (
            "every_message.rs",
            standard().messages().map(|message| &message.name).collect::<Vec<_>>(),
        ),
        ("every_service.rs", standard().services().map(|service| &service.name).collect()),
        ("every_action.rs", actions.map(|action| action.name()).collect()),
    ] {
        std::fs::write(out_dir.join(file), list(&names))?;
    }
    let names = standard().messages().map(|message| &message.name);
    let implementations =
        rebuild::implementations(standard(), names, |package| format!("::feros_msgs::{package}"));
    std::fs::write(out_dir.join("rebuild.rs"), implementations)?;
    println!("cargo::rerun-if-changed=tests/support/rebuild.rs");
    Ok(())
}

/// Returns a Rust array with a call of `probe` for each type.
fn list(names: &[&TypeName]) -> String {
    let probe = |name: &&TypeName| {
        let TypeName { package, namespace, name } = name;
        format!("probe::<::feros_msgs::{package}::{namespace}::{name}>(),\n")
    };
    format!("[\n{}]\n", names.iter().map(probe).collect::<String>())
}
