//! `feros component types`: the components in the index.

use std::collections::BTreeSet;

use feros_component::index::{Index, IndexEntry, IndexError};
use feros_robot_nodes::COMPONENTS;
use serde::Serialize;

use crate::error::CliError;
use crate::{notices, output};

/// List the installed components, by package
#[derive(clap::Args)]
#[command(
    after_help = "The command searches FEROS_PREFIX_PATH, AMENT_PREFIX_PATH and ~/.local/share/feros for \
                  share/ament_index/resource_index/feros_components. Components of rclcpp, which stock containers load, are listed \
                  from rclcpp_components and marked."
)]
pub(crate) struct Args {
    /// List only the components of this package
    #[arg(value_name = "PACKAGE")]
    package_name: Option<String>,
    /// Print a JSON array of objects with package, plugin, library and kind (feros, rclcpp,
    /// shipped)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Component {
    package: String,
    plugin: String,
    library: String,
    kind: Kind,
}

/// The system whose containers can load a component.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Feros,
    Rclcpp,
    /// Containers of Feros have the component without a library.
    Shipped,
}

impl Kind {
    fn packages(self, index: &Index) -> Vec<String> {
        match self {
            Self::Feros => index.packages(),
            Self::Rclcpp => index.cpp_packages(),
            Self::Shipped => Vec::new(),
        }
    }

    fn components(self, index: &Index, package: &str) -> Result<Vec<IndexEntry>, IndexError> {
        match self {
            Self::Feros => index.components(package),
            Self::Rclcpp => index.cpp_components(package),
            Self::Shipped => Ok(Vec::new()),
        }
    }
}

impl Component {
    fn line(&self) -> String {
        match self.kind {
            Kind::Feros => self.plugin.clone(),
            Kind::Rclcpp => format!("{} (rclcpp)", self.plugin),
            Kind::Shipped => format!("{} (shipped)", self.plugin),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let index = Index::from_env();
    let both = [Kind::Feros, Kind::Rclcpp];
    let packages: BTreeSet<String> = match &args.package_name {
        Some(name) => [name.clone()].into(),
        None => both.iter().flat_map(|kind| kind.packages(&index)).collect(),
    };
    let mut found = Vec::new();
    let mut lines = Vec::new();
    for package in &packages {
        let has = |kind: &Kind| kind.packages(&index).contains(package);
        let kinds: Vec<Kind> = both.into_iter().filter(has).collect();
        let shipped = COMPONENTS.iter().filter(|(of, _)| of == package);
        if kinds.is_empty() && shipped.clone().next().is_none() {
            index.components(package).map_err(CliError::failed)?;
        }
        if args.package_name.is_none() {
            lines.push(package.clone());
        }
        let indentation = if args.package_name.is_some() { "" } else { "  " };
        for kind in kinds {
            let entries = match kind.components(&index, package) {
                Ok(entries) => entries,
                Err(error) if args.package_name.is_some() => return Err(CliError::failed(error)),
                Err(error) => {
                    notices::warn(error);
                    continue;
                }
            };
            for entry in entries {
                let library = entry.library.display().to_string();
                let plugin = entry.plugin;
                let component = Component { package: package.clone(), plugin, library, kind };
                lines.push(format!("{indentation}{}", component.line()));
                found.push(component);
            }
        }
        if args.package_name.is_some() {
            for (package, plugin) in shipped {
                let (package, plugin) = ((*package).to_owned(), (*plugin).to_owned());
                let component =
                    Component { package, plugin, library: String::new(), kind: Kind::Shipped };
                lines.push(component.line());
                found.push(component);
            }
        }
    }
    if args.json { output::print_json(&found) } else { output::print_lines(&lines) }
}
