//! The containers of a plan, and which packages of their components are unknown.

use std::collections::BTreeMap;

use crate::error::LaunchError;

/// The containers of a plan, and what they lack.
#[derive(Default)]
pub(super) struct Containers {
    /// Whether a container finds what this process finds, by the name of its node.
    see_the_same: BTreeMap<String, bool>,
    /// Unknown packages of components, with the names of the containers that are to load them. A
    /// container that another launch has started may know them.
    unknown: Vec<(String, LaunchError)>,
}

impl Containers {
    /// Records a container that the plan starts, and whether it finds what this process finds.
    pub(super) fn note(&mut self, name: String, sees_the_same: bool) {
        self.see_the_same.insert(name, sees_the_same);
    }

    /// Records unknown packages of components that this container is to load.
    pub(super) fn note_unknown(&mut self, container: &str, errors: Vec<LaunchError>) {
        self.unknown.extend(errors.into_iter().map(|error| (container.to_owned(), error)));
    }

    /// The errors of components whose containers are part of the plan.
    pub(super) fn take_errors(&mut self) -> Vec<LaunchError> {
        let unknown = std::mem::take(&mut self.unknown).into_iter();
        let is_certain = |name: &String| self.see_the_same.get(name) == Some(&true);
        unknown.filter(|(name, _)| is_certain(name)).map(|(_, error)| error).collect()
    }
}
