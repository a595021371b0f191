//! Without the shim the tests of the engine are not there, which must not go unseen.
#![allow(clippy::unwrap_used)]

#[test]
fn the_engine_is_tested_or_known_not_to_be() {
    if cfg!(has_shim) {
        let version = feros_fastdds_sys::Shim::get().unwrap().fastdds_version();
        // What `./test fastdds` tests (FAST_DDS_2 in scripts/test/parts.py).
        let expected = std::env::var("FEROS_FASTDDS_EXPECTED").unwrap_or_default();
        assert!(version.starts_with(&expected), "this is Fast DDS {version}, not {expected}");
        return;
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
