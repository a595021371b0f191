//! The tokens of expressions.

use super::object::Object;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Literal(Object),
    Word(String),
    Sign(&'static str),
}

impl Token {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Literal(object) => format!("`{}`", object.to_repr()),
            Self::Word(word) => format!("`{word}`"),
            Self::Sign(sign) => format!("`{sign}`"),
        }
    }
}

/// Longer operators come before their own prefixes.
const SIGNS: [&str; 18] = [
    "==", "!=", "<=", ">=", "//", "**", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",",
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.trim_start().chars().next() {
        rest = rest.trim_start();
        let length = if first == '\'' || first == '"' {
            let (object, length) = literal_text(rest, first)?;
            tokens.push(Token::Literal(object));
            length
        } else if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            let length = number_length(rest);
            tokens.push(Token::Literal(number(&rest[..length])?));
            length
        } else if first.is_alphabetic() || first == '_' {
            let length =
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(word(&rest[..length]));
            length
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| format!("`{first}` cannot be read in an expression"))?;
            tokens.push(Token::Sign(sign));
            sign.len()
        };
        rest = &rest[length..];
    }
    Ok(tokens)
}

fn word(word: &str) -> Token {
    match word {
        "True" | "true" => Token::Literal(Object::Bool(true)),
        "False" | "false" => Token::Literal(Object::Bool(false)),
        "None" => Token::Literal(Object::None),
        _ => Token::Word(word.to_owned()),
    }
}

fn literal_text(rest: &str, quote: char) -> Result<(Object, usize), String> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, escaped)) => text.push(escaped),
                None => break,
            },
            _ if character == quote => return Ok((Object::Text(text), at + 1)),
            _ => text.push(character),
        }
    }
    Err(format!("unclosed {quote}"))
}

fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut length = 0;
    while let Some(byte) = bytes.get(length) {
        let in_exponent =
            matches!(byte, b'+' | b'-') && length > 0 && matches!(bytes[length - 1], b'e' | b'E');
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || in_exponent) {
            break;
        }
        length += 1;
    }
    length
}

fn number(text: &str) -> Result<Object, String> {
    let plain = text.replace('_', "");
    let radix = |prefix: &str, radix| {
        plain.strip_prefix(prefix).and_then(|digits| i64::from_str_radix(digits, radix).ok())
    };
    if let Some(number) = plain
        .parse()
        .ok()
        .or_else(|| radix("0x", 16))
        .or_else(|| radix("0b", 2))
        .or_else(|| radix("0o", 8))
    {
        return Ok(Object::Integer(number));
    }
    let is_decimal =
        plain.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    match plain.parse() {
        Ok(number) if is_decimal => Ok(Object::Float(number)),
        _ => Err(format!("`{text}` is not a number")),
    }
}
