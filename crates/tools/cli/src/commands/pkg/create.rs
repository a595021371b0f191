//! `feros pkg create`: creates a package with a node, and with a component if the user wants one.
//!
//! `ros2 pkg create` makes packages for CMake, Python and cargo; this command makes them only for
//! cargo, which builds packages of Feros. Their `package.xml` is for colcon and rosdep.

mod files;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use feros_interface::is_package_name;

use self::files::{Description, files};
use crate::error::CliError;
use crate::{notices, output};

/// Create a package with a node in Rust
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros pkg create my_robot --node-name driver --license Apache-2.0\n  feros pkg create my_robot \
                        --library-name camera --feros-path ~/feros"
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
    /// Build tool of the package
    #[arg(long, value_name = "TYPE", default_value = "ament_cargo")]
    build_type: BuildType,
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
    /// Folder of Feros's sources, to build the package with them instead of a release
    #[arg(long, value_name = "DIR")]
    feros_path: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum BuildType {
    /// Cargo, called by colcon-ros-cargo or by hand
    AmentCargo,
    /// Not supported here
    #[value(hide = true)]
    AmentCmake,
    /// Not supported here
    #[value(hide = true)]
    AmentPython,
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
    if args.build_type != BuildType::AmentCargo {
        return Err(CliError::usage(
            "feros creates packages in Rust (--build-type ament_cargo); `ros2 pkg create` creates \
             those for CMake and Python",
        ));
    }
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
    let description = describe(args, feros_path);
    for (name, text) in files(&description) {
        write(&folder.join(name), &text)?;
    }
    output::print(&format!("{}\n", folder.display()))?;
    if args.license.is_none() {
        notices::warn("the package has no license yet: name one in package.xml and Cargo.toml");
    }
    let node = &description.node;
    notices::note(format!(
        "build the package with `cargo build`, and start its node with `cargo run --bin {node}`; \
         the node is in src/{node}.rs"
    ));
    if description.library.is_some() {
        notices::note(
            "the component is in src/lib.rs: `feros component build` in the package's folder installs it for containers",
        );
    }
    Ok(())
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

fn describe(args: &Args, feros_path: Option<PathBuf>) -> Description {
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
