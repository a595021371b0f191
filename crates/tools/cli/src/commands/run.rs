//! `feros run`: starts one executable of a package, or a Python script, in place of this process,
//! or runs a node or a container that this program contains.

mod explained;

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use feros_launch::{FindError, imports_sitecustomize};
use feros_process::python_interpreter;

use crate::error::CliError;
use crate::packages::{installed_packages, run_shipped};

/// The code that the interpreter runs before it becomes the script.
const BEFORE_SCRIPT: &str = include_str!("run/script.py");

/// The program to start.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A command to start it with, such as `gdb --args`
    #[arg(long, value_name = "COMMAND")]
    prefix: Option<String>,
    /// Say what to do about this error of a program in Python, whose file is given as the package
    #[arg(long, hide = true, value_name = "ERROR")]
    explain: Option<String>,
    /// The package; or a Python script, which gets Feros's rclpy whatever else is installed
    #[arg(value_name = "PACKAGE|SCRIPT.py")]
    package: String,
    /// The executable, which `feros pkg executables PACKAGE` lists, and its arguments
    // One argument takes both, so that options of this command after the executable's name belong
    // to the executable.
    #[arg(value_name = "EXECUTABLE", trailing_var_arg = true, allow_hyphen_values = true)]
    executable: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    if let Some(error) = &args.explain {
        explained::explain(&args.package, error);
        return Ok(());
    }
    let mut words = match &args.prefix {
        Some(prefix) => feros_launch::split_words(prefix)
            .map_err(|problem| CliError::usage(format!("--prefix: {problem}")))?,
        None => Vec::new(),
    };
    let mut archive = None;
    let is_script = Path::new(&args.package).extension().is_some_and(|ending| ending == "py");
    if is_script {
        words.extend(script(args)?);
    } else {
        let (package, (name, arguments)) = (&args.package, executable(args)?);
        let packages = installed_packages();
        let found = packages.executable(package, name);
        // A debugger before the program may contain Python itself.
        let is_explained = |path: &&PathBuf| words.is_empty() && imports_sitecustomize(path);
        if let Some(path) = found.as_ref().ok().filter(is_explained) {
            archive = explained::archive(Some(path));
        }
        if words.is_empty() && matches!(found, Err(FindError::Shipped { .. })) {
            return run_shipped(package, name, arguments.to_vec());
        }
        words.extend(packages.command(package, name).map_err(CliError::usage)?);
        words.extend_from_slice(arguments);
    }
    let (program, rest) =
        words.split_first().ok_or_else(|| CliError::usage("--prefix needs a command"))?;
    // From here on this process is the executable: the executable gets the user's signals and the
    // terminal, and its exit code is the command's.
    let mut command = Command::new(program);
    if let Some(archive) = archive {
        command.env("PYTHONPATH", explained::python_path(&archive));
    }
    let error = command.args(rest).exec();
    Err(CliError::failed(format!("{program} cannot be started: {error}")))
}

/// The name of the executable, and its arguments.
fn executable(args: &Args) -> Result<(&String, &[String]), CliError> {
    let package = &args.package;
    args.executable.split_first().ok_or_else(|| {
        CliError::usage(format!(
            "name an executable of `{package}`: `feros pkg executables {package}` lists them"
        ))
    })
}

/// The words of the command line: the interpreter, the code that it runs first, the archive of
/// `explained`, the script, and its arguments, which were parsed as an executable.
fn script(args: &Args) -> Result<Vec<String>, CliError> {
    if !Path::new(&args.package).is_file() {
        return Err(CliError::usage(format!("there is no script {}", args.package)));
    }
    let mut words = vec![python_interpreter(), "-c".to_owned(), BEFORE_SCRIPT.to_owned()];
    words.push(explained::archive(None).unwrap_or_default());
    words.push(args.package.clone());
    words.extend(args.executable.clone());
    Ok(words)
}
