//! The files of a new package.

mod cmake;
mod python;
mod rust;

use std::path::{Path, PathBuf};

/// The user's description of a package, and the values derived from it.
pub(super) struct Description {
    pub(super) package: String,
    pub(super) kind: Kind,
    pub(super) format: u8,
    pub(super) text: String,
    pub(super) license: Option<String>,
    pub(super) dependencies: Vec<String>,
    pub(super) maintainer: String,
    pub(super) email: String,
    pub(super) node: String,
    pub(super) library: Option<String>,
    pub(super) feros_path: Option<PathBuf>,
    pub(super) has_interfaces: bool,
    pub(super) has_launch: bool,
    pub(super) has_config: bool,
    pub(super) has_tests: bool,
}

/// The build type of a package.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Cargo,
    Python,
    /// Only interfaces, launch files and settings.
    Cmake,
}

/// The names and contents of all files, relative to the package's folder.
pub(super) fn files(description: &Description) -> Vec<(PathBuf, String)> {
    let mut files = vec![(PathBuf::from("package.xml"), package_xml(description))];
    files.extend(match description.kind {
        Kind::Cargo => rust::files(description),
        Kind::Python => python::files(description),
        Kind::Cmake => cmake::files(description),
    });
    let Description { package, node, .. } = description;
    if description.has_launch {
        let file = Path::new("launch").join(format!("{package}.launch.xml"));
        files.push((file, launch_file(description)));
    }
    if description.has_config {
        let name = if description.kind == Kind::Cmake { "/**" } else { node };
        let text = format!("{name}:\n  ros__parameters:\n    use_sim_time: false\n");
        files.push((Path::new("config").join(format!("{package}.yaml")), text));
    }
    files
}

/// Starts the node, or says how to start nodes of other packages.
fn launch_file(description: &Description) -> String {
    let Description { package, node, .. } = description;
    if description.kind == Kind::Cmake {
        return "<launch>\n  <!-- <node pkg=\"PACKAGE\" exec=\"EXECUTABLE\"/> -->\n</launch>\n"
            .to_owned();
    }
    let parameters = if description.has_config {
        format!(
            ">\n    <param from=\"$(find-pkg-share {package})/config/{package}.yaml\"/>\n  </node>"
        )
    } else {
        "/>".to_owned()
    };
    format!("<launch>\n  <node pkg=\"{package}\" exec=\"{node}\"{parameters}\n</launch>\n")
}

fn package_xml(description: &Description) -> String {
    let Description { format, package, text, maintainer, email, .. } = description;
    let license = description.license.as_deref().unwrap_or("TODO: License declaration");
    let (text, license, maintainer) = (escaped(text), escaped(license), escaped(maintainer));
    let email = escaped(email);
    let depends = description.dependencies.iter();
    let depends: String =
        depends.map(|name| format!("  <depend>{}</depend>\n", escaped(name))).collect();
    let (tags, build_type) = match description.kind {
        Kind::Cargo => ("", "ament_cargo"),
        Kind::Python => (python::TAGS, "ament_python"),
        Kind::Cmake if description.has_interfaces => (cmake::INTERFACE_TAGS, "ament_cmake"),
        Kind::Cmake => (cmake::TAGS, "ament_cmake"),
    };
    format!(
        "<?xml version=\"1.0\"?>\n\
         <?xml-model href=\"http://download.ros.org/schema/package_format{format}.xsd\" \
         schematypens=\"http://www.w3.org/2001/XMLSchema\"?>\n\
         <package format=\"{format}\">\n  \
           <name>{package}</name>\n  \
           <version>0.0.0</version>\n  \
           <description>{text}</description>\n  \
           <maintainer email=\"{email}\">{maintainer}</maintainer>\n  \
           <license>{license}</license>\n\
         {tags}{depends}\
         \n  <export>\n    <build_type>{build_type}</build_type>\n  </export>\n\
         </package>\n"
    )
}

/// Quotes a string for TOML, which has the same escapes as JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Escapes a string for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Converts a name such as `front_camera` to the name of a type: `FrontCamera`.
fn camel_case(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| {
            first.to_uppercase().collect::<String>() + letters.as_str()
        })
    });
    words.collect()
}

