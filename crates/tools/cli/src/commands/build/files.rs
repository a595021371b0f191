//! The files that a package installs without being compiled: its manifest, its interfaces, and its
//! launch files and settings.

use std::fs;
use std::path::{Path, PathBuf};

use toml::Value;

use super::cmake;
use super::error::PackageFault;
use super::find::{Kind, Package};
use super::manifest::toml_in;

/// The folders to install if the package does not name any.
const USUAL_FOLDERS: [&str; 17] = [
    "behavior_trees",
    "config",
    "description",
    "launch",
    "maps",
    "meshes",
    "models",
    "param",
    "params",
    "ros2_control",
    "rviz",
    "sdf",
    "srdf",
    "textures",
    "urdf",
    "worlds",
    "xacro",
];

/// The folder of the index, below a prefix.
pub(super) const RESOURCES: &str = "share/ament_index/resource_index";

/// Where Python modules are, below a prefix.
pub(super) const PYTHON_MODULES: &str = "lib/python3/site-packages";

/// A file of a package in the prefix.
#[derive(Debug)]
pub(super) struct Item {
    /// The path below the prefix.
    pub(super) to: PathBuf,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    File(PathBuf),
    /// A file that users can start, whatever the permissions of the source.
    Program(PathBuf),
    Text(String),
    /// The text of a program.
    Script(String),
    /// The file is in the prefix already.
    Placed,
}

impl Item {
    pub(super) fn new(to: impl Into<PathBuf>, content: Content) -> Self {
        Self { to: to.into(), content }
    }
}

/// The definitions of a package: `msg/*.msg`, `srv/*.srv` and `action/*.action`, relative to its
/// folder and sorted.
pub(super) fn definitions(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for kind in ["msg", "srv", "action"] {
        let files = below(&folder.join(kind));
        let own = files.into_iter().filter(|file| {
            file.components().count() == 1 && file.extension().is_some_and(|ending| ending == kind)
        });
        found.extend(own.map(|file| Path::new(kind).join(file)));
    }
    found
}

/// The files that show that the prefix has the package, and its interfaces.
pub(super) fn of_every_package(package: &Package) -> Vec<Item> {
    let Package { name, folder, .. } = package;
    let share = Path::new("share").join(name);
    let manifest = if package.has_manifest {
        Content::File(folder.join("package.xml"))
    } else {
        Content::Text(format!(
            "<package format=\"3\">\n  <name>{name}</name>\n  <version>{}</version>\n  \
             <export><build_type>ament_cargo</build_type></export>\n</package>\n",
            package.version
        ))
    };
    let index = Path::new(RESOURCES);
    let mut items = vec![
        Item::new(share.join("package.xml"), manifest),
        Item::new(index.join("packages").join(name), Content::Text(String::new())),
    ];
    let definitions = definitions(folder);
    if !definitions.is_empty() {
        let lines = definitions.iter().map(|file| format!("{}\n", file.display())).collect();
        items.push(Item::new(index.join("rosidl_interfaces").join(name), Content::Text(lines)));
    }
    items.extend(
        definitions
            .into_iter()
            .map(|file| Item::new(share.join(&file), Content::File(folder.join(file)))),
    );
    items
}

/// Launch files, settings and the like of a package that is not a Python package.
pub(super) fn of_data(package: &Package) -> Result<Vec<Item>, Vec<PackageFault>> {
    match package.kind {
        Kind::Rust => of_crate(package).map_err(|fault| vec![fault]),
        Kind::Cmake => of_cmake(package),
        Kind::Python | Kind::Files => Ok(of_folders(package, &USUAL_FOLDERS)),
    }
}

/// The folders of the package that usually have something to install.
pub(super) fn usual(package: &Package) -> Vec<Item> {
    of_folders(package, &USUAL_FOLDERS)
}

/// Folders and files that go to the package's share folder.
fn of_folders(package: &Package, names: &[impl AsRef<Path>]) -> Vec<Item> {
    let share = Path::new("share").join(&package.name);
    let of = |name: &Path| at(&package.folder.join(name), &share.join(name));
    names.iter().flat_map(|name| of(name.as_ref())).collect()
}

