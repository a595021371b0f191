//! Did you mean …?

/// The known names that resemble what was given, as a sentence to append; empty when none does.
pub(crate) fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut ranked: Vec<(f64, &str)> = known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(given.trim_matches('/'), name.trim_matches('/')), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    ranked.dedup();
    match ranked.as_slice() {
        [] => String::new(),
        [(_, one)] => format!("; did you mean {one}?"),
        many => {
            let names: Vec<&str> = many.iter().take(3).map(|(_, name)| *name).collect();
            format!("; did you mean one of {}?", names.join(", "))
        }
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
