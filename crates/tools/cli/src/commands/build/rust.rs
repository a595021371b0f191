//! Builds all packages in Rust with one call of cargo, from a workspace that mirrors the folder of
//! packages (`mirror`). The workspace also has the containers, and for each package of components a
//! library for them, so that cargo compiles Feros once for everything.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use feros_process::EndSignals;
use toml::{Table, Value};

use super::error::PackageFault;
use super::files::{Content, Item, RESOURCES};
use super::find::Package;
use super::mirror::Mirror;
use crate::compile::cargo::{Artifact, Built, Call, Cargo};
use crate::compile::crates::Crates;
use crate::compile::error::BuildError;
use crate::compile::feros::Feros;
use crate::compile::lock;
use crate::compile::package::{ComponentPackage, Metadata};
use crate::compile::prefix::{OtherPackage, Prefix};
use crate::compile::workspace::{self, BuildFolder, Settings, write};
use crate::notices;

/// The folder for crates that this command adds, in the workspace. A folder of packages cannot have
/// a package there, since its name begins with a dot.
const OWN_CRATES: &str = ".feros";

/// What to build.
pub(super) struct Task<'a> {
    /// The folder of packages.
    pub(super) base: &'a Path,
    /// The folders of all crates below it.
    pub(super) crates: &'a [PathBuf],
    pub(super) packages: Vec<&'a Package>,
    pub(super) prefix: &'a Prefix,
    pub(super) build_folder: &'a BuildFolder,
    pub(super) release: bool,
    /// Whether tests run, too.
    pub(super) tests: bool,
    pub(super) signals: &'a EndSignals,
}

/// The result for all packages in Rust.
#[derive(Default)]
pub(super) struct Compiled {
    /// The files of each package that was built, by name.
    pub(super) items: Vec<(String, Vec<Item>)>,
    pub(super) faults: Vec<(String, PackageFault)>,
}

/// The written workspace.
struct Written {
    folder: PathBuf,
    mirror: Mirror,
    root: Table,
    profiles: Table,
    /// The lock file before cargo changes it.
    lock: String,
}

/// Everything that the libraries for containers need.
struct Components {
    packages: Vec<ComponentPackage>,
    libraries: Vec<String>,
    others: Vec<OtherPackage>,
    crates: Crates,
}

