//! The files of a package without nodes: interfaces, launch files, settings. colcon builds it with
//! CMake; `feros build` reads what its `CMakeLists.txt` installs.

use std::path::PathBuf;

use super::Description;

/// The tags of `package.xml` that such a package has in addition.
pub(super) const TAGS: &str = "  <buildtool_depend>ament_cmake</buildtool_depend>\n";

/// The tags of a package with interfaces.
pub(super) const INTERFACE_TAGS: &str = "  <buildtool_depend>ament_cmake</buildtool_depend>\n  \
     <buildtool_depend>rosidl_default_generators</buildtool_depend>\n  \
     <exec_depend>rosidl_default_runtime</exec_depend>\n  \
     <member_of_group>rosidl_interface_packages</member_of_group>\n";

/// An interface of each kind.
const INTERFACES: [(&str, &str); 3] = [
    ("msg/Example.msg", "string name\nfloat64 value # unit\n"),
    ("srv/Example.srv", "string name\n---\nfloat64 value # unit\n"),
    ("action/Example.action", "float64 wanted\n---\nfloat64 reached\n---\nfloat64 current\n"),
];

pub(super) fn files(description: &Description) -> Vec<(PathBuf, String)> {
    let mut files = vec![(PathBuf::from("CMakeLists.txt"), cmake_lists(description))];
    if description.has_interfaces {
        files.extend(INTERFACES.map(|(name, text)| (name.into(), text.to_owned())));
    }
    files
}

fn cmake_lists(description: &Description) -> String {
    let Description { package, dependencies, .. } = description;
    let find = |name: &str| format!("find_package({name} REQUIRED)\n");
    let mut text = format!(
        "cmake_minimum_required(VERSION 3.16)\nproject({package})\n{}",
        find("ament_cmake")
    );
    if description.has_interfaces {
        text += &find("rosidl_default_generators");
    }
    text.extend(dependencies.iter().map(|name| find(name)));
    if description.has_interfaces {
        let names = INTERFACES.map(|(name, _)| format!("  {name}\n")).concat();
        let dependencies = if dependencies.is_empty() {
            String::new()
        } else {
            format!("  DEPENDENCIES {}\n", dependencies.join(" "))
        };
        text +=
            &format!("\nrosidl_generate_interfaces(${{PROJECT_NAME}}\n{names}{dependencies})\n");
        text += "ament_export_dependencies(rosidl_default_runtime)\n";
    }
    let folders = [("launch", description.has_launch), ("config", description.has_config)];
    let folders = folders.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name);
    let folders: Vec<&str> = folders.collect();
    if !folders.is_empty() {
        let folders = folders.join(" ");
        text += &format!("\ninstall(DIRECTORY {folders} DESTINATION share/${{PROJECT_NAME}})\n");
    }
    text + "\nament_package()\n"
}