/// Compiles the files that users get.
#[cfg(test)]
#[allow(dead_code)]
#[path = "../template/node.rs"]
mod node;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn description() -> Description {
        Description {
            package: "my_robot".into(),
            kind: Kind::Cargo,
            format: 3,
            text: "A \"robot\" & more".into(),
            license: Some("Apache-2.0".into()),
            dependencies: vec!["sensor_msgs".into()],
            maintainer: "me".into(),
            email: "me@example.com".into(),
            node: "driver".into(),
            library: Some("front_camera".into()),
            feros_path: None,
            has_interfaces: false,
            has_launch: false,
            has_config: false,
            has_tests: false,
        }
    }

    fn text<'a>(files: &'a [(PathBuf, String)], name: &str) -> &'a str {
        &files.iter().find(|(path, _)| path == Path::new(name)).unwrap().1
    }

    #[test]
    fn files_say_what_the_user_said() {
        let files = files(&description());
        let manifest = roxmltree::Document::parse(text(&files, "package.xml")).unwrap();
        let of = |tag| {
            let found = manifest.root_element().children().find(|child| child.has_tag_name(tag));
            found.and_then(|element| element.text()).unwrap()
        };
        assert_eq!((of("name"), of("description")), ("my_robot", "A \"robot\" & more"));
        assert_eq!((of("license"), of("depend")), ("Apache-2.0", "sensor_msgs"));
        assert_eq!(
            text(&files, "Cargo.toml"),
            "[package]\nname = \"my_robot\"\nversion = \"0.0.0\"\nedition = \"2024\"\ndescription = \"A \\\"robot\\\" & more\"\n\
             license = \"Apache-2.0\"\n\n[[bin]]\nname = \"driver\"\npath = \"src/driver.rs\"\n\n[dependencies]\nferos = \
             \"0.1.0\"\nferos-component = \"0.1.0\"\n"
        );
        assert!(text(&files, "src/driver.rs").contains("create_node(\"driver\")"));
        let component = text(&files, "src/lib.rs");
        assert!(
            component.contains("register!(FrontCamera, \"my_robot::FrontCamera\");"),
            "{component}"
        );
        assert!(component.contains("options.name(\"front_camera\")"), "{component}");
        assert_no_words_are_left(&files);
    }

    fn assert_no_words_are_left(files: &[(PathBuf, String)]) {
        for (path, text) in files {
            for word in ["NODE_NAME", "NODE_TYPE", "PACKAGE_NAME", "COMPONENT_TYPE", "LIBRARY_NAME"]
            {
                assert!(!text.contains(word), "{word} is left in {}", path.display());
            }
        }
    }

    fn whole(kind: Kind) -> Vec<(PathBuf, String)> {
        files(&Description {
            kind,
            has_interfaces: kind == Kind::Cmake,
            has_launch: true,
            has_config: true,
            has_tests: true,
            ..description()
        })
    }

    #[test]
    fn a_package_in_rust_installs_its_launch_files_and_is_tested() {
        let files = whole(Kind::Cargo);
        assert!(text(&files, "Cargo.toml").contains("install_to_share = [\"launch\", \"config\"]"));
        let manifest = text(&files, "Cargo.toml");
        assert!(
            manifest.ends_with("[dev-dependencies]\nferos-testing = \"0.1.0\"\n"),
            "{manifest}"
        );
        let test = text(&files, "tests/driver.rs");
        assert!(test.contains("harness.command(env!(\"CARGO_BIN_EXE_driver\"))"), "{test}");
        let launch = text(&files, "launch/my_robot.launch.xml");
        assert!(launch.contains("exec=\"driver\"") && launch.contains("/config/my_robot.yaml"));
        assert_no_words_are_left(&files);
    }

    #[test]
    fn a_package_in_python_has_what_colcon_needs() {
        let files = whole(Kind::Python);
        let setup = text(&files, "setup.py");
        assert!(setup.contains("\"driver = my_robot.driver:main\""), "{setup}");
        assert!(setup.contains("description=\"A \\\"robot\\\" & more\""), "{setup}");
        assert!(text(&files, "my_robot/driver.py").contains("class Driver(Node)"));
        let test = text(&files, "test/test_driver.py");
        assert!(test.contains("from my_robot.driver import Driver"), "{test}");
        assert!(test.contains("def test_the_node_says_hello(ros):"), "{test}");
        assert!(text(&files, "package.xml").contains("<build_type>ament_python</build_type>"));
        let scripts = text(&files, "setup.cfg");
        assert!(scripts.contains("[build_scripts]\nexecutable=/usr/bin/env python3"), "{scripts}");
        for name in ["resource/my_robot", "my_robot/__init__.py"] {
            text(&files, name);
        }
        assert_no_words_are_left(&files);
    }

    #[test]
    fn a_package_of_interfaces_is_one_for_colcon_too() {
        let files = whole(Kind::Cmake);
        let cmake = text(&files, "CMakeLists.txt");
        assert!(cmake.contains("rosidl_generate_interfaces") && cmake.contains("msg/Example.msg"));
        assert!(cmake.contains("install(DIRECTORY launch config DESTINATION"), "{cmake}");
        assert!(text(&files, "package.xml").contains("rosidl_interface_packages"));
        let text = text(&files, "action/Example.action");
        assert_eq!(text.matches("---").count(), 2);
        assert_no_words_are_left(&files);
    }
}
