//! `feros run`: starts one executable of a package, or a Python script, in place of this process.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::error::CliError;
use crate::packages::installed_packages;
use crate::python::interpreter;

/// The code that the interpreter runs before it becomes the script.
const BEFORE_SCRIPT: &str = include_str!("run/script.py");

/// The program to start.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A command to start it with, such as `gdb --args`
    #[arg(long, value_name = "COMMAND")]
    prefix: Option<String>,
    /// The package; or a Python script, which gets Feros's rclpy whatever else is installed
    #[arg(value_name = "PACKAGE|SCRIPT.py")]
    package: String,
    /// The executable; `feros pkg executables PACKAGE` lists them
    #[arg(value_name = "EXECUTABLE", allow_hyphen_values = true)]
    executable: Option<String>,
    /// Arguments of the executable
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let mut words = match &args.prefix {
        Some(prefix) => feros_launch::split_words(prefix)
            .map_err(|problem| CliError::usage(format!("--prefix: {problem}")))?,
        None => Vec::new(),
    };
    let is_script = Path::new(&args.package).extension().is_some_and(|ending| ending == "py");
    words.extend(if is_script { script(args)? } else { vec![executable(args)?] });
    words.extend_from_slice(&args.arguments);
    let (program, rest) =
        words.split_first().ok_or_else(|| CliError::usage("--prefix needs a command"))?;
    // From here on this process is the executable: the executable gets the user's signals and the
    // terminal, and its exit code is the command's.
    let error = Command::new(program).args(rest).exec();
    Err(CliError::failed(format!("{program} cannot be started: {error}")))
}

fn executable(args: &Args) -> Result<String, CliError> {
    let package = &args.package;
    let name = args.executable.as_ref().ok_or_else(|| {
        CliError::usage(format!(
            "name an executable of `{package}`: `feros pkg executables {package}` lists them"
        ))
    })?;
    let path = installed_packages().executable(package, name).map_err(CliError::usage)?;
    Ok(path.display().to_string())
}

/// The words of the command line: the interpreter, the code that it runs first, the script, and the
/// argument that was parsed as an executable.
fn script(args: &Args) -> Result<Vec<String>, CliError> {
    if !Path::new(&args.package).is_file() {
        return Err(CliError::usage(format!("there is no script {}", args.package)));
    }
    let mut words = vec![interpreter(), "-c".to_owned(), BEFORE_SCRIPT.to_owned()];
    words.push(args.package.clone());
    words.extend(args.executable.clone());
    Ok(words)
}
