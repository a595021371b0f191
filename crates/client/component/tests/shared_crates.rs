//! The build number of the stamp counts the sources of all crates that a component and its
//! container share.
#![allow(clippy::unwrap_used)]

#[path = "../build/shared_crates.rs"]
mod shared_crates;

use std::fs;
use std::path::Path;

#[test]
fn the_build_number_counts_every_crate_below_the_shared_library() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let found = shared_crates::folders(crates).unwrap();
    let has = |folder: &str| found.contains(&crates.join(folder));
    for folder in [
        "base/trace",
        "client/component",
        "client/feros",
        "client/parameter-derive",
        "engines/cyclonedds-sys",
        "engines/fastdds-sys",
        "engines/inbox",
        "local/transport",
        "types/codegen",
        "types/ros1",
    ] {
        assert!(has(folder), "{folder} is missing in {found:?}");
    }
    let list = fs::read_to_string(crates.join("engines/engine-list/Cargo.toml")).unwrap();
    let engines: Vec<&str> =
        list.split("dep:feros-").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(engines.len() >= 4, "{engines:?}");
    for engine in engines {
        assert!(has(&format!("engines/{engine}")), "{engine} is missing in {found:?}");
    }
    for folder in ["base/test-support", "client/shared", "engines/conformance", "tools/cli"] {
        assert!(!has(folder), "components do not share {folder}");
    }
}
