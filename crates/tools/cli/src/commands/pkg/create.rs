//! `feros pkg create`: creates a package in Rust or Python, or one of interfaces, launch files and
//! settings.
//!
//! `ros2 pkg create` also makes packages in C++. Packages of this command are packages for colcon,
//! and `feros build` builds them without it.

mod files;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use feros_interface::is_package_name;

use self::files::{Description, Kind, files};
use crate::error::CliError;
use crate::{notices, output};

/// Create a package: a node in Rust or Python, or interfaces, launch files and settings
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros pkg create my_robot --node-name driver --license Apache-2.0\n  feros pkg create my_robot \
                        --library-name camera --feros-path ~/feros\n  feros pkg create my_robot_msgs --own-interfaces --dependencies \
                        std_msgs\n  feros pkg create my_gui --build-type ament_python --launch --config --tests\n  feros pkg create \
                        my_bringup --build-type ament_cmake --launch --config"
)]
pub(crate) struct Args {
    /// Name of the package
    #[arg(value_name = "PACKAGE", value_parser = package_name)]
    package_name: String,
    /// Format of package.xml
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=3))]
    package_format: u8,
    /// Purpose of the package
    #[arg(long, value_name = "TEXT", default_value = "TODO: Package description")]
    description: String,
    /// License, such as Apache-2.0
    #[arg(long, value_name = "LICENSE")]
    license: Option<String>,
    /// Folder in which to create the package's folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    destination_directory: PathBuf,
    /// Build tool of the package; ament_cargo by default
    #[arg(long, value_name = "TYPE")]
    build_type: Option<BuildType>,
    /// Packages that the new package depends on, for package.xml
    #[arg(long, value_name = "PACKAGE", num_args = 1..)]
    dependencies: Vec<String>,
    /// E-mail address of the maintainer; by default, git's user.email
    #[arg(long, value_name = "ADDRESS")]
    maintainer_email: Option<String>,
    /// Name of the maintainer; by default, the name in $USER
    #[arg(long, value_name = "NAME")]
    maintainer_name: Option<String>,
    /// Name of the node; by default, the name of the package
    #[arg(long, value_name = "NAME", value_parser = package_name)]
    node_name: Option<String>,
    /// Name of an additional component, for containers
    #[arg(long, value_name = "NAME", value_parser = package_name)]
    library_name: Option<String>,
    /// Make a package of interfaces, with an example of each kind
    #[arg(long)]
    own_interfaces: bool,
    /// Add a launch file
    #[arg(long)]
    launch: bool,
    /// Add a file with parameters
    #[arg(long)]
    config: bool,
    /// Add a test of the node
    #[arg(long)]
    tests: bool,
    /// Folder of Feros's sources, to build the package with them instead of a release
    #[arg(long, value_name = "DIR")]
    feros_path: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum BuildType {
    /// Rust
    AmentCargo,
    /// Python
    AmentPython,
    /// Only interfaces, launch files and settings
    AmentCmake,
    /// Not supported here
    #[value(hide = true)]
    Cmake,
}

fn package_name(text: &str) -> Result<String, String> {
    if is_package_name(text) {
        Ok(text.to_owned())
    } else {
        Err("a name consists of lower-case letters, digits and single underscores, and begins \
             with a letter"
            .into())
    }
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let kind = kind(args)?;
    if args.node_name.is_some() && args.node_name == args.library_name {
        return Err(CliError::usage(
            "--node-name and --library-name are the same: give the node another name",
        ));
    }
    let folder = args.destination_directory.join(&args.package_name);
    if folder.exists() {
        return Err(CliError::failed(format!(
            "{} already exists: remove it, or choose another name or --destination-directory",
            folder.display()
        )));
    }
    let feros_path = args.feros_path.as_deref().map(sources).transpose()?;
    let description = describe(args, kind, feros_path);
    for (name, text) in files(&description) {
        write(&folder.join(name), &text)?;
    }
    output::print(&format!("{}\n", folder.display()))?;
    if args.license.is_none() {
        notices::warn(format!("the package has no license yet: name one in {}", manifests(kind)));
    }
    explain(&description);
    Ok(())
}

