//! What `feros --version` says of this program: the commit, the engines, the distributions of
//! ROS 2, and the format of shared memory.

use std::sync::LazyLock;

use feros::engine::DiscoveryForm;
use feros::shm::format_version;

/// The version and all facts, a line each.
static FACTS: LazyLock<String> = LazyLock::new(|| {
    let (built_in, missing): (Vec<&str>, Vec<&str>) =
        feros::ENGINE_NAMES.into_iter().partition(|name| feros::engine(name).is_ok());
    let missing = match missing.as_slice() {
        [] => String::new(),
        missing => format!(" (not built in: {})", missing.join(", ")),
    };
    format!(
        "{}\ncommit: {}\nengines: {}{missing}\ndistributions of ROS 2: {}\nformat of shared \
         memory: {}",
        env!("CARGO_PKG_VERSION"),
        env!("FEROS_COMMIT"), // from build.rs
        built_in.join(", "),
        DiscoveryForm::DISTRIBUTIONS.join(", "),
        format_version(),
    )
});

/// The text of `--version`, after the name of the command.
pub(crate) fn facts() -> &'static str {
    &FACTS
}
