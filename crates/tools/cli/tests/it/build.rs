//! What `feros build` says about packages that need no compiler.

use std::fs;

use crate::process::Running;

#[test]
fn the_variable_is_told_only_if_there_is_something_to_use() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let build = || {
        let base = folder.path().to_str().unwrap();
        let run = Running::start_with(&["build", base], |command| {
            command.env("XDG_CACHE_HOME", folder.path().join("cache")).current_dir(folder.path());
            command.env_remove("FEROS_PREFIX_PATH").env_remove("AMENT_PREFIX_PATH");
        });
        run.finish()
    };
    write("src/broken/package.xml", "<package><name>broken</name>");
    let ended = build();
    assert!(ended.out.is_empty(), "{ended:?}");
    let told = ended.failure(1);
    assert!(told.contains("broken") && !told.contains("export FEROS_PREFIX_PATH="), "{told}");

    let export = "<export><build_type>ament_cmake</build_type></export>";
    let package = format!("<package><name>files</name><version>1.0.0</version>{export}</package>");
    write("src/files/package.xml", &package);
    let project = "project(files)\nfind_package(ament_cmake REQUIRED)\ninstall(DIRECTORY launch \
                   DESTINATION share/${PROJECT_NAME})\nament_package()\n";
    write("src/files/CMakeLists.txt", project);
    write("src/files/launch/a.launch.xml", "<launch/>");
    let ended = build();
    assert_eq!(ended.out, "files\n", "{ended:?}");
    let told = ended.failure(1);
    assert!(told.contains("use the packages with: export FEROS_PREFIX_PATH="), "{told}");
}
