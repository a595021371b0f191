//! The hash of a type.

use std::fmt;

/// The RIHS01 hash of a type (REP-2011), in the form that endpoints announce.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeHash(pub [u8; 32]);

/// Formats the hash as `RIHS01_` and 64 hexadecimal digits.
impl fmt::Display for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RIHS01_")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TypeHash {
    /// Reads `RIHS01_` and 64 hexadecimal digits. Returns `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("RIHS01_")?.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |c: u8| char::from(c).to_digit(16);
            *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
        }
        Some(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_hash_text_round_trips() {
        let hash = TypeHash([0xab; 32]);
        assert_eq!(TypeHash::parse(&hash.to_string()), Some(hash));
        assert_eq!(TypeHash::parse("RIHS01_ab"), None);
        assert_eq!(TypeHash::parse(&format!("RIHS02_{}", "ab".repeat(32))), None);
        assert_eq!(TypeHash::parse(&format!("RIHS01_{}", "é".repeat(32))), None);
    }
}
