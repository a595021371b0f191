//! Explains the names of systems to people: the system, the reason for its configuration, and its
//! version.

use std::collections::BTreeSet;

use crate::record::{Run, System};
use crate::report::floors::is_floor;

/// The number of systems that these names stand for: configurations (`rcl:recommended`) and other
/// builds of a system (`cyclonedds_debian` and `cyclonedds`) count as the same system. Limits do
/// not count.
pub(crate) fn families<'n>(run: &Run, names: impl Iterator<Item = &'n str>) -> usize {
    let peer = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
    let peers: BTreeSet<String> = run.systems.iter().map(|system| peer(&system.name)).collect();
    let family = |name: &str| {
        let own = peer(name);
        match own.split_once('_') {
            Some((base, _)) if peers.contains(base) => base.to_owned(),
            _ => own,
        }
    };
    names.filter(|name| !is_floor(name)).map(family).collect::<BTreeSet<_>>().len()
}

/// The number of systems in words: `8 systems (14 configurations)`.
pub(crate) fn count_of<'n>(run: &Run, names: impl Iterator<Item = &'n str>) -> String {
    let names: BTreeSet<&str> = names.filter(|name| !is_floor(name)).collect();
    let systems = families(run, names.iter().copied());
    let word = if systems == 1 { "system" } else { "systems" };
    match names.len() {
        same if same == systems => format!("{systems} {word}"),
        configurations => format!("{systems} {word} ({configurations} configurations)"),
    }
}

/// A sentence about a system, which includes the version.
pub(crate) fn explained(system: &System) -> String {
    let mut text = system.title.clone();
    if !system.why.is_empty() {
        text.push_str(&format!(". Why so: {}", system.why));
    }
    if let Some(version) = &system.version {
        text.push_str(&format!(". Version: {version}"));
    }
    text
}
