//! Finds the source of the Feros that a package uses, so that all crates of Feros come from it.

use std::fmt;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::error::BuildError;

/// Cargo's name for the default registry.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// One Feros: its source and, in a registry, its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Feros {
    origin: Origin,
    version: String,
    /// The folder of `feros-component`.
    component: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    /// The folder of a checkout with the crates that users program against.
    Folder(PathBuf),
    Git {
        url: String,
        /// The kind of reference (`branch`, `tag` or `rev`), and its name.
        reference: Option<(String, String)>,
    },
    /// The registry; `None` for the default registry.
    Registry(Option<String>),
}

impl Feros {
    /// The Feros that a `feros-component` belongs to. `source` and `manifest` come from
    /// `cargo metadata`.
    pub(crate) fn of(
        source: Option<&str>,
        version: &str,
        manifest: &Path,
    ) -> Result<Self, BuildError> {
        let component = manifest.parent().unwrap_or(Path::new("/")).to_owned();
        let origin = match source {
            None => Origin::Folder(crates_folder(&component)?),
            Some(CRATES_IO) => Origin::Registry(None),
            Some(source) => {
                let unknown = || BuildError::UnknownSource(source.to_owned());
                let (kind, place) = source.split_once('+').ok_or_else(unknown)?;
                match kind {
                    "registry" => Origin::Registry(Some(place.to_owned())),
                    "sparse" => Origin::Registry(Some(source.to_owned())),
                    "git" => git(place),
                    _ => return Err(unknown()),
                }
            }
        };
        Ok(Self { origin, version: version.to_owned(), component })
    }

    /// One of this Feros's crates as a dependency: the right side of a line in `[dependencies]`.
    pub(crate) fn dependency(&self, name: &str) -> Value {
        let mut table = Table::new();
        let mut put = |key: &str, value: &str| table.insert(key.to_owned(), value.into());
        match &self.origin {
            Origin::Folder(crates) => {
                let folder = name.strip_prefix("feros-").unwrap_or(name);
                put("path", &crates.join(folder).to_string_lossy());
            }
            Origin::Git { url, reference } => {
                put("git", url);
                if let Some((kind, name)) = reference {
                    put(kind, name);
                }
            }
            Origin::Registry(index) => {
                put("version", &format!("={}", self.version));
                if let Some(index) = index {
                    put("registry-index", index);
                }
            }
        }
        Value::Table(table)
    }

    /// Returns the lock file that this Feros was tested with, if there is one. It is in the folder
    /// of a released crate, or at the root of a checkout.
    pub(crate) fn lock_file(&self) -> Option<PathBuf> {
        let depth = if matches!(self.origin, Origin::Registry(_)) { 1 } else { 4 };
        let places = self.component.ancestors().take(depth);
        places.map(|folder| folder.join("Cargo.lock")).find(|file| file.is_file())
    }
}

impl fmt::Display for Feros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Folder(crates) => {
                let checkout = crates.ancestors().nth(2).unwrap_or(crates);
                write!(f, "{} of {}", self.version, checkout.display())
            }
            Origin::Git { url, reference: None } => write!(f, "{} of {url}", self.version),
            Origin::Git { url, reference: Some((kind, name)) } => {
                write!(f, "{} of {url} ({kind} {name})", self.version)
            }
            Origin::Registry(None) => f.write_str(&self.version),
            Origin::Registry(Some(index)) => write!(f, "{} of {index}", self.version),
        }
    }
}

/// The folder with `feros`, `feros-component`, `feros-shared` and `feros-container`.
fn crates_folder(component: &Path) -> Result<PathBuf, BuildError> {
    let crates = component.parent().unwrap_or(component);
    for name in ["container", "shared"] {
        let manifest = crates.join(name).join("Cargo.toml");
        if !manifest.is_file() {
            return Err(BuildError::IncompleteSources(manifest));
        }
    }
    Ok(crates.to_owned())
}

/// Reads `https://place/name?branch=main#commit`. The commit is left out: the lock file has it.
fn git(place: &str) -> Origin {
    let place = place.split('#').next().unwrap_or(place);
    let (url, query) = place.split_once('?').unwrap_or((place, ""));
    let named = query.split('&').filter_map(|pair| pair.split_once('='));
    let mut named = named.filter(|(kind, _)| matches!(*kind, "branch" | "tag" | "rev"));
    let reference = named.next().map(|(kind, name)| (kind.to_owned(), unescaped(name)));
    Origin::Git { url: url.to_owned(), reference }
}

/// Decodes the percent signs in a part of an address, such as `feature%2Fcamera`.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&part.as_bytes()[2..]);
            }
            None => {
                bytes.push(b'%');
                bytes.extend_from_slice(part.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn dependency(source: &str) -> String {
        let manifest = Path::new("/cargo/feros-component-0.1.0/Cargo.toml");
        Feros::of(Some(source), "0.1.0", manifest).unwrap().dependency("feros-shared").to_string()
    }

    #[test]
    fn a_released_feros_has_its_version_and_registry() {
        assert_eq!(dependency(CRATES_IO), r#"{ version = "=0.1.0" }"#);
        let other = dependency("registry+https://example.com/index");
        assert!(other.contains(r#"registry-index = "https://example.com/index""#), "{other}");
        let sparse = dependency("sparse+https://example.com/index/");
        assert!(sparse.contains(r#"registry-index = "sparse+https://"#), "{sparse}");
    }

    #[test]
    fn a_feros_of_git_is_named_as_the_package_names_it() {
        let of = |query: &str| dependency(&format!("git+https://example.com/feros{query}#1a2b3c"));
        assert_eq!(of(""), r#"{ git = "https://example.com/feros" }"#);
        let branch = of("?branch=feature%2Fcamera");
        assert!(branch.contains(r#"branch = "feature/camera""#), "{branch}");
        assert!(of("?tag=v0.1.0").contains(r#"tag = "v0.1.0""#));
    }

    #[test]
    fn a_feros_of_a_folder_is_whole() {
        let root = tempfile::tempdir().unwrap();
        let manifest = root.path().join("crates/client/component/Cargo.toml");
        for name in ["component", "shared"] {
            std::fs::create_dir_all(root.path().join("crates/client").join(name)).unwrap();
            std::fs::write(root.path().join("crates/client").join(name).join("Cargo.toml"), "")
                .unwrap();
        }
        let of = || Feros::of(None, "0.1.0", &manifest);
        let error = of().unwrap_err().to_string();
        assert!(error.contains("crates/client/container/Cargo.toml is missing"), "{error}");
        std::fs::create_dir(root.path().join("crates/client/container")).unwrap();
        std::fs::write(root.path().join("crates/client/container/Cargo.toml"), "").unwrap();
        let feros = of().unwrap();
        let shared = feros.dependency("feros-shared");
        let path = root.path().join("crates/client/shared");
        assert_eq!(shared["path"].as_str(), path.to_str());
        assert_eq!(feros.lock_file(), None);
        std::fs::write(root.path().join("Cargo.lock"), "").unwrap();
        assert_eq!(feros.lock_file(), Some(root.path().join("Cargo.lock")));
    }

    #[test]
    fn another_kind_of_source_is_told() {
        let manifest = Path::new("/x/Cargo.toml");
        for source in ["local", "weird+https://example.com"] {
            let error = Feros::of(Some(source), "0.1.0", manifest).unwrap_err();
            assert!(error.to_string().contains(source), "{error}");
        }
    }
}
