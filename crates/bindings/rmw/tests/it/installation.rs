//! The scripts that install the library: the wheel for the wheels of ROS 2, and the ament prefix
//! for an installed ROS 2. Both ask the library which distributions it serves.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use feros_interop::{Domain, distribution, prefix_of_ros2};

use crate::support::{library, run_python};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scripts").join(name)
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// A folder that looks like an installation of ROS 2 with this version of rmw.
fn installation(version: &str) -> tempfile::TempDir {
    let prefix = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(prefix.path().join("share/rmw")).unwrap();
    let manifest = format!("<package><version>{version}</version></package>");
    std::fs::write(prefix.path().join("share/rmw/package.xml"), manifest).unwrap();
    prefix
}

/// Installs the library beside the sourced ROS 2.
fn install(into: &Path, sourced: Option<&Path>) -> Output {
    let mut command = Command::new(script("install_rmw.sh"));
    command.arg(into).env("FEROS_RMW_LIBRARY", library()).env_remove("AMENT_PREFIX_PATH");
    if let Some(sourced) = sourced {
        let overlay = Path::new("/nonexistent");
        let all = std::env::join_paths([overlay, sourced]).unwrap();
        command.env("AMENT_PREFIX_PATH", all);
    }
    command.output().expect("the script runs")
}

#[test]
fn the_prefix_is_for_the_ros_2_that_is_sourced() {
    let Some(sourced) = prefix_of_ros2() else { return };
    let into = tempfile::tempdir().unwrap();
    let output = install(into.path(), Some(&sourced));
    assert!(output.status.success(), "{}", said(&output));
    let name = format!("for ROS 2 {}", distribution().name());
    assert!(said(&output).contains(&name), "{}", said(&output));
    for file in ["lib/librmw_feros.so", "share/rmw_feros/package.xml", "local_setup.bash"] {
        assert!(into.path().join(file).is_file(), "{file}");
    }
}

#[test]
fn a_prefix_is_refused_for_a_ros_2_that_the_library_does_not_serve() {
    let into = tempfile::tempdir().unwrap();
    let humble = installation("6.1.2");
    let output = install(into.path(), Some(humble.path()));
    assert!(!output.status.success(), "{}", said(&output));
    let says = "is of ROS 2 humble, with rmw 6.1.2";
    assert!(said(&output).contains(says), "{}", said(&output));
    let output = install(into.path(), None);
    assert!(!output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("no ROS 2 is sourced"), "{}", said(&output));
    assert!(!into.path().join("lib").exists());
}

#[test]
fn a_refusal_leaves_no_folder_behind() {
    let into = tempfile::tempdir().unwrap();
    let prefix = into.path().join("new/prefix");
    let output = install(&prefix, Some(installation("6.1.2").path()));
    assert!(!output.status.success(), "{}", said(&output));
    assert!(!into.path().join("new").exists());
}

/// The C library of this process.
fn libc() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let files = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    files.map(PathBuf::from).find(|file| file.ends_with("libc.so.6")).expect("it is loaded")
}

#[test]
fn a_library_that_cannot_be_loaded_is_named_in_one_line() {
    let into = tempfile::tempdir().unwrap();
    let jazzy = installation("7.3.2");
    let text = into.path().join("text.so");
    std::fs::write(&text, "no library").unwrap();
    let another = libc();
    for library in [text, another] {
        let output = Command::new(script("install_rmw.sh"))
            .arg(into.path())
            .env("FEROS_RMW_LIBRARY", &library)
            .env("AMENT_PREFIX_PATH", jazzy.path())
            .output()
            .unwrap();
        assert!(!output.status.success(), "{}", said(&output));
        let says = format!(
            "install_rmw: error: {} is not a librmw_feros.so that can be loaded: ",
            library.display()
        );
        assert!(said(&output).starts_with(&says), "{}", said(&output));
        assert_eq!(said(&output).lines().count(), 1, "{}", said(&output));
    }
}

/// A folder with the content of the wheel, as pip would install it.
struct Wheel {
    folder: tempfile::TempDir,
}