impl Task<'_> {
    /// Builds the packages, and installs the containers and the libraries of components.
    pub(super) fn run(&self) -> Result<Compiled, BuildError> {
        let mut compiled = Compiled::default();
        let (mut written, members) = self.write(&mut compiled)?;
        if members.is_empty() {
            return Ok(compiled);
        }
        let cargo = Cargo::in_folder(self.base, self.signals);
        let metadata = self.resolve(&mut written, &members, &cargo)?;
        let components =
            self.add_components(&written, &members, &metadata, &cargo, &mut compiled)?;

        let number = components.as_ref().map(|components| components.crates.number());
        // Without components, no call installs a library of Feros, so all calls share one folder.
        let target = self.build_folder.folder(number.as_deref().unwrap_or("nodes"));
        let manifest = written.folder.join("Cargo.toml");
        let call = Call {
            manifest: &manifest,
            target: &target,
            release: self.release,
            crates: number.as_deref(),
        };
        let (artifacts, _) = cargo.build_most(&call)?;
        self.take(&metadata, &artifacts, &mut compiled);
        if let Some(components) = components {
            self.install(components, &artifacts, &cargo, &written, &mut compiled)?;
        }
        if self.tests && !cargo.test(&call)? {
            compiled.faults.push(("the packages in Rust".to_owned(), PackageFault::Tests));
        }
        Ok(compiled)
    }

    /// Writes the workspace; returns the packages that are its members.
    fn write(&self, compiled: &mut Compiled) -> Result<(Written, Vec<&Package>), BuildError> {
        let mut hasher = DefaultHasher::new();
        self.base.hash(&mut hasher);
        let folder =
            self.build_folder.folder("workspaces").join(format!("{:016x}", hasher.finish()));
        let mirror = Mirror::new(self.base, &folder, self.crates);
        mirror
            .link(&[OWN_CRATES, "Cargo.toml", "Cargo.lock"])
            .map_err(|error| BuildError::file(&folder, error))?;
        let (mut members, mut root) = (Vec::new(), Table::new());
        for crate_folder in self.crates {
            let package = self.packages.iter().find(|package| package.folder == *crate_folder);
            let manifest = match (mirror.manifest(crate_folder), package) {
                (Ok(manifest), _) => manifest,
                (Err(fault), Some(package)) => {
                    compiled.faults.push((package.name.clone(), fault));
                    continue;
                }
                // Perhaps no package needs this crate.
                (Err(_), None) => continue,
            };
            members.extend(package);
            if *crate_folder == self.base {
                root = manifest;
            } else {
                let place = mirror.place_of(crate_folder).join("Cargo.toml");
                write(&place, &workspace::text(&Value::Table(manifest))?)?;
            }
        }
        let roots = mirror.roots();
        let settings = Settings::of(roots.iter().map(PathBuf::as_path))?;
        root.insert("profile".to_owned(), settings.profiles.clone().into());
        root.insert("patch".to_owned(), settings.patches.into());
        let written =
            Written { folder, mirror, root, profiles: settings.profiles, lock: String::new() };
        written.write_root(&members, &[])?;
        Ok((written, members))
    }

    /// Asks cargo for the packages and their dependencies, with the versions of the prefix, of
    /// Feros and of the packages.
    fn resolve(
        &self,
        written: &mut Written,
        members: &[&Package],
        cargo: &Cargo,
    ) -> Result<Metadata, BuildError> {
        let manifest = written.folder.join("Cargo.toml");
        let names: Vec<&str> = members.iter().map(|package| package.name.as_str()).collect();
        // A prefix without other packages has no versions to agree with.
        let recorded = self.prefix.has_others(&names).then(|| self.prefix.lock_file());
        let recorded = recorded.filter(|file| file.is_file());
        let own = written.mirror.roots().into_iter().map(|root| root.join("Cargo.lock"));
        let own: Vec<PathBuf> = own.filter(|file| file.is_file()).collect();
        let merged = |feros: Option<PathBuf>| {
            let files: Vec<_> = recorded.iter().cloned().chain(feros).chain(own.clone()).collect();
            lock::merged(&files)
        };
        let near = members.iter().find_map(|package| lock_of_feros(&written.mirror, package));
        written.lock = merged(near.clone())?;
        written.write_lock()?;
        let metadata = Metadata::from_answer(&cargo.metadata(&manifest)?)?;
        let of_feros = one_feros(&metadata)?.and_then(|feros| feros.lock_file());
        if of_feros == near {
            return Ok(metadata);
        }
        written.lock = merged(of_feros)?;
        written.write_lock()?;
        Metadata::from_answer(&cargo.metadata(&manifest)?)
    }

    /// Adds the containers and the libraries for them to the workspace, if a package has
    /// components.
    fn add_components(
        &self,
        written: &Written,
        members: &[&Package],
        metadata: &Metadata,
        cargo: &Cargo,
        compiled: &mut Compiled,
    ) -> Result<Option<Components>, BuildError> {
        let Some(feros) = one_feros(metadata)? else { return Ok(None) };
        let mut packages = Vec::new();
        for found in metadata.members().filter(|found| found.depends_on("feros-component")) {
            let Some(package) = members.iter().find(|package| package.name == found.name) else {
                continue;
            };
            if found.has_library() {
                packages.push(ComponentPackage {
                    name: package.name.clone(),
                    folder: package.folder.clone(),
                    root: package.folder.clone(),
                    feros: feros.clone(),
                });
            } else {
                compiled.faults.push((package.name.clone(), PackageFault::NoLibrary));
            }
        }
        if packages.is_empty() {
            return Ok(None);
        }
        let own = written.folder.join(OWN_CRATES);
        workspace::write_containers(&own.join("containers"), &feros)?;
        let libraries: Vec<String> = packages.iter().map(workspace::library_name).collect();
        for (package, name) in packages.iter().zip(&libraries) {
            let path = written.mirror.place_of(&package.folder);
            workspace::write_library(&own.join(name), name, (&package.name, &path), &feros)?;
        }
        let added: Vec<String> =
            ["containers".to_owned()].into_iter().chain(libraries.clone()).collect();
        written.write_root(members, &added)?;
        // Cargo has removed the versions that the packages alone do not need.
        written.write_lock()?;

        let profile = if self.release { "release" } else { "dev" };
        let settings = [cargo.compiler()?, workspace::profile(&written.profiles, profile)];
        let tree = cargo.tree(&written.folder.join("Cargo.toml"))?;
        let crates = Crates::below_shared(&tree, settings)?;
        let others = self.prefix.others(&packages);
        self.prefix.check_crates(&crates, &others, &packages)?;
        notices::note(format!("compiling with Feros {feros}; the first time takes some minutes"));
        Ok(Some(Components { packages, libraries, others, crates }))
    }

    /// Notes the programs of the packages that were built completely, and the others as faults.
    fn take(&self, metadata: &Metadata, artifacts: &[Artifact], compiled: &mut Compiled) {
        for found in metadata.members() {
            let Some(package) = self.packages.iter().find(|package| package.name == found.name)
            else {
                continue;
            };
            let own = || artifacts.iter().filter(|artifact| artifact.package_id == found.id);
            let is_made = |name: &str, kind: &[String]| {
                own().any(|artifact| artifact.target.name == name && artifact.target.kind == kind)
            };
            if !found.made().all(|(name, kind)| is_made(name, kind)) {
                compiled.faults.push((package.name.clone(), PackageFault::Compile));
                continue;
            }
            let folder = Path::new("lib").join(&package.name);
            let program = |artifact: &Artifact| {
                let file = artifact.executable.clone()?;
                let is_program = artifact.target.kind.iter().any(|kind| kind == "bin");
                let to = folder.join(&artifact.target.name);
                is_program.then(|| Item::new(to, Content::File(file)))
            };
            let items = own().filter_map(program).collect();
            compiled.items.push((package.name.clone(), items));
        }
    }

    /// Installs the containers and the libraries of the packages that were built.
    fn install(
        &self,
        components: Components,
        artifacts: &[Artifact],
        cargo: &Cargo,
        written: &Written,
        compiled: &mut Compiled,
    ) -> Result<(), BuildError> {
        let Components { packages, libraries, others, crates } = components;
        let is_built = |package: &ComponentPackage| {
            !compiled.faults.iter().any(|(name, _)| *name == package.name)
        };
        let (packages, libraries): (Vec<_>, Vec<_>) =
            packages.into_iter().zip(libraries).filter(|(package, _)| is_built(package)).unzip();
        if packages.is_empty() {
            return Ok(());
        }
        let built = Built::new(artifacts, &libraries, cargo)?;
        self.prefix.check_stamps(&built, &others, &packages)?;
        if let Some(signal) = self.signals.received() {
            return Err(BuildError::Signal(signal));
        }
        let lock_file = written.folder.join("Cargo.lock");
        let installed = self.prefix.install(&built, &packages, &crates, &lock_file)?;
        for (package, installed) in packages.iter().zip(installed) {
            let folder = self.prefix.folder();
            let library = installed.library.strip_prefix(folder).unwrap_or(&installed.library);
            let index = Path::new(RESOURCES).join("feros_components").join(&package.name);
            let record = Path::new("share/feros_component/packages").join(&package.name);
            let placed = [library, &index, &record].map(|path| Item::new(path, Content::Placed));
            if let Some((_, items)) =
                compiled.items.iter_mut().find(|(name, _)| *name == package.name)
            {
                items.extend(placed);
            }
        }
        Ok(())
    }
}

