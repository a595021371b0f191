//! Suggestions for mistyped names and keys. There are two measures of likeness: one for names of
//! types, which begin alike, and one for all other names.

/// Strings that are longer than this are not compared, because the cost of a comparison is
/// quadratic, and a string may arrive from the network.
const LONGEST: usize = 256;
/// The limit on the number of names that are suggested.
const MOST: usize = 3;

/// At most three known names that are similar to the given name. The most similar name is first.
///
/// ```
/// assert_eq!(feros_wording::nearest("chater", ["rosout", "chatter"]), ["chatter"]);
/// ```
#[must_use]
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    best(known, 0.8, |name| likeness(given, name))
}

/// Like [`nearest`], for names of types such as `std_msgs/msg/String`. A name with the same last
/// part is similar, whatever its package.
///
/// ```
/// let types = ["std_msgs/msg/Bool", "std_msgs/msg/String"];
/// assert_eq!(feros_wording::nearest_types("std_msg/String", types), ["std_msgs/msg/String"]);
/// ```
#[must_use]
pub fn nearest_types<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let last_part = |name: &str| name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let wanted = last_part(given);
    best(known, 0.75, |name| {
        if given.len() > LONGEST {
            return 0.0;
        }
        let whole = strsim::normalized_damerau_levenshtein(given, name);
        let has_last_part = if last_part(name) == wanted { 1.0 } else { 0.0 };
        whole.max(has_last_part * 0.9)
    })
}

/// The names whose likeness is above `least`, the most similar name first.
fn best<'a>(
    known: impl IntoIterator<Item = &'a str>,
    least: f64,
    likeness: impl Fn(&str) -> f64,
) -> Vec<&'a str> {
    let ranked = known.into_iter().map(|name| (likeness(name), name));
    let mut ranked: Vec<(f64, &str)> = ranked.filter(|(likeness, _)| *likeness > least).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    ranked.dedup();
    ranked.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// Returns the text ``; did you mean `x`?``, which can be appended to a message, or an empty
/// string.
///
/// ```
/// let keys = ["reliability", "durability"];
/// assert_eq!(feros_wording::did_you_mean("relaibility", keys), "; did you mean `reliability`?");
/// assert_eq!(feros_wording::did_you_mean("zzz", keys), "");
/// ```
#[must_use]
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(given, known).first() {
        Some(name) => format!("; did you mean `{}`?", crate::harmless(name)),
        None => String::new(),
    }
}

/// Returns the text `` (did you mean `x`, `y`?)``, which can be put behind a name in a message, or
/// an empty string. The names are those that [`nearest`] or [`nearest_types`] found.
///
/// ```
/// assert_eq!(feros_wording::in_parentheses(&["x".to_owned()]), " (did you mean `x`?)");
/// assert_eq!(feros_wording::in_parentheses(&[]), "");
/// ```
#[must_use]
pub fn in_parentheses(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!(" (did you mean `{}`?)", names.join("`, `")),
    }
}

/// The likeness of two words, from 0 to 1. Two words are similar if the value is above 0.8. Upper
/// and lower case are equal, and slashes at the ends are ignored. An additional, missing, wrong or
/// swapped letter counts more in short words than it does in the usual measure.
#[expect(clippy::cast_precision_loss, reason = "a few letters")]
fn likeness(given: &str, word: &str) -> f64 {
    if given.len() > LONGEST || word.len() > LONGEST {
        return 0.0;
    }
    let given = given.trim_matches('/').to_lowercase();
    let word = word.trim_matches('/').to_lowercase();
    let by_letters = strsim::jaro_winkler(&given, &word);
    let slips = strsim::osa_distance(&given, &word);
    let allowed = word.chars().count() / 4 + usize::from(word.chars().count() >= 3);
    if slips <= allowed.min(2) && slips < given.chars().count() {
        by_letters.max(0.95 - 0.05 * slips as f64)
    } else {
        by_letters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_alike_are_found_the_nearest_first() {
        let known = ["/chatter", "/camera/image", "/rosout"];
        assert_eq!(nearest("/chater", known), ["/chatter"]);
        assert_eq!(nearest("chatter", known), ["/chatter"]);
        assert_eq!(nearest("ns", ["n", "ns2", "name"])[0], "ns2");
        assert!(nearest("/zzz", known).is_empty() && nearest("/a", []).is_empty());
        assert_eq!(nearest("rate1", ["rate4", "rate3", "rate2", "rate"]).len(), MOST);
    }

    #[test]
    fn endless_texts_are_compared_with_nothing() {
        let endless = "a".repeat(1 << 20);
        assert!(nearest(&endless, [endless.as_str()]).is_empty());
        assert!(nearest_types(&endless, [endless.as_str()]).is_empty());
    }
}