/// The folders that `[package.metadata.ros]` names, as colcon-ros-cargo reads it, or the usual
/// folders.
fn of_crate(package: &Package) -> Result<Vec<Item>, PackageFault> {
    let path = package.folder.join("Cargo.toml");
    let manifest = toml_in(&package.folder, "Cargo.toml")?.unwrap_or_default();
    let table = |table: &Value, name: &str| table.get(name).cloned();
    let ros = manifest.get("package").and_then(|package| table(package, "metadata"));
    let Some(ros) = ros.and_then(|metadata| table(&metadata, "ros")) else {
        return Ok(usual(package));
    };
    let mut items = Vec::new();
    for (key, folder) in [
        ("install_to_share", "share"),
        ("install_to_include", "include"),
        ("install_to_lib", "lib"),
    ] {
        let names = ros.get(key).and_then(Value::as_array);
        for name in names.into_iter().flatten().filter_map(Value::as_str) {
            let from = package.folder.join(name);
            if !from.exists() {
                let reason = format!("{key} names {name}, which does not exist");
                return Err(PackageFault::file(&path, reason));
            }
            let to = Path::new(folder).join(&package.name);
            items.extend(at(&from, &to.join(from.file_name().unwrap_or_default())));
        }
    }
    Ok(items)
}

fn of_cmake(package: &Package) -> Result<Vec<Item>, Vec<PackageFault>> {
    if !package.folder.join("CMakeLists.txt").is_file() {
        return Ok(usual(package));
    }
    let installed = cmake::installed(&package.folder)?;
    let (mut items, mut faults) = (Vec::new(), Vec::new());
    for file in installed.files {
        let from = package.folder.join(&file.from);
        if !from.exists() {
            let path = package.folder.join("CMakeLists.txt");
            let reason = format!("it installs {}, which does not exist", file.from.display());
            faults.push(PackageFault::file(&path, reason));
        } else if file.is_program {
            items.push(Item::new(file.to, Content::Program(from)));
        } else {
            items.extend(at(&from, &file.to));
        }
    }
    for file in installed.interfaces.iter().filter(|file| !package.folder.join(file).exists()) {
        let path = package.folder.join("CMakeLists.txt");
        let reason = format!("it generates code of {}, which does not exist", file.display());
        faults.push(PackageFault::file(&path, reason));
    }
    for folder in installed.python {
        let name = folder.file_name().unwrap_or_default();
        items.extend(at(&package.folder.join(&folder), &Path::new(PYTHON_MODULES).join(name)));
    }
    if faults.is_empty() { Ok(items) } else { Err(faults) }
}

/// A file, or the files below a folder, at a place in the prefix.
pub(super) fn at(from: &Path, to: &Path) -> Vec<Item> {
    if from.is_file() {
        return vec![Item::new(to, Content::File(from.to_owned()))];
    }
    below(from)
        .into_iter()
        .map(|file| Item::new(to.join(&file), Content::File(from.join(file))))
        .collect()
}

