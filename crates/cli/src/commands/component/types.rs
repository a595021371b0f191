//! `feros component types`: the components that the index knows.

use std::process::ExitCode;

use feros_component::index::Index;
use serde::Serialize;

use crate::error::CliError;
use crate::{notices, output};

/// List the components that are installed, by package
#[derive(clap::Args)]
#[command(
    after_help = "Looks under FEROS_PREFIX_PATH, then AMENT_PREFIX_PATH, in share/ament_index/resource_index/feros_components."
)]
pub(crate) struct Args {
    /// Only those of this package
    #[arg(value_name = "PACKAGE")]
    package_name: Option<String>,
    /// Print a JSON array of objects with package, plugin and library
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Component {
    package: String,
    plugin: String,
    library: String,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let index = Index::from_env();
    let packages = args.package_name.clone().map_or_else(|| index.packages(), |name| vec![name]);
    let mut found = Vec::new();
    let mut lines = Vec::new();
    for package in packages {
        let components = match index.components(&package) {
            Ok(components) => components,
            Err(error) if args.package_name.is_some() => return Err(CliError::failed(error)),
            Err(error) => {
                notices::warn(error);
                continue;
            }
        };
        let indentation = if args.package_name.is_some() {
            ""
        } else {
            lines.push(package.clone());
            "  "
        };
        for component in components {
            lines.push(format!("{indentation}{}", component.plugin));
            let library = component.library.display().to_string();
            found.push(Component { package: package.clone(), plugin: component.plugin, library });
        }
    }
    if args.json {
        output::print_json(&found)?;
    } else {
        output::print_lines(&lines)?;
    }
    Ok(ExitCode::SUCCESS)
}
