//! `feros build`: builds a folder of packages into one prefix.
//!
//! The packages are found (`find`, `manifest`) and ordered (`order`). Each gets a list of files
//! (`files`, `cmake`, `interfaces`); Python packages are built (`python`), and all packages in Rust
//! together (`rust`, `mirror`). Then the files of each package that has no fault are installed
//! (`installation`). All faults are reported at the end. Decision 0029 has the reasons.

mod cmake;
mod error;
mod files;
mod find;
mod installation;
pub(crate) mod interfaces;
mod manifest;
mod mirror;
mod order;
mod python;
mod rust;
mod shipped;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use feros_process::EndSignals;

use self::error::PackageFault;
use self::files::Item;
use self::find::{Found, Kind, Package};
use self::installation::Installation;
use self::interfaces::Interfaces;
use self::order::{order, with_dependencies};
use crate::compile::default_build_dir;
use crate::compile::error::BuildError;
use crate::compile::prefix::Prefix;
use crate::compile::workspace::BuildFolder;
use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::{ending, notices, output};

/// Build a folder of packages into one prefix, which FEROS_PREFIX_PATH then names
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros build\n  feros build ~/robot --prefix /opt/robot --release\n  \
                  feros build -p my_robot --test\n\nA package is a folder with a package.xml, or a package in Rust that depends \
                  on feros. Packages may have nodes and components in Rust, nodes in Python, interfaces, launch files, \
                  settings and descriptions. `feros pkg create` makes packages."
)]
pub(crate) struct Args {
    /// Folder with packages
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Folder to install the packages in; by default, `install` in DIR
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
    /// Build only these packages, and the packages on which they depend
    #[arg(short, long = "package", value_name = "NAME")]
    packages: Vec<String>,
    /// Build with optimization
    #[arg(short, long)]
    release: bool,
    /// Also run the tests of the packages in Rust, with the same compiled Feros
    #[arg(long)]
    test: bool,
    /// Print the packages in the order of the build, and build nothing
    #[arg(long)]
    list: bool,
    /// Folder for compiled files, for all folders of packages; ~/.cache/feros/components by default
    #[arg(long, value_name = "DIR")]
    build_dir: Option<PathBuf>,
}

/// The packages in order, and what is known about each.
struct Build<'a> {
    base: &'a Path,
    packages: Vec<&'a Package>,
    dependencies: BTreeMap<String, BTreeSet<String>>,
    items: BTreeMap<String, Vec<Item>>,
    faults: Vec<(String, PackageFault)>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let base = args.folder.canonicalize().map_err(|error| {
        CliError::usage(format!("{} cannot be opened: {error}", args.folder.display()))
    })?;
    let mut found = Found::below(&base);
    if found.packages.is_empty() && found.faults.is_empty() {
        return Err(CliError::usage(format!(
            "there is no package below {}: a package has a package.xml; `feros pkg create NAME` \
             makes one",
            base.display()
        )));
    }
    let faults = std::mem::take(&mut found.faults);
    let mut build = Build::new(&base, &found, faults, &args.packages)?;
    if args.list {
        let line = |package: &&Package| format!("{} {}", package.name, package.folder.display());
        output::print_lines(build.packages.iter().map(line))?;
        return build.end();
    }
    let prefix = args.prefix.clone().unwrap_or_else(|| base.join("install"));
    let mut installation = Installation::open(&prefix).map_err(CliError::failed)?;
    let build_dir = args.build_dir.clone().map_or_else(default_build_dir, Ok)?;
    let signals = ending::end_signals()?;
    let stopped = |error| match error {
        BuildError::Signal(signal) => CliError::ended_by(signal),
        error => CliError::failed(error),
    };
    let folder = BuildFolder::lock(&build_dir, &signals).map_err(stopped)?;
    build.collect();
    build.build_python(&folder, &signals).map_err(stopped)?;
    build.build_rust(args, &found.crates, &prefix, &folder, &signals).map_err(stopped)?;
    if build.install(&mut installation, args.packages.is_empty())? > 0 {
        note_variable(&prefix);
    }
    build.end()
}