/// The files below a folder, relative to the folder and sorted, without hidden files and without
/// files that Python generates.
pub(super) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(PathBuf::new(), 0)];
    while let Some((inside, depth)) = open.pop() {
        let Ok(entries) = fs::read_dir(folder.join(&inside)) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let path = inside.join(&name);
            if name.to_string_lossy().starts_with('.') || name == "__pycache__" {
            } else if folder.join(&path).is_dir() {
                // Links may lead in circles, so the depth has a limit.
                if depth < 32 {
                    open.push((path, depth + 1));
                }
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use super::*;

    fn package(kind: Kind, files: &[(&str, &str)]) -> (tempfile::TempDir, Package) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let package = Package {
            name: "robot".to_owned(),
            version: "1.0.0".to_owned(),
            folder: folder.path().to_owned(),
            kind,
            has_manifest: false,
            dependencies: BTreeSet::new(),
            run_dependencies: BTreeSet::new(),
        };
        (folder, package)
    }

    fn places(items: Vec<Item>) -> Vec<String> {
        items.into_iter().map(|item| item.to.display().to_string()).collect()
    }

    #[test]
    fn interfaces_are_listed_for_stock_tools() {
        let files = [("msg/Arm.msg", ""), ("srv/Go.srv", "---"), ("msg/note.txt", "")];
        let (_folder, package) = package(Kind::Files, &files);
        let items = of_every_package(&package);
        let listed = items.iter().find_map(|item| match &item.content {
            Content::Text(text) if item.to.ends_with("rosidl_interfaces/robot") => Some(text),
            _ => None,
        });
        assert_eq!(listed.unwrap(), "msg/Arm.msg\nsrv/Go.srv\n");
        let places = places(items);
        assert_eq!(places[0], "share/robot/package.xml");
        assert_eq!(places[1], "share/ament_index/resource_index/packages/robot");
        assert_eq!(places[3..], ["share/robot/msg/Arm.msg", "share/robot/srv/Go.srv"]);
    }

    #[test]
    fn a_package_says_what_it_installs_or_has_usual_folders() {
        let files =
            [("launch/a.xml", ""), ("config/.hidden", ""), ("other/b", ""), ("Cargo.toml", "")];
        let (_folder, usual) = package(Kind::Rust, &files);
        assert_eq!(places(of_data(&usual).unwrap()), ["share/robot/launch/a.xml"]);

        let named = "[package.metadata.ros]\ninstall_to_share = [\"other\"]\n";
        let (folder, package) = package(Kind::Rust, &[("other/b", ""), ("Cargo.toml", named)]);
        assert_eq!(places(of_data(&package).unwrap()), ["share/robot/other/b"]);
        fs::remove_dir_all(folder.path().join("other")).unwrap();
        let faults = of_data(&package).unwrap_err();
        assert!(faults[0].to_string().contains("install_to_share names other"), "{}", faults[0]);
    }

    #[test]
    fn a_missing_definition_is_told() {
        let text = "project(robot)\nset(files msg/Arm.msg srv/Go.srv)\n\
                    rosidl_generate_interfaces(robot ${files} ${other} action/Move.action\n\
                    DEPENDENCIES geometry_msgs)\n";
        let (folder, package) =
            package(Kind::Cmake, &[("CMakeLists.txt", text), ("msg/Arm.msg", "")]);
        let faults = of_data(&package).unwrap_err();
        let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].ends_with("generates code of srv/Go.srv, which does not exist"));
        assert!(told[1].contains("action/Move.action"), "{told:?}");
        for (kind, file) in [("srv", "Go.srv"), ("action", "Move.action")] {
            fs::create_dir_all(folder.path().join(kind)).unwrap();
            fs::write(folder.path().join(kind).join(file), "").unwrap();
        }
        assert_eq!(places(of_data(&package).unwrap()), [""; 0]);
    }

    #[test]
    fn a_cmake_package_installs_files_programs_and_modules() {
        let text = "project(robot)\ninstall(DIRECTORY launch DESTINATION share/robot)\n\
                    install(PROGRAMS a.py DESTINATION lib/robot)\n\
                    ament_python_install_package(robot)\ninstall(FILES gone DESTINATION share)\n";
        let files = [
            ("CMakeLists.txt", text),
            ("launch/a.xml", ""),
            ("a.py", ""),
            ("robot/__init__.py", ""),
            ("robot/__pycache__/x.pyc", ""),
        ];
        let (folder, package) = package(Kind::Cmake, &files);
        let faults = of_data(&package).unwrap_err();
        assert!(faults[0].to_string().contains("installs gone, which does not exist"));
        fs::write(folder.path().join("gone"), "").unwrap();
        assert_eq!(
            places(of_data(&package).unwrap()),
            [
                "share/robot/launch/a.xml",
                "lib/robot/a.py",
                "share/gone",
                "lib/python3/site-packages/robot/__init__.py"
            ]
        );
    }
}
