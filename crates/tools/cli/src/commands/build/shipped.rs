//! The prefix by which stock ROS 2 finds the nodes and containers of the command `feros`: a script
//! for each, with the markers of its package. It is a prefix of its own, so that `setup.bash` can
//! put it last, where it hides no package of a sourced ROS.

use std::collections::BTreeSet;
use std::path::Path;

use feros_launch::SHIPPED_PREFIX;

use super::files::{Content, Item, RESOURCES};
use crate::packages::shipped_executables;

/// The files of this prefix, as paths below the prefix of `feros build`.
pub(super) fn items() -> Vec<Item> {
    let below = Path::new(SHIPPED_PREFIX);
    let scripts = shipped_executables().map(|(package, executable)| {
        let to = below.join("lib").join(package).join(executable);
        Item::new(to, Content::Script(script(package, executable)))
    });
    let packages: BTreeSet<&str> = shipped_executables().map(|(package, _)| package).collect();
    let markers = packages.into_iter().flat_map(|package| {
        let index = below.join(RESOURCES).join("packages").join(package);
        let share = below.join("share").join(package).join("package.xml");
        [
            Item::new(index, Content::Text(String::new())),
            Item::new(share, Content::Text(manifest(package))),
        ]
    });
    scripts.chain(markers).collect()
}

fn script(package: &str, executable: &str) -> String {
    format!(
        "#!/bin/sh\n# Made by `feros build`: stock ROS 2 starts the {executable} of Feros through \
         this script.\n\
         if ! command -v feros > /dev/null; then\n    \
         echo \"{executable} is part of the command feros, which is not on PATH\" >&2\n    \
         exit 127\nfi\nexec feros run {package} {executable} \"$@\"\n"
    )
}

fn manifest(package: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "<package format=\"3\">\n  <name>{package}</name>\n  <version>{version}</version>\n  \
         <description>The executables of {package} that the command feros contains.\
         </description>\n  <maintainer email=\"feros@example.com\">Feros</maintainer>\n  \
         <license>Apache-2.0</license>\n</package>\n"
    )
}