impl<'a> Build<'a> {
    /// The packages that are wanted, in order. Circles are faults.
    fn new(
        base: &'a Path,
        found: &'a Found,
        faults: Vec<(String, PackageFault)>,
        wanted: &[String],
    ) -> Result<Self, CliError> {
        let all: BTreeMap<&str, &Package> =
            found.packages.iter().map(|package| (package.name.as_str(), package)).collect();
        for name in wanted {
            if !all.contains_key(name.as_str()) {
                let likely = did_you_mean(name, all.keys().copied());
                return Err(CliError::usage(format!("there is no package {name}{likely}")));
            }
        }
        let dependencies: BTreeMap<_, _> = found
            .packages
            .iter()
            .map(|package| {
                let needed = package.dependencies.union(&package.run_dependencies);
                (package.name.clone(), needed.cloned().collect())
            })
            .collect();
        let (ordered, circles) = order(&dependencies);
        let chosen = with_dependencies(wanted.iter().cloned(), &dependencies);
        let is_chosen = |name: &str| wanted.is_empty() || chosen.contains(name);
        let packages = ordered.iter().map(|name| all[name.as_str()]);
        let packages = packages.filter(|package| is_chosen(&package.name)).collect();
        let mut build = Self { base, packages, dependencies, items: BTreeMap::new(), faults };
        for circle in circles.into_iter().filter(|circle| is_chosen(&circle[0])) {
            build.faults.push((circle[0].clone(), PackageFault::Circle(circle)));
        }
        Ok(build)
    }

