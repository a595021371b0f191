//! Parses the expression of a content filter by recursive descent with bounded depth.

use super::{
    Condition, ContentFilterError, MAX_DEPTH, MAX_EXPRESSION_BYTES, Operand, Relation, Scalar,
};

pub(super) fn parse(
    expression: &str,
    parameters: &[&str],
) -> Result<Condition, ContentFilterError> {
    if expression.len() > MAX_EXPRESSION_BYTES {
        return Err(ContentFilterError::TooLarge);
    }
    let mut parser = Parser { expression, at: 0, parameters, depth: 0 };
    parser.skip_blanks();
    if parser.rest().is_empty() {
        return Ok(Condition::Always);
    }
    let condition = parser.disjunction()?;
    if !parser.rest().is_empty() {
        return Err(parser.expected("AND, OR or the end"));
    }
    Ok(condition)
}

struct Parser<'a> {
    expression: &'a str,
    /// The position of the next word, in bytes.
    at: usize,
    parameters: &'a [&'a str],
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.expression[self.at..]
    }

    fn expected(&self, expected: &'static str) -> ContentFilterError {
        let expression = self.expression.to_owned();
        ContentFilterError::Syntax { expression, at: self.at, expected }
    }

    fn skip_blanks(&mut self) {
        self.at = self.expression.len() - self.rest().trim_start().len();
    }

    fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        self.skip_blanks();
    }

    /// Consumes an operator or parenthesis, such as `<=`, if it is next.
    fn take_sign(&mut self, sign: &str) -> bool {
        let is_next = self.rest().starts_with(sign);
        if is_next {
            self.advance(sign.len());
        }
        is_next
    }

    /// The characters from the current position that may belong to a name. The result is empty if
    /// there are no such characters.
    fn word(&self) -> &'a str {
        let rest = self.rest();
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']')));
        &rest[..end.unwrap_or(rest.len())]
    }

    /// Consumes a keyword, in upper or lower case, if it is next.
    fn take_keyword(&mut self, keyword: &str) -> bool {
        let word = self.word();
        let is_next = word.eq_ignore_ascii_case(keyword);
        if is_next {
            self.advance(word.len());
        }
        is_next
    }

    fn disjunction(&mut self) -> Result<Condition, ContentFilterError> {
        let mut condition = self.conjunction()?;
        while self.take_keyword("OR") {
            condition = Condition::Or(condition.into(), self.conjunction()?.into());
        }
        Ok(condition)
    }

    fn conjunction(&mut self) -> Result<Condition, ContentFilterError> {
        let mut condition = self.negation()?;
        while self.take_keyword("AND") {
            condition = Condition::And(condition.into(), self.negation()?.into());
        }
        Ok(condition)
    }

    fn negation(&mut self) -> Result<Condition, ContentFilterError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ContentFilterError::TooLarge);
        }
        let condition = if self.take_keyword("NOT") {
            Condition::Not(self.negation()?.into())
        } else if self.take_sign("(") {
            let inner = self.disjunction()?;
            if !self.take_sign(")") {
                return Err(self.expected("`)`"));
            }
            inner
        } else {
            self.predicate()?
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn predicate(&mut self) -> Result<Condition, ContentFilterError> {
        let left = self.operand()?;
        let is_negated = self.take_keyword("NOT");
        if self.take_keyword("BETWEEN") {
            let low = self.operand()?;
            if !self.take_keyword("AND") {
                return Err(self.expected("AND"));
            }
            let between = Condition::Between(left, low, self.operand()?);
            return Ok(if is_negated { Condition::Not(between.into()) } else { between });
        }
        if is_negated {
            return Err(self.expected("BETWEEN"));
        }
        let relation = self.relation()?;
        Ok(Condition::Compare(left, relation, self.operand()?))
    }

    fn relation(&mut self) -> Result<Relation, ContentFilterError> {
        // Longer operators are first, because `<` is the start of three operators.
        let signs = [
            ("<>", Relation::NotEqual),
            ("!=", Relation::NotEqual),
            ("<=", Relation::LessOrEqual),
            (">=", Relation::GreaterOrEqual),
            ("<", Relation::Less),
            (">", Relation::Greater),
            ("=", Relation::Equal),
        ];
        if let Some((_, relation)) = signs.into_iter().find(|(sign, _)| self.take_sign(sign)) {
            return Ok(relation);
        }
        if self.take_keyword("LIKE") {
            return Ok(Relation::Like);
        }
        Err(self.expected("a comparison: =, <>, <, <=, >, >=, LIKE or BETWEEN"))
    }

    fn operand(&mut self) -> Result<Operand, ContentFilterError> {
        if let Some(rest) = self.rest().strip_prefix('%') {
            return self.parameter(rest).map(Operand::Literal);
        }
        let is_field = self.rest().starts_with(|c: char| c.is_ascii_alphabetic());
        let word = self.word();
        let is_truth = ["TRUE", "FALSE"].iter().any(|truth| word.eq_ignore_ascii_case(truth));
        if is_field && !is_truth {
            self.advance(word.len());
            return Ok(Operand::Field(word.to_owned()));
        }
        let (scalar, bytes) = literal(self.rest()).map_err(|expected| self.expected(expected))?;
        self.advance(bytes);
        Ok(Operand::Literal(scalar))
    }

    fn parameter(&mut self, rest: &str) -> Result<Scalar, ContentFilterError> {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: usize =
            rest[..digits].parse().map_err(|_| self.expected("a parameter number after %"))?;
        self.advance(1 + digits);
        let count = self.parameters.len();
        let given = self.parameters.get(number);
        let value = given.ok_or(ContentFilterError::NoParameter { number, count })?.trim();
        match literal(value) {
            Ok((scalar, bytes)) if bytes == value.len() => Ok(scalar),
            _ => Err(ContentFilterError::ParameterValue { number, value: value.to_owned() }),
        }
    }
}

