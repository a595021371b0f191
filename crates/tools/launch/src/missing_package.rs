//! Says where a package that is not installed can be had.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// The limits of the search for the source of a package.
const DEEPEST: usize = 4;
const MOST_FOLDERS: usize = 500;
const MOST_BYTES: u64 = 1 << 20;
/// Folders that contain what was built from sources.
const BUILT: [&str; 5] = ["build", "install", "log", "share", "target"];

/// The folders above the present one in which a prefix is searched.
const HIGHEST: usize = 4;

/// What to do about a missing package: to name its prefix, if a folder `install` or one of the
/// `searched` prefixes contains it; to build it, if its source is below the folder `here`; or else
/// to install it.
pub(crate) fn cure(package: &str, here: &Path, searched: &[PathBuf]) -> String {
    if let Some(prefix) = built_near(package, here, searched) {
        return format!(
            "it is installed in {}: name this prefix in FEROS_PREFIX_PATH",
            feros_wording::harmless(&prefix.display().to_string())
        );
    }
    if let Some(folder) = source_below(here, package) {
        return format!(
            "its source is in {}: build it with feros build, and name the prefix in \
             FEROS_PREFIX_PATH",
            feros_wording::harmless(&folder.display().to_string())
        );
    }
    let apt = match is_plain(package) {
        true => format!(" (apt install ros-DISTRO-{})", package.replace('_', "-").to_lowercase()),
        false => String::new(),
    };
    format!(
        "source a ROS 2 that has it{apt}, or build its workspace with feros build or colcon, and \
         name the prefix in FEROS_PREFIX_PATH"
    )
}

/// Whether the name can be that of a Debian package, and of a folder.
fn is_plain(package: &str) -> bool {
    !package.is_empty() && package.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The prefix with the package that `feros build` or colcon has made in the folder `here` or above
/// it, by default in its folder `install`. In colcon's default layout, each package has a prefix in
/// that folder, which may be one of the `searched` prefixes.
fn built_near(package: &str, here: &Path, searched: &[PathBuf]) -> Option<PathBuf> {
    if !is_plain(package) {
        return None;
    }
    let here = here.canonicalize().ok()?;
    let folders = here.ancestors().take(HIGHEST).map(|folder| folder.join("install"));
    let near = folders.flat_map(|prefix| [prefix.join(package), prefix]);
    let mut prefixes = searched.iter().map(|prefix| prefix.join(package)).chain(near);
    prefixes.find(|prefix| prefix.join("share").join(package).join("package.xml").is_file())
}

/// The folder of the package's source below a folder.
fn source_below(here: &Path, package: &str) -> Option<PathBuf> {
    let mut folders = VecDeque::from([(here.to_owned(), 0)]);
    for _ in 0..MOST_FOLDERS {
        let (folder, depth) = folders.pop_front()?;
        let manifest = folder.join("package.xml");
        if manifest.is_file() {
            if is_of(&manifest, package) {
                return Some(folder);
            }
            // A package contains no other packages.
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let may_have_source = |name: &str| !name.starts_with('.') && !BUILT.contains(&name);
        let inside = entries.flatten().filter(|entry| {
            entry.file_type().is_ok_and(|kind| kind.is_dir())
                && entry.file_name().to_str().is_some_and(may_have_source)
        });
        if depth < DEEPEST {
            folders.extend(inside.map(|entry| (entry.path(), depth + 1)));
        }
    }
    None
}

fn is_of(manifest: &Path, package: &str) -> bool {
    let Ok(text) = feros_files::read_to_string(manifest, MOST_BYTES) else { return false };
    let Ok(document) = roxmltree::Document::parse(&text) else { return false };
    let name = document.root_element().children().find(|child| child.has_tag_name("name"));
    name.and_then(|name| name.text()).is_some_and(|name| name.trim() == package)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_source_is_built_and_another_package_is_installed() {
        let root = tempfile::tempdir().unwrap();
        for (folder, name) in [("src/a", "arm"), ("src/b", "nav2_bringup"), ("install/c", "c")] {
            let folder = root.path().join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            let text = format!("<package><name>{name}</name></package>");
            std::fs::write(folder.join("package.xml"), text).unwrap();
        }
        let told = cure("nav2_bringup", root.path(), &[]);
        assert!(told.contains("src/b: build it with feros build"), "{told}");
        let told = cure("nav2_bringup", &root.path().join("src/a"), &[]);
        assert!(told.contains("apt install ros-DISTRO-nav2-bringup"), "{told}");
        assert!(told.contains("feros build or colcon"), "{told}");
        let told = cure("c", root.path(), &[]);
        assert!(
            told.starts_with("source a ROS 2 that has it (apt install ros-DISTRO-c)"),
            "{told}"
        );
        let told = cure("no; name", root.path(), &[]);
        assert!(!told.contains("apt"), "{told}");
    }

    #[test]
    fn a_prefix_that_nothing_names_is_found() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for (prefix, name) in [("install", "arm"), ("install/hand", "hand")] {
            let folder = root.join(prefix).join("share").join(name);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("package.xml"), "").unwrap();
        }
        let inside = root.join("src/arm");
        std::fs::create_dir_all(&inside).unwrap();
        let told = cure("arm", &inside, &[]);
        let install = root.join("install").display().to_string();
        assert!(
            told.contains(&format!("{install}: name this prefix in FEROS_PREFIX_PATH")),
            "{told}"
        );
        assert_eq!(built_near("hand", &root, &[]), Some(root.join("install/hand")));
        assert_eq!(built_near("leg", &root, &[]), None);
        assert_eq!(built_near("../arm", &root, &[]), None);
        // A variable names the folder in which colcon has made a prefix for each package.
        let searched = ["/other".into(), root.join("install")];
        let elsewhere = tempfile::tempdir().unwrap();
        let found = built_near("hand", elsewhere.path(), &searched);
        assert_eq!(found, Some(root.join("install/hand")));
    }
}
