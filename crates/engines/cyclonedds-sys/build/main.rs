//! Builds Cyclone DDS as a static library: copies the source from the crate `cyclonedds-src`,
//! applies the patches in `patches`, adds the files of `engine`, runs CMake, and compiles our shim
//! with the library's headers.
//!
//! Crates that depend on this crate find the installed headers and the library as
//! `DEP_FEROS_DDSC_INCLUDE` and `DEP_FEROS_DDSC_LIB` in their build scripts. The shim's own header
//! directory is `DEP_FEROS_DDSC_SHIM`.

mod cache;
mod patch;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};
use std::{env, fs, io};

use patch::Change;

/// The parts of the source tree that the library needs. Other parts, such as documents, examples
/// and tests, are not copied.
const NEEDED: &[&str] = &[
    "CMakeLists.txt",
    "CMakeCPack.cmake",
    "PackageConfig.cmake.in",
    "PkgConfig.pc.in",
    "LICENSE",
    "cmake",
    "compat",
    "src/CMakeLists.txt",
    "src/core",
    "src/ddsrt",
    "src/psmx_iox",
    "src/security",
    "src/tools",
];

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=engine");
    println!("cargo::rerun-if-changed=shim");
    if let Err(message) = run() {
        for line in message.lines() {
            println!("cargo::error={line}");
        }
        exit(1);
    }
}

fn run() -> Result<(), String> {
    require_tools()?;
    let out =
        PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: run this through cargo")?);
    let source = out.join("source");
    copy_source(&cyclonedds_src::source_dir(), &source)?;
    add_own_files(&source.join("src/core/ddsi/src"))?;
    let installed = cache::installed(&source, OFF, || build_library(&source)).map_err(|error| {
        format!("The cache of finished builds (FEROS_CYCLONEDDS_CACHE) cannot be used: {error}")
    })?;
    let (include, lib) = (installed.join("include"), installed.join("lib"));
    if !lib.join("libddsc.a").is_file() {
        return Err(format!("CMake ended without making {}/libddsc.a", lib.display()));
    }
    build_shim(&include)?;
    println!("cargo::metadata=include={}", include.display());
    println!("cargo::metadata=lib={}", lib.display());
    println!(
        "cargo::metadata=shim={}",
        Path::new(env!("CARGO_MANIFEST_DIR")).join("shim").display()
    );
    println!("cargo::rustc-link-search=native={}", lib.display());
    println!("cargo::rustc-link-lib=static=ddsc");
    let target_os = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let system_libraries: &[&str] = match target_os.as_str() {
        "linux" => &["pthread", "dl", "rt", "m"],
        _ => &["pthread", "m"],
    };
    for library in system_libraries {
        println!("cargo::rustc-link-lib={library}");
    }
    Ok(())
}

/// Fails with a sentence that says which tool is missing and how to get it. Without this check,
/// CMake would fail with a less clear message.
fn require_tools() -> Result<(), String> {
    let cmake = env::var("CMAKE").unwrap_or_else(|_| "cmake".into());
    if !runs(&cmake) {
        return Err(format!(
            "Cyclone DDS is built with CMake, but `{cmake}` does not run.\n\
             Cure: install CMake 3.16 or newer (Debian, Ubuntu: `apt-get install cmake`), or name it in the variable CMAKE."
        ));
    }
    let compiler = cc::Build::new().try_get_compiler().map_err(|error| {
        format!("No C compiler found: {error}\nCure: install one (Debian, Ubuntu: `apt-get install build-essential`).")
    })?;
    if !runs(&compiler.path().to_string_lossy()) {
        return Err(format!(
            "Cyclone DDS is written in C, but the C compiler `{}` does not run.\n\
             Cure: install one (Debian, Ubuntu: `apt-get install build-essential`), or name it in the variable CC.",
            compiler.path().display()
        ));
    }
    if cfg!(unix) && env::var_os("CMAKE_GENERATOR").is_none() && !runs("make") {
        return Err("CMake needs `make` to build Cyclone DDS, but it does not run.\n\
             Cure: install it (Debian, Ubuntu: `apt-get install make`), or set CMAKE_GENERATOR=Ninja if Ninja is installed."
            .into());
    }
    Ok(())
}

