//! Checks the distribution of ROS 2. The structures of rmw differ between distributions, so the
//! library refuses host programs of other distributions before it reads any structure.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::Failure;

/// The distribution whose headers the library follows.
const DISTRIBUTION: &str = "kilted";

/// The major and minor version of the package rmw in each distribution.
const VERSIONS: [(&str, &str); 4] =
    [("6.1", "humble"), ("7.1", "iron"), ("7.3", "jazzy"), ("7.8", DISTRIBUTION)];

/// The libraries of ROS 2 that call an rmw implementation.
const CALLERS: [&str; 3] = ["librcl.so", "librmw_implementation.so", "librmw.so"];

/// The limit on the bytes read from a file.
const MOST_BYTES: u64 = 1 << 20;

/// Fails if `ROS_DISTRO` names another distribution, or if the loaded ROS 2 libraries belong to
/// another distribution. Unknown distributions pass.
pub(crate) fn check() -> Result<(), Failure> {
    check_name(std::env::var("ROS_DISTRO").ok().as_deref())?;
    static LOADED: OnceLock<Option<Loaded>> = OnceLock::new();
    let find = || {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        callers(&maps).find_map(|library| Loaded::of(&library))
    };
    match LOADED.get_or_init(find) {
        Some(loaded) => loaded.check(),
        None => Ok(()),
    }
}

fn check_name(name: Option<&str>) -> Result<(), Failure> {
    match name {
        None | Some("" | DISTRIBUTION) => Ok(()),
        Some(other) => Err(Failure::unsupported(format!(
            "this librmw_feros.so is for ROS 2 {DISTRIBUTION}, but ROS_DISTRO is {other}: source \
             ROS 2 {DISTRIBUTION}, or use another RMW_IMPLEMENTATION"
        ))),
    }
}

/// The paths of mapped libraries that call an rmw implementation.
fn callers(maps: &str) -> impl Iterator<Item = PathBuf> {
    let paths =
        maps.lines().filter_map(|line| line.find('/').map(|start| Path::new(&line[start..])));
    let is_caller = |path: &&Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        CALLERS.iter().any(|caller| name.starts_with(caller))
    };
    paths.filter(is_caller).map(Path::to_owned).collect::<Vec<_>>().into_iter()
}

/// A loaded ROS 2 library, with the version of the package rmw in the same installation.
#[derive(Debug, PartialEq, Eq)]
struct Loaded {
    library: PathBuf,
    version: String,
}

impl Loaded {
    /// Reads the version from the manifest of rmw below the installation prefix of the library.
    fn of(library: &Path) -> Option<Self> {
        let manifests = library.ancestors().skip(2).take(3);
        let version = manifests.map(|prefix| prefix.join("share/rmw/package.xml"));
        let version = version.into_iter().find_map(|manifest| version_in(&read(&manifest)?))?;
        Some(Self { library: library.to_owned(), version })
    }

    fn check(&self) -> Result<(), Failure> {
        let is_of = |series: &str| {
            self.version.strip_prefix(series).is_some_and(|rest| rest.starts_with('.'))
        };
        let known = VERSIONS.iter().find(|(series, _)| is_of(series)).map(|(_, name)| *name);
        if known == Some(DISTRIBUTION) {
            return Ok(());
        }
        let name = known.map_or_else(String::new, |name| format!("of ROS 2 {name}, "));
        Err(Failure::unsupported(format!(
            "this librmw_feros.so is for ROS 2 {DISTRIBUTION}, but {} is {name}with rmw {}: use the \
             libraries of ROS 2 {DISTRIBUTION}, or another RMW_IMPLEMENTATION",
            self.library.display(),
            self.version
        )))
    }
}

fn read(manifest: &Path) -> Option<String> {
    let mut text = String::new();
    let file = feros_files::open(manifest).ok()?;
    file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The version in a package manifest (REP 149).
fn version_in(manifest: &str) -> Option<String> {
    let (_, rest) = manifest.split_once("<version")?;
    let (_, rest) = rest.split_once('>')?;
    let (version, _) = rest.split_once("</version>")?;
    let version = version.trim();
    let is_version = version.chars().all(|c| c.is_ascii_digit() || c == '.');
    (is_version && !version.is_empty()).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_distributions_are_refused_by_name() {
        assert_eq!(check_name(None), Ok(()));
        assert_eq!(check_name(Some("kilted")), Ok(()));
        for other in ["jazzy", "humble", "rolling"] {
            let failure = check_name(Some(other)).expect_err(other);
            assert!(failure.text.contains(other), "{}", failure.text);
        }
    }

    #[test]
    fn libraries_of_other_distributions_are_refused_by_their_version() {
        let loaded = |version: &str| {
            Loaded { library: "/venv/lib/librcl.so".into(), version: version.to_owned() }.check()
        };
        assert_eq!(loaded("7.8.2"), Ok(()));
        for (version, name) in
            [("7.3.2", "jazzy"), ("6.1.2", "humble"), ("7.80.1", "with rmw 7.80.1")]
        {
            let failure = loaded(version).expect_err(version);
            assert!(failure.text.contains(name), "{}", failure.text);
            assert!(failure.text.contains("/venv/lib/librcl.so"), "{}", failure.text);
        }
    }

    #[test]
    fn the_libraries_are_found_among_all_that_is_mapped() {
        let maps = "7f00-7f01 r--p 0000 00:00 7 /usr/lib/libc.so.6\n\
                    7f01-7f02 r-xp 0000 00:00 8                  /a b/lib/librcl.so.4\n\
                    7f02-7f03 rw-p 0000 00:00 0 [heap]\n7f03-7f04 rw-p 0000 00:00 0\n";
        assert_eq!(callers(maps).collect::<Vec<_>>(), [PathBuf::from("/a b/lib/librcl.so.4")]);
    }

    #[test]
    fn the_version_is_in_the_manifest_below_the_prefix_of_a_library() {
        let prefix = tempfile::tempdir().unwrap();
        let share = prefix.path().join("share/rmw");
        std::fs::create_dir_all(&share).unwrap();
        for library in ["lib/librcl.so", "lib/x86_64-linux-gnu/librcl.so"] {
            let library = prefix.path().join(library);
            std::fs::write(share.join("package.xml"), "<version>7.3.2</version>").unwrap();
            let version = "7.3.2".to_owned();
            assert_eq!(Loaded::of(&library), Some(Loaded { library: library.clone(), version }));
            std::fs::remove_file(share.join("package.xml")).unwrap();
            assert_eq!(Loaded::of(&library), None);
        }
    }

    #[test]
    fn versions_are_read_from_manifests() {
        let read = |text: &str| version_in(text);
        assert_eq!(read("<package>\n  <version>7.3.2</version>").as_deref(), Some("7.3.2"));
        assert_eq!(read("<version compatibility='7'> 7.8.1 </version>").as_deref(), Some("7.8.1"));
        for none in ["", "<version>", "<version></version>", "<version>\u{1b}[2J</version>"] {
            assert_eq!(read(none), None, "{none}");
        }
    }
}
