//! Encodes any string as one chunk of a key expression, where `/`, `*`, `$`, `?` and `#` would have
//! a special meaning.

/// Escapes all characters except letters, digits, and characters without a special meaning in key
/// expressions.
pub(super) fn encode(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"=,.:_-".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02x}"); // writing to a String cannot fail
        }
    }
    out
}

/// Escapes only `special` characters, which must be ASCII.
pub(super) fn escape(text: &str, special: &str) -> String {
    let escaped = |character: char| {
        if special.contains(character) {
            format!("%{:02X}", u32::from(character))
        } else {
            character.into()
        }
    };
    text.chars().map(escaped).collect()
}

/// Decodes a chunk. Returns `None` if [`encode`] and [`escape`] cannot have produced it.
pub(super) fn decode(chunk: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(chunk.len());
    let mut rest = chunk.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        bytes.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
    }
    String::from_utf8(bytes).ok()
}
