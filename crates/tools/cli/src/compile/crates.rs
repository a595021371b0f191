//! The contents of the shared Feros: the compiler, the profile, and each crate that Feros depends
//! on, with its version and features.
//!
//! Cargo builds a crate once for all its dependents, with every feature that any of them enables.
//! So a package that enables one more feature of a dependency of Feros makes cargo build another
//! Feros. The lists of crates are compared before that happens, and a hash of the list goes into
//! the stamp of the libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::error::BuildError;

/// The list of crates, one per line, such as `serde v1.0.228 derive,std`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Crates(BTreeSet<String>);

impl Crates {
    /// Reads the output of `cargo tree --prefix depth`; `settings` are two more lines for the list.
    pub(crate) fn below_shared(tree: &str, settings: [String; 2]) -> Result<Self, BuildError> {
        let children = edges(tree);
        let is_shared = |line: &&&str| line.starts_with("feros-shared v");
        let Some(shared) = children.keys().find(is_shared) else {
            return Err(BuildError::Answer {
                command: "cargo tree".to_owned(),
                reason: "it does not name feros-shared".to_owned(),
            });
        };
        let (mut found, mut open) = (BTreeSet::from(settings), vec![*shared]);
        while let Some(line) = open.pop() {
            if found.insert(line.to_owned()) {
                open.extend(children.get(line).into_iter().flatten());
            }
        }
        Ok(Self(found))
    }

    /// Reads the output of [`Crates::text`].
    pub(crate) fn from_text(text: &str) -> Self {
        Self(text.lines().map(str::to_owned).collect())
    }

    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|line| format!("{line}\n")).collect()
    }

    /// A number that identifies the list.
    pub(crate) fn number(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// The differences between this list and the other, by name.
    pub(crate) fn differences(&self, there: &Self) -> Vec<String> {
        let (ours, theirs) = (self.by_name(), there.by_name());
        let names: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
        let words = |lines: Option<&Vec<&str>>| {
            lines.map_or_else(|| "nothing".to_owned(), |lines| lines.join(" and "))
        };
        let differing = names.into_iter().filter(|name| ours.get(*name) != theirs.get(*name));
        let line = |name: &&str| {
            format!("{} here, {} there", words(ours.get(name)), words(theirs.get(name)))
        };
        differing.map(line).collect()
    }

    fn by_name(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut lines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for line in &self.0 {
            lines.entry(line.split(' ').next().unwrap_or_default()).or_default().push(line);
        }
        lines
    }
}

/// The dependencies of each line. Cargo lists the dependencies of a crate only once: it marks a
/// repeated crate with `(*)`.
fn edges(tree: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut children: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut above: Vec<&str> = Vec::new();
    for line in tree.lines() {
        let text = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let Ok(depth) = line[..line.len() - text.len()].parse::<usize>() else { continue };
        let text = text.trim_end_matches(" (*)").trim_end();
        above.truncate(depth);
        if let Some(parent) = above.last() {
            children.entry(parent).or_default().insert(text);
        }
        children.entry(text).or_default();
        above.push(text);
    }
    children
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TREE: &str = "\
0camera_components v0.0.0 (/b/camera) 
1camera v0.1.0 (/home/me/camera) 
2feros v0.1.0 (/feros/crates/client/feros) cyclonedds,default
3serde v1.0.228 derive,std
4serde_derive v1.0.228 (proc-macro) default
2nalgebra v0.34.1 default,std
1feros-shared v0.1.0 (/feros/crates/client/shared) 
2feros v0.1.0 (/feros/crates/client/feros) cyclonedds,default (*)
2libc v0.2.177 extra_traits

0component_containers v0.0.0 (/b/containers) 
1feros-container v0.1.0 (/feros/crates/client/container) 
2libloading v0.8.9 
1feros-shared v0.1.0 (/feros/crates/client/shared)  (*)
";

    fn crates(tree: &str) -> Crates {
        Crates::below_shared(tree, ["rustc 1.95.0".into(), "profile dev".into()]).unwrap()
    }

    #[test]
    fn only_crates_below_the_shared_library_count() {
        let expected = "feros v0.1.0 (/feros/crates/client/feros) cyclonedds,default\n\
                        feros-shared v0.1.0 (/feros/crates/client/shared)\n\
                        libc v0.2.177 extra_traits\n\
                        profile dev\n\
                        rustc 1.95.0\n\
                        serde v1.0.228 derive,std\n\
                        serde_derive v1.0.228 (proc-macro) default\n";
        let found = crates(TREE);
        assert_eq!(found.text(), expected);
        assert_eq!(Crates::from_text(expected), found);
        let without_nalgebra = TREE.replace("2nalgebra v0.34.1 default,std\n", "");
        assert_eq!(crates(&without_nalgebra).number(), found.number());
    }

    #[test]
    fn a_feature_more_is_another_feros_and_is_named() {
        let more = crates(&TREE.replace("derive,std", "derive,rc,std"));
        let before = crates(TREE);
        assert_ne!(more.number(), before.number());
        let words = "serde v1.0.228 derive,rc,std here, serde v1.0.228 derive,std there";
        assert_eq!(more.differences(&before), [words]);
        let one_less = crates(&TREE.replace("2libc v0.2.177 extra_traits\n", ""));
        assert_eq!(
            one_less.differences(&before),
            ["nothing here, libc v0.2.177 extra_traits there"]
        );
        assert!(before.differences(&before).is_empty());
    }

    #[test]
    fn a_tree_without_the_shared_library_is_refused() {
        for tree in ["", "0camera v0.1.0\n", "no tree\n"] {
            let settings = ["rustc".to_owned(), "profile".to_owned()];
            assert!(Crates::below_shared(tree, settings).is_err(), "{tree:?}");
        }
    }
}
