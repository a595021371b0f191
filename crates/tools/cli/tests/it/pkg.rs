//! `feros pkg`: packages in a prefix of the test's own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use crate::process::{Finished, Running};

/// A prefix with the package `my_robot`, which has one executable.
struct Prefix(PathBuf);

impl Prefix {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("feros_pkg_{name}_{}", std::process::id()));
        for folder in
            ["share/my_robot", "lib/my_robot", "share/ament_index/resource_index/packages"]
        {
            fs::create_dir_all(path.join(folder)).unwrap();
        }
        fs::write(path.join("share/ament_index/resource_index/packages/my_robot"), "").unwrap();
        let manifest = "<?xml version=\"1.0\"?>\n<package format=\"3\">\n  <name>my_robot</name>\n  <version>1.2.3</version>\n  \
                        <depend>a</depend>\n  <depend>b</depend>\n</package>\n";
        fs::write(path.join("share/my_robot/package.xml"), manifest).unwrap();
        let driver = path.join("lib/my_robot/driver");
        fs::write(&driver, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&driver, fs::Permissions::from_mode(0o755)).unwrap();
        Self(path)
    }

    fn feros(&self, arguments: &[&str]) -> Finished {
        let set = |command: &mut std::process::Command| {
            command.env("AMENT_PREFIX_PATH", &self.0).env_remove("FEROS_PREFIX_PATH");
        };
        Running::start_with(arguments, set).finish()
    }

    fn path(&self, below: &str) -> String {
        self.0.join(below).to_str().unwrap().to_owned()
    }
}

impl Drop for Prefix {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn packages_are_listed_with_what_they_have() {
    let prefix = Prefix::new("list");
    assert_eq!(prefix.feros(&["pkg", "list"]).success(), "my_robot\n");
    assert_eq!(
        prefix.feros(&["pkg", "prefix", "my_robot"]).success(),
        format!("{}\n", prefix.0.display())
    );
    assert_eq!(
        prefix.feros(&["pkg", "prefix", "--share", "my_robot"]).success(),
        format!("{}\n", prefix.path("share/my_robot"))
    );
    assert_eq!(prefix.feros(&["pkg", "executables"]).success(), "my_robot driver\n");
    assert_eq!(
        prefix.feros(&["pkg", "executables", "my_robot", "--full-path"]).success(),
        format!("{}\n", prefix.path("lib/my_robot/driver"))
    );
    let listed = prefix.feros(&["pkg", "executables", "--json"]).json();
    assert_eq!(listed[0]["executable"], "driver");

    let manifest = prefix.feros(&["pkg", "xml", "my_robot"]).success();
    assert!(manifest.contains("<version>1.2.3</version>"), "{manifest}");
    assert_eq!(prefix.feros(&["pkg", "xml", "my_robot", "-t", "depend"]).success(), "a\nb\n");
    let error = prefix.feros(&["pkg", "xml", "my_robot", "-t", "versoin"]).failure(1);
    assert!(error.contains("has no tag versoin; did you mean version?"), "{error}");
    for line in [
        &["pkg", "prefix", "my_robt"][..],
        &["pkg", "executables", "my_robt"],
        &["pkg", "xml", "my_robt"],
    ] {
        let error = prefix.feros(line).failure(1);
        assert!(error.contains("did you mean") && error.contains("my_robot"), "{error}");
    }
    let report = prefix.feros(&["doctor", "--report"]).success();
    assert!(report.contains("\nmy_robot : 1.2.3\n"), "{report}");
}

#[test]
fn a_package_is_created_once() {
    let prefix = Prefix::new("create");
    let folder = prefix.path("new");
    let line = ["pkg", "create", "my_arm", "--destination-directory", &folder];
    let more = ["--node-name", "driver", "--library-name", "gripper", "--license", "Apache-2.0"];
    let named = ["--maintainer-name", "me", "--maintainer-email", "me@example.com"];
    let depends = ["--dependencies", "sensor_msgs", "std_msgs"];
    let whole = [&line[..], &more, &named, &depends].concat();
    let created = prefix.feros(&whole).success();
    assert_eq!(created, format!("{folder}/my_arm\n"));
    let read = |name: &str| fs::read_to_string(format!("{folder}/my_arm/{name}")).unwrap();
    assert!(read("Cargo.toml").contains("[[bin]]\nname = \"driver\"\n"));
    assert!(read("src/driver.rs").contains("create_node(\"driver\")"));
    assert!(read("src/lib.rs").contains("\"my_arm::Gripper\""));
    assert!(read("Cargo.toml").contains("feros-component = \"0.1.0\"\n"));
    let manifest = read("package.xml");
    for part in [
        "<maintainer email=\"me@example.com\">me</maintainer>",
        "<license>Apache-2.0</license>",
        "<depend>sensor_msgs</depend>\n  <depend>std_msgs</depend>",
        "<build_type>ament_cargo</build_type>",
    ] {
        assert!(manifest.contains(part), "{part} is not in {manifest}");
    }

    let error = prefix.feros(&whole).failure(1);
    assert!(error.contains("already exists"), "{error}");
    let error = prefix.feros(&["pkg", "create", "My-Arm"]).failure(2);
    assert!(error.contains("lower-case letters"), "{error}");
    let error = prefix.feros(&["pkg", "create", "x", "--build-type", "ament_cmake"]).failure(2);
    assert!(error.contains("ros2 pkg create"), "{error}");
    let error = prefix.feros(&["pkg", "create", "x", "--feros-path", &folder]).failure(2);
    assert!(error.contains("does not hold the sources of Feros"), "{error}");
}

#[test]
fn a_missing_license_is_told_with_the_files_that_name_it() {
    let prefix = Prefix::new("license");
    let folder = prefix.path("");
    for (name, more, files) in [
        ("a", &["--build-type", "ament_cargo"][..], "package.xml and Cargo.toml"),
        ("b", &["--build-type", "ament_python"], "package.xml and setup.py"),
        ("c", &["--build-type", "ament_cmake", "--launch"], "package.xml"),
        ("d", &["--own-interfaces"], "package.xml"),
    ] {
        let words = ["pkg", "create", name, "--destination-directory", &folder];
        let made = prefix.feros(&[&words, more].concat());
        let told = format!("warning: the package has no license yet: name one in {files}\n");
        assert!(made.err.contains(&told), "{name}: {made:?}");
        for file in files.split(" and ") {
            assert!(fs::metadata(prefix.path(&format!("{name}/{file}"))).is_ok(), "{name}");
        }
    }
}
