//! Installed packages: prefixes that contain `lib/<package>/<executable>` and `share/<package>`, as
//! ROS 2 installs them.

use std::path::{Path, PathBuf};

use feros_wording::did_you_mean;

use crate::component_packages::ComponentPackages;
use crate::missing_package;

/// The prefixes in which packages are searched, in the order of the search.
#[derive(Clone, Debug, Default)]
pub struct Packages {
    prefixes: Vec<PathBuf>,
    containers: Option<PathBuf>,
    default_prefix: Option<PathBuf>,
    shipped: Option<Shipped>,
    components: Option<ComponentPackages>,
}

/// The executables that a program contains.
#[derive(Clone, Debug)]
struct Shipped {
    program: PathBuf,
    executables: Vec<(&'static str, &'static str)>,
}

/// The packages whose `component_container...` executables are replaced by the containers of Feros.
pub const CONTAINER_PACKAGES: [&str; 3] = ["rclcpp_components", "feros_component", "feros"];

/// A folder below a prefix of `feros build` that is itself a prefix, for stock ROS 2 alone: its
/// programs start the executables that the command `feros` contains. [`Packages::from_env`] passes
/// over it, since the command would call itself for ever.
pub const SHIPPED_PREFIX: &str = "lib/feros/shipped";

/// The reason why a package, an executable or a launch file was not found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// No prefix has the package.
    #[error("there is no package `{package}`{}{}{}", crate::error::hint(.package, .known.iter().map(String::as_str)), looked_in(.prefixes), then(.package, .known, .cure))]
    Package {
        /// The package.
        package: String,
        /// The known packages.
        known: Vec<String>,
        /// The prefixes that were searched.
        prefixes: Vec<PathBuf>,
        /// Where the package can be had.
        cure: String,
    },
    /// The package has no such executable.
    #[error("there is no executable `{executable}` in the package `{package}`{}", among(.executable, .known))]
    Executable {
        /// The executable.
        executable: String,
        /// The package.
        package: String,
        /// The executables that the package has.
        known: Vec<String>,
    },
    /// The package has no such launch file.
    #[error("there is no launch file `{file}` in the package `{package}`{}", among(.file, .known))]
    LaunchFile {
        /// The launch file.
        file: String,
        /// The package.
        package: String,
        /// The launch files that the package has.
        known: Vec<String>,
    },
    /// The package has no folder and no files, because a program contains its executables.
    #[error(
        "the package `{package}` is part of the command feros and has no files; `feros run` and \
         launch files start its executables ({})", .executables.join(", ")
    )]
    Shipped {
        /// The package.
        package: String,
        /// Its executables.
        executables: Vec<String>,
    },
}

/// Whether Feros has a container in place of this executable.
fn is_container(package: &str, executable: &str) -> bool {
    CONTAINER_PACKAGES.contains(&package)
        && executable.starts_with("component_container")
        && is_name(executable)
}

fn looked_in(prefixes: &[PathBuf]) -> String {
    if prefixes.is_empty() {
        return ": neither FEROS_PREFIX_PATH nor AMENT_PREFIX_PATH is set".to_owned();
    }
    format!(" (looked in {})", feros_files::listed_prefixes(prefixes))
}

/// The cure. If the name may be wrong, the text names the package to which the cure belongs.
fn then(package: &str, known: &[String], cure: &str) -> String {
    if did_you_mean(package, known.iter().map(String::as_str)).is_empty() {
        return format!(": {cure}");
    }
    format!("; if the name `{package}` is right, {cure}")
}

fn among(given: &str, known: &[String]) -> String {
    if known.is_empty() {
        return "; it has none".to_owned();
    }
    let all = known.join(", ");
    match did_you_mean(given, known.iter().map(String::as_str)) {
        nearest if nearest.is_empty() => format!("; it has {all}"),
        nearest => format!("{nearest} (it has {all})"),
    }
}

impl Packages {
    /// Packages in these prefixes.
    pub fn new(prefixes: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { prefixes: prefixes.into_iter().collect(), ..Self::default() }
    }

    /// Packages in the prefixes of `FEROS_PREFIX_PATH` and then `AMENT_PREFIX_PATH`, without
    /// [`SHIPPED_PREFIX`].
    pub fn from_env() -> Self {
        let named = feros_files::named_prefixes().into_iter();
        Self::new(named.filter(|prefix| !prefix.ends_with(SHIPPED_PREFIX)))
    }

