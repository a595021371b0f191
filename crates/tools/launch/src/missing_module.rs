//! Says which module of Python a program lacks, and where it can be had.

use std::path::Path;

use crate::missing_package::cure;
use crate::packages::Packages;
use crate::python_program::PythonProgram;

/// Modules that are no packages of ROS, and the names under which pip has them.
const OF_PIP: [(&str, &str); 26] = [
    ("PIL", "pillow"),
    ("RPi", "RPi.GPIO"),
    ("can", "python-can"),
    ("cv2", "opencv-python"),
    ("flask", "flask"),
    ("matplotlib", "matplotlib"),
    ("networkx", "networkx"),
    ("numpy", "numpy"),
    ("open3d", "open3d"),
    ("pandas", "pandas"),
    ("psutil", "psutil"),
    ("pydantic", "pydantic"),
    ("pymodbus", "pymodbus"),
    ("requests", "requests"),
    ("scipy", "scipy"),
    ("serial", "pyserial"),
    ("shapely", "shapely"),
    ("sklearn", "scikit-learn"),
    ("smbus2", "smbus2"),
    ("torch", "torch"),
    ("transforms3d", "transforms3d"),
    ("trimesh", "trimesh"),
    ("websockets", "websockets"),
    ("xacro", "xacro"),
    ("yaml", "pyyaml"),
    ("zmq", "pyzmq"),
];

/// The beginning of the last line of a traceback about a module that is missing.
const NO_MODULE: &str = "ModuleNotFoundError: No module named '";

/// The module that Python does not find, if a text has such a line or quotes it.
pub(crate) fn missing_module_within(text: &str) -> Option<&str> {
    text.find(NO_MODULE).and_then(|begin| missing_module(&text[begin..]))
}

/// The module that Python does not find, if a line says so. Returns `None` for a module within a
/// package, because Python has found the package, and for a line that already says what to do.
pub(crate) fn missing_module(line: &str) -> Option<&str> {
    let (module, rest) = line.strip_prefix(NO_MODULE)?.split_once('\'')?;
    let is_name = |c: char| c == '_' || c.is_alphanumeric();
    let is_known = rest.starts_with(" (run `");
    (!is_known && !module.is_empty() && module.chars().all(is_name)).then_some(module)
}

/// What to do about a module that Python does not find. Packages of ROS have modules of the same
/// name.
pub(crate) fn cure_of_module(module: &str, here: &Path, prefix: Option<&Path>) -> String {
    if let Some(prefix) = prefix {
        return format!(
            "the package {module} is in {}, which has no module of it for this Python: use the \
             Python for which it was built, or build it with feros build or colcon for this one",
            feros_wording::harmless(&prefix.display().to_string())
        );
    }
    if let Some((_, name)) = OF_PIP.iter().find(|(of_pip, _)| *of_pip == module) {
        return format!("install it for this Python: pip install {name}");
    }
    let cure = cure(module, here, &[]);
    format!("{cure}; if it is no package of ROS, install it with pip for this Python")
}

/// Says which module of Python a program lacks and what to do, if `error` is the last line of the
/// traceback with which the program has ended. `program` is its file, if that was started itself,
/// and `wheel_has` returns whether Feros's wheel has a module.
pub fn told_of_error(
    error: &str,
    program: Option<&Path>,
    wheel_has: fn(&str) -> bool,
) -> Option<String> {
    missing_module(error).map(|module| told(module, program, Some(wheel_has)))
}

/// The same for a module that is known to be missing.
pub(crate) fn told(
    module: &str,
    program: Option<&Path>,
    wheel_has: Option<fn(&str) -> bool>,
) -> String {
    let packages = Packages::from_env();
    let prefix = packages.prefix(module).ok();
    let is_in_wheel = prefix.is_none() && wheel_has.is_some_and(|has| has(module));
    let cure = match is_in_wheel {
        true => cure_of_wheel(program.and_then(PythonProgram::read).as_ref()),
        false => cure_of_module(module, Path::new("."), prefix),
    };
    format!("Python has no module {module}: {cure}")
}

