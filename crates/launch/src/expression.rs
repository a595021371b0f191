//! `$(eval ...)`: the part of Python's expressions that conditions need. Literals, comparison, `in`, `and`, `or`, `not`,
//! arithmetic, `x if c else y` and parentheses; no names, calls, attributes or subscripts.

use std::cmp::Ordering;

/// How deep an expression may be nested.
const MAX_DEPTH: usize = 64;

/// Evaluates an expression and gives its value as Python's `str()` writes it.
///
/// # Errors
/// What stood there and what was expected, for a person.
pub(crate) fn evaluate(text: &str) -> Result<String, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, depth: 0 };
    let value = parser.conditional()?;
    match parser.peek() {
        None => Ok(value.to_text()),
        Some(token) => Err(format!("{} after the end of the expression", token.describe())),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Object {
    None,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Object>),
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Literal(Object),
    Word(String),
    Sign(&'static str),
}

impl Token {
    fn describe(&self) -> String {
        match self {
            Self::Literal(object) => format!("`{}`", object.to_repr()),
            Self::Word(word) => format!("`{word}`"),
            Self::Sign(sign) => format!("`{sign}`"),
        }
    }
}

/// Longer signs stand before those that they begin with.
const SIGNS: [&str; 18] =
    ["==", "!=", "<=", ">=", "//", "**", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ","];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
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
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
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
    Err(format!("{quote} without its second"))
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
    if let Some(number) =
        plain.parse().ok().or_else(|| radix("0x", 16)).or_else(|| radix("0b", 2)).or_else(|| radix("0o", 8))
    {
        return Ok(Object::Integer(number));
    }
    let is_decimal =
        plain.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    match plain.parse() {
        Ok(number) if is_decimal => Ok(Object::Float(number)),
        _ => Err(format!("`{text}` is no number")),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    depth: usize,
}

type Evaluated = Result<Object, String>;

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    fn accept_sign(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        match self.peek() {
            Some(Token::Sign(sign)) if signs.contains(sign) => {
                let sign = *sign;
                self.next += 1;
                Some(sign)
            }
            _ => None,
        }
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(there)) if there == word);
        self.next += usize::from(found);
        found
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("the expression is nested deeper than {MAX_DEPTH}"));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn conditional(&mut self) -> Evaluated {
        self.nested(|parser| {
            let value = parser.disjunction()?;
            if !parser.accept_word("if") {
                return Ok(value);
            }
            let condition = parser.disjunction()?;
            if !parser.accept_word("else") {
                return Err("`if` without its `else`".to_owned());
            }
            let otherwise = parser.conditional()?;
            Ok(if condition.is_true() { value } else { otherwise })
        })
    }

    fn disjunction(&mut self) -> Evaluated {
        let mut value = self.conjunction()?;
        while self.accept_word("or") {
            let right = self.conjunction()?;
            value = if value.is_true() { value } else { right };
        }
        Ok(value)
    }

    fn conjunction(&mut self) -> Evaluated {
        let mut value = self.negation()?;
        while self.accept_word("and") {
            let right = self.negation()?;
            value = if value.is_true() { right } else { value };
        }
        Ok(value)
    }

    fn negation(&mut self) -> Evaluated {
        if self.accept_word("not") {
            let value = self.nested(Self::negation)?;
            return Ok(Object::Bool(!value.is_true()));
        }
        self.comparison()
    }

    /// `a < b < c` compares its neighbours, as Python does.
    fn comparison(&mut self) -> Evaluated {
        let mut left = self.sum()?;
        let mut result = None;
        while let Some(operator) = self.comparison_operator()? {
            let right = self.sum()?;
            let holds = compare(operator, &left, &right)?;
            result = Some(result.unwrap_or(true) && holds);
            left = right;
        }
        Ok(result.map_or(left, Object::Bool))
    }

    fn comparison_operator(&mut self) -> Result<Option<&'static str>, String> {
        if let Some(sign) = self.accept_sign(&["==", "!=", "<=", ">=", "<", ">"]) {
            return Ok(Some(sign));
        }
        if self.accept_word("in") {
            return Ok(Some("in"));
        }
        if self.accept_word("not") {
            return if self.accept_word("in") {
                Ok(Some("not in"))
            } else {
                Err("`not` where an operator stands".to_owned())
            };
        }
        if self.accept_word("is") {
            return Ok(Some(if self.accept_word("not") { "!=" } else { "==" }));
        }
        Ok(None)
    }

    fn sum(&mut self) -> Evaluated {
        let mut left = self.product()?;
        while let Some(sign) = self.accept_sign(&["+", "-"]) {
            left = calculate(sign, left, self.product()?)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Evaluated {
        let mut left = self.signed()?;
        while let Some(sign) = self.accept_sign(&["*", "//", "/", "%"]) {
            left = calculate(sign, left, self.signed()?)?;
        }
        Ok(left)
    }

    fn signed(&mut self) -> Evaluated {
        match self.accept_sign(&["-", "+"]) {
            Some(sign) => {
                let value = self.nested(Self::signed)?;
                calculate(sign, Object::Integer(0), value)
            }
            None => self.primary(),
        }
    }

    fn primary(&mut self) -> Evaluated {
        let Some(token) = self.peek().cloned() else {
            return Err("the expression ends where a value was expected".to_owned());
        };
        self.next += 1;
        let value = match token {
            Token::Literal(Object::Text(mut text)) => {
                // Texts beside each other are one.
                while let Some(Token::Literal(Object::Text(more))) = self.peek() {
                    text.push_str(more);
                    self.next += 1;
                }
                Object::Text(text)
            }
            Token::Literal(object) => object,
            Token::Sign("(") => {
                let value = self.conditional()?;
                self.close(")")?;
                value
            }
            Token::Sign("[") => self.list()?,
            Token::Word(word) => return Err(unknown_word(&word)),
            Token::Sign(sign) => return Err(format!("`{sign}` where a value was expected")),
        };
        match self.peek() {
            Some(Token::Sign(sign @ ("(" | "[" | "**"))) => {
                Err(format!("`{sign}` after a value: calls, subscripts and powers are not supported"))
            }
            _ => Ok(value),
        }
    }

    fn list(&mut self) -> Evaluated {
        let mut items = Vec::new();
        while self.peek() != Some(&Token::Sign("]")) {
            items.push(self.conditional()?);
            if self.accept_sign(&[","]).is_none() {
                break;
            }
        }
        self.close("]")?;
        Ok(Object::List(items))
    }

    fn close(&mut self, sign: &'static str) -> Result<(), String> {
        match self.accept_sign(&[sign]) {
            Some(_) => Ok(()),
            None => {
                let there = self.peek().map_or_else(|| "the end".to_owned(), Token::describe);
                Err(format!("{there} where `{sign}` was expected"))
            }
        }
    }
}

fn unknown_word(word: &str) -> String {
    format!(
        "the name `{word}`: expected a value, such as 5, 'text' or True (a text needs quotes: '{word}'; names and functions of \
         Python are not supported)"
    )
}

fn compare(operator: &str, left: &Object, right: &Object) -> Result<bool, String> {
    match operator {
        "==" => return Ok(left.equals(right)),
        "!=" => return Ok(!left.equals(right)),
        "in" | "not in" => {
            let inside = match (left, right) {
                (Object::Text(part), Object::Text(whole)) => whole.contains(part.as_str()),
                (item, Object::List(items)) => items.iter().any(|each| each.equals(item)),
                _ => {
                    return Err(format!(
                        "`{}` {operator} `{}` has no meaning",
                        left.to_repr(),
                        right.to_repr()
                    ));
                }
            };
            return Ok(inside == (operator == "in"));
        }
        _ => {}
    }
    let order = match (left, right) {
        (Object::Text(left), Object::Text(right)) => Some(left.cmp(right)),
        _ => match (left.as_float(), right.as_float()) {
            (Some(left_number), Some(right_number)) => match (left.as_integer(), right.as_integer()) {
                (Some(left), Some(right)) => Some(left.cmp(&right)),
                _ => left_number.partial_cmp(&right_number),
            },
            _ => {
                return Err(format!(
                    "`{}` {operator} `{}` compares a text with a number",
                    left.to_repr(),
                    right.to_repr()
                ));
            }
        },
    };
    Ok(match operator {
        "<" => order == Some(Ordering::Less),
        ">" => order == Some(Ordering::Greater),
        "<=" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}

fn calculate(sign: &str, left: Object, right: Object) -> Evaluated {
    if let ("+", Object::Text(left), Object::Text(right)) = (sign, &left, &right) {
        return Ok(Object::Text(format!("{left}{right}")));
    }
    let meaningless = || format!("`{}` {sign} `{}` has no meaning", left.to_repr(), right.to_repr());
    let by_zero = || format!("`{}` {sign} `{}` divides by zero", left.to_repr(), right.to_repr());
    if let (Some(a), Some(b)) = (left.as_integer(), right.as_integer()) {
        if b == 0 && matches!(sign, "/" | "//" | "%") {
            return Err(by_zero());
        }
        let whole = match sign {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "//" => a.checked_div(b).map(|quotient| quotient - i64::from(a % b != 0 && (a < 0) != (b < 0))),
            "%" => {
                a.checked_rem(b).map(|rest| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
            }
            _ => None,
        };
        if let Some(whole) = whole {
            return Ok(Object::Integer(whole));
        }
        if sign != "/" {
            return Err(format!("`{}` {sign} `{}` is too large a number", left.to_repr(), right.to_repr()));
        }
    }
    let (Some(a), Some(b)) = (left.as_float(), right.as_float()) else { return Err(meaningless()) };
    if b == 0.0 && matches!(sign, "/" | "//" | "%") {
        return Err(by_zero());
    }
    Ok(Object::Float(match sign {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "//" => (a / b).floor(),
        _ => a - b * (a / b).floor(),
    }))
}

impl Object {
    fn is_true(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(value) => *value,
            Self::Integer(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
        }
    }

    fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Bool(value) => Some(i64::from(*value)),
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "as Python mixes the two")]
    fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            _ => self.as_integer().map(|value| value as f64),
        }
    }

    #[expect(clippy::float_cmp, reason = "as Python compares")]
    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(left), Self::List(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.equals(right))
            }
            _ => match (self.as_integer(), other.as_integer(), self.as_float(), other.as_float()) {
                (Some(left), Some(right), ..) => left == right,
                (_, _, Some(left), Some(right)) => left == right,
                _ => self == other,
            },
        }
    }

    fn to_text(&self) -> String {
        match self {
            Self::None => "None".to_owned(),
            Self::Bool(true) => "True".to_owned(),
            Self::Bool(false) => "False".to_owned(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) if value.is_nan() => "nan".to_owned(),
            Self::Float(value) => format!("{value:?}"),
            Self::Text(text) => text.clone(),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::to_repr).collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn to_repr(&self) -> String {
        match self {
            Self::Text(text) => format!("'{text}'"),
            other => other.to_text(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn expressions_mean_what_they_mean_in_python() {
        for (text, expected) in [
            ("'sim' == 'sim'", "True"),
            ("'a' != 'a'", "False"),
            ("1 == 1.0 and True == 1", "True"),
            ("not 'a' == 'b'", "True"),
            ("'a' == 'b' or 'c'", "c"),
            ("0 or ''", ""),
            ("1 < 2 < 3", "True"),
            ("3 > 2 > 2", "False"),
            ("'2' + '3'", "23"),
            ("2 + 3 * 4", "14"),
            ("(2 + 3) * 4", "20"),
            ("7 / 2", "3.5"),
            ("-7 // 2", "-4"),
            ("-7 % 3", "2"),
            ("4 / 2", "2.0"),
            ("- -3", "3"),
            ("'x' if 1 > 2 else 'y'", "y"),
            ("'ell' in 'hello'", "True"),
            ("'b' not in ['a', 'c']", "True"),
            ("None is None", "True"),
            ("0x10 + 1e1", "26.0"),
            ("'it\\'s'", "it's"),
            ("true and false", "False"),
            ("[1, 'a'] == [1.0, 'a']", "True"),
        ] {
            assert_eq!(evaluate(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_supported_is_said() {
        for (text, expected) in [
            ("sim == 'sim'", "the name `sim`: expected a value"),
            ("'a'.lower()", "`.` cannot be read"),
            ("len('a')", "the name `len`"),
            ("'abc'[0]", "`[` after a value"),
            ("2 ** 3", "`**` after a value"),
            ("'a' < 1", "compares a text with a number"),
            ("1 / 0", "divides by zero"),
            ("9223372036854775807 + 1", "too large"),
            ("(-9223372036854775807 - 1) // -1", "too large"),
            ("", "ends where a value was expected"),
            ("(1", "the end where `)` was expected"),
            ("'a", "' without its second"),
            ("1 2", "`2` after the end"),
            ("1 if 2", "`if` without its `else`"),
            ("1 not 2", "`not` where an operator stands"),
        ] {
            let error = evaluate(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        for opening in ["(", "[", "not ", "-"] {
            assert!(evaluate(&opening.repeat(10_000)).unwrap_err().contains("nested deeper"), "{opening}");
        }
    }
}