    /// Uses the component containers in this folder, if they exist and no named prefix has any. A
    /// container below a named prefix has precedence, because it fits the libraries there.
    #[must_use]
    pub fn with_containers(mut self, folder: impl Into<PathBuf>) -> Self {
        self.containers = Some(folder.into());
        self
    }

    /// Also searches this prefix, after all others and after
    /// [`with_containers`](Self::with_containers).
    #[must_use]
    pub fn with_default_prefix(mut self, prefix: impl Into<PathBuf>) -> Self {
        self.default_prefix = Some(prefix.into());
        self
    }

    /// Also finds executables that `program` contains, given as packages and names, if no prefix
    /// has them. `program run PACKAGE EXECUTABLE` starts one.
    #[must_use]
    pub fn with_shipped(
        mut self,
        program: impl Into<PathBuf>,
        executables: impl IntoIterator<Item = (&'static str, &'static str)>,
    ) -> Self {
        let (program, executables) = (program.into(), executables.into_iter().collect());
        self.shipped = Some(Shipped { program, executables });
        self
    }

    /// Lets plans refuse components of unknown packages: those that no prefix has, and that neither
    /// `shipped` nor `others` names. Plans call `others` at most once, and only for packages that
    /// the first two lack. Without this, plans accept components of all packages.
    #[must_use]
    pub fn with_components(
        mut self,
        shipped: impl IntoIterator<Item = &'static str>,
        others: fn() -> Vec<String>,
    ) -> Self {
        self.components = Some(ComponentPackages::new(shipped.into_iter().collect(), others));
        self
    }

    /// The names of the shipped executables of a package.
    fn shipped(&self, package: &str) -> Vec<String> {
        let all = self.shipped.iter().flat_map(|shipped| &shipped.executables);
        all.filter(|(of, _)| *of == package).map(|(_, name)| (*name).to_owned()).collect()
    }

    /// The prefixes, in the order of the search.
    pub(crate) fn all_prefixes(&self) -> impl Iterator<Item = &PathBuf> {
        self.prefixes.iter().chain(&self.default_prefix)
    }

    /// The prefix of a package.
    ///
    /// # Errors
    /// Fails with [`FindError::Package`], which holds the known packages, or with
    /// [`FindError::Shipped`].
    pub fn prefix(&self, package: &str) -> Result<&Path, FindError> {
        let holds = |prefix: &&PathBuf| {
            is_name(package) && places(prefix).iter().any(|place| place.join(package).exists())
        };
        self.all_prefixes().find(holds).map(PathBuf::as_path).ok_or_else(|| {
            let (package, executables) = (package.to_owned(), self.shipped(package));
            if !executables.is_empty() {
                return FindError::Shipped { package, executables };
            }
            let prefixes: Vec<PathBuf> = self.all_prefixes().cloned().collect();
            let known = self.packages();
            let cure = missing_package::cure(&package, Path::new("."), &prefixes);
            FindError::Package { package, known, prefixes, cure }
        })
    }

    /// Refuses an unknown package of components.
    pub(crate) fn find_components(&self, package: &str) -> Result<(), FindError> {
        let Some(components) = &self.components else { return Ok(()) };
        match self.prefix(package) {
            Err(error) if !components.has(package) => Err(error),
            _ => Ok(()),
        }
    }

    /// The share folder of a package.
    ///
    /// # Errors
    /// The same as for [`Packages::prefix`].
    pub fn share(&self, package: &str) -> Result<PathBuf, FindError> {
        Ok(self.prefix(package)?.join("share").join(package))
    }

    /// The path of an executable of a package.
    ///
    /// # Errors
    /// Fails with a [`FindError`], which holds the known packages or the package's executables, or
    /// says that a program contains the executable.
    pub fn executable(&self, package: &str, executable: &str) -> Result<PathBuf, FindError> {
        if let Some(container) = self.container(package, executable) {
            return Ok(container);
        }
        let shipped = self.shipped(package);
        if shipped.is_empty() {
            self.prefix(package)?;
        }
        let missing = || FindError::Executable {
            executable: executable.to_owned(),
            package: package.to_owned(),
            known: self.executables(package),
        };
        if !is_name(executable) {
            return Err(missing());
        }
        let mut found =
            self.all_prefixes().map(|prefix| prefix.join("lib").join(package).join(executable));
        found.find(|path| is_executable(path)).ok_or_else(|| {
            if shipped.iter().any(|name| name == executable) {
                let package = package.to_owned();
                return FindError::Shipped { package, executables: shipped };
            }
            missing()
        })
    }

