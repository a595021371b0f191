//! What `feros build` says about packages that need no compiler.

use std::fs;

use crate::process::{Finished, Running};

/// A folder with packages.
struct Workspace(tempfile::TempDir);

impl Workspace {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a `package.xml` with these elements.
    fn package(&self, name: &str, build_type: &str, more: &str) {
        let export = format!("<export><build_type>{build_type}</build_type></export>");
        let text =
            format!("<package><name>{name}</name><version>1.0.0</version>{more}{export}</package>");
        self.write(&format!("src/{name}/package.xml"), &text);
    }

    fn build(&self) -> Finished {
        let folder = self.0.path();
        let run = Running::start_with(&["build", folder.to_str().unwrap()], |command| {
            command.env("XDG_CACHE_HOME", folder.join("cache")).current_dir(folder);
            command.env_remove("FEROS_PREFIX_PATH").env_remove("AMENT_PREFIX_PATH");
        });
        run.finish()
    }
}

#[test]
fn the_variable_is_told_only_if_there_is_something_to_use() {
    let workspace = Workspace::new();
    let write = |name: &str, text: &str| workspace.write(name, text);
    let build = || workspace.build();
    write("src/broken/package.xml", "<package><name>broken</name>");
    let ended = build();
    assert!(ended.out.is_empty(), "{ended:?}");
    let told = ended.failure(1);
    assert!(told.contains("broken") && !told.contains("export FEROS_PREFIX_PATH="), "{told}");

    workspace.package("files", "ament_cmake", "");
    let project = "project(files)\nfind_package(ament_cmake REQUIRED)\ninstall(DIRECTORY launch \
                   DESTINATION share/${PROJECT_NAME})\nament_package()\n";
    write("src/files/CMakeLists.txt", project);
    write("src/files/launch/a.launch.xml", "<launch/>");
    let ended = build();
    assert_eq!(ended.out, "files\n", "{ended:?}");
    let told = ended.failure(1);
    assert!(told.contains("use the packages with: export FEROS_PREFIX_PATH="), "{told}");
}

#[test]
fn a_package_that_starts_another_does_not_wait_for_it() {
    let workspace = Workspace::new();
    workspace.package("driver", "ament_cmake", "");
    workspace.write("src/driver/CMakeLists.txt", "project(driver)\nadd_executable(a a.cpp)\n");
    workspace.package("bringup", "", "<exec_depend>driver</exec_depend>");
    workspace.write("src/bringup/launch/a.launch.xml", "<launch/>");
    workspace.package("tuning", "", "<depend>driver</depend>");
    let ended = workspace.build();
    assert_eq!(ended.out, "bringup\n", "{ended:?}");
    let told = ended.failure(1);
    assert!(told.contains("CMakeLists.txt:2: `add_executable`"), "{told}");
    let needs = "it was built, but the packages that it needs at run time were not built: driver";
    assert!(told.contains(&format!("bringup: {needs}")), "{told}");
    assert!(told.contains("tuning: it depends on driver, which was not built"), "{told}");
}
