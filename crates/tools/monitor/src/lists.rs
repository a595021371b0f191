//! Lists in sentences, which name only the first of many things.

/// The limit on the things that a sentence names.
const MOST_NAMED: usize = 5;

/// A list such as `talker.py (4121), listener (4122) and 3 more`.
pub fn listed(things: &[String]) -> String {
    let (named, others) = things.split_at(things.len().min(MOST_NAMED));
    let more =
        if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    named.join(", ") + &more
}
