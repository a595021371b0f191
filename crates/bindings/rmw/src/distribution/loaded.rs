//! Finds the distribution of ROS 2 in the process.
//!
//! The structures of rmw differ between distributions, so a wrong guess damages the memory of the
//! host program. The loaded libraries that call an rmw implementation show the distribution, by the
//! names that they export and by the version in the manifest of their package.
//! `ROS_DISTRO` only counts if no library shows its distribution.

use std::ffi::{CStr, CString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{Distribution, NAMES};
use crate::error::Failure;
use crate::log;

/// The libraries of ROS 2 that call an rmw implementation.
const CALLERS: [&str; 3] = ["librcl.so", "librmw_implementation.so", "librmw.so"];

/// The limit on the bytes read from a manifest.
const MOST_BYTES: u64 = 1 << 20;

/// The distribution of the process. Fails if the library does not serve it, or cannot find it.
pub(crate) fn loaded() -> Result<&'static Distribution, Failure> {
    static FOUND: OnceLock<&Distribution> = OnceLock::new();
    if let Some(found) = FOUND.get().copied() {
        return Ok(found);
    }
    let named = std::env::var("ROS_DISTRO").ok().filter(|name| !name.is_empty());
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let shown: Vec<Shown> = callers(&maps).into_iter().map(Shown::by).collect();
    let found = recognize(&shown, named.as_deref())?;
    Ok(*FOUND.get_or_init(|| {
        announce(found, named.as_deref());
        found
    }))
}

/// Logs what a user has to know about the distribution of the process.
fn announce(found: &Distribution, named: Option<&str>) {
    log::begin();
    let name = found.name;
    if let Some(named) = named.filter(|named| *named != name) {
        tracing::warn!(
            "ROS_DISTRO is {named}, but the loaded libraries of ROS 2 are of {name}; rmw_feros \
             follows the libraries"
        );
    }
    if !found.was_run {
        tracing::warn!(
            "rmw_feros was never run with ROS 2 {name}; its support for {name} was written from \
             published information only"
        );
    }
}

/// The distribution below an installation prefix.
pub(super) fn below(prefix: &Path) -> Result<&'static Distribution, Failure> {
    let manifest = manifest(prefix);
    let version = version_in_file(&manifest).ok_or_else(|| {
        Failure::error(format!(
            "there is no ROS 2 below {}: {} is missing, or has no version",
            prefix.display(),
            manifest.display()
        ))
    })?;
    Distribution::with_rmw(&version)
        .map_err(|name| refusal(&prefix.display().to_string(), &with_version(name, &version)))
}

/// The paths of the mapped libraries that call an rmw implementation, each once.
fn callers(maps: &str) -> Vec<PathBuf> {
    let paths =
        maps.lines().filter_map(|line| line.find('/').map(|start| Path::new(&line[start..])));
    let is_caller = |path: &&Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        CALLERS.iter().any(|caller| name.starts_with(caller))
    };
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths.filter(is_caller) {
        if !found.iter().any(|known| known == path) {
            found.push(path.to_owned());
        }
    }
    found
}

/// The facts about its distribution that the exports of a library show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exported {
    /// Nothing, because the library has no exports that differ, or they cannot be read.
    Nothing,
    /// A distribution that the library serves.
    Of(&'static Distribution),
    /// A distribution before Jazzy.
    Older,
}

impl Exported {
    /// Looks for functions that one distribution has added or removed.
    fn by(library: &Path, has: impl Fn(&CStr) -> bool) -> Self {
        let of = |name| Distribution::named(name).map_or(Self::Nothing, Self::Of);
        let name = library.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("librcl.so") && has(c"rcl_init") {
            if has(c"rcl_get_localhost_only") {
                // Kilted removed this function. Jazzy added the next one.
                return if has(c"rcl_timer_init2") { of("jazzy") } else { Self::Older };
            }
            let has_backends = has(c"rcl_subscription_options_set_acceptable_buffer_backends");
            return of(if has_backends { "lyrical" } else { "kilted" });
        }
        // Kilted added this function. Before it, the exports of librmw.so do not differ.
        if name.starts_with("librmw.so") && has(c"rmw_enclave_options_copy") {
            let has_services = has(c"rmw_get_zero_initialized_service_endpoint_info");
            return of(if has_services { "lyrical" } else { "kilted" });
        }
        Self::Nothing
    }
}

