//! Without the shim, the tests of the engine are not built. In that case, this test reports this.
#![allow(clippy::unwrap_used)]

#[test]
fn the_engine_is_tested_or_known_not_to_be() {
    if cfg!(has_shim) {
        let version = feros_fastdds_sys::Shim::get().unwrap().fastdds_version();
        // The version that `./test fastdds` expects (FAST_DDS_2 in scripts/test/parts.py).
        let expected = std::env::var("FEROS_FASTDDS_EXPECTED").unwrap_or_default();
        assert!(version.starts_with(&expected), "this is Fast DDS {version}, not {expected}");
        return;
    }
    if std::env::var("FEROS_FASTDDS_EXPECTED").is_ok_and(|expected| expected == "2.")
        && !has_fast_dds_2()
    {
        let reason = "all tests of the engine: there is no libfastrtps, so the system's Fast DDS is \
                      not 2 (Debian 12 has 2.9, Debian 13 has 3.1)";
        return feros_test_support::skip(reason);
    }
    assert!(
        std::env::var_os("FEROS_SKIP_INTEROP").is_some_and(|value| value == "1"),
        "Fast DDS was not found, so its engine is not tested: run scripts/setup.sh, which installs the wheel \
         ros-fastdds into .venv, or set FEROS_SKIP_INTEROP=1"
    );
    feros_test_support::skip(
        "all tests of the engine: Fast DDS was not found when they were built; scripts/setup.sh \
         installs the wheel ros-fastdds into .venv",
    );
}

/// Whether a compiler finds the library of Fast DDS 2. In Fast DDS 3, the library has another name.
fn has_fast_dds_2() -> bool {
    let folders = std::fs::read_dir("/usr/lib").unwrap().filter_map(Result::ok);
    folders
        .map(|folder| folder.path())
        .chain(["/usr/lib".into(), "/usr/local/lib".into()])
        .any(|folder: std::path::PathBuf| folder.join("libfastrtps.so").exists())
}
