//! The packages of components that a container finds although no prefix has them.

use std::sync::{Arc, OnceLock};

#[derive(Clone, Debug)]
pub(crate) struct ComponentPackages {
    shipped: Vec<&'static str>,
    /// Lists the others, which takes a while.
    list: fn() -> Vec<String>,
    listed: Arc<OnceLock<Vec<String>>>,
}

impl ComponentPackages {
    pub(crate) fn new(shipped: Vec<&'static str>, list: fn() -> Vec<String>) -> Self {
        Self { shipped, list, listed: Arc::default() }
    }

    pub(crate) fn has(&self, package: &str) -> bool {
        self.shipped.contains(&package) || {
            let wanted = distribution(package);
            self.listed.get_or_init(self.list).iter().any(|name| distribution(name) == wanted)
        }
    }
}

/// A name as indexes of Python's distributions compare it, in which `-`, `_` and `.` are the same.
fn distribution(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packages_that_are_not_shipped_are_looked_up() {
        let packages = ComponentPackages::new(vec!["tf2_ros"], || panic!("it is shipped"));
        assert!(packages.has("tf2_ros"));
        let packages = ComponentPackages::new(vec!["tf2_ros"], || vec!["Depth-Camera".to_owned()]);
        assert!(packages.has("depth_camera") && !packages.has("depth"));
    }
}
