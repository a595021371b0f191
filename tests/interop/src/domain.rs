//! Reserves a DDS domain for one test, so that tests in parallel threads and processes do not
//! affect each other.

use std::path::{Path, PathBuf};
use std::process::Command;

use feros_test_support::{ReservedDomain, skip};

use crate::distribution::{Distribution, distribution, environment_of_nodes};
use crate::shared_files;
use crate::variables::{interop_is_skipped, preloaded_rmw};

/// The environment variables that could make a program contact, load or use something that the test
/// does not intend.
const FOREIGN_VARIABLES: [&str; 9] = [
    "AMENT_PREFIX_PATH",
    "CYCLONEDDS_URI",
    "FEROS_ENGINE",
    "FEROS_INTERFACES",
    "FEROS_ROS_DISTRO",
    "FEROS_TRANSPORTS",
    "RMW_IMPLEMENTATION",
    "ROS_LOCALHOST_ONLY",
    "ROS_STATIC_PEERS",
];

/// A DDS domain that no other test on this host uses while this value exists.
#[derive(Debug)]
pub struct Domain {
    reserved: ReservedDomain,
}

impl Domain {
    /// Takes a free domain for stock nodes. Returns `None`, and reports the skip, if the
    /// environment disables the interop tests.
    ///
    /// # Panics
    /// If the ROS 2 wheels are not installed, or no domain becomes free.
    pub fn reserve() -> Option<Self> {
        prefix_of_ros2().map(|_| Self::reserve_without_ros2())
    }

    /// Takes a free domain for a test that starts no stock node.
    ///
    /// # Panics
    /// If no domain becomes free.
    pub fn reserve_without_ros2() -> Self {
        Self { reserved: ReservedDomain::new() }
    }

    /// The number of the domain, for `ROS_DOMAIN_ID`.
    pub fn id(&self) -> u16 {
        self.reserved.id()
    }

    /// Makes `command` use only this domain and this host, regardless of the ROS variables of the
    /// test.
    pub fn confine(&self, command: &mut Command) {
        for variable in FOREIGN_VARIABLES {
            command.env_remove(variable);
        }
        command
            // The default prefix of components lies below this folder; tests must not use the
            // user's prefix.
            .env("XDG_DATA_HOME", "/nonexistent")
            .env("ROS_DOMAIN_ID", self.id().to_string())
            .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
        if let Some(library) = preloaded_rmw() {
            command.env("RMW_IMPLEMENTATION", "rmw_feros");
            // Programs of rclcpp find the library through this folder.
            if let Some(folder) = Path::new(&library).parent() {
                command.env("FEROS_RMW_DIR", folder);
            }
            command.env("LD_PRELOAD", library);
        }
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        shared_files::remove_ports(self.id());
    }
}

/// The folder of the kit for compiling C++ programs with the stock ROS 2 of the stock nodes; that
/// for Jazzy is in the folder `jazzy` of the kit. Returns `None`, and reports the skip, if
/// `FEROS_STOCK` does not name it.
pub fn kit_of_cpp() -> Option<PathBuf> {
    let Some(kit) = std::env::var_os("FEROS_STOCK").map(PathBuf::from) else {
        skip("FEROS_STOCK does not name the kit of stock ROS 2 for C++ (CONTRIBUTING.md)");
        return None;
    };
    if distribution() == Distribution::Kilted {
        return Some(kit);
    }
    let kit = kit.join(distribution().name());
    if !kit.is_dir() {
        skip(format!("there is no kit of stock ROS 2 for C++ in {}", kit.display()));
        return None;
    }
    Some(kit)
}

/// The prefix of stock ROS 2, which is the Python environment with the wheels; it has `lib`,
/// `include` and `share`. Returns `None`, and reports the skip, if the environment disables the
/// interop tests.
///
/// # Panics
/// If the ROS 2 wheels are not installed.
pub fn prefix_of_ros2() -> Option<PathBuf> {
    if interop_is_skipped() {
        return None;
    }
    let python = python_with_ros2();
    assert!(
        python.is_file(),
        "stock ROS 2 is not installed: there is no {}. Run scripts/setup.sh, or set FEROS_SKIP_INTEROP=1 to do \
         without the interop tests.",
        python.display()
    );
    Some(environment_of_nodes())
}

/// The Python interpreter of the environment that `FEROS_ROS2` names, or else of the repository's
/// environment with stock ROS 2 Kilted.
pub fn python_with_ros2() -> PathBuf {
    environment_of_nodes().join("bin/python")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tests_never_share_a_domain() {
        let (first, second) = (Domain::reserve_without_ros2(), Domain::reserve_without_ros2());
        assert_ne!(first.id(), second.id());
    }
}
