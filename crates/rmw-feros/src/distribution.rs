//! Which distribution of ROS 2 the library is for. Structures of rmw differ between distributions,
//! so another one is refused by name before anything is read.

use crate::error::Failure;

/// The distribution after whose headers the library was written.
const DISTRIBUTION: &str = "kilted";

/// Refuses what `ROS_DISTRO` names, unless it is the right one or not set.
pub(crate) fn check() -> Result<(), Failure> {
    check_name(std::env::var("ROS_DISTRO").ok().as_deref())
}

fn check_name(name: Option<&str>) -> Result<(), Failure> {
    match name {
        None | Some("" | DISTRIBUTION) => Ok(()),
        Some(other) => Err(Failure::unsupported(format!(
            "this librmw_feros.so is for ROS 2 {DISTRIBUTION}, and ROS_DISTRO is {other}: source \
             ROS 2 {DISTRIBUTION}, or use another RMW_IMPLEMENTATION"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_distributions_are_refused_by_name() {
        assert_eq!(check_name(None), Ok(()));
        assert_eq!(check_name(Some("kilted")), Ok(()));
        for other in ["jazzy", "humble", "rolling"] {
            let failure = check_name(Some(other)).expect_err(other);
            assert!(failure.text.contains(other), "{}", failure.text);
        }
    }
}
