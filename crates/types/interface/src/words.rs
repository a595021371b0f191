//! Feros's own words about shipped types: meanings and units, which their definitions, without
//! comments, do not give.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::tree::MessageDefinition;

/// `interfaces/words.tsv`: a heading, then rows of the name of a message, one of its fields or
/// constants, and a text.
static TABLE: &str = include_str!(concat!(env!("OUT_DIR"), "/words.tsv"));

/// Stands for the message as a whole in the place of a field.
const WHOLE: &str = "-";

/// The greatest number of characters in a line, if no word is longer.
const COLUMNS: usize = 80;

/// The texts about one message, by field or constant.
type Texts = BTreeMap<&'static str, &'static str>;

static WORDS: LazyLock<BTreeMap<&'static str, Texts>> = LazyLock::new(|| {
    let mut words: BTreeMap<&str, Texts> = BTreeMap::new();
    for row in TABLE.lines().skip(1) {
        if let Some((name, rest)) = row.split_once('\t')
            && let Some((part, text)) = rest.split_once('\t')
        {
            words.entry(name).or_default().insert(part, text);
        }
    }
    words
});

impl MessageDefinition {
    /// The definition with Feros's own words about it as comments. A definition with comments stays
    /// as it is, and so does a definition about which there are no words.
    ///
    /// ```
    /// let scan = "sensor_msgs/msg/LaserScan".parse()?;
    /// let scan = feros_interface::standard().message(&scan).expect("it is shipped").with_words();
    /// assert!(scan.to_string().contains("# Angle of the first range, in rad.\nfloat32 angle_min\n"));
    /// # Ok::<(), feros_interface::TypeNameError>(())
    /// ```
    pub fn with_words(&self) -> Cow<'_, Self> {
        if self.has_comments() {
            return Cow::Borrowed(self);
        }
        let Some(texts) = WORDS.get(self.name.to_string().as_str()) else {
            return Cow::Borrowed(self);
        };
        let about = |part: &str| texts.get(part).map(|text| lines(text)).unwrap_or_default();
        let mut described = self.clone();
        described.comment = about(WHOLE);
        for field in &mut described.fields {
            field.comment = about(&field.name);
        }
        for constant in &mut described.constants {
            constant.comment = about(&constant.name);
        }
        Cow::Owned(described)
    }

    fn has_comments(&self) -> bool {
        let fields = self.fields.iter().map(|field| &field.comment);
        let constants = self.constants.iter().map(|constant| &constant.comment);
        let mut all = fields.chain(constants).chain([&self.comment, &self.closing_comment]);
        all.any(|comment| !comment.is_empty())
    }
}

/// Breaks a text into lines.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let columns = |line: &String| line.chars().count() + 1 + word.chars().count();
        let fits = lines.last().is_some_and(|line| columns(line) <= COLUMNS);
        if fits && let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken_between_words() {
        assert_eq!(lines("Short."), ["Short."]);
        let text = "word ".repeat(30) + &"x".repeat(100) + " end";
        let broken = lines(&text);
        assert_eq!(broken.join(" "), text);
        assert_eq!(broken.len(), 4);
        let fits = |line: &String| line.chars().count() <= COLUMNS || !line.contains(' ');
        assert!(broken.iter().all(fits), "{broken:?}");
    }
}