fn runs(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

fn copy_source(from: &Path, to: &Path) -> Result<(), String> {
    let mut changes = patch::changes();
    for part in NEEDED {
        copy(&from.join(part), &to.join(part), Path::new(part), &mut changes)?;
    }
    changes.first().map_or(Ok(()), |change| {
        Err(format!("The Cyclone DDS source has no file {}, which Feros changes.", change.file))
    })
}

/// Adds our own files to the library, because the patched library calls them.
fn add_own_files(to: &Path) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("engine");
    let say = |error: io::Error| format!("Copying {} failed: {error}", folder.display());
    for entry in fs::read_dir(&folder).map_err(say)? {
        let name = entry.map_err(say)?.file_name();
        let content = fs::read(folder.join(&name)).map_err(say)?;
        write_if_changed(&to.join(&name), &content).map_err(say)?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path, relative: &Path, changes: &mut Vec<Change>) -> Result<(), String> {
    let say = |error: io::Error| format!("Copying {} failed: {error}", from.display());
    if from.is_dir() {
        // The upstream test folders are half of the tree, and they are not built, so this script
        // replaces them with stubs.
        if relative.file_name().is_some_and(|name| name == "tests" || name == "xtests") {
            return stub_tests(to).map_err(say);
        }
        for entry in fs::read_dir(from).map_err(say)? {
            let name = entry.map_err(say)?.file_name();
            copy(&from.join(&name), &to.join(&name), &relative.join(&name), changes)?;
        }
        return Ok(());
    }
    let original = fs::read(from).map_err(say)?;
    let content = patch::apply(changes, relative, original)?;
    write_if_changed(to, &content).map_err(say)
}

fn stub_tests(to: &Path) -> io::Result<()> {
    write_if_changed(&to.join("CMakeLists.txt"), b"# left out: tests are not built\n")
}

/// Writes a file only if its content changes. Unchanged files keep their time stamps, so that
/// another run of this script does not cause everything to be compiled again.
fn write_if_changed(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|existing| existing == content) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, content)
}

/// The CMake options that exclude parts of the library.
const OFF: &[&str] = &[
    "BUILD_SHARED_LIBS",
    "BUILD_IDLC",
    "BUILD_DDSPERF",
    "BUILD_TESTING",
    "BUILD_EXAMPLES",
    "ENABLE_SECURITY",
    "ENABLE_SSL",
    "ENABLE_TCP_TLS",
    "ENABLE_ICEORYX",
    "ENABLE_ICEORYX2",
    "ENABLE_LTO",
    "ENABLE_TYPELIB",
    "ENABLE_TYPE_DISCOVERY",
    "ENABLE_TOPIC_DISCOVERY",
    "ENABLE_QOS_PROVIDER",
];

fn build_library(source: &Path) -> PathBuf {
    let mut config = cmake::Config::new(source);
    config.profile("Release").pic(true).define("CMAKE_INSTALL_LIBDIR", "lib");
    for option in OFF {
        config.define(option, "OFF");
    }
    config.build()
}

fn build_shim(include: &Path) -> Result<(), String> {
    cc::Build::new()
        .files([
            "shim/pool.c",
            "shim/sample.c",
            "shim/inline_qos.c",
            "shim/interfaces.c",
            "shim/layout.c",
        ])
        .include(include)
        // The library is built with this macro, and the layouts in the installed headers depend on
        // it.
        .define("NDEBUG", None)
        .std("gnu11")
        .warnings(true)
        .extra_warnings(true)
        .opt_level(2)
        .try_compile("feros_shim")
        .map_err(|error| format!("Compiling the shim failed: {error}"))
}
