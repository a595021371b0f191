//! Every cargo build makes the same shared library; the end of `crates/client/shared/Cargo.toml`
//! gives the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The units that cargo would build for these arguments, as its unstable option `--unit-graph`
/// lists them.
///
/// `cargo tree` is stable, but mixes units for build scripts with units for the program.
fn unit_graph(arguments: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--locked", "--offline", "-Zunstable-options", "--unit-graph", "--target-dir"])
        .arg(folder.path())
        .env("RUSTC_BOOTSTRAP", "1")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut graph: Value = serde_json::from_slice(&output.stdout).unwrap();
    let Value::Array(units) = graph["units"].take() else { panic!("a list of units: {graph}") };
    units
}

/// Everything that decides the form of a unit, except its dependencies: package, target, features
/// and profile.
fn own_form(unit: &Value) -> String {
    let mut profile = unit["profile"].clone();
    // The profile of tests differs only in its name.
    profile.as_object_mut().unwrap().remove("name");
    let package = unit["pkg_id"].as_str().unwrap().rsplit('/').next().unwrap();
    let (target, mode, features) = (&unit["target"]["name"], &unit["mode"], &unit["features"]);
    format!("{package} {target} {mode} {features} {profile}")
}

/// The forms of the shared library and of its dependencies, each with the forms that it depends on.
fn forms_of_shared_library(units: &[Value]) -> BTreeMap<String, BTreeSet<String>> {
    let is_shared =
        |unit: &&Value| unit["target"]["name"] == "feros_shared" && unit["mode"] == "build";
    let shared: Vec<_> = units.iter().filter(is_shared).collect();
    assert_eq!(shared.len(), 1, "one shared library in one build");
    let (mut forms, mut seen, mut open) = (BTreeMap::new(), BTreeSet::new(), shared);
    while let Some(unit) = open.pop() {
        let below = unit["dependencies"].as_array().unwrap().iter();
        let below: Vec<_> =
            below.map(|edge| &units[edge["index"].as_u64().unwrap() as usize]).collect();
        let of_this: &mut BTreeSet<_> = forms.entry(own_form(unit)).or_default();
        for unit in below {
            of_this.insert(own_form(unit));
            if seen.insert(std::ptr::from_ref(unit)) {
                open.push(unit);
            }
        }
    }
    forms
}

#[test]
fn the_shared_library_is_built_with_the_same_features_everywhere() {
    let whole = forms_of_shared_library(&unit_graph(&["test", "--workspace"]));
    assert!(whole.len() > 50, "the shared library has dependencies: {whole:#?}");
    let selections: [&[&str]; 4] = [
        &["test", "-p", "feros-container"],
        // Two builds: one for the tests of the command, and one by a user of the containers.
        &["build", "-p", "feros-container", "-p", "demo_components_library"],
        &["build", "-p", "feros-container"],
        &["build", "--workspace"],
    ];
    for selection in selections {
        let part = forms_of_shared_library(&unit_graph(selection));
        let only_in = |one: &BTreeMap<String, _>, other: &BTreeMap<String, _>| {
            let own = one.keys().filter(|form| !other.contains_key(*form));
            own.filter_map(|form| form.split(" {").next().map(str::to_owned)).collect::<Vec<_>>()
        };
        assert!(
            part == whole,
            "cargo {} builds another shared library than a test of the whole workspace, in which \
             other features are asked for; ask for them in crates/client/shared/Cargo.toml as well. Only \
             there: {:#?}; only in the whole workspace: {:#?}",
            selection.join(" "),
            only_in(&part, &whole),
            only_in(&whole, &part),
        );
    }
}
