//! The hash that names a type's exact shape.

use std::fmt;
use std::str::FromStr;

/// A type hash of version RIHS01: the SHA-256 of the type's description (REP 2011).
///
/// ```
/// use feros_message::TypeHash;
///
/// let text = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
/// let hash: TypeHash = text.parse()?;
/// assert_eq!(hash.to_string(), text);
/// # Ok::<(), feros_message::ParseTypeHashError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeHash([u8; 32]);

impl TypeHash {
    /// What the text form starts with.
    pub const PREFIX: &'static str = "RIHS01_";

    /// Makes a hash from its value.
    #[must_use]
    pub const fn from_bytes(value: [u8; 32]) -> Self {
        Self(value)
    }

    /// The value.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not a type hash of version RIHS01.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a type hash: expected RIHS01_ and 64 hexadecimal digits")]
pub struct ParseTypeHashError {
    /// What was given.
    pub text: String,
}

impl FromStr for TypeHash {
    type Err = ParseTypeHashError;

    fn from_str(text: &str) -> Result<Self, ParseTypeHashError> {
        let error = || ParseTypeHashError { text: text.to_owned() };
        let digits = text.strip_prefix(Self::PREFIX).ok_or_else(error)?.as_bytes();
        let mut value = [0; 32];
        if digits.len() != 2 * value.len() {
            return Err(error());
        }
        for (byte, pair) in value.iter_mut().zip(digits.chunks_exact(2)) {
            for &digit in pair {
                let digit = char::from(digit).to_digit(16).ok_or_else(error)?;
                *byte = *byte << 4 | digit as u8;
            }
        }
        Ok(Self(value))
    }
}
