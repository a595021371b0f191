//! Containers of this build can load the library.

use std::path::PathBuf;

use feros_component::library::Library;

#[test]
fn containers_of_this_build_can_load_both_components() {
    let test = std::env::current_exe().expect("a test has a path");
    let folder: PathBuf = test.parent().expect("it lies in deps").to_owned();
    let library = Library::read(&folder.join("libferos_containers_library.so"))
        .expect("it is a component library");
    for plugin in ["feros_containers::Listener", "feros_containers::Talker"] {
        library.check(plugin).unwrap_or_else(|error| panic!("{plugin}: {error}"));
    }
}
