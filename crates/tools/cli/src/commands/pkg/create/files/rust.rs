//! The files of a package in Rust.

use std::path::{Path, PathBuf};

use super::{Description, camel_case, quoted};

const NODE: &str = include_str!("../../template/node.rs");
const COMPONENT: &str = include_str!("../../template/component.rs");
const TEST: &str = include_str!("../../template/node_test.rs");

pub(super) fn files(description: &Description) -> Vec<(PathBuf, String)> {
    let node = NODE.replace("NODE_NAME", &description.node);
    let file = format!("{}.rs", description.node);
    let mut files = vec![
        (PathBuf::from("Cargo.toml"), cargo_toml(description)),
        (Path::new("src").join(&file), node),
        (PathBuf::from(".gitignore"), "/target\n".to_owned()),
    ];
    if let Some(library) = &description.library {
        let component = COMPONENT
            .replace("PACKAGE_NAME", &description.package)
            .replace("COMPONENT_TYPE", &camel_case(library))
            .replace("LIBRARY_NAME", library);
        files.push((PathBuf::from("src/lib.rs"), component));
    }
    if description.has_tests {
        let test = TEST.replace("NODE_NAME", &description.node);
        files.push((Path::new("tests").join(file), test));
    }
    files
}

fn cargo_toml(description: &Description) -> String {
    let Description { package, text, node, .. } = description;
    let license = match &description.license {
        Some(license) => format!("license = {}\n", quoted(license)),
        None => String::new(),
    };
    let component = match &description.library {
        Some(_) => dependency(description, "feros-component", "crates/client/component"),
        None => String::new(),
    };
    let tests = match description.has_tests {
        true => {
            let testing = dependency(description, "feros-testing", "crates/client/testing");
            format!("\n[dev-dependencies]\n{testing}")
        }
        false => String::new(),
    };
    let folders = [("launch", description.has_launch), ("config", description.has_config)];
    let folders = folders.into_iter().filter(|(_, is_there)| *is_there);
    let folders: Vec<String> = folders.map(|(name, _)| quoted(name)).collect();
    let metadata = if folders.is_empty() {
        String::new()
    } else {
        // Both `feros build` and colcon-ros-cargo install what this names.
        format!("\n[package.metadata.ros]\ninstall_to_share = [{}]\n", folders.join(", "))
    };
    format!(
        "[package]\nname = \"{package}\"\nversion = \"0.0.0\"\nedition = \"2024\"\ndescription = {}\n{license}{metadata}\n[[bin]]\n\
         name = \"{node}\"\npath = \"src/{node}.rs\"\n\n[dependencies]\n{}{component}{tests}",
        quoted(text),
        dependency(description, "feros", "crates/client/feros"),
    )
}

fn dependency(description: &Description, name: &str, folder: &str) -> String {
    match &description.feros_path {
        Some(path) => {
            let path = path.join(folder);
            format!("{name} = {{ path = {} }}\n", quoted(&path.display().to_string()))
        }
        None => format!("{name} = \"{}\"\n", env!("CARGO_PKG_VERSION")),
    }
}
