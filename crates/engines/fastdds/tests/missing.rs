//! Tests that one error message says which part is missing, and how to get it, if there is no shim.
#![allow(clippy::unwrap_used)]

use feros_engine::{Engine, OpenError, SessionOptions};
use feros_fastdds::FastDdsEngine;

#[test]
fn a_missing_engine_says_how_to_get_it() {
    // SAFETY: this is the only test in this process, and the process has started no thread yet.
    unsafe { std::env::set_var("FEROS_FASTDDS_SHIM", "/nonexistent/libferos_fastdds.so") };
    let error = FastDdsEngine.open(&SessionOptions::default()).map(drop).unwrap_err();
    assert!(matches!(error, OpenError::NotInstalled { engine: "fastdds", .. }), "{error}");
    let said = error.to_string();
    for part in
        ["/nonexistent/libferos_fastdds.so", "pip install ros-fastdds", "--features fastdds"]
    {
        assert!(said.contains(part), "{said}");
    }
}