impl Wheel {
    fn build() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new(script("build_rmw_wheel.sh"))
            .arg(folder.path())
            .env("FEROS_RMW_LIBRARY", library())
            .output()
            .expect("the script runs");
        assert!(output.status.success(), "{}", said(&output));
        let file = said(&output).trim().to_owned();
        let unpack = r#"
import pathlib, sys, zipfile
wheel, folder = sys.argv[1:]
zipfile.ZipFile(wheel).extractall(folder)
[data] = pathlib.Path(folder).glob("*.data/data")
(data / "lib").rename(pathlib.Path(folder) / "lib")
"#;
        let mut command = Command::new("python3");
        command.args(["-c", unpack, &file]).arg(folder.path());
        let output = command.output().expect("Python runs");
        assert!(output.status.success(), "{}", said(&output));
        Self { folder }
    }

    /// A script that loads the library as the wheel's `.pth` file does, with `prefix` as the
    /// environment of Python.
    fn script(&self, prefix: &Path) -> String {
        format!(
            "import sys\nsys.path.insert(0, {:?})\nbefore, sys.prefix = sys.prefix, {prefix:?}\n\
             import _feros_rmw\n_feros_rmw.load()\nsys.prefix = before\n",
            self.folder.path()
        )
    }
}

#[test]
fn a_wheel_serves_the_wheels_of_ros_2() {
    let Some(domain) = Domain::reserve() else { return };
    let wheel = Wheel::build();
    let script = wheel.script(wheel.folder.path())
        + r#"
import os
os.environ["RMW_IMPLEMENTATION"] = "rmw_feros"
import rclpy
rclpy.init()
node = rclpy.create_node("n")
assert rclpy.get_rmw_implementation_identifier() == "rmw_feros"
node.destroy_node()
rclpy.shutdown()
print("ok")
"#;
    run_python(&domain, &script, false);
}

#[test]
fn a_wheel_beside_another_ros_2_says_so_when_it_is_loaded() {
    let wheel = Wheel::build();
    let says = "is of ROS 2 humble, with rmw 6.1.2";
    for (version, warns) in [("6.1.2", true), ("7.3.2", false), ("7.8.2", false)] {
        let prefix = installation(version);
        std::fs::create_dir(prefix.path().join("lib")).unwrap();
        std::fs::copy(library(), prefix.path().join("lib/librmw_feros.so")).unwrap();
        let output =
            Command::new("python3").args(["-c", &wheel.script(prefix.path())]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(said(&output).contains(says), warns, "{version}: {}", said(&output));
        assert_eq!(said(&output).is_empty(), !warns, "{version}: {}", said(&output));
    }
}

/// A virtual environment of Python with this wheel, and with the manifest of a rmw. Python reads
/// the `.pth` files of such an environment twice.
fn environment_with(wheel: &Wheel, version: &str) -> tempfile::TempDir {
    let environment = installation(version);
    let mut command = Command::new("python3");
    command.args(["-m", "venv", "--without-pip"]).arg(environment.path());
    let output = command.output().expect("Python runs");
    assert!(output.status.success(), "{}", said(&output));
    let packages = environment.path().join("lib").read_dir().unwrap();
    let mut packages = packages.map(|entry| entry.unwrap().path().join("site-packages"));
    let packages = packages.find(|folder| folder.is_dir()).expect("lib/python3.N/site-packages");
    for file in ["_feros_rmw.py", "feros_rmw.pth"] {
        std::fs::copy(wheel.folder.path().join(file), packages.join(file)).unwrap();
    }
    std::fs::copy(library(), environment.path().join("lib/librmw_feros.so")).unwrap();
    environment
}

#[test]
fn an_environment_with_the_wheel_says_once_that_it_is_of_another_ros_2() {
    let wheel = Wheel::build();
    let environment = environment_with(&wheel, "6.1.2");
    let start = |rmw: &str| {
        let mut command = Command::new(environment.path().join("bin/python"));
        command.args(["-c", "print('began')"]).env("RMW_IMPLEMENTATION", rmw);
        let output = command.env_remove("PYTHONPATH").output().expect("Python runs");
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    let text = start("rmw_feros");
    assert_eq!(text.matches("is of ROS 2 humble, with rmw 6.1.2").count(), 1, "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert_eq!(start("rmw_fastrtps_cpp"), "began\n");
    std::fs::remove_file(environment.path().join("lib/librmw_feros.so")).unwrap();
    let text = start("rmw_feros");
    assert_eq!(text.matches("cannot be loaded").count(), 1, "{text}");
}
