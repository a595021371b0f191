//! Splits command lines, which may contain substitutions, into words as a shell does.

use crate::error::LaunchError;
use crate::substitution::{Part, Template};

/// The shell that runs command lines.
pub(crate) const SHELL: &str = "/bin/sh";

/// Splits a command line into words. The result of a substitution is never split, so that paths may
/// contain spaces.
pub(crate) fn words(
    template: &Template,
    mut substitute: impl FnMut(&Part) -> Result<String, LaunchError>,
) -> Result<Vec<String>, LaunchError> {
    let mut splitter = Splitter::default();
    for part in &template.parts {
        match part {
            Part::Text(text) => text.chars().for_each(|character| splitter.character(character)),
            Part::Call(_) | Part::Object(_) => {
                splitter.word.get_or_insert_default().push_str(&substitute(part)?)
            }
        }
    }
    splitter.finish().map_err(|problem| {
        LaunchError::at(&template.at, format!("{problem}, in `{}`", template.source))
    })
}

/// Splits a string into words as a shell does: at spaces, with quotes and backslashes.
///
/// # Errors
/// Fails with a message about the mistake, such as an unclosed quote.
pub fn split_words(text: &str) -> Result<Vec<String>, String> {
    let mut splitter = Splitter::default();
    text.chars().for_each(|character| splitter.character(character));
    splitter.finish()
}

#[derive(Default)]
struct Splitter {
    words: Vec<String>,
    word: Option<String>,
    quote: Option<char>,
    escaped: bool,
}

impl Splitter {
    fn character(&mut self, character: char) {
        if self.escaped {
            self.escaped = false;
            // Within double quotes, a backslash is literal unless it is before one of these
            // characters.
            if self.quote.is_some() && !matches!(character, '"' | '\\') {
                self.word.get_or_insert_default().push('\\');
            }
            self.word.get_or_insert_default().push(character);
            return;
        }
        match (character, self.quote) {
            ('\\', None | Some('"')) => self.escaped = true,
            (_, Some(quote)) if character == quote => self.quote = None,
            (_, Some(_)) => self.word.get_or_insert_default().push(character),
            ('"' | '\'', None) => {
                self.quote = Some(character);
                self.word.get_or_insert_default();
            }
            _ if character.is_whitespace() => self.words.extend(self.word.take()),
            _ => self.word.get_or_insert_default().push(character),
        }
    }

    fn finish(mut self) -> Result<Vec<String>, String> {
        if let Some(quote) = self.quote {
            return Err(format!("unclosed {quote}"));
        }
        self.words.extend(self.word.take());
        Ok(self.words)
    }
}

/// Returns a command line that lets a shell run these words, joined by spaces.
pub(crate) fn by_shell(words: impl IntoIterator<Item = String>) -> String {
    let line = words.into_iter().collect::<Vec<_>>().join(" ");
    shell_quoted([SHELL.to_owned(), "-c".to_owned(), line])
}

/// Returns a command line that a shell splits into these words.
pub(crate) fn shell_quoted(words: impl IntoIterator<Item = String>) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,~".contains(c);
    let quoted = words.into_iter().map(|word| {
        if !word.is_empty() && word.chars().all(harmless) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{shell_quoted, split_words as split};

    #[test]
    fn words_are_split_as_a_shell_does() {
        assert_eq!(
            split(r#" a "b c"d 'e "f' g\ h "" "#).unwrap(),
            ["a", "b cd", "e \"f", "g h", ""]
        );
        assert_eq!(split(r#""a\"b\c""#).unwrap(), [r#"a"b\c"#]);
        assert_eq!(split("'a").unwrap_err(), "unclosed '");
        assert_eq!(split("").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn quoted_words_are_split_again_into_what_they_were() {
        let words = ["plain", "two words", "it's", "", "$HOME", "a\"b"].map(str::to_owned);
        assert_eq!(split(&shell_quoted(words.clone())).unwrap(), words);
    }
}
