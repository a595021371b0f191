//! The files of a package in Python.

use std::path::{Path, PathBuf};

use super::{Description, camel_case, quoted};

/// The tags of `package.xml` that such a package has in addition.
pub(super) const TAGS: &str = "  <exec_depend>rclpy</exec_depend>\n  <exec_depend>std_msgs</exec_depend>\n  \
                               <test_depend>python3-pytest</test_depend>\n";

const NODE: &str = include_str!("../../template/node.py");
const SETUP: &str = include_str!("../../template/setup.py");
const TEST: &str = include_str!("../../template/node_test.py");

pub(super) fn files(description: &Description) -> Vec<(PathBuf, String)> {
    let Description { package, node, .. } = description;
    // Strings of JSON are strings of Python.
    let setup = SETUP
        .replace("NODE_NAME", node)
        .replace("PACKAGE_NAME", package)
        .replace("MAINTAINER", &quoted(&description.maintainer))
        .replace("EMAIL", &quoted(&description.email))
        .replace("DESCRIPTION", &quoted(&description.text))
        .replace("LICENSE", &quoted(description.license.as_deref().unwrap_or("TODO")));
    let named = |text: &str| {
        text.replace("NODE_TYPE", &camel_case(node))
            .replace("NODE_NAME", node)
            .replace("PACKAGE_NAME", package)
    };
    // Without the last line, programs would start with the Python into which colcon is installed.
    let scripts = format!(
        "[develop]\nscript_dir=$base/lib/{package}\n[install]\ninstall_scripts=$base/lib/{package}\n\
         [build_scripts]\nexecutable=/usr/bin/env python3\n"
    );
    let folder = Path::new(package);
    let mut files = vec![
        (PathBuf::from("setup.py"), setup),
        (PathBuf::from("setup.cfg"), scripts),
        (Path::new("resource").join(package), String::new()),
        (folder.join("__init__.py"), String::new()),
        (folder.join(format!("{node}.py")), named(NODE)),
        (PathBuf::from(".gitignore"), "__pycache__/\n*.egg-info/\n".to_owned()),
    ];
    if description.has_tests {
        files.push((Path::new("test").join(format!("test_{node}.py")), named(TEST)));
    }
    files
}
