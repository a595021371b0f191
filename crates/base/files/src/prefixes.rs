//! The prefixes under which packages install their definitions, programs and components.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The variables that contain prefixes, which are separated by colons. The prefixes of the first
/// variable precede those of the second.
pub const PREFIX_VARIABLES: [&str; 2] = ["FEROS_PREFIX_PATH", "AMENT_PREFIX_PATH"];

/// The paths in a variable, which are separated by colons. Empty paths are skipped.
pub fn paths_of_variable(name: &str) -> Vec<PathBuf> {
    let paths = env::var_os(name).unwrap_or_default();
    env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// The prefixes in [`PREFIX_VARIABLES`], in order of precedence.
pub fn named_prefixes() -> Vec<PathBuf> {
    PREFIX_VARIABLES.into_iter().flat_map(paths_of_variable).collect()
}

/// The prefix that is searched last, after all prefixes that the environment names. It is
/// `$XDG_DATA_HOME/feros`, which means `~/.local/share/feros` if that variable is not set. It is
/// `None` if there is no home folder.
pub fn default_prefix() -> Option<PathBuf> {
    default_prefix_of(|name| env::var_os(name))
}

/// The prefixes in which packages are searched, in this order and each once: [`named_prefixes`],
/// followed by [`default_prefix`].
pub fn searched_prefixes() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for prefix in named_prefixes().into_iter().chain(default_prefix()) {
        if !found.contains(&prefix) {
            found.push(prefix);
        }
    }
    found
}

/// The prefixes as a message lists them: each once, and with a note at each that does not exist.
/// The default prefix has no such note, since users need not have it.
pub fn listed_prefixes(prefixes: &[PathBuf]) -> String {
    let default = default_prefix();
    let mut listed: Vec<String> = Vec::new();
    for prefix in prefixes {
        let is_mistyped = !prefix.is_dir() && default.as_ref() != Some(prefix);
        let note = if is_mistyped { " (which does not exist)" } else { "" };
        let shown = format!("{}{note}", prefix.display());
        if !listed.contains(&shown) {
            listed.push(shown);
        }
    }
    listed.join(", ")
}

fn default_prefix_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")));
    Some(data?.join("feros"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_notes_missing_prefixes_and_repeats_none() {
        let prefixes = ["/", "/no such prefix", "/"].map(PathBuf::from);
        assert_eq!(listed_prefixes(&prefixes), "/, /no such prefix (which does not exist)");
        let default: Vec<PathBuf> = default_prefix().into_iter().collect();
        assert!(!listed_prefixes(&default).contains("exist"));
    }

    #[test]
    fn the_default_prefix_is_in_the_users_data() {
        let of = |variables: &[(&str, &str)]| {
            let variables: Vec<_> =
                variables.iter().map(|(n, v)| (*n, OsString::from(v))).collect();
            default_prefix_of(|name| {
                variables.iter().find(|(n, _)| *n == name).map(|v| v.1.clone())
            })
        };
        assert_eq!(of(&[("HOME", "/home/me")]), Some("/home/me/.local/share/feros".into()));
        let both = [("HOME", "/home/me"), ("XDG_DATA_HOME", "/data")];
        assert_eq!(of(&both), Some("/data/feros".into()));
        // The XDG specification says that relative paths are ignored.
        let relative = [("HOME", "/home/me"), ("XDG_DATA_HOME", "data")];
        assert_eq!(of(&relative), Some("/home/me/.local/share/feros".into()));
        assert_eq!(of(&[]), None);
    }
}