/// Parses the value at the start of the input, and returns it with its length in bytes. The error
/// describes the expected input.
fn literal(input: &str) -> Result<(Scalar, usize), &'static str> {
    const NOTHING: &str = "a field or a value";
    if let Some(quote) = input.chars().next().filter(|c| matches!(c, '\'' | '"' | '`')) {
        // The grammar of DDS allows a string that starts with a backquote to end with a single
        // quote.
        let closing = if quote == '`' { '\'' } else { quote };
        let inner = &input[1..];
        let end = inner.find(closing).ok_or("a closing quote")?;
        return Ok((Scalar::String(inner[..end].to_owned()), end + 2));
    }
    let (sign, unsigned) = match input.as_bytes().first() {
        Some(b'-') => (-1, &input[1..]),
        Some(b'+') => (1, &input[1..]),
        _ => (1, input),
    };
    let skipped = input.len() - unsigned.len();
    let is_of_number = |(index, c): (usize, char)| {
        let follows_exponent = index > 0 && matches!(unsigned.as_bytes()[index - 1], b'e' | b'E');
        c.is_ascii_alphanumeric() || c == '.' || (matches!(c, '+' | '-') && follows_exponent)
    };
    let end = unsigned.char_indices().find(|&place| !is_of_number(place));
    let word = &unsigned[..end.map_or(unsigned.len(), |(index, _)| index)];
    let length = skipped + word.len();
    if skipped == 0 {
        for (name, truth) in [("TRUE", true), ("FALSE", false)] {
            if word.eq_ignore_ascii_case(name) {
                return Ok((Scalar::Bool(truth), length));
            }
        }
    }
    if !word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(NOTHING);
    }
    const TOO_LARGE: &str = "a number that fits 64 bits";
    let hexadecimal = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
    if let Some(digits) = hexadecimal {
        let value = u64::from_str_radix(digits, 16).map_err(|_| TOO_LARGE)?;
        return Ok((Scalar::Integer(sign * i128::from(value)), length));
    }
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        let value: u64 = word.parse().map_err(|_| TOO_LARGE)?;
        return Ok((Scalar::Integer(sign * i128::from(value)), length));
    }
    let value: f64 = word.parse().map_err(|_| NOTHING)?;
    Ok((Scalar::Float(if sign < 0 { -value } else { value }), length))
}
