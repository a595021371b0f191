//! Finds the crates that a component and its container share: those that the shared library needs
//! for its build. The build script and its test use this file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folders of the shared crates. Engines that are optional features are included, since every
/// component and its container have to agree about them too.
pub(crate) fn folders(crates: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let by_name = all(crates)?;
    let mut shared = BTreeSet::new();
    let mut open = vec![crates.join("client/shared")];
    while let Some(folder) = open.pop() {
        let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
        for name in needs(&manifest) {
            let folder = by_name
                .get(name)
                .ok_or_else(|| io::Error::other(format!("the crate {name} has no folder")))?;
            if shared.insert(folder.clone()) {
                open.push(folder.clone());
            }
        }
    }
    Ok(shared)
}

/// The folder of each crate, by its name without the prefix.
fn all(crates: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let mut all = BTreeMap::new();
    for group in fs::read_dir(crates)? {
        let group = group?.path();
        for folder in group.is_dir().then(|| fs::read_dir(group)).transpose()?.into_iter().flatten()
        {
            let folder = folder?;
            all.insert(folder.file_name().to_string_lossy().into_owned(), folder.path());
        }
    }
    Ok(all)
}

/// The crates of this repository that a crate needs for its build, by their names without the
/// prefix. Crates that only tests need are not included.
fn needs(manifest: &str) -> impl Iterator<Item = &str> {
    let mut is_wanted = false;
    manifest.lines().filter_map(move |line| {
        if line.starts_with('[') {
            is_wanted = matches!(line, "[dependencies]" | "[build-dependencies]");
        }
        let name = line.split(['.', ' ', '=']).next().filter(|_| is_wanted)?;
        if name == "feros" { Some(name) } else { name.strip_prefix("feros-") }
    })
}
