//! The compatibility stamp: the build settings of a component library, which a container reads from
//! the file before any code of the library runs.
//!
//! Rust has no stable ABI. A library and its container may exchange Rust values only if the same
//! compiler built both with the same Feros. Each library contains its stamp, and the container
//! compares that stamp with its own.

use std::fmt;

/// The build settings of this crate, and of every program that links it: lines of `name value`.
pub const STAMP: &str = concat!(
    "feros-component 2\n",
    "rustc ",
    env!("FEROS_RUSTC"),
    "\ntarget ",
    env!("FEROS_TARGET"),
    "\nprofile ",
    env!("FEROS_PROFILE"),
    "\nferos ",
    env!("CARGO_PKG_VERSION"),
    "\nbuild ",
    env!("FEROS_BUILD"),
    "\ncrates ",
    env!("FEROS_CRATES"),
    "\n"
);

/// The variable in which `feros component build` passes to a build the hash of the versions,
/// features and settings of Feros's dependencies. Without the variable the stamp contains `untold`,
/// and only missing symbols reveal that dependencies differ.
pub const CRATES_VARIABLE: &str = "FEROS_COMPONENT_CRATES";

/// A stamp longer than this was not written by Feros.
pub(crate) const LONGEST: u64 = 4096;

/// The build settings of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp(String);

/// The difference between two stamps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// A setting that people can understand differs.
    #[error(
        "it was built with {what} {theirs:?}, but the container with {ours:?}: build both with one \
         call of feros component build"
    )]
    Differs {
        /// The differing setting: the compiler, the target, the profile, the version of Feros.
        what: &'static str,
        /// The value of the library.
        theirs: String,
        /// The value of the container.
        ours: String,
    },
    /// The versions are the same, but the sources or settings differ.
    #[error(
        "it was built with build {theirs} of Feros, but the container with build {ours}, from other sources or with \
         other settings: build both together, with one call of feros component build or in one cargo workspace"
    )]
    OtherBuild {
        /// The value of the library.
        theirs: String,
        /// The value of the container.
        ours: String,
    },
    /// Feros is the same, but its dependencies differ.
    #[error(
        "it was built on crates {theirs}, but the container on crates {ours}: the dependencies of Feros have other \
         versions, other features or other settings there; build both with one call of feros component build"
    )]
    OtherCrates {
        /// The value of the library.
        theirs: String,
        /// The value of the container.
        ours: String,
    },
    /// The text is not a stamp.
    #[error("its stamp cannot be read: {found:?}")]
    Unreadable {
        /// The text, shortened.
        found: String,
    },
}

impl Stamp {
    /// The stamp of this program.
    pub fn of_this_program() -> Self {
        Self(STAMP.to_owned())
    }

    /// Reads the stamp from the bytes that a library exports.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(String::from_utf8_lossy(bytes).into_owned())
    }

    fn line(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
    }

    /// Checks that code with this stamp and this program may exchange values.
    ///
    /// # Errors
    /// The first difference. The most useful differences are checked first.
    pub fn check(&self) -> Result<(), Mismatch> {
        let ours = Self::of_this_program();
        if *self == ours {
            return Ok(());
        }
        let both = |name: &str| self.line(name).zip(ours.line(name));
        let readable = [
            ("feros-component", "stamp format"),
            ("rustc", "the compiler"),
            ("target", "target"),
            ("profile", "the profile"),
            ("feros", "Feros"),
        ];
        for (name, what) in readable {
            match both(name) {
                Some((theirs, ours)) if theirs != ours => {
                    return Err(Mismatch::Differs {
                        what,
                        theirs: theirs.to_owned(),
                        ours: ours.to_owned(),
                    });
                }
                Some(_) => {}
                None => return Err(self.unreadable()),
            }
        }
        let differ = |name| match both(name) {
            Some((theirs, ours)) if theirs != ours => Some((theirs.to_owned(), ours.to_owned())),
            _ => None,
        };
        Err(if let Some((theirs, ours)) = differ("build") {
            Mismatch::OtherBuild { theirs, ours }
        } else if let Some((theirs, ours)) = differ("crates") {
            Mismatch::OtherCrates { theirs, ours }
        } else {
            self.unreadable()
        })
    }

    fn unreadable(&self) -> Mismatch {
        Mismatch::Unreadable { found: self.0.chars().take(80).collect() }
    }
}

/// Prints the lines of the stamp.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(from: &str, to: &str) -> Stamp {
        let text = STAMP.replace(from, to);
        assert_ne!(text, STAMP, "{from} is in the stamp");
        Stamp::from_bytes(text.as_bytes())
    }

    #[test]
    fn the_own_stamp_fits() {
        assert_eq!(Stamp::of_this_program().check(), Ok(()));
        for line in ["rustc rustc 1.", "target ", "profile ", "build ", "crates "] {
            assert!(STAMP.contains(&format!("\n{line}")), "{line} stands in {STAMP}");
        }
    }

    #[test]
    fn a_difference_is_named() {
        let other = changed("rustc rustc 1.", "rustc rustc 0.");
        assert!(matches!(other.check(), Err(Mismatch::Differs { what: "the compiler", .. })));
        let other = changed("\nferos ", "\nferos 9.");
        assert!(matches!(other.check(), Err(Mismatch::Differs { what: "Feros", .. })));
        let other = changed("\nbuild ", "\nbuild 0");
        assert!(matches!(other.check(), Err(Mismatch::OtherBuild { .. })));
        let other = changed("\ncrates ", "\ncrates 0");
        assert!(matches!(other.check(), Err(Mismatch::OtherCrates { .. })));
    }

    #[test]
    fn invalid_stamps_are_refused() {
        for bytes in [&b""[..], b"\xff\xfe", b"feros-component 2\n", b"feros-component 2\nrustc"] {
            assert!(matches!(Stamp::from_bytes(bytes).check(), Err(Mismatch::Unreadable { .. })));
        }
        let longer = Stamp::from_bytes(format!("{STAMP}more\n").as_bytes());
        assert!(longer.check().is_err(), "the whole stamp counts");
    }
}
