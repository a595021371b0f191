//! Makes a prefix that contains an example, laid out like an installed package.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{env, fs};

use feros_component::install::register;

/// An example: a program, a component library and launch files.
#[derive(Debug, Clone)]
pub struct Package {
    /// The name of the package and of its program.
    pub name: &'static str,
    /// The program.
    pub program: PathBuf,
    /// The component library.
    pub library: PathBuf,
    /// The folder of the launch files.
    pub launch: PathBuf,
}

impl Package {
    /// The example `name` in `folder`, as cargo built it together with this test or program.
    ///
    /// # Panics
    /// If the example has not been built.
    pub fn of_workspace(name: &'static str, folder: &Path) -> Self {
        let package = Self {
            name,
            program: built_beside().join(name),
            library: library(&format!("{name}_library")),
            launch: folder.join("launch"),
        };
        assert!(package.program.is_file(), "not built: {}", package.program.display());
        package
    }

    /// Lays the package out in a new prefix.
    pub(crate) fn install(&self) -> tempfile::TempDir {
        let prefix = tempfile::tempdir().expect("temporary folders can be made");
        let place = |path: &str, target: &Path| {
            let link = prefix.path().join(path);
            fs::create_dir_all(link.parent().expect("it lies in the prefix"))
                .expect("folders can be made");
            symlink(target, link).expect("links can be made");
        };
        place(&format!("lib/{0}/{0}", self.name), &self.program);
        place(&format!("share/{}/launch", self.name), &self.launch);
        register(&self.library, self.name, prefix.path()).unwrap_or_else(|error| {
            panic!("{} is not registered: {error}", self.library.display())
        });
        prefix
    }
}

/// The path of the command `feros`.
pub(crate) fn feros() -> PathBuf {
    let folder = built_beside();
    for name in ["feros", "component_container", "component_container_process"] {
        let path = folder.join(name);
        assert!(
            path.is_file(),
            "there is no {}: cargo build -p feros-cli -p feros-container, or test the whole workspace",
            path.display()
        );
    }
    folder.join("feros")
}

/// The folder where cargo puts programs: the folder of this program or, for a test, the parent
/// folder.
fn built_beside() -> PathBuf {
    let program = env::current_exe().expect("a process knows its program");
    let folder = program.parent().expect("a program lies in a folder");
    if folder.ends_with("deps") {
        folder.parent().expect("deps has a parent").to_owned()
    } else {
        folder.to_owned()
    }
}

fn library(crate_name: &str) -> PathBuf {
    let name = format!("{DLL_PREFIX}{crate_name}{DLL_SUFFIX}");
    let folder = built_beside();
    // Cargo puts a dependency into deps; a copy elsewhere may be older.
    let path = folder.join("deps").join(&name);
    if path.is_file() { path } else { folder.join(name) }
}
