//! `feros component types`: the components in the index.

use std::collections::BTreeSet;

use feros_component::index::{Index, IndexEntry, IndexError};
use feros_robot_nodes::COMPONENTS;
use serde::Serialize;

use crate::error::CliError;
use crate::python_components::{PythonComponent, python_components};
use crate::{notices, output};

/// List the installed components, by package
#[derive(clap::Args)]
#[command(
    after_help = "The command searches FEROS_PREFIX_PATH, AMENT_PREFIX_PATH and ~/.local/share/feros for \
                  share/ament_index/resource_index/feros_components. Components of rclcpp, which stock containers load, are listed \
                  from rclcpp_components and marked. Components in Python are entry points rclpy_components of the \
                  interpreter and of these prefixes."
)]
pub(crate) struct Args {
    /// List only the components of this package
    #[arg(value_name = "PACKAGE")]
    package_name: Option<String>,
    /// Print a JSON array of objects with package, plugin, library and kind (feros, rclcpp, python,
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

/// The kinds of components that are in libraries.
const LIBRARIES: [Kind; 2] = [Kind::Feros, Kind::Rclcpp];

/// The system whose containers can load a component.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Feros,
    Rclcpp,
    /// Containers of Feros start an interpreter for it.
    Python,
    /// Containers of Feros have the component without a library.
    Shipped,
}

impl Kind {
    fn packages(self, index: &Index) -> Vec<String> {
        match self {
            Self::Feros => index.packages(),
            Self::Rclcpp => index.cpp_packages(),
            Self::Python | Self::Shipped => Vec::new(),
        }
    }

    fn components(self, index: &Index, package: &str) -> Result<Vec<IndexEntry>, IndexError> {
        match self {
            Self::Feros => index.components(package),
            Self::Rclcpp => index.cpp_components(package),
            Self::Python | Self::Shipped => Ok(Vec::new()),
        }
    }
}

impl Component {
    fn line(&self) -> String {
        match self.kind {
            Kind::Feros => self.plugin.clone(),
            Kind::Rclcpp => format!("{} (rclcpp)", self.plugin),
            Kind::Python => format!("{} (Python)", self.plugin),
            Kind::Shipped => format!("{} (shipped)", self.plugin),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let index = Index::from_env();
    let python = python_components();
    let packages: BTreeSet<String> = match &args.package_name {
        Some(name) => [name.clone()].into(),
        None => {
            let libraries = LIBRARIES.iter().flat_map(|kind| kind.packages(&index));
            libraries.chain(python.iter().map(|component| component.package.clone())).collect()
        }
    };
    let mut found = Vec::new();
    let mut lines = Vec::new();
    for package in packages {
        let mut components = in_libraries(&index, &package, args.package_name.is_some())?;
        components.extend(python.iter().filter(|it| it.package == package).map(of_python));
        if args.package_name.is_some() {
            let shipped = COMPONENTS.iter().filter(|(of, _)| *of == package);
            components.extend(shipped.map(|(of, plugin)| shipped_component(of, plugin)));
            if components.is_empty() {
                // The error says where the package was searched for.
                index.components(&package).map_err(CliError::failed)?;
            }
        } else {
            lines.push(package);
        }
        let indentation = if args.package_name.is_some() { "" } else { "  " };
        lines.extend(components.iter().map(|it| format!("{indentation}{}", it.line())));
        found.append(&mut components);
    }
    if args.json { output::print_json(&found) } else { output::print_lines(&lines) }
}

/// The components of a package that are in libraries. Errors count only if the package `is_named`.
fn in_libraries(index: &Index, package: &str, is_named: bool) -> Result<Vec<Component>, CliError> {
    let has = |kind: &Kind| kind.packages(index).iter().any(|of| of == package);
    let mut components = Vec::new();
    for kind in LIBRARIES.into_iter().filter(has) {
        let entries = match kind.components(index, package) {
            Ok(entries) => entries,
            Err(error) if is_named => return Err(CliError::failed(error)),
            Err(error) => {
                notices::warn(error);
                continue;
            }
        };
        components.extend(entries.into_iter().map(|entry| Component {
            package: package.to_owned(),
            plugin: entry.plugin,
            library: entry.library.display().to_string(),
            kind,
        }));
    }
    Ok(components)
}

fn of_python(component: &PythonComponent) -> Component {
    Component {
        package: component.package.clone(),
        plugin: component.plugin.clone(),
        library: component.object.clone(),
        kind: Kind::Python,
    }
}

fn shipped_component(package: &str, plugin: &str) -> Component {
    let (package, plugin) = (package.to_owned(), plugin.to_owned());
    Component { package, plugin, library: String::new(), kind: Kind::Shipped }
}
