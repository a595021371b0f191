//! The text type of `wstring` fields.

use std::fmt;

/// A text as UTF-16 code units, which is the form in which `wstring` fields are sent.
///
/// It keeps all units that arrive, including unpaired surrogates, so that every received message
/// can be forwarded unchanged. A conversion to UTF-8 loses data only if its documentation says so.
///
/// # Examples
///
/// ```
/// use feros_cdr::WString;
///
/// let text = WString::from("aé😀");
/// assert_eq!(text.len(), 4); // the emoji takes two code units
/// assert_eq!(text.to_string(), "aé😀");
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WString(Vec<u16>);

impl WString {
    /// Returns the empty text.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the number of UTF-16 code units, which the bound of `wstring<=N` limits.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no code units.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the code units.
    #[must_use]
    pub fn as_units(&self) -> &[u16] {
        &self.0
    }

    /// Returns the code units as an owned value.
    #[must_use]
    pub fn into_units(self) -> Vec<u16> {
        self.0
    }

    /// Returns the text, if each surrogate has its partner.
    ///
    /// # Errors
    ///
    /// Fails if the units are not well-formed UTF-16.
    pub fn to_utf8(&self) -> Result<String, std::string::FromUtf16Error> {
        String::from_utf16(&self.0)
    }
}

impl From<&str> for WString {
    fn from(text: &str) -> Self {
        Self(text.encode_utf16().collect())
    }
}

impl From<String> for WString {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Vec<u16>> for WString {
    fn from(units: Vec<u16>) -> Self {
        Self(units)
    }
}

impl FromIterator<u16> for WString {
    fn from_iter<I: IntoIterator<Item = u16>>(units: I) -> Self {
        Self(units.into_iter().collect())
    }
}

/// Shows unpaired surrogates as U+FFFD.
impl fmt::Display for WString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display_units(self.0.iter().copied(), f)
    }
}

/// Shows unpaired surrogates as `\u{d800}`, so that different strings look different.
impl fmt::Debug for WString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_units(self.0.iter().copied(), f)
    }
}

pub(crate) fn display_units(
    units: impl Iterator<Item = u16>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    use fmt::Write;
    char::decode_utf16(units)
        .try_for_each(|unit| f.write_char(unit.unwrap_or(char::REPLACEMENT_CHARACTER)))
}

pub(crate) fn debug_units(
    units: impl Iterator<Item = u16>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str("\"")?;
    for unit in char::decode_utf16(units) {
        match unit {
            Ok(char) => write!(f, "{}", char.escape_debug())?,
            Err(lone) => write!(f, "\\u{{{:x}}}", lone.unpaired_surrogate())?,
        }
    }
    f.write_str("\"")
}
