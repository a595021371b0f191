//! Generates two packages that refer to each other and to a package that another crate generates,
//! and a package of robots with the package that it needs.
//! For the tests, it also generates code that builds each message.

use std::collections::BTreeSet;
use std::path::PathBuf;

use feros_interface::{InterfaceSet, TypeName, shipped};

#[path = "../../../msgs/tests/support/rebuild.rs"]
mod rebuild;

const OTHER: &str = "../../../../../examples/own_package/interfaces/robot_interfaces";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    feros_codegen::Generator::new()
        .message_path("::feros_message")
        .msgs_path("::feros_msgs")
        .package_dir("interfaces/corner_cases")
        .package_dir("interfaces/r_move")
        .dependency_dir(OTHER, "::own_package")
        .robot_package("dwb_msgs")
        .generate()?;
    write_rebuild()
}

/// Writes code that builds each generated message. It needs the definitions of all types to which
/// the messages refer.
fn write_rebuild() -> Result<(), Box<dyn std::error::Error>> {
    let mut set: InterfaceSet = shipped().clone();
    let mut generated = BTreeSet::new();
    for path in ["interfaces/corner_cases", "interfaces/r_move"] {
        generated.insert(set.load_package_dir(path)?);
    }
    set.load_package_dir(OTHER)?;
    let mut names: BTreeSet<TypeName> = set
        .messages()
        .map(|message| message.name.clone())
        .filter(|name| generated.contains(&name.package))
        .collect();
    let list: String = names
        .iter()
        .map(|name| format!("probe::<{}>(),\n", rebuild::path(name, own_path)))
        .collect();
    for name in names.clone() {
        names.extend(set.references(&name)?);
    }
    names.retain(|name| set.message(name).is_some());
    let out_dir = PathBuf::from(
        std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: run this with cargo")?,
    );
    std::fs::write(out_dir.join("rebuild.rs"), rebuild::implementations(&set, &names, own_path))?;
    std::fs::write(out_dir.join("every_message.rs"), format!("[\n{list}]\n"))?;
    println!("cargo::rerun-if-changed=../../../msgs/tests/support/rebuild.rs");
    Ok(())
}

/// Returns the path by which the tests find a package.
fn own_path(package: &str) -> String {
    match package {
        "corner_cases" => "::feros_codegen_corner_cases::corner_cases".to_owned(),
        "move" => "::feros_codegen_corner_cases::r#move".to_owned(),
        "robot_interfaces" => "::own_package::robot_interfaces".to_owned(),
        standard => format!("::feros_msgs::{standard}"),
    }
}
