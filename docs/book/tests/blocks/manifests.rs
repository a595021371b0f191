//! Checks the parts of manifests on the book's pages: something reads each key, and each crate is
//! where its path says.

use std::fs;
use std::path::Path;

use toml::{Table, Value};

/// How the pages write the path of a clone of Feros.
const CLONE: &str = "../feros/";

/// The keys that `feros build` and colcon-ros-cargo read.
const OF_ROS: [&str; 3] = ["install_to_share", "install_to_include", "install_to_lib"];

/// Checks a part of `Cargo.toml` or `pyproject.toml`.
pub(crate) fn check(text: &str, repository: &Path) -> Result<(), String> {
    let manifest: Table = text.parse().map_err(|error| format!("{error}"))?;
    for (key, value) in &manifest {
        match key.as_str() {
            "dependencies" | "dev-dependencies" | "build-dependencies" => {
                for (name, source) in table(key, value)? {
                    check_dependency(name, source, repository)?;
                }
            }
            "package" => check_metadata(value)?,
            "project" => check_components(value)?,
            other => return Err(format!("nothing is known to read [{other}]")),
        }
    }
    if manifest.is_empty() { Err("it is empty".to_owned()) } else { Ok(()) }
}

fn check_dependency(name: &str, source: &Value, repository: &Path) -> Result<(), String> {
    let path = source.get("path").and_then(Value::as_str);
    let Some(below) = path.and_then(|path| path.strip_prefix(CLONE)) else {
        return Err(format!("{name} has no path that begins with {CLONE}"));
    };
    let file = repository.join(below).join("Cargo.toml");
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let crate_of: Table = text.parse().map_err(|error| format!("{error}"))?;
    let there = crate_of["package"].get("name").and_then(Value::as_str);
    if there == Some(name) { Ok(()) } else { Err(format!("{below} has {there:?}, not {name}")) }
}

/// Checks `[package.metadata.ros]`.
fn check_metadata(package: &Value) -> Result<(), String> {
    let ros = package.get("metadata").and_then(|metadata| metadata.get("ros"));
    let ros = table("package.metadata.ros", ros.ok_or("[package] has no metadata for ROS")?)?;
    for (key, value) in ros {
        let names = value.as_array().ok_or(format!("{key} is no list"))?;
        if !OF_ROS.contains(&key.as_str()) || !names.iter().all(Value::is_str) {
            return Err(format!("nothing reads {key} = {value}"));
        }
    }
    Ok(())
}

/// Checks `[project.entry-points.rclpy_components]`.
fn check_components(project: &Value) -> Result<(), String> {
    let points = project.get("entry-points").ok_or("[project] has no entry points")?;
    for (group, points) in table("entry-points", points)? {
        if group != "rclpy_components" {
            return Err(format!("nothing reads the group {group}"));
        }
        for (name, class) in table(group, points)? {
            let class = class.as_str().ok_or(format!("{name} is no string"))?;
            if name.split("::").count() != 2 || class.split(':').count() != 2 {
                return Err(format!("{name} = {class} is no component"));
            }
        }
    }
    Ok(())
}

fn table<'a>(name: &str, value: &'a Value) -> Result<&'a Table, String> {
    value.as_table().ok_or(format!("{name} is no table"))
}
