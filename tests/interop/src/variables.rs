//! The environment variables that disable stock nodes, or make them use the rmw of Feros.

use std::ffi::OsString;

use feros_test_support::skip;

/// The variable that names a library for stock nodes to load before all others. With
/// `librmw_feros.so`, stock nodes use the rmw of Feros, so that the tests of Feros nodes with stock
/// nodes test that rmw too.
const PRELOADED: &str = "FEROS_INTEROP_PRELOAD";

/// The library that stock nodes load before all others, which has the rmw of Feros.
pub(crate) fn preloaded_rmw() -> Option<OsString> {
    std::env::var_os(PRELOADED)
}

/// Whether stock nodes use the rmw of Feros instead of their own. If so, this reports a skip, since
/// only tests of stock behaviour call this function.
pub fn peers_are_on_feros(what: &str) -> bool {
    let preloaded = preloaded_rmw().is_some();
    if preloaded {
        skip(format!("{what}: only stock does this, and {PRELOADED} has peers on rmw_feros"));
    }
    preloaded
}

/// Whether the environment disables stock nodes. If so, this reports a skip.
pub fn interop_is_skipped() -> bool {
    let is_skipped = std::env::var_os("FEROS_SKIP_INTEROP").is_some_and(|value| value == "1");
    if is_skipped {
        skip("FEROS_SKIP_INTEROP=1 is set; unset it, and let scripts/setup.sh install the peers");
    }
    is_skipped
}
