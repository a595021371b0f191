//! The environments with stock ROS 2: one for each distribution that the tests run with.

use std::path::{Path, PathBuf};

use feros_test_support::skip;

use crate::variables::{interop_is_skipped, preloaded_rmw};

/// The variable that names the folder with stock ROS 2 for stock nodes, if that is not `.venv`.
const VARIABLE: &str = "FEROS_ROS2";

/// A distribution of ROS 2 for which `scripts/setup.sh` makes an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// ROS 2 Kilted, with rmw 7.8.
    Kilted,
    /// ROS 2 Jazzy, with rmw 7.3.
    Jazzy,
}

impl Distribution {
    /// All distributions, in the order of their tests.
    pub const ALL: [Self; 2] = [Self::Kilted, Self::Jazzy];

    /// The name, as in `ROS_DISTRO`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kilted => "kilted",
            Self::Jazzy => "jazzy",
        }
    }

    /// The distribution that is installed in a folder. Returns `None` if the folder has no
    /// distribution, or a distribution that these tests do not know.
    #[must_use]
    pub fn of(environment: &Path) -> Option<Self> {
        let manifest = std::fs::read_to_string(environment.join("share/rmw/package.xml")).ok()?;
        Self::ALL.into_iter().find(|known| known.has_rmw_of(&manifest))
    }

    /// Whether a manifest of the package rmw belongs to this distribution.
    fn has_rmw_of(self, manifest: &str) -> bool {
        let version = match self {
            Self::Kilted => "7.8.",
            Self::Jazzy => "7.3.",
        };
        manifest.contains(&format!("<version>{version}"))
    }

    /// The folder of its environment, which `scripts/setup.sh` makes.
    fn usual_environment(self) -> PathBuf {
        let name = match self {
            Self::Kilted => ".venv",
            Self::Jazzy => ".venv-jazzy",
        };
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
    }
}

/// The folder with stock ROS 2 of this distribution, a Python environment with `bin`, `lib`,
/// `include` and `share`: the folder that `FEROS_ROS2` names, if that is of this distribution, or
/// else the one that `scripts/setup.sh` makes. Returns `None`, and reports the skip, if there is
/// no such folder or the environment disables the interop tests.
#[must_use]
pub fn environment(distribution: Distribution) -> Option<PathBuf> {
    if interop_is_skipped() {
        return None;
    }
    let places = [named(), Some(distribution.usual_environment())];
    let is_of = |place: &PathBuf| Distribution::of(place) == Some(distribution);
    let found = places.into_iter().flatten().find(is_of);
    if found.is_none() {
        skip(format!(
            "there is no stock ROS 2 {} in {}; scripts/setup.sh installs it",
            distribution.name(),
            distribution.usual_environment().display()
        ));
    }
    found
}

/// The distribution of the stock nodes: that of the folder that `FEROS_ROS2` names, or else Kilted.
///
/// # Panics
/// If `FEROS_ROS2` names a folder with none of the distributions.
#[must_use]
pub fn distribution() -> Distribution {
    let Some(folder) = named() else { return Distribution::Kilted };
    Distribution::of(&folder).unwrap_or_else(|| {
        panic!("{VARIABLE} is {}, where no known ROS 2 is installed", folder.display())
    })
}

/// Whether the stock nodes are of Jazzy. If so, this reports a skip, since only tests of what newer
/// distributions do call this function.
pub fn peers_are_of_jazzy(what: &str) -> bool {
    let are = distribution() == Distribution::Jazzy;
    if are {
        skip(format!("{what}: ROS 2 Jazzy does not have this"));
    }
    are
}

/// Whether the stock nodes communicate through Jazzy's own rmw (rmw_fastrtps_cpp 8 on Fast DDS 2).
pub fn peers_are_on_rmw_of_jazzy() -> bool {
    distribution() == Distribution::Jazzy && preloaded_rmw().is_none()
}

/// The history and the depth that a stock node shows of an endpoint that announces these: Fast DDS
/// 2, in Jazzy, does not read them.
pub fn history_at_stock(history: &'static str, depth: u32) -> (&'static str, u32) {
    if peers_are_on_rmw_of_jazzy() { ("unknown", 0) } else { (history, depth) }
}

/// The folder with stock ROS 2 in which stock nodes run, whether it exists or not.
pub(crate) fn environment_of_nodes() -> PathBuf {
    named().unwrap_or_else(|| Distribution::Kilted.usual_environment())
}

/// The folder that the user names.
fn named() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_recognized_by_the_version_of_rmw() {
        let of = |version: &str| {
            let manifest = format!("<package format=\"2\"><version>{version}</version></package>");
            Distribution::ALL.into_iter().find(|known| known.has_rmw_of(&manifest))
        };
        assert_eq!(of("7.8.2"), Some(Distribution::Kilted));
        assert_eq!(of("7.3.2"), Some(Distribution::Jazzy));
        for other in ["6.1.2", "7.80.1", "17.3.2", "7.3", ""] {
            assert_eq!(of(other), None, "{other}");
        }
        assert_eq!(Distribution::of(Path::new("/nonexistent")), None);
    }
}