    /// The words of the command line that start an executable: its path, or for a shipped
    /// executable the program that contains it, with arguments.
    ///
    /// # Errors
    /// Fails with a [`FindError`], which holds the known packages or the package's executables.
    pub fn command(&self, package: &str, executable: &str) -> Result<Vec<String>, FindError> {
        let path = match (self.executable(package, executable), &self.shipped) {
            (Err(FindError::Shipped { .. }), Some(shipped)) => {
                let program = shipped.program.display().to_string();
                let words = [program.as_str(), "run", package, executable];
                return Ok(words.map(str::to_owned).into());
            }
            (found, _) => found?,
        };
        Ok(vec![path.display().to_string()])
    }

    /// Finds a container of Feros: below a named prefix, in the folder of
    /// [`with_containers`](Self::with_containers), or below the default prefix.
    fn container(&self, package: &str, executable: &str) -> Option<PathBuf> {
        if !is_container(package, executable) {
            return None;
        }
        let below = |prefix: &PathBuf| prefix.join("lib/feros_component").join(executable);
        let named = self.prefixes.iter().map(below);
        let beside = self.containers.iter().map(|folder| folder.join(executable));
        let by_default = self.default_prefix.iter().map(below);
        named.chain(beside).chain(by_default).find(|path| is_executable(path))
    }

    /// The sorted names of a package's executables.
    pub fn executables(&self, package: &str) -> Vec<String> {
        let folders = self.all_prefixes().map(|prefix| prefix.join("lib").join(package));
        let installed = folders.flat_map(|folder| names(&folder, is_executable));
        sorted(installed.chain(self.shipped(package)))
    }

    /// The sorted names of the known packages.
    pub fn packages(&self) -> Vec<String> {
        let below = |prefix: &PathBuf| {
            let [marked, shared, libraries] = places(prefix);
            let mut found = names(&marked, |_| true);
            found.extend(names(&shared, |path| path.join("package.xml").is_file()));
            found.extend(names(&libraries, has_executables));
            found
        };
        sorted(self.all_prefixes().flat_map(below))
    }

    /// Finds a launch file of a package by its name in `share/<package>` or a folder within.
    ///
    /// # Errors
    /// Fails with a [`FindError`], which holds the known packages or the package's launch files.
    pub fn launch_file(&self, package: &str, file: &str) -> Result<PathBuf, FindError> {
        let share = self.share(package)?;
        let files = launch_files(&share);
        let is_it = |path: &&PathBuf| {
            path.file_name().is_some_and(|name| name == file) || share.join(file) == **path
        };
        files.iter().find(is_it).cloned().ok_or_else(|| FindError::LaunchFile {
            file: file.to_owned(),
            package: package.to_owned(),
            known: file_names(&files),
        })
    }

    /// The sorted names of a package's launch files.
    pub fn launch_files(&self, package: &str) -> Vec<String> {
        self.share(package).map_or_else(|_| Vec::new(), |share| file_names(&launch_files(&share)))
    }
}

fn file_names(paths: &[PathBuf]) -> Vec<String> {
    sorted(paths.iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())))
}

/// The folders of a prefix in which an entry with the name of a package shows that the prefix has
/// the package.
fn places(prefix: &Path) -> [PathBuf; 3] {
    [
        prefix.join("share/ament_index/resource_index/packages"),
        prefix.join("share"),
        prefix.join("lib"),
    ]
}

/// Whether a string is a single path component that stays within its folder.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text != "." && text != ".." && !text.contains(['/', '\0'])
}

pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Whether a folder in `lib` belongs to a package with executables. Other folders in `lib` hold
/// only libraries.
fn has_executables(folder: &Path) -> bool {
    folder.is_dir() && !names(folder, is_executable).is_empty()
}

fn names(folder: &Path, matches: impl Fn(&Path) -> bool) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let matching = entries.flatten().filter(|entry| matches(&entry.path()));
    matching.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn sorted(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort();
    names.dedup();
    names
}

