//! The build number of the stamp counts the sources of all crates that a component and its
//! container share.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

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

/// The folder of each crate, such as `types/cdr`, by its name without the prefix.
fn folders(crates: &Path) -> BTreeMap<String, String> {
    let entries = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries(crates)
        .filter(|group| group.is_dir())
        .flat_map(|group| entries(&group).collect::<Vec<_>>())
        .map(|folder| {
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            (name, folder.strip_prefix(crates).unwrap().to_str().unwrap().to_owned())
        })
        .collect()
}

#[test]
fn the_build_number_counts_every_crate_below_the_shared_library() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let folders = folders(crates);
    let (mut found, mut open) = (BTreeSet::new(), vec!["shared".to_owned()]);
    while let Some(name) = open.pop() {
        let manifest = crates.join(&folders[&name]).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        open.extend(needs(&manifest).map(str::to_owned).filter(|name| found.insert(name.clone())));
    }
    assert!(found.contains("transport") && found.contains("codegen"), "{found:?}");
    let script = include_str!("../build.rs");
    let listed = script.split("const SHARED_CRATES").nth(1).unwrap().split("];").next().unwrap();
    let found: BTreeSet<_> = found.iter().map(|name| folders[name].clone()).collect();
    let listed: BTreeSet<_> = listed.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(listed, found, "SHARED_CRATES of build.rs and the Cargo.toml files");
}
