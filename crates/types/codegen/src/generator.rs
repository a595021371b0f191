//! The generator, which build scripts call.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use feros_interface::{InterfaceSet, ResolveError, robot_packages, standard};

use crate::emit;
use crate::error::Error;
use crate::names::Paths;

/// The file in `OUT_DIR` that `feros::include_interfaces!()` includes.
const OUT_FILE: &str = "feros_interfaces.rs";

/// Generates the Rust types of interface packages. The crate's documentation shows all steps.
#[derive(Debug, Clone)]
#[must_use = "nothing is generated before `generate`"]
pub struct Generator {
    package_dirs: Vec<PathBuf>,
    dependencies: Vec<(PathBuf, String)>,
    robot_packages: Vec<String>,
    robot_dependencies: BTreeMap<String, String>,
    is_for_jazzy: bool,
    message_path: String,
    msgs_path: String,
    generates_standard: bool,
}

impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}

impl Generator {
    /// Makes a generator without packages, whose generated code refers to the crate `feros`.
    pub fn new() -> Self {
        Self {
            package_dirs: Vec::new(),
            dependencies: Vec::new(),
            robot_packages: Vec::new(),
            robot_dependencies: BTreeMap::new(),
            is_for_jazzy: false,
            message_path: "::feros::message".to_owned(),
            msgs_path: "::feros::msgs".to_owned(),
            generates_standard: false,
        }
    }

    /// Adds the package in this folder, which contains `msg`, `srv` or `action`. The name of the
    /// package is read from its `package.xml`; without that file, it is the name of the folder.
    /// Relative paths start at the root of the crate.
    pub fn package_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.package_dirs.push(path.into());
        self
    }

    /// Lets definitions refer to the package in this folder, whose types another crate generates.
    /// `rust_path` is the module that holds the package's module, for example `::other_crate`. The
    /// standard packages need no such call.
    pub fn dependency_dir(
        mut self,
        path: impl Into<PathBuf>,
        rust_path: impl Into<String>,
    ) -> Self {
        self.dependencies.push((path.into(), rust_path.into()));
        self
    }

    /// Adds a package that robots use and that Feros ships, such as `nav2_msgs`. Packages of this
    /// kind to which the types of generated packages refer are generated too, here and after
    /// [`package_dir`](Self::package_dir), unless
    /// [`robot_dependency`](Self::robot_dependency) names them.
    pub fn robot_package(mut self, package: impl Into<String>) -> Self {
        self.robot_packages.push(package.into());
        self
    }

    /// Lets definitions refer to a package of robots whose types another crate generates.
    /// `rust_path` is the module that holds the package's module, for example `::other_crate`.
    pub fn robot_dependency(
        mut self,
        package: impl Into<String>,
        rust_path: impl Into<String>,
    ) -> Self {
        self.robot_dependencies.insert(package.into(), rust_path.into());
        self
    }

    /// Takes the definitions of Jazzy for packages of robots, and not those of Kilted. They differ
    /// for some types of `control_msgs`, `controller_manager_msgs` and `nav2_msgs`.
    pub fn robot_packages_of_jazzy(mut self) -> Self {
        self.is_for_jazzy = true;
        self
    }

    /// Sets the path under which generated code finds the crate `feros-message`.
    pub fn message_path(mut self, path: impl Into<String>) -> Self {
        self.message_path = path.into();
        self
    }

    /// Sets the path under which generated code finds the modules of the standard packages.
    pub fn msgs_path(mut self, path: impl Into<String>) -> Self {
        self.msgs_path = path.into();
        self
    }

    /// Adds the standard packages. Only the crate that contains them calls this.
    pub fn standard_packages(mut self) -> Self {
        self.generates_standard = true;
        self
    }

    /// Writes the source to `OUT_DIR` for `feros::include_interfaces!()`. Tells cargo to run the
    /// build script again when a definition changes.
    ///
    /// # Errors
    ///
    /// Fails like [`generate_text`](Self::generate_text), with [`Error::NoOutDir`] outside of a
    /// build script, and with [`Error::Write`] if the source cannot be written.
    pub fn generate(&self) -> Result<(), Error> {
        println!("cargo::rerun-if-changed=build.rs");
        for path in self.package_dirs.iter().chain(self.dependencies.iter().map(|(path, _)| path)) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        let out_dir = std::env::var_os("OUT_DIR").ok_or(Error::NoOutDir)?;
        let path = PathBuf::from(out_dir).join(OUT_FILE);
        std::fs::write(&path, self.generate_text()?).map_err(|source| Error::Write { path, source })
    }

    /// Returns the source.
    ///
    /// # Errors
    ///
    /// [`Error::Load`] and [`Error::Resolve`] name the file and the line of a faulty definition.
    /// [`Error::Duplicate`], [`Error::UnknownRobotPackage`] and [`Error::NoPackage`] report a wrong
    /// use of the generator.
    pub fn generate_text(&self) -> Result<String, Error> {
        let mut set = standard().clone();
        if self.is_for_jazzy {
            set.add_robot_packages_of_jazzy();
        }
        let mut generated = BTreeSet::new();
        let mut dependencies = self.robot_dependencies.clone();
        let mut folders = BTreeMap::new();
        if self.generates_standard {
            generated.extend(set.packages().into_iter().map(str::to_owned));
        }
        for (path, rust_path) in &self.dependencies {
            let package = load(&mut set, &mut folders, path)?;
            dependencies.insert(package, rust_path.clone());
        }
        for path in &self.package_dirs {
            generated.insert(load(&mut set, &mut folders, path)?);
        }
        self.add_robot_packages(&mut set, &mut generated, &dependencies)?;
        if generated.is_empty() {
            return Err(Error::NoPackage);
        }
        let paths = Paths {
            message: self.message_path.clone(),
            msgs: self.msgs_path.clone(),
            dependencies,
            generated,
        };
        emit::packages(&set, &paths)
            .map_err(|source| Error::Resolve { place: place_of(&source, &folders), source })
    }

    /// Adds the packages of robots that the caller named or that other packages need: to the set,
    /// and to the generated packages if no other crate generates them.
    fn add_robot_packages(
        &self,
        set: &mut InterfaceSet,
        generated: &mut BTreeSet<String>,
        dependencies: &BTreeMap<String, String>,
    ) -> Result<(), Error> {
        let shipped = robot_packages();
        for package in self.robot_packages.iter().chain(self.robot_dependencies.keys()) {
            if shipped.binary_search(&package.as_str()).is_err() {
                let known = shipped.iter().copied().map(str::to_owned).collect();
                return Err(Error::UnknownRobotPackage { package: package.clone(), known });
            }
        }
        let names_any = !self.robot_packages.is_empty() || !self.robot_dependencies.is_empty();
        if !names_any && !lacks_packages(set) {
            return Ok(());
        }
        set.add_robot_packages();
        let mut wanted: Vec<String> = self.robot_packages.clone();
        for package in generated.iter() {
            wanted.extend(referred_packages(set, package));
        }
        while let Some(package) = wanted.pop() {
            let is_of_robots = shipped.binary_search(&package.as_str()).is_ok();
            let is_elsewhere = dependencies.contains_key(&package);
            if is_of_robots && !is_elsewhere && generated.insert(package.clone()) {
                wanted.extend(referred_packages(set, &package));
            }
        }
        Ok(())
    }
}

