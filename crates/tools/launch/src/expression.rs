//! `$(eval ...)` (`launch/launch/substitutions/python_expression.py`): the subset of Python
//! expressions that conditions need. The subset has literals, comparisons, `in`, `and`, `or`,
//! `not`, `x if c else y`, arithmetic and parentheses, but no names, calls, attributes or
//! subscripts.
//!
//! minijinja, which evaluates `--filter` of the command, does not serve here: its `is` names a test
//! instead of comparing, and it orders a string and a number, exceeds 64 bits, and accepts
//! subscripts and powers, all of which must be errors in a launch file.

mod object;
mod token;

use object::{Object, calculate, compare};
use token::{Token, tokens};

/// The limit on the nesting of an expression.
const MAX_DEPTH: usize = 64;

/// Evaluates an expression, and returns its value as Python's `str()` writes it.
///
/// # Errors
/// Returns the problem and what was expected, as text for users.
pub(crate) fn evaluate(text: &str) -> Result<String, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, depth: 0 };
    let value = parser.conditional()?;
    match parser.peek() {
        None => Ok(value.to_text()),
        Some(token) => Err(format!("{} after the end of the expression", token.describe())),
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

    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
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

    /// Comparisons can be chained: `a < b < c` compares neighbours, as in Python.
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
                Err("`not` where an operator was expected".to_owned())
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
                // Adjacent string literals are joined.
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
            Some(Token::Sign(sign @ ("(" | "[" | "**"))) => Err(format!(
                "`{sign}` after a value: calls, subscripts and powers are not supported"
            )),
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
        "the name `{word}`: expected a value, such as 5, 'text' or True (a string needs quotes: '{word}'; names and \
         functions of Python are not supported)"
    )
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
    fn unsupported_expressions_are_errors() {
        for (text, expected) in [
            ("sim == 'sim'", "the name `sim`: expected a value"),
            ("'a'.lower()", "`.` cannot be read"),
            ("len('a')", "the name `len`"),
            ("'abc'[0]", "`[` after a value"),
            ("2 ** 3", "`**` after a value"),
            ("'a' < 1", "compares a string with a number"),
            ("1 / 0", "divides by zero"),
            ("9223372036854775807 + 1", "too large"),
            ("(-9223372036854775807 - 1) // -1", "too large"),
            ("", "ends where a value was expected"),
            ("(1", "the end where `)` was expected"),
            ("'a", "unclosed '"),
            ("1 2", "`2` after the end"),
            ("1 if 2", "`if` without its `else`"),
            ("1 not 2", "`not` where an operator was expected"),
        ] {
            let error = evaluate(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        for opening in ["(", "[", "not ", "-"] {
            assert!(
                evaluate(&opening.repeat(10_000)).unwrap_err().contains("nested deeper"),
                "{opening}"
            );
        }
    }
}
