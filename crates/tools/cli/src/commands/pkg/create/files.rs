//! The files of a new package.

use std::path::{Path, PathBuf};

/// The user's description of a package, and the values derived from it.
pub(super) struct Description {
    pub(super) package: String,
    pub(super) format: u8,
    pub(super) text: String,
    pub(super) license: Option<String>,
    pub(super) dependencies: Vec<String>,
    pub(super) maintainer: String,
    pub(super) email: String,
    pub(super) node: String,
    pub(super) library: Option<String>,
    pub(super) feros_path: Option<PathBuf>,
}

const NODE: &str = include_str!("../template/node.rs");
const COMPONENT: &str = include_str!("../template/component.rs");

/// The names and contents of all files, relative to the package's folder.
pub(super) fn files(description: &Description) -> Vec<(PathBuf, String)> {
    let node = NODE.replace("NODE_NAME", &description.node);
    let mut files = vec![
        (PathBuf::from("package.xml"), package_xml(description)),
        (PathBuf::from("Cargo.toml"), cargo_toml(description)),
        (Path::new("src").join(format!("{}.rs", description.node)), node),
        (PathBuf::from(".gitignore"), "/target\n".to_owned()),
    ];
    if let Some(library) = &description.library {
        let component = COMPONENT
            .replace("PACKAGE_NAME", &description.package)
            .replace("COMPONENT_TYPE", &camel_case(library))
            .replace("LIBRARY_NAME", library);
        files.push((PathBuf::from("src/lib.rs"), component));
    }
    files
}

fn package_xml(description: &Description) -> String {
    let Description { format, package, text, maintainer, email, .. } = description;
    let license = description.license.as_deref().unwrap_or("TODO: License declaration");
    let (text, license, maintainer) = (escaped(text), escaped(license), escaped(maintainer));
    let email = escaped(email);
    let depends: String = description
        .dependencies
        .iter()
        .map(|name| format!("  <depend>{}</depend>\n", escaped(name)))
        .collect();
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
         {depends}\
         \n  <export>\n    <build_type>ament_cargo</build_type>\n  </export>\n\
         </package>\n"
    )
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
    format!(
        "[package]\nname = \"{package}\"\nversion = \"0.0.0\"\nedition = \"2024\"\ndescription = {}\n{license}\n[[bin]]\n\
         name = \"{node}\"\npath = \"src/{node}.rs\"\n\n[dependencies]\n{}{component}",
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
            format: 3,
            text: "A \"robot\" & more".into(),
            license: Some("Apache-2.0".into()),
            dependencies: vec!["sensor_msgs".into()],
            maintainer: "me".into(),
            email: "me@example.com".into(),
            node: "driver".into(),
            library: Some("front_camera".into()),
            feros_path: None,
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
        for (path, text) in &files {
            for word in ["NODE_NAME", "PACKAGE_NAME", "COMPONENT_TYPE", "LIBRARY_NAME"] {
                assert!(!text.contains(word), "{word} is left in {}", path.display());
            }
        }
    }
}