/// The packages to which the types of a package refer.
fn referred_packages(set: &InterfaceSet, package: &str) -> BTreeSet<String> {
    set.messages()
        .filter(|message| message.name.package == package)
        .flat_map(|message| message.references())
        .map(|name| name.package.clone())
        .collect()
}

/// Whether a type refers to a package that the set does not have.
fn lacks_packages(set: &InterfaceSet) -> bool {
    let known: BTreeSet<&str> = set.packages().into_iter().collect();
    let mut references = set.messages().flat_map(|message| message.references());
    references.any(|name| !known.contains(name.package.as_str()))
}

fn load(
    set: &mut InterfaceSet,
    folders: &mut BTreeMap<String, PathBuf>,
    path: &Path,
) -> Result<String, Error> {
    let package = set.load_package_dir(path)?;
    if folders.insert(package.clone(), path.to_owned()).is_some() {
        return Err(Error::Duplicate { package, path: path.to_owned() });
    }
    Ok(package)
}

/// Returns the file and the line of the field that an error is about.
fn place_of(error: &ResolveError, folders: &BTreeMap<String, PathBuf>) -> Option<String> {
    let (owner, word) = match error {
        ResolveError::Missing { needed_by, field, .. } => (needed_by.as_ref(), field.as_str()),
        ResolveError::Circular { chain } => (chain.first()?, chain.get(1)?.name.as_str()),
        ResolveError::TooDeep { name } => (name, ""),
        ResolveError::Unknown { .. } => return None,
    };
    // A message of a service or action is defined in the file of that service or action.
    let stem = owner.name.split('_').next()?;
    let file = folders
        .get(&owner.package)?
        .join(owner.namespace.as_str())
        .join(format!("{stem}.{}", owner.namespace));
    let text = std::fs::read_to_string(&file).ok()?;
    let separators = [' ', '\t', '[', '/'];
    let line = text
        .lines()
        .position(|line| word.is_empty() || line.split(separators).any(|part| part == word))?
        + 1;
    Some(format!("{}:{line}", file.display()))
}
