//! The shared library is one, whatever cargo builds: see the end of `crates/shared/Cargo.toml`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Packages of a build with the features that they are built with, for the target and for the host:
/// `name version|features`.
fn packages(selection: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "--no-dedupe",
            "--prefix",
            "none",
            "--format",
            "{p}|{f}",
        ])
        .args(selection)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once('|'));
    lines
        .map(|(package, features)| {
            let name_and_version = package.split(' ').take(2).collect::<Vec<_>>().join(" ");
            format!("{name_and_version}|{features}")
        })
        .collect()
}

#[test]
fn the_shared_library_is_built_with_the_same_features_everywhere() {
    let name = |line: &str| line.split('|').next().map(str::to_owned);
    let shared = packages(&[
        "--package",
        "feros",
        "--package",
        "feros-component",
        "--edges",
        "normal,build",
    ]);
    let shared: BTreeSet<_> = shared.iter().map(|line| name(line)).collect();
    let alone = packages(&["--package", "feros-container", "--edges", "normal,build,dev"]);
    let workspace = packages(&["--workspace", "--edges", "normal,build,dev"]);
    assert!(shared.len() > 50, "cargo tree tells the dependencies: {shared:?}");
    let other: Vec<String> = alone
        .difference(&workspace)
        .filter(|line| shared.contains(&name(line)))
        .map(|line| {
            let there: Vec<_> =
                workspace.iter().filter(|other| name(other) == name(line)).collect();
            format!("{line}, and in the workspace {there:?}")
        })
        .collect();
    assert!(
        other.is_empty(),
        "the whole workspace has more features; ask for them in crates/shared/Cargo.toml as well: {other:#?}"
    );
}
