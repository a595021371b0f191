//! Suggestions for mistyped names.

/// The known names that resemble the given one, as a sentence to append; empty if no name does. The
/// names may come from the network.
pub(crate) fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let names = feros_wording::nearest(given, known).into_iter().map(feros_wording::harmless);
    match names.collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        many => format!("; did you mean one of {}?", many.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn names_that_are_alike_are_offered() {
        let known = ["/chatter", "/camera/image", "/rosout"];
        assert_eq!(did_you_mean("/chater", known), "; did you mean /chatter?");
        assert_eq!(did_you_mean("chatter", known), "; did you mean /chatter?");
        assert_eq!(did_you_mean("/zzz", known), "");
        assert_eq!(did_you_mean("/a", []), "");
    }
}
