//! Packages of messages that no wheel contains, built for stock nodes with the generators of the
//! wheels.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use feros_sync::Mutex;

use crate::distribution::{distribution, environment_of_nodes};
use crate::domain::python_with_ros2;

/// The tests of a process build a package only once: while one test builds it, others wait.
static BUILDING: Mutex<()> = Mutex::new(());

/// A package that stock nodes can use in addition to the packages of the wheels.
#[derive(Debug, Clone)]
pub struct Package {
    folder: PathBuf,
}

impl Package {
    /// Returns the package with the messages of `peers/idl/`, which is built if it does not exist.
    /// The package is in a folder that cargo provides for tests.
    ///
    /// # Panics
    /// If the package cannot be built; the message has the output of the generators or the
    /// compiler.
    pub fn built(name: &str, tests_folder: &Path) -> Self {
        let _one_at_a_time = BUILDING.lock();
        // The libraries of one distribution do not serve another one.
        let built = format!("stock_{}_{name}", distribution().name());
        let folder = tests_folder.join(&built);
        if folder.is_dir() {
            return Self { folder };
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let building = tests_folder.join(format!("{built}_{}", std::process::id()));
        let output = Command::new(python_with_ros2())
            .arg(root.join("peers/build_package.py"))
            .arg(name)
            .arg(&building)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            // The generators find their templates through the prefix of the environment.
            .env("AMENT_PREFIX_PATH", environment_of_nodes())
            .output()
            .expect("Python is there: the domain was reserved");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} was not built for stock peers: {said}");
        // Another test process may have built the package first; then that package is used.
        if std::fs::rename(&building, &folder).is_err() {
            let _ = std::fs::remove_dir_all(&building);
        }
        Self { folder }
    }

    /// The folder with the package's libraries.
    #[must_use]
    pub fn libraries(&self) -> PathBuf {
        self.folder.join("lib")
    }

    /// Makes a stock node find the package.
    pub(crate) fn add_to(&self, peer: &mut Command) {
        for (variable, folder) in [("LD_LIBRARY_PATH", "lib"), ("PYTHONPATH", "python")] {
            let mut value = OsString::from(self.folder.join(folder));
            if let Some(before) = std::env::var_os(variable) {
                value.push(":");
                value.push(before);
            }
            peer.env(variable, value);
        }
    }
}