/// The files of such a package that name its license.
fn manifests(kind: Kind) -> &'static str {
    match kind {
        Kind::Cargo => "package.xml and Cargo.toml",
        Kind::Python => "package.xml and setup.py",
        Kind::Cmake => "package.xml",
    }
}

/// The kind of the package that the options describe.
fn kind(args: &Args) -> Result<Kind, CliError> {
    let has_nodes = args.node_name.is_some() || args.library_name.is_some();
    let is_for_rust = args.library_name.is_some() || args.feros_path.is_some();
    match args.build_type {
        Some(BuildType::Cmake) => Err(CliError::usage(
            "feros creates no packages for CMake alone; `ros2 pkg create` does",
        )),
        Some(BuildType::AmentCargo | BuildType::AmentPython) if args.own_interfaces => {
            Err(CliError::usage(
                "--own-interfaces makes a package of its own (--build-type ament_cmake): the nodes in \
                 another package depend on it",
            ))
        }
        Some(BuildType::AmentPython) if is_for_rust => Err(CliError::usage(
            "--library-name and --feros-path are for packages in Rust (--build-type ament_cargo)",
        )),
        Some(BuildType::AmentPython) => Ok(Kind::Python),
        Some(BuildType::AmentCmake) | None if args.own_interfaces || args.build_type.is_some() => {
            if has_nodes || args.feros_path.is_some() || args.tests {
                return Err(CliError::usage(
                    "a package of interfaces, launch files and settings has no node: leave out \
                     --node-name, --library-name, --feros-path and --tests",
                ));
            }
            if !(args.own_interfaces || args.launch || args.config) {
                return Err(CliError::usage(
                    "name the contents of the package with --own-interfaces, --launch or --config; \
                     `ros2 pkg create` creates packages in C++",
                ));
            }
            Ok(Kind::Cmake)
        }
        _ => Ok(Kind::Cargo),
    }
}

/// Says what to do with the package.
fn explain(description: &Description) {
    let node = &description.node;
    match description.kind {
        Kind::Cargo => notices::note(format!(
            "build the package with `cargo build`, and start its node with `cargo run --bin \
             {node}`; the node is in src/{node}.rs"
        )),
        Kind::Python => {
            notices::note(format!("the node is in {}/{node}.py", description.package));
        }
        Kind::Cmake => {}
    }
    if description.library.is_some() {
        notices::note(
            "the component is in src/lib.rs: `feros component build` in the package's folder installs it for containers",
        );
    }
    notices::note(
        "`feros build` installs the package, and others beside it, for `feros run` and `feros launch`",
    );
}

/// The absolute path of Feros's sources.
fn sources(path: &Path) -> Result<PathBuf, CliError> {
    let manifest = path.join("crates/client/feros/Cargo.toml");
    let found = path.canonicalize().ok().filter(|_| manifest.is_file());
    found.ok_or_else(|| {
        CliError::usage(format!(
            "--feros-path {}: there is no {}, so this folder does not hold the sources of Feros",
            path.display(),
            manifest.display()
        ))
    })
}

fn describe(args: &Args, kind: Kind, feros_path: Option<PathBuf>) -> Description {
    let user = || std::env::var("USER").ok().filter(|name| !name.is_empty());
    let name = args.maintainer_name.clone().or_else(user).unwrap_or_else(|| "user".to_owned());
    let email = args.maintainer_email.clone().or_else(email_of_git);
    Description {
        package: args.package_name.clone(),
        format: args.package_format,
        text: args.description.clone(),
        license: args.license.clone(),
        dependencies: args.dependencies.clone(),
        email: email.unwrap_or_else(|| format!("{name}@todo.todo")),
        maintainer: name,
        node: args.node_name.clone().unwrap_or_else(|| args.package_name.clone()),
        library: args.library_name.clone(),
        feros_path,
        kind,
        has_interfaces: args.own_interfaces,
        has_launch: args.launch,
        has_config: args.config,
        has_tests: args.tests,
    }
}

fn email_of_git() -> Option<String> {
    let asked = std::process::Command::new("git").args(["config", "user.email"]).output().ok()?;
    let email = String::from_utf8(asked.stdout).ok()?.trim().to_owned();
    (!email.is_empty()).then_some(email)
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder
        .and_then(|()| std::fs::write(path, text))
        .map_err(|error| CliError::failed(format!("{} cannot be written: {error}", path.display())))
}