/// What to do about a Python that lacks Feros's wheel.
fn cure_of_wheel(program: Option<&PythonProgram>) -> String {
    let Some(program) = program else {
        return "this Python lacks Feros's wheel: install the wheel there with pip, or use the \
                Python that has it"
            .to_owned();
    };
    let python = feros_wording::harmless(&program.python);
    let file = program.file.display().to_string();
    let file = feros_wording::harmless(&file);
    let or = match program.has_path() {
        true => {
            "build the package with feros build, or with a colcon in the environment that has it"
        }
        false => "activate the environment that has it",
    };
    format!(
        "the Python {python}, which the first line of {file} names, lacks Feros's wheel: install \
         the wheel there with pip, or {or}"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_module_is_built_or_installed() {
        let root = tempfile::tempdir().unwrap();
        let source = root.path().join("src/b");
        std::fs::create_dir_all(&source).unwrap();
        let manifest = "<package><name>nav2_bringup</name></package>";
        std::fs::write(source.join("package.xml"), manifest).unwrap();
        let told = cure_of_module("nav2_bringup", root.path(), None);
        assert!(told.contains("src/b: build it with feros build"), "{told}");
        let told = cure_of_module("nav2_common", root.path(), None);
        assert!(told.contains("apt install ros-DISTRO-nav2-common"), "{told}");
        assert!(told.ends_with("install it with pip for this Python"), "{told}");
        let told = cure_of_module("cv2", root.path(), None);
        assert_eq!(told, "install it for this Python: pip install opencv-python");
        let told = cure_of_module("nav2_common", root.path(), Some(Path::new("/opt/ros/x")));
        assert!(told.starts_with("the package nav2_common is in /opt/ros/x"), "{told}");
    }

    #[test]
    fn a_python_without_the_wheel_is_named() {
        let has = |module: &str| module == "rclpy";
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("talker");
        let of = "ModuleNotFoundError: No module named 'rclpy'";
        let told = |first: &str| {
            std::fs::write(&file, format!("{first}\n")).unwrap();
            told_of_error(of, Some(&file), has).unwrap()
        };
        let named = format!(", which the first line of {} names, lacks", file.display());
        let text = told("#!/opt/colcon/bin/python");
        assert!(text.starts_with("Python has no module rclpy: the Python /opt/colcon/"), "{text}");
        assert!(text.contains(&named) && text.contains("or build the package"), "{text}");
        let text = told("#!/usr/bin/env python3");
        assert!(text.contains(&format!("the Python python3{named}")), "{text}");
        assert!(text.ends_with("or activate the environment that has it"), "{text}");
        for text in [told("#!/bin/sh"), told_of_error(of, None, has).unwrap()] {
            assert!(text.contains(": this Python lacks Feros's wheel: install"), "{text}");
        }
        let other = told_of_error(&of.replace("rclpy", "cv2"), Some(&file), has).unwrap();
        assert!(other.ends_with("pip install opencv-python"), "{other}");
        assert_eq!(told_of_error("ValueError: rclpy", Some(&file), has), None);
    }

    #[test]
    fn only_a_module_that_is_no_part_of_another_is_missing() {
        let of = |name: &str| format!("ModuleNotFoundError: No module named '{name}'");
        assert_eq!(missing_module(&of("nav2_common")), Some("nav2_common"));
        assert_eq!(missing_module(&(of("yaml") + "; 'a' is not a package")), Some("yaml"));
        for line in [
            of("yaml") + " (run `pip install pyyaml`)",
            of("launch.absent"),
            of(""),
            of("a\u{1b}[2J"),
            " ".to_owned() + &of("a"),
        ] {
            assert_eq!(missing_module(&line), None, "{line}");
        }
        assert_eq!(missing_module("ModuleNotFoundError: No module named 'a"), None);
        let quoted = format!("it failed: {} (/a.py, line 3)", of("cv_parts"));
        assert_eq!(missing_module_within(&quoted), Some("cv_parts"));
        assert_eq!(missing_module_within("it failed"), None);
    }
}