impl Written {
    fn write_lock(&self) -> Result<(), BuildError> {
        write(&self.folder.join("Cargo.lock"), &self.lock)
    }

    /// Writes the root of the workspace. `added` are names of this command's own crates.
    fn write_root(&self, members: &[&Package], added: &[String]) -> Result<(), BuildError> {
        let own = added.iter().map(|name| Path::new(OWN_CRATES).join(name));
        let places = members.iter().map(|package| self.mirror.place_of(&package.folder));
        let inside = places.filter_map(|place| {
            let inside = place.strip_prefix(&self.folder).ok()?;
            // The root is a member by itself.
            (!inside.as_os_str().is_empty()).then(|| inside.to_owned())
        });
        let members: Vec<Value> =
            inside.chain(own).map(|path| workspace::path_value(&path)).collect();
        let mut root = self.root.clone();
        let table = workspace::table([("resolver", "2".into()), ("members", members.into())]);
        root.insert("workspace".to_owned(), table);
        write(&self.folder.join("Cargo.toml"), &workspace::text(&Value::Table(root))?)
    }
}

/// The lock file of the checkout of Feros that a package names by its path.
fn lock_of_feros(mirror: &Mirror, package: &Package) -> Option<PathBuf> {
    let manifest = mirror.manifest(&package.folder).ok()?;
    let dependencies = manifest.get("dependencies")?;
    let names = ["feros", "feros-component"];
    let path = names.iter().find_map(|name| dependencies.get(name)?.get("path")?.as_str())?;
    let above = Path::new(path).ancestors().take(4);
    above.map(|folder| folder.join("Cargo.lock")).find(|file| file.is_file())
}

/// The source of Feros that all packages use; `None` if no package uses Feros.
fn one_feros(metadata: &Metadata) -> Result<Option<Feros>, BuildError> {
    let sources = metadata.sources_of("feros")?;
    match sources.as_slice() {
        [] => Ok(None),
        [feros] => Ok(Some(feros.clone())),
        [first, second, ..] => Err(BuildError::TwoFeros {
            first: "one package".to_owned(),
            first_feros: first.to_string(),
            second: "another".to_owned(),
            second_feros: second.to_string(),
        }),
    }
}
