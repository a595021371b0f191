//! Compiles the shim to a shared library if the headers of Fast DDS 2 or 3 are installed. Without
//! the headers, the crate can still be built, and loading the shim reports what is missing.

use std::env;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: [&str; 2] = ["participant.cpp", "endpoint.cpp"];
/// The interface between the shim and this crate.
const HEADER: &str = "shim/feros_fastdds.h";

/// A major version of Fast DDS. Each version has its own library.
struct Version {
    major: u8,
    /// The header that defines the version, and the name of the macro in it.
    config: &'static str,
    defined: &'static str,
    /// The name of the library.
    library: &'static str,
}

impl Version {
    /// The name of the library's file.
    fn file(&self) -> String {
        format!("{DLL_PREFIX}{}{DLL_SUFFIX}", self.library)
    }
}

/// If a prefix contains both versions, the first version here is used.
const VERSIONS: [Version; 2] = [
    Version {
        major: 3,
        config: "fastdds/config.hpp",
        defined: "FASTDDS_VERSION_MAJOR",
        library: "fastdds",
    },
    Version {
        major: 2,
        config: "fastrtps/config.h",
        defined: "FASTRTPS_VERSION_MAJOR",
        library: "fastrtps",
    },
];

/// An installation of Fast DDS.
struct Installation {
    version: &'static Version,
    include: Vec<PathBuf>,
    library: PathBuf,
}

impl Installation {
    fn library_file(&self) -> PathBuf {
        self.library.join(self.version.file())
    }
}

/// The folders that may contain `include` and `lib` of Fast DDS. The first folder that contains
/// them is used.
fn prefixes() -> Vec<PathBuf> {
    let mut prefixes = Vec::new();
    for variable in ["FEROS_FASTDDS_PREFIX", "AMENT_PREFIX_PATH", "VIRTUAL_ENV"] {
        println!("cargo:rerun-if-env-changed={variable}");
        if let Some(value) = env::var_os(variable) {
            prefixes.extend(env::split_paths(&value));
        }
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../.venv");
    // scripts/setup.sh may create this folder after this build.
    println!("cargo:rerun-if-changed={}", workspace.join("include/fastdds").display());
    prefixes.push(workspace);
    prefixes.extend(["/usr/local", "/usr"].map(PathBuf::from));
    prefixes
}

/// Returns the installation of this version in a prefix, if there is one.
fn installation(prefix: &Path, version: &'static Version) -> Option<Installation> {
    // ROS 2 has one include folder for each package, and Debian has one for each architecture.
    let roots = [
        "include",
        "include/fastdds",
        "include/fastcdr",
        "include/foonathan_memory",
        "include/x86_64-linux-gnu",
        "include/aarch64-linux-gnu",
    ];
    let include: Vec<_> = roots.iter().map(|root| prefix.join(root)).collect();
    let config =
        include.iter().find_map(|root| std::fs::read_to_string(root.join(version.config)).ok())?;
    let major = version.major.to_string();
    let is_this =
        |line: &str| line.split_whitespace().eq(["#define", version.defined, major.as_str()]);
    if !config.lines().any(is_this) {
        return None;
    }
    let file = version.file();
    let folders = ["lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"];
    let library = folders.iter().map(|f| prefix.join(f)).find(|f| f.join(&file).is_file())?;
    let library = library.canonicalize().ok()?;
    Some(Installation { version, include, library })
}

/// Whether compilers search this folder by default. Passing such a folder to the compiler would
/// make the compiler search it too early.
fn is_standard(include: &Path) -> bool {
    let places = ["", "x86_64-linux-gnu", "aarch64-linux-gnu"];
    let roots = ["/usr/include", "/usr/local/include"].map(Path::new);
    roots.iter().any(|root| places.iter().any(|place| include == root.join(place)))
}

/// Returns the folders in which a wheel keeps the libraries that libfastdds.so needs.
fn wheel_libraries(installation: &Installation) -> Vec<PathBuf> {
    let folders = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    folders(&installation.library)
        .map(|python| python.path().join("site-packages/ros_fastdds.libs"))
        .filter(|libraries| libraries.is_dir())
        .collect()
}

/// The version of the interface, in hexadecimal: a checksum (FNV-1a) of the header, so that every
/// change of the header changes the version.
fn interface() -> String {
    let header = std::fs::read(HEADER).expect("the header is among the sources");
    let add = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    format!("{:08x}", header.iter().fold(0x811c_9dc5, add))
}

/// Compiles and links the shim, or returns the output of the compiler.
fn compile(installation: &Installation, interface: &str, shim: &Path) -> Result<(), String> {
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    let mut command = Command::new(&compiler);
    command.args(["-std=c++17", "-O2", "-g0", "-shared", "-fPIC", "-fvisibility=hidden"]);
    command.args(SOURCES.map(|source| format!("shim/{source}")));
    command.arg(format!("-DFEROS_FASTDDS_MAJOR={}", installation.version.major));
    command.arg(format!("-DFEROS_FASTDDS_INTERFACE=0x{interface}u"));
    for root in installation.include.iter().filter(|root| root.is_dir() && !is_standard(root)) {
        command.arg("-isystem").arg(root);
    }
    command.arg("-L").arg(&installation.library);
    command.args([&format!("-l{}", installation.version.library), "-lfastcdr"]);
    // An RPATH also applies to the libraries that Fast DDS itself needs. A RUNPATH does not.
    command.arg("-Wl,--disable-new-dtags");
    for folder in [installation.library.clone()].into_iter().chain(wheel_libraries(installation)) {
        command.arg(format!("-Wl,-rpath,{}", folder.display()));
    }
    command.arg("-o").arg(shim);
    let output = command.output().map_err(|error| format!("{compiler} does not start: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(said.chars().take(4000).collect()) }
}

fn main() {
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-env-changed=CXX");
    let interface = interface();
    println!("cargo:rustc-env=FEROS_FASTDDS_INTERFACE={interface}");
    let in_prefix =
        |prefix: &PathBuf| VERSIONS.iter().find_map(|version| installation(prefix, version));
    let Some(installation) = prefixes().iter().find_map(in_prefix) else { return };
    let Some(out) = env::var_os("OUT_DIR") else { return };
    let shim = Path::new(&out).join(format!("{DLL_PREFIX}feros_fastdds{DLL_SUFFIX}"));
    match compile(&installation, &interface, &shim) {
        Ok(()) => {
            println!("cargo:shim={}", shim.display());
            println!("cargo:rustc-env=FEROS_FASTDDS_SHIM_BUILT={}", shim.display());
            println!("cargo:rerun-if-changed={}", installation.library_file().display());
        }
        Err(said) => {
            let at = installation.library.display();
            println!("cargo:warning=the Fast DDS engine is not built against {at}:");
            said.lines().take(20).for_each(|line| println!("cargo:warning={line}"));
        }
    }
}
