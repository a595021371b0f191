//! The variables of stock ROS 2 and of Python that follow from FEROS_PREFIX_PATH, for programs that
//! this command starts: what knows only stock ROS 2 finds the same packages.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use feros_files::{default_prefix, named_prefixes, paths_of_variable};

use crate::commands::MESSAGE_MODULES;

/// The variables of this process that lack something, with what they should be.
pub(crate) fn lacking() -> Vec<(&'static str, OsString)> {
    let own = paths_of_variable("FEROS_PREFIX_PATH").into_iter();
    let own = own.chain(default_prefix().filter(|prefix| prefix.is_dir()));
    let folder = env::current_exe().ok().and_then(|command| Some(command.parent()?.to_owned()));
    missing(&own.collect::<Vec<_>>(), &named_prefixes(), folder.as_deref(), |name| {
        env::var_os(name)
    })
}

/// The variables that lack something, with what they should be. `own` are Feros's prefixes, `named`
/// the prefixes of both variables, and `folder` has this command.
fn missing(
    own: &[PathBuf],
    named: &[PathBuf],
    folder: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Vec<(&'static str, OsString)> {
    let mut found = Vec::new();
    let mut complete = |name: &'static str, first: Vec<PathBuf>, last: Vec<PathBuf>| {
        let now = variable(name).unwrap_or_default();
        let there: Vec<PathBuf> = env::split_paths(&now).collect();
        let is_new = |path: &PathBuf| !there.contains(path);
        let (first, last): (Vec<_>, Vec<_>) =
            (first.into_iter().filter(is_new).collect(), last.into_iter().filter(is_new).collect());
        if first.is_empty() && last.is_empty() {
            return;
        }
        let old = there.iter().filter(|path| !path.as_os_str().is_empty());
        // A path with a colon cannot be in a variable.
        if let Ok(text) = env::join_paths(first.iter().chain(old).chain(&last)) {
            found.push((name, text));
        }
    };
    if !own.is_empty() {
        let own_or_named = named.iter().chain(own);
        let mut prefixes: Vec<PathBuf> = Vec::new();
        for prefix in own_or_named {
            if !prefixes.contains(prefix) {
                prefixes.push(prefix.clone());
            }
        }
        complete("AMENT_PREFIX_PATH", prefixes, Vec::new());
        let modules = own.iter().flat_map(|prefix| module_folders(prefix)).collect();
        let messages = own.iter().map(|prefix| prefix.join(MESSAGE_MODULES));
        complete("PYTHONPATH", modules, messages.filter(|folder| folder.is_dir()).collect());
    }
    // Programs in Python start with the first `python3`: that of this command's environment.
    if let Some(folder) = folder.filter(|folder| folder.join("python3").is_file()) {
        complete("PATH", vec![folder.to_owned()], Vec::new());
    }
    found
}

/// The folders of a prefix with Python modules: those for any version, then those for one version.
fn module_folders(prefix: &Path) -> Vec<PathBuf> {
    let Ok(entries) = prefix.join("lib").read_dir() else { return Vec::new() };
    let is_python = |name: &OsStr| name.to_string_lossy().starts_with("python3");
    let folders = entries.flatten().filter(|entry| is_python(&entry.file_name()));
    let mut folders: Vec<PathBuf> = folders
        .map(|entry| entry.path().join("site-packages"))
        .filter(|folder| folder.is_dir())
        .collect();
    folders.sort();
    folders
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::*;

    #[test]
    fn variables_are_completed_and_then_stay() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("own");
        for folder in ["lib/python3/site-packages", "lib/python3.99/site-packages", MESSAGE_MODULES]
        {
            fs::create_dir_all(own.join(folder)).unwrap();
        }
        let bin = root.path().join("bin");
        fs::create_dir(&bin).unwrap();
        fs::write(bin.join("python3"), "").unwrap();
        let mut environment = vec![
            ("AMENT_PREFIX_PATH", OsString::from("/opt/ros")),
            ("PYTHONPATH", OsString::from("/mine")),
            ("PATH", OsString::from("/usr/bin")),
        ];
        let named = [own.clone(), "/opt/ros".into()];
        let ask = |environment: &[(&str, OsString)]| {
            missing(std::slice::from_ref(&own), &named, Some(&bin), |name| {
                environment.iter().find(|(known, _)| *known == name).map(|(_, text)| text.clone())
            })
        };
        let found = ask(&environment);
        let own = own.to_str().unwrap();
        let expected = [
            ("AMENT_PREFIX_PATH", format!("{own}:/opt/ros")),
            (
                "PYTHONPATH",
                format!(
                    "{own}/lib/python3/site-packages:{own}/lib/python3.99/site-packages:/mine:\
                     {own}/{MESSAGE_MODULES}"
                ),
            ),
            ("PATH", format!("{}:/usr/bin", bin.display())),
        ];
        assert_eq!(found, expected.map(|(name, text)| (name, OsString::from(text))));
        environment = found;
        assert_eq!(ask(&environment), []);
    }

    #[test]
    fn nothing_changes_without_a_prefix() {
        assert_eq!(missing(&[], &["/opt/ros".into()], None, |_| None), []);
        let gone = PathBuf::from("/nowhere");
        let found =
            missing(std::slice::from_ref(&gone), std::slice::from_ref(&gone), None, |_| None);
        assert_eq!(found, [("AMENT_PREFIX_PATH", "/nowhere".into())]);
    }
}