/// Whether a loaded library, or a library that it needs, exports a symbol. False if the library
/// cannot be opened.
fn exports(library: &Path, symbol: &CStr) -> bool {
    let Ok(path) = CString::new(library.as_os_str().as_bytes()) else { return false };
    // SAFETY: this call loads nothing, so no code runs. The path ends with NUL.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return false;
    }
    // SAFETY: the handle was just opened, and the name ends with NUL.
    let found = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
    // SAFETY: the handle is open. Since it did not load the library, closing it unloads nothing.
    unsafe { libc::dlclose(handle) };
    !found.is_null()
}

/// The facts about its distribution that a loaded library shows.
#[derive(Debug)]
struct Shown {
    library: PathBuf,
    exported: Exported,
    /// The version of the package rmw in the same installation.
    version: Option<String>,
}

impl Shown {
    fn by(library: PathBuf) -> Self {
        let exported = Exported::by(&library, |symbol| exports(&library, symbol));
        // A library is in PREFIX/lib or in a folder for the machine's architecture below it.
        let prefixes = library.ancestors().skip(2).take(3);
        let version = prefixes.map(manifest).find_map(|manifest| version_in_file(&manifest));
        Self { library, exported, version }
    }

    /// The distribution of the library; `None` if the library does not show it. The error describes
    /// a distribution that is not served.
    fn distribution(&self) -> Result<Option<&'static Distribution>, String> {
        let older = || "older than ROS 2 jazzy".to_owned();
        let Some(version) = &self.version else {
            return match self.exported {
                Exported::Nothing => Ok(None),
                Exported::Of(distribution) => Ok(Some(distribution)),
                Exported::Older => Err(older()),
            };
        };
        let by_version =
            Distribution::with_rmw(version).map_err(|name| with_version(name, version))?;
        let contradiction = match self.exported {
            Exported::Nothing => return Ok(Some(by_version)),
            Exported::Of(distribution) if distribution == by_version => {
                return Ok(Some(by_version));
            }
            Exported::Of(distribution) => format!("of ROS 2 {}", distribution.name),
            Exported::Older => older(),
        };
        Err(format!("{contradiction}, beside a manifest of rmw {version}"))
    }
}

/// Chooses the distribution of the process from what the libraries show and from `ROS_DISTRO`.
fn recognize(shown: &[Shown], named: Option<&str>) -> Result<&'static Distribution, Failure> {
    let mut found: Option<(&'static Distribution, &Path)> = None;
    for one in shown {
        let library = one.library.display();
        let distribution =
            one.distribution().map_err(|what| refusal(&library.to_string(), &what))?;
        match (distribution, found) {
            (Some(distribution), None) => found = Some((distribution, one.library.as_path())),
            (Some(distribution), Some((other, of))) if distribution != other => {
                return Err(Failure::unsupported(format!(
                    "{} is of ROS 2 {}, but {library} is of ROS 2 {}: start the program with the \
                     libraries of one distribution",
                    of.display(),
                    other.name,
                    distribution.name
                )));
            }
            _ => {}
        }
    }
    if let Some((distribution, _)) = found {
        return Ok(distribution);
    }
    named.and_then(Distribution::named).ok_or_else(|| {
        Failure::unsupported(format!(
            "no loaded library shows the distribution of ROS 2, and ROS_DISTRO names none that \
             this librmw_feros.so serves ({NAMES}): set ROS_DISTRO to the distribution that the \
             program was built with"
        ))
    })
}