    /// The packages that may still be built, of one kind or of all.
    fn good(&self, kind: Option<Kind>) -> Vec<&'a Package> {
        let bad = self.bad();
        let wanted = self.packages.iter().copied();
        let wanted = wanted.filter(|package| kind.is_none_or(|kind| package.kind == kind));
        wanted.filter(|package| !bad.contains_key(&package.name)).collect()
    }

    /// The packages with faults and those that depend on them, each with the package that it waits
    /// for.
    fn bad(&self) -> BTreeMap<String, Option<String>> {
        let mut bad: BTreeMap<String, Option<String>> = BTreeMap::new();
        for (name, fault) in &self.faults {
            bad.insert(name.clone(), None);
            if let PackageFault::Circle(names) = fault {
                bad.extend(names.iter().map(|name| (name.clone(), None)));
            }
        }
        // The packages are in order, so one pass finds all.
        for package in &self.packages {
            let broken = package.dependencies.iter().find(|needed| bad.contains_key(*needed));
            if let Some(needed) = broken {
                bad.entry(package.name.clone()).or_insert_with(|| Some(needed.clone()));
            }
        }
        bad
    }

    /// Lists the files that need no build.
    fn collect(&mut self) {
        let good = self.good(None);
        let (interfaces, faults) = Interfaces::read(&good);
        self.faults.extend(faults);
        for package in good {
            let mut items = files::of_every_package(package);
            items.extend(interfaces.modules(&package.name));
            if package.kind != Kind::Python {
                match files::of_data(package) {
                    Ok(more) => items.extend(more),
                    Err(faults) => {
                        let named = faults.into_iter().map(|fault| (package.name.clone(), fault));
                        self.faults.extend(named);
                    }
                }
            }
            self.items.insert(package.name.clone(), items);
        }
    }

    fn build_python(
        &mut self,
        folder: &BuildFolder,
        signals: &EndSignals,
    ) -> Result<(), BuildError> {
        let builds = folder.folder("python");
        for package in self.good(Some(Kind::Python)) {
            match python::build(package, &builds, signals) {
                Ok(Some(mut items)) => {
                    // The package's own files come first, such as a marker that is not empty.
                    let before = self.items.remove(&package.name);
                    items.extend(before.into_iter().flatten());
                    self.items.insert(package.name.clone(), items);
                }
                Ok(None) => return Err(BuildError::Signal(signals.received().unwrap_or(2))),
                Err(fault) => self.faults.push((package.name.clone(), fault)),
            }
        }
        Ok(())
    }

    fn build_rust(
        &mut self,
        args: &Args,
        crates: &[PathBuf],
        prefix: &Path,
        folder: &BuildFolder,
        signals: &EndSignals,
    ) -> Result<(), BuildError> {
        let packages = self.good(Some(Kind::Rust));
        if packages.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = packages.iter().map(|package| package.name.clone()).collect();
        let task = rust::Task {
            base: self.base,
            crates,
            packages,
            prefix: &Prefix::new(prefix.to_owned()),
            build_folder: folder,
            release: args.release,
            tests: args.test,
            signals,
        };
        match task.run() {
            Ok(compiled) => {
                self.faults.extend(compiled.faults);
                for (name, items) in compiled.items {
                    self.items.entry(name).or_default().extend(items);
                }
                Ok(())
            }
            Err(BuildError::Signal(signal)) => Err(BuildError::Signal(signal)),
            // The error concerns all of these packages; `end` prints it once.
            Err(error) => {
                let fault = |name| (name, PackageFault::Rust(error.to_string()));
                self.faults.extend(names.into_iter().map(fault));
                Ok(())
            }
        }
    }

    /// Installs the packages without faults, and prints their names. Returns how many these are.
    fn install(
        &mut self,
        installation: &mut Installation,
        is_whole: bool,
    ) -> Result<usize, CliError> {
        if is_whole {
            let present = self.dependencies.keys().cloned().collect();
            for name in installation.remove_gone(self.base, &present) {
                notices::note(format!("{name} is gone: its files are removed from the prefix"));
            }
        }
        let mut names = Vec::new();
        for package in &self.packages {
            if self.bad().contains_key(&package.name) {
                continue;
            }
            let items = self.items.remove(&package.name).unwrap_or_default();
            match installation.install(&package.name, &package.folder, items) {
                Ok(()) => names.push(package.name.clone()),
                Err(fault) => self.faults.push((package.name.clone(), fault)),
            }
        }
        installation.write_setup().map_err(CliError::failed)?;
        let count = names.len();
        output::print_lines(names)?;
        Ok(count)
    }

    /// Reports all faults.
    fn end(&self) -> Result<(), CliError> {
        let mut told: Vec<(Vec<&str>, String)> = Vec::new();
        for (name, fault) in &self.faults {
            let text = fault.to_string();
            match told.iter_mut().find(|(_, known)| *known == text) {
                Some((names, _)) => names.push(name),
                None => told.push((vec![name], text)),
            }
        }
        for (names, text) in told {
            notices::error(format!("{}: {text}", names.join(", ")));
        }
        let bad = self.bad();
        for (name, needed) in &bad {
            if let Some(needed) = needed {
                notices::error(format!("{name}: {}", PackageFault::Dependency(needed.clone())));
            }
        }
        for package in self.packages.iter().filter(|package| !bad.contains_key(&package.name)) {
            let missing =
                package.run_dependencies.iter().filter(|needed| bad.contains_key(*needed));
            let missing: Vec<&str> = missing.map(String::as_str).collect();
            if !missing.is_empty() {
                notices::warn(format!(
                    "{}: it was built, but the packages that it needs at run time were not \
                     built: {}",
                    package.name,
                    missing.join(", ")
                ));
            }
        }
        if bad.is_empty() { Ok(()) } else { Err(CliError::Ended(1)) }
    }
}

/// If commands do not search the prefix yet, prints the setting that makes them do so.
fn note_variable(prefix: &Path) {
    let Ok(prefix) = prefix.canonicalize() else { return };
    let mut searched = feros_files::searched_prefixes().into_iter();
    if !searched.any(|other| other.canonicalize().is_ok_and(|other| other == prefix)) {
        notices::note(format!(
            "use the packages with: export FEROS_PREFIX_PATH={}",
            prefix.display()
        ));
    }
}
