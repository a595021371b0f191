//! The kit with stock rclcpp, which compiles the test programs.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use feros_interop::{distribution, kit_of_cpp, prefix_of_ros2};
use feros_sync::Mutex;
use feros_test_support::skip;

use crate::Rmw;

/// Only one program is compiled at a time, because a compiler takes a gigabyte of memory.
static COMPILING: Mutex<()> = Mutex::new(());

/// The folder that `FEROS_STOCK` names, and the Python environment with ROS 2 that belongs to it.
#[derive(Debug, Clone)]
pub struct Kit {
    folder: PathBuf,
    environment: PathBuf,
    programs: PathBuf,
}

impl Kit {
    /// Finds the kit. Returns `None`, and reports the skip, if there is no kit. `programs` is the
    /// folder for compiled programs.
    ///
    /// # Panics
    /// If there is a kit, but stock ROS 2 is not installed.
    pub fn find(programs: impl Into<PathBuf>) -> Option<Self> {
        let folder = kit_of_cpp()?;
        let environment = prefix_of_ros2()?;
        Some(Self { folder, environment, programs: programs.into() })
    }

    /// The stock rmw, and the rmw of Feros if its library exists. The library is in the folder that
    /// `FEROS_RMW_DIR` names or, by default, in the folder into which cargo puts it.
    pub fn rmws(&self) -> Vec<Rmw> {
        let mut all = vec![Rmw::Stock];
        match feros_library_folder() {
            Some(folder) => all.push(Rmw::Feros { folder }),
            None => skip(
                "on rmw_feros: there is no librmw_feros.so; build it (`cargo build -p \
                 feros-rmw`) or name its folder in FEROS_RMW_DIR",
            ),
        }
        all
    }

    /// Compiles `programs/NAME.cpp`, unless it is already compiled and has not changed.
    ///
    /// # Panics
    /// If the program does not compile.
    pub fn compile(&self, name: &str, arguments: &[&str]) -> PathBuf {
        let _one_at_a_time = COMPILING.lock();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        let source = folder.join(format!("{name}.cpp"));
        let mut hasher = DefaultHasher::new();
        for file in [&source, &folder.join("support.hpp")] {
            std::fs::read(file).expect("a program lies beside this").hash(&mut hasher);
        }
        arguments.hash(&mut hasher);
        // A program of one distribution does not run with another one.
        distribution().name().hash(&mut hasher);
        let program = self.programs.join(format!("{name}_{:016x}", hasher.finish()));
        if program.is_file() {
            return program;
        }
        let unfinished = program.with_extension(std::process::id().to_string());
        let output = self
            .command("compile.sh")
            .args([&source, &unfinished])
            .args(arguments)
            .output()
            .expect("the kit has compile.sh");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} does not compile: {said}", source.display());
        std::fs::rename(unfinished, &program).expect("it was written there");
        program
    }

    /// The command of a component container of the kit.
    pub fn container(&self, name: &str) -> PathBuf {
        self.folder.join("rclcpp/bin").join(name)
    }

    /// The command of a script of the kit, with the environment as its first argument.
    pub(crate) fn command(&self, script: &str) -> Command {
        let mut command = Command::new(self.folder.join("rclcpp").join(script));
        command.arg(&self.environment);
        command
    }
}

/// The folder with `librmw_feros.so`.
fn feros_library_folder() -> Option<PathBuf> {
    const LIBRARY: &str = "librmw_feros.so";
    if let Some(folder) = std::env::var_os("FEROS_RMW_DIR").map(PathBuf::from) {
        assert!(
            folder.join(LIBRARY).is_file(),
            "FEROS_RMW_DIR={} has no {LIBRARY}",
            folder.display()
        );
        return Some(folder);
    }
    // The test programs are in target/PROFILE/deps.
    let test = std::env::current_exe().ok()?;
    let mut places = test.ancestors().skip(1).take(2);
    places.find(|folder| folder.join(LIBRARY).is_file()).map(Path::to_owned)
}