fn refusal(subject: &str, what: &str) -> Failure {
    Failure::unsupported(format!(
        "this librmw_feros.so serves ROS 2 {NAMES}, but {subject} is {what}: use one of these \
         distributions, or another RMW_IMPLEMENTATION"
    ))
}

fn with_version(name: Option<&str>, version: &str) -> String {
    let name = name.map_or_else(String::new, |name| format!("of ROS 2 {name}, "));
    format!("{name}with rmw {version}")
}

/// The manifest of rmw in an installation.
fn manifest(prefix: &Path) -> PathBuf {
    prefix.join("share/rmw/package.xml")
}

fn version_in_file(manifest: &Path) -> Option<String> {
    let mut text = String::new();
    let file = feros_files::open(manifest).ok()?;
    file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    version_in(&text)
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
    use crate::ffi::RMW_RET_UNSUPPORTED;

    fn exported(library: &str, symbols: &[&CStr]) -> Exported {
        Exported::by(Path::new(library), |symbol| symbols.contains(&symbol))
    }

    fn of(name: &str) -> Exported {
        Exported::Of(Distribution::named(name).expect(name))
    }

    fn shown(library: &str, exported: Exported, version: Option<&str>) -> Shown {
        Shown { library: library.into(), exported, version: version.map(str::to_owned) }
    }

    /// The name of the distribution, or the text of the refusal.
    fn recognized(shown: &[Shown], named: Option<&str>) -> Result<&'static str, String> {
        recognize(shown, named).map(|found| found.name).map_err(|failure| {
            assert_eq!(failure.code, RMW_RET_UNSUPPORTED);
            failure.text
        })
    }

    #[test]
    fn a_library_is_known_by_what_it_exports() {
        let (init, localhost, timer) = (c"rcl_init", c"rcl_get_localhost_only", c"rcl_timer_init2");
        let backends = c"rcl_subscription_options_set_acceptable_buffer_backends";
        assert_eq!(exported("/a/librcl.so", &[init, localhost, timer]), of("jazzy"));
        assert_eq!(exported("/a/librcl.so", &[init, localhost]), Exported::Older);
        assert_eq!(exported("/a/librcl.so.4", &[init, timer]), of("kilted"));
        assert_eq!(exported("/a/librcl.so", &[init, timer, backends]), of("lyrical"));
        assert_eq!(exported("/a/librcl.so", &[]), Exported::Nothing);
        let enclave = c"rmw_enclave_options_copy";
        let services = c"rmw_get_zero_initialized_service_endpoint_info";
        assert_eq!(exported("/a/librmw.so", &[enclave]), of("kilted"));
        assert_eq!(exported("/a/librmw.so", &[enclave, services]), of("lyrical"));
        assert_eq!(exported("/a/librmw.so", &[]), Exported::Nothing);
        let implementation = exported("/a/librmw_implementation.so", &[init, enclave, services]);
        assert_eq!(implementation, Exported::Nothing);
    }

    #[test]
    fn what_is_loaded_decides() {
        let jazzy = || shown("/j/librcl.so", of("jazzy"), Some("7.3.2"));
        let kilted = || shown("/k/librmw.so", of("kilted"), None);
        for named in [None, Some("kilted"), Some("jazzy"), Some("humble"), Some("\u{1b}[2J")] {
            assert_eq!(recognized(&[jazzy()], named), Ok("jazzy"));
            assert_eq!(recognized(&[kilted()], named), Ok("kilted"));
        }
        let only_version = shown("/l/librmw_implementation.so", Exported::Nothing, Some("7.10.1"));
        assert_eq!(recognized(&[only_version], Some("kilted")), Ok("lyrical"));
        let nothing = shown("/j/librmw.so", Exported::Nothing, None);
        assert_eq!(recognized(&[nothing, jazzy()], None), Ok("jazzy"));
    }

    #[test]
    fn two_distributions_in_one_process_are_refused() {
        let both = [
            shown("/j/librcl.so", of("jazzy"), Some("7.3.2")),
            shown("/k/librmw.so", of("kilted"), Some("7.8.2")),
        ];
        for named in [None, Some("jazzy"), Some("kilted")] {
            let text = recognized(&both, named).expect_err("two distributions");
            let says = "/j/librcl.so is of ROS 2 jazzy, but /k/librmw.so is of ROS 2 kilted";
            assert!(text.contains(says), "{text}");
        }
    }

    #[test]
    fn libraries_of_other_distributions_are_refused_by_name() {
        let cases = [
            (Exported::Older, Some("6.1.2"), "is of ROS 2 humble, with rmw 6.1.2"),
            (Exported::Older, Some("7.1.0"), "is of ROS 2 iron, with rmw 7.1.0"),
            (Exported::Older, None, "is older than ROS 2 jazzy"),
            (of("lyrical"), Some("7.11.0"), "is with rmw 7.11.0"),
            (of("kilted"), Some("7.3.2"), "is of ROS 2 kilted, beside a manifest of rmw 7.3.2"),
            (Exported::Older, Some("7.8.2"), "older than ROS 2 jazzy, beside a manifest of rmw"),
        ];
        for (exported, version, says) in cases {
            let one = [shown("/venv/lib/librcl.so", exported, version)];
            let text = recognized(&one, Some("kilted")).expect_err(says);
            assert!(text.contains("/venv/lib/librcl.so ") && text.contains(says), "{text}");
        }
    }

    #[test]
    fn ros_distro_counts_if_no_library_shows_its_distribution() {
        let nothing = || [shown("/lib/librmw.so", Exported::Nothing, None)];
        assert_eq!(recognized(&nothing(), Some("jazzy")), Ok("jazzy"));
        assert_eq!(recognized(&[], Some("kilted")), Ok("kilted"));
        for named in [None, Some("humble"), Some("")] {
            for shown in [&nothing()[..], &[]] {
                let text = recognized(shown, named).expect_err("nothing is known");
                assert!(text.contains("set ROS_DISTRO to the distribution"), "{text}");
            }
        }
    }

    #[test]
    fn the_libraries_are_found_among_all_that_is_mapped() {
        let maps = "7f00-7f01 r--p 0000 00:00 7 /usr/lib/libc.so.6\n\
                    7f01-7f02 r-xp 0000 00:00 8                  /a b/lib/librcl.so.4\n\
                    7f02-7f03 rw-p 0000 00:00 8                  /a b/lib/librcl.so.4\n\
                    7f03-7f04 r-xp 0000 00:00 9 /a b/lib/librmw_feros.so\n\
                    7f04-7f05 r-xp 0000 00:00 9 /a b/lib/librmw.so\n\
                    7f05-7f06 rw-p 0000 00:00 0 [heap]\n7f06-7f07 rw-p 0000 00:00 0\n";
        let found = [PathBuf::from("/a b/lib/librcl.so.4"), PathBuf::from("/a b/lib/librmw.so")];
        assert_eq!(callers(maps), found);
    }

    #[test]
    fn the_version_is_in_the_manifest_below_the_prefix_of_a_library() {
        let prefix = tempfile::tempdir().expect("a folder");
        let share = prefix.path().join("share/rmw");
        std::fs::create_dir_all(&share).expect("a folder");
        for library in ["lib/librcl.so", "lib/x86_64-linux-gnu/librcl.so"] {
            let library = prefix.path().join(library);
            let version = || Shown::by(library.clone()).version;
            assert_eq!(version(), None);
            std::fs::write(share.join("package.xml"), "<version>7.3.2</version>").expect("written");
            assert_eq!(version().as_deref(), Some("7.3.2"));
            std::fs::remove_file(share.join("package.xml")).expect("removed");
        }
    }

    #[test]
    fn a_file_that_is_no_library_exports_nothing() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "no library").expect("written");
        assert!(!exports(file.path(), c"rcl_init"));
        assert!(!exports(Path::new("/nonexistent/librcl.so"), c"rcl_init"));
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
