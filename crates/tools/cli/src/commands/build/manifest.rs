//! Reads the manifests of packages: `package.xml` has the name, the version, the dependencies and
//! the build type; `Cargo.toml` and `pyproject.toml` are for other tools too.

use std::collections::BTreeSet;
use std::path::Path;

use roxmltree::{Document, Node};
use toml::Table;

use super::error::PackageFault;

/// The limit on the size of a manifest.
pub(super) const MOST_BYTES: u64 = 1 << 20;

/// The tags that name packages which must be built before. Tests may depend on packages that depend
/// on this one, so `test_depend` is not among them.
const BUILD_DEPENDENCIES: [&str; 6] = [
    "build_depend",
    "build_export_depend",
    "buildtool_depend",
    "buildtool_export_depend",
    "depend",
    "group_depend",
];

/// The tags that name packages which this one needs only when it runs, such as the packages whose
/// nodes it launches. They are built before too, but this one does not wait for them.
const RUN_DEPENDENCIES: [&str; 2] = ["exec_depend", "run_depend"];

/// The parts of a `package.xml` that matter here.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) version: String,
    /// The packages that must be built before.
    pub(super) dependencies: BTreeSet<String>,
    /// The other packages that it needs when it runs.
    pub(super) run_dependencies: BTreeSet<String>,
    /// The build type, such as `ament_python`, if there is one.
    pub(super) build_type: Option<String>,
}

impl Manifest {
    pub(super) fn read(path: &Path) -> Result<Self, PackageFault> {
        let text = feros_files::read_to_string(path, MOST_BYTES)
            .map_err(|error| PackageFault::file(path, error))?;
        Self::from_text(&text).map_err(|problem| PackageFault::file(path, problem))
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let document = Document::parse(text).map_err(|error| format!("it is not XML: {error}"))?;
        let root = document.root_element();
        let text_of = |tag: &str| {
            let element = root.children().find(|child| child.has_tag_name(tag));
            element.and_then(|element| element.text()).map(|text| text.trim().to_owned())
        };
        let name = text_of("name").ok_or("it has no <name>")?;
        if !is_package_name(&name) {
            return Err(format!(
                "{name:?} is not a package name: use letters, digits and underscores"
            ));
        }
        let named_by = |tags: &[&str]| -> BTreeSet<String> {
            let elements = root.children().filter(Node::is_element);
            let wanted = elements.filter(|element| {
                tags.contains(&element.tag_name().name()) && !is_for_ros1(element)
            });
            wanted.filter_map(|element| Some(element.text()?.trim().to_owned())).collect()
        };
        let dependencies = named_by(&BUILD_DEPENDENCIES);
        let run_dependencies = &named_by(&RUN_DEPENDENCIES) - &dependencies;
        let build_type = root.descendants().find(|element| element.has_tag_name("build_type"));
        let build_type = build_type.and_then(|element| element.text());
        Ok(Self {
            name,
            version: text_of("version").unwrap_or_else(|| "0.0.0".to_owned()),
            dependencies,
            run_dependencies,
            build_type: build_type.map(|text| text.trim().to_owned()),
        })
    }
}

/// Reads the TOML file of this name in a folder, if there is one.
pub(super) fn toml_in(folder: &Path, name: &str) -> Result<Option<Table>, PackageFault> {
    let path = folder.join(name);
    if !path.exists() {
        return Ok(None);
    }
    let text = feros_files::read_to_string(&path, MOST_BYTES)
        .map_err(|error| PackageFault::file(&path, error))?;
    text.parse().map(Some).map_err(|error| PackageFault::file(&path, error))
}

/// Whether files may be named after the package.
pub(super) fn is_package_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// Whether the element counts only in ROS 1: `condition="$ROS_VERSION == 1"`.
fn is_for_ros1(element: &Node<'_, '_>) -> bool {
    let condition = element.attribute("condition").unwrap_or_default();
    condition.split_whitespace().collect::<String>() == "$ROS_VERSION==1"
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn dependencies_are_those_of_builds_and_runs() {
        let manifest = Manifest::from_text(
            "<package format=\"3\"><name> arm </name><version>1.2.3</version>\
             <depend>arm_msgs</depend><exec_depend>tools</exec_depend>\
             <exec_depend>arm_msgs</exec_depend>\
             <test_depend>tests</test_depend>\
             <depend condition=\"$ROS_VERSION == 1\">roscpp</depend>\
             <export><build_type>ament_python</build_type></export></package>",
        )
        .unwrap();
        assert_eq!((manifest.name.as_str(), manifest.version.as_str()), ("arm", "1.2.3"));
        assert_eq!(manifest.dependencies.into_iter().collect::<Vec<_>>(), ["arm_msgs"]);
        assert_eq!(manifest.run_dependencies.into_iter().collect::<Vec<_>>(), ["tools"]);
        assert_eq!(manifest.build_type.as_deref(), Some("ament_python"));
    }

    #[test]
    fn faults_are_named() {
        let fault = |text: &str| Manifest::from_text(text).unwrap_err();
        assert!(fault("<package>").contains("not XML"));
        assert!(fault("<package/>").contains("no <name>"));
        assert!(fault("<package><name>../arm</name></package>").contains("not a package name"));
    }
}
