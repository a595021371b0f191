//! Checks the interfaces of all packages together, and makes Python modules of them.

use std::path::{Path, PathBuf};

use feros_interface::{InterfaceSet, MAX_DEFINITION_BYTES, Namespace, TypeName, parse_interface};

use super::error::PackageFault;
use super::files::{Content, Item, definitions};
use super::find::Package;
use crate::commands::interface::stubs;

/// The folder, below a prefix, of modules with the names of interface packages. The folder comes
/// last on Python's path, after the packages of a sourced ROS, since its modules work only with
/// Feros's rclpy.
pub(crate) const MESSAGE_MODULES: &str = "lib/feros/python";

/// The interfaces of all packages.
pub(super) struct Interfaces {
    set: InterfaceSet,
}

impl Interfaces {
    /// Reads the interfaces of the packages, and those to which they may refer. Also returns the
    /// faults, by package.
    pub(super) fn read(packages: &[&Package]) -> (Self, Vec<(String, PackageFault)>) {
        let mut set = feros_interface::standard().clone();
        set.add_robot_packages();
        // The error for a missing type has the faults of other places.
        drop(set.load_environment());
        let mut faults: Vec<(String, PackageFault)> = Vec::new();
        let of = |package: &Package, fault| (package.name.clone(), fault);
        for package in packages {
            set.remove_package(&package.name);
            faults.extend(load(&mut set, package).into_iter().map(|fault| of(package, fault)));
        }
        let faulty: Vec<String> = faults.iter().map(|(name, _)| format!("{name}/")).collect();
        for package in packages {
            // A faulty definition causes further faults, which this leaves out.
            let is_new = |fault: &PackageFault| {
                let text = fault.to_string();
                !faulty.iter().any(|name| text.contains(name))
            };
            let unresolved = unresolved(&set, &package.name).into_iter().filter(is_new);
            faults.extend(unresolved.map(|fault| of(package, fault)));
        }
        (Self { set }, faults)
    }

    /// The Python modules of a package, with type stubs.
    pub(super) fn modules(&self, package: &str) -> Vec<Item> {
        let interfaces = self.set.interfaces().map(|interface| &**interface);
        let own = interfaces.filter(|interface| interface.name().package == package);
        let files = stubs::files(own, "", true);
        let item = |(path, text): (PathBuf, String)| {
            Item::new(Path::new(MESSAGE_MODULES).join(path), Content::Text(text))
        };
        files.into_iter().map(item).collect()
    }
}

/// The types that a package's definitions name but that do not exist.
fn unresolved(set: &InterfaceSet, package: &str) -> Vec<PackageFault> {
    let own = set.interfaces().filter(|interface| interface.name().package == package);
    let errors = own.filter_map(|interface| set.type_hash(interface.name()).err());
    errors.map(|error| PackageFault::Interface(error.to_string())).collect()
}

/// Loads the definitions of a package; returns the faults of all its files.
fn load(set: &mut InterfaceSet, package: &Package) -> Vec<PackageFault> {
    let mut faults = Vec::new();
    for file in definitions(&package.folder) {
        let path = package.folder.join(&file);
        let kind = file.extension().unwrap_or_default();
        let kinds = Namespace::ALL.into_iter();
        let Some(namespace) = kinds.into_iter().find(|it| kind == it.as_str()) else { continue };
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let text = match feros_files::read_to_string(&path, MAX_DEFINITION_BYTES as u64) {
            Ok(text) => text,
            Err(error) => {
                faults.push(PackageFault::file(&path, error));
                continue;
            }
        };
        match parse_interface(&TypeName::new(&package.name, namespace, stem), &text) {
            Ok(interface) => {
                let inserted = set.insert(interface);
                faults.extend(inserted.err().map(|error| PackageFault::file(&path, error)));
            }
            Err(mut error) => {
                error.origin = path.display().to_string();
                faults.push(PackageFault::Interface(error.to_string()));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;
    use crate::commands::build::find::Kind;

    fn package(root: &Path, name: &str, files: &[(&str, &str)]) -> Package {
        let folder = root.join(name);
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            folder,
            kind: Kind::Files,
            has_manifest: true,
            dependencies: BTreeSet::new(),
            run_dependencies: BTreeSet::new(),
        }
    }

    #[test]
    fn packages_refer_to_each_other_and_become_modules() {
        let root = tempfile::tempdir().unwrap();
        let arm = package(root.path(), "arm_msgs", &[("msg/Arm.msg", "hand_msgs/Hand hand\n")]);
        let hand = package(root.path(), "hand_msgs", &[("msg/Hand.msg", "std_msgs/Header h\n")]);
        let (interfaces, faults) = Interfaces::read(&[&arm, &hand]);
        assert_eq!(faults.len(), 0, "{faults:?}");
        let modules = interfaces.modules("arm_msgs");
        let has = |name: &str| modules.iter().any(|item| item.to == Path::new(name));
        assert!(has("lib/feros/python/arm_msgs/msg/__init__.py"), "{modules:?}");
        assert!(
            has("lib/feros/python/arm_msgs/__init__.pyi") && interfaces.modules("x").is_empty()
        );
    }

    #[test]
    fn all_faults_are_told_and_none_twice() {
        let root = tempfile::tempdir().unwrap();
        let arm =
            [("msg/A.msg", "int33 a\n"), ("msg/B.msg", "int32 b b\n"), ("msg/C.msg", "int32 c\n")];
        let arm = package(root.path(), "arm_msgs", &arm);
        let other = [("msg/D.msg", "arm_msgs/A a\n"), ("srv/E.srv", "nowhere_msgs/F f\n---\n")];
        let other = package(root.path(), "other_msgs", &other);
        let (_, faults) = Interfaces::read(&[&arm, &other]);
        let lines: Vec<String> =
            faults.iter().map(|(name, fault)| format!("{name}: {fault}")).collect();
        assert_eq!(lines.len(), 3, "{lines:#?}");
        assert!(lines[0].contains("A.msg:1") && lines[1].contains("B.msg:1"), "{lines:#?}");
        assert!(lines[2].starts_with("other_msgs: ") && lines[2].contains("nowhere_msgs"));
    }
}
