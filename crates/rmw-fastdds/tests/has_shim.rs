//! Without the shim the tests of the engine are not there, which must not go unseen.

#[test]
fn the_engine_is_tested_or_known_not_to_be() {
    if cfg!(has_shim) {
        assert!(feros_fastdds_sys::Shim::get().is_ok());
        return;
    }
    assert!(
        std::env::var_os("FEROS_SKIP_INTEROP").is_some_and(|value| value == "1"),
        "Fast DDS 3 was not found, so its engine is not tested: run scripts/setup.sh, which installs the wheel \
         ros-fastdds into .venv, or set FEROS_SKIP_INTEROP=1"
    );
    eprintln!("skipped: the tests of the Fast DDS engine, because there is no Fast DDS 3");
}
