//! The build number of the stamp counts the sources of all crates that a component and its
//! container share.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The crates of this repository that a crate needs for its build, by the names of their folders;
/// crates that only tests need do not count.
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

#[test]
fn the_build_number_counts_every_crate_below_the_shared_library() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut found, mut open) = (BTreeSet::new(), vec!["shared".to_owned()]);
    while let Some(folder) = open.pop() {
        let manifest = fs::read_to_string(crates.join(&folder).join("Cargo.toml")).unwrap();
        open.extend(needs(&manifest).map(str::to_owned).filter(|name| found.insert(name.clone())));
    }
    assert!(found.contains("transport") && found.contains("codegen"), "{found:?}");
    let script = include_str!("../build.rs");
    let listed = script.split("const SHARED_CRATES").nth(1).unwrap().split("];").next().unwrap();
    let listed: BTreeSet<_> = listed.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(listed, found, "SHARED_CRATES of build.rs and the Cargo.toml files");
}
