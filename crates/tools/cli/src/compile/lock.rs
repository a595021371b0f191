//! The versions that a build starts from: first the versions of the prefix, so that packages built
//! on different days agree; then the versions that Feros was tested with; and last the versions
//! that the packages chose.

use std::collections::BTreeSet;
use std::path::PathBuf;

use toml::{Table, Value};

use super::error::BuildError;
use super::feros::Feros;
use super::package::ComponentPackage;
use super::prefix::{OtherPackage, Prefix};

/// The limit on the bytes of a lock file.
const MOST_BYTES: u64 = 64 << 20;

/// The lock files to take versions from, in order of precedence.
pub(crate) fn sources(
    prefix: &Prefix,
    others: &[OtherPackage],
    feros: &Feros,
    packages: &[ComponentPackage],
) -> Vec<PathBuf> {
    // A prefix without other packages has no versions to agree with, so Feros's versions come
    // first.
    let recorded = if others.is_empty() { None } else { Some(prefix.lock_file()) };
    let own = packages.iter().map(|package| package.root.join("Cargo.lock"));
    recorded.into_iter().chain(feros.lock_file()).chain(own).filter(|file| file.is_file()).collect()
}

/// Merges the lock files into one. Of several compatible versions, the first is taken.
pub(crate) fn merged(files: &[PathBuf]) -> Result<String, BuildError> {
    let mut taken = BTreeSet::new();
    let mut packages = Vec::new();
    for file in files {
        let text = feros_files::read_to_string(file, MOST_BYTES)
            .map_err(|error| BuildError::file(file, error))?;
        let mut table: Table = text.parse().map_err(|error| BuildError::file(file, error))?;
        let Some(Value::Array(listed)) = table.remove("package") else { continue };
        let new: Vec<_> =
            listed.into_iter().filter(|package| !taken.contains(&place(package))).collect();
        taken.extend(new.iter().map(place));
        packages.extend(new);
    }
    let table = Value::Table(Table::from_iter([("package".to_owned(), Value::Array(packages))]));
    let text = toml::to_string(&table).map_err(|error| BuildError::Answer {
        command: "toml".to_owned(),
        reason: error.to_string(),
    })?;
    Ok(format!("version = 4\n\n{text}"))
}

/// The key of a package: its name, compatible versions and source. One version is taken per key.
fn place(package: &Value) -> (String, String, String) {
    let text = |key: &str| package.get(key).and_then(Value::as_str).unwrap_or_default();
    let source = text("source").split('#').next().unwrap_or_default();
    (text("name").to_owned(), compatible(text("version")).to_owned(), source.to_owned())
}

/// The part that compatible versions share: up to the first number that is not zero.
fn compatible(version: &str) -> &str {
    let mut end = 0;
    for number in version.split(['.', '-', '+']).take(3) {
        end += number.len();
        if number != "0" {
            break;
        }
        end += 1;
    }
    version.get(..end).unwrap_or(version)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::*;

    #[test]
    fn compatible_versions_are_those_of_cargo() {
        let cases = [
            ("1.2.3", "1"),
            ("0.9.12+spec-1.1.0", "0.9"),
            ("0.0.7", "0.0.7"),
            ("2.0.0-rc.1", "2"),
            ("0.0.0", "0.0.0"),
            ("10.1.0", "10"),
            ("", ""),
        ];
        for (version, expected) in cases {
            assert_eq!(compatible(version), expected, "{version}");
        }
    }

    #[test]
    fn the_first_lock_file_wins_where_versions_could_stand_for_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let registry = "registry+https://github.com/rust-lang/crates.io-index";
        let file = |name: &str, packages: &[(&str, &str)]| {
            let package = |(name, version): &(&str, &str)| {
                format!(
                    "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"{registry}\"\n"
                )
            };
            let text: String = packages.iter().map(package).collect();
            let path = folder.path().join(name);
            fs::write(&path, format!("version = 4\n{text}")).unwrap();
            path
        };
        let feros = file("feros", &[("serde", "1.0.228"), ("toml", "0.9.12")]);
        let own = file("own", &[("serde", "1.0.219"), ("toml", "0.8.1"), ("nalgebra", "0.34.1")]);
        let text = merged(&[feros, own]).unwrap();
        let table: Table = text.parse().unwrap();
        assert_eq!(table["version"].as_integer(), Some(4));
        let listed: Vec<String> = table["package"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| format!("{} {}", p["name"].as_str().unwrap(), p["version"].as_str().unwrap()))
            .collect();
        assert_eq!(listed, ["serde 1.0.228", "toml 0.9.12", "toml 0.8.1", "nalgebra 0.34.1"]);
        assert_eq!(merged(&[]).unwrap().lines().next(), Some("version = 4"));
        let broken = folder.path().join("broken");
        fs::write(&broken, "version = [").unwrap();
        assert!(merged(&[broken]).is_err());
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = merged(&[pipe]).unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
}