/// The launch files in a share folder, at most three folders deep.
fn launch_files(share: &Path) -> Vec<PathBuf> {
    const DEEPEST: usize = 3;
    let mut found = Vec::new();
    let mut folders = vec![(share.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
            let in_launch_folder = folder.file_name().is_some_and(|name| name == "launch");
            if path.is_dir() && depth < DEEPEST {
                folders.push((path, depth + 1));
            } else if name.contains("launch.")
                || name.ends_with(".launch")
                || (in_launch_folder && has_launch_extension(name))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn has_launch_extension(name: &str) -> bool {
    [".xml", ".yaml", ".yml", ".py"].iter().any(|extension| name.ends_with(extension))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn executable_file(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn shipped_executables_are_found_last() {
        const SHIPPED: [(&str, &str); 2] = [("tf2_ros", "publisher"), ("tf2_ros", "other")];
        let root = tempfile::tempdir().unwrap();
        let packages = Packages::new([root.path().join("named")])
            .with_default_prefix(root.path().join("default"))
            .with_shipped("/bin/feros", SHIPPED);
        let command = |name: &str| packages.command("tf2_ros", name);
        assert_eq!(command("publisher").unwrap(), ["/bin/feros", "run", "tf2_ros", "publisher"]);
        let text = packages.executable("tf2_ros", "publisher").unwrap_err().to_string();
        assert!(text.contains("part of the command feros"), "{text}");
        assert!(text.contains("(publisher, other)"), "{text}");
        assert!(matches!(packages.share("tf2_ros"), Err(FindError::Shipped { .. })));
        let text = command("publishr").unwrap_err().to_string();
        assert!(text.contains("did you mean `publisher`"), "{text}");
        assert!(matches!(command("../publisher"), Err(FindError::Executable { .. })));
        assert!(matches!(packages.command("tf2", "publisher"), Err(FindError::Package { .. })));
        // A prefix may have other executables of the package.
        executable_file(&root.path().join("named/lib/tf2_ros/echo"));
        assert_eq!(command("publisher").unwrap()[1], "run");
        assert_eq!(packages.executables("tf2_ros"), ["echo", "other", "publisher"]);
        for prefix in ["default", "named"] {
            let file = root.path().join(prefix).join("lib/tf2_ros/publisher");
            executable_file(&file);
            assert_eq!(command("publisher").unwrap(), [file.display().to_string()]);
        }
    }

    #[test]
    fn a_prefix_that_both_variables_name_is_told_once() {
        let packages = Packages::new(["/a".into(), "/b".into(), "/a".into()]);
        let told = packages.prefix("absent").unwrap_err().to_string();
        assert!(told.contains("/b (which does not exist)): source a ROS 2 that has it"), "{told}");
    }

    #[test]
    fn a_package_with_a_similar_name_does_not_hide_the_cure() {
        let root = tempfile::tempdir().unwrap();
        executable_file(&root.path().join("lib/robot_safety/watch"));
        let packages = Packages::new([root.path().to_owned()]);
        let told = packages.prefix("robot_base").unwrap_err().to_string();
        assert!(told.contains("; did you mean `robot_safety`? (looked in "), "{told}");
        let cure = "; if the name `robot_base` is right, source a ROS 2 that has it (apt install \
                    ros-DISTRO-robot-base), or build its workspace";
        assert!(told.contains(cure), "{told}");
    }

    #[test]
    fn a_container_comes_from_where_the_libraries_are() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| root.path().join(name);
        let packages = Packages::new([folder("first"), folder("second")])
            .with_containers(folder("beside"))
            .with_default_prefix(folder("default"))
            .with_shipped("/bin/feros", [("rclcpp_components", "component_container")]);
        let find = || packages.executable("rclcpp_components", "component_container");
        let shipped = find().unwrap_err();
        assert!(matches!(shipped, FindError::Shipped { .. }), "{shipped}");
        let other = packages.executable("rclcpp_components", "component_x").unwrap_err();
        assert!(matches!(other, FindError::Executable { .. }), "{other}");
        // A prefix with stock ROS 2 has precedence, since its containers load components in C++.
        let stock = folder("second").join("lib/rclcpp_components/component_container");
        executable_file(&stock);
        assert_eq!(find().unwrap(), stock);
        // Each file is found until a file with higher priority exists.
        for below in [
            "default/lib/feros_component",
            "beside",
            "second/lib/feros_component",
            "first/lib/feros_component",
        ] {
            let container = folder(below).join("component_container");
            executable_file(&container);
            assert_eq!(find().unwrap(), container);
        }
        assert_eq!(packages.packages(), ["feros_component", "rclcpp_components"]);
    }
}
