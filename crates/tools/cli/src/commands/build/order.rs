//! The order of packages: each comes after the packages on which it depends.

use std::collections::{BTreeMap, BTreeSet};

/// The names in order, and the circles among them. Names in a circle, and names that depend on
/// them, come after all other names.
pub(super) fn order(
    dependencies: &BTreeMap<String, BTreeSet<String>>,
) -> (Vec<String>, Vec<Vec<String>>) {
    let mut ordered: Vec<String> = Vec::new();
    let mut left: BTreeMap<&String, BTreeSet<&String>> = dependencies
        .iter()
        .map(|(name, needs)| {
            (name, needs.iter().filter(|n| dependencies.contains_key(*n)).collect())
        })
        .collect();
    loop {
        let free = left.iter().find(|(_, needs)| needs.is_empty()).map(|(name, _)| *name);
        let Some(name) = free else { break };
        left.remove(name);
        for needs in left.values_mut() {
            needs.remove(name);
        }
        ordered.push(name.clone());
    }
    let circles = circles(&left);
    ordered.extend(left.into_keys().cloned());
    (ordered, circles)
}

/// One circle for each name that depends on itself and that no earlier circle has. All names here
/// wait for another name here.
fn circles(left: &BTreeMap<&String, BTreeSet<&String>>) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut seen: BTreeSet<&String> = BTreeSet::new();
    for start in left.keys() {
        let mut path: Vec<&String> = vec![start];
        while let Some(next) =
            left[path[path.len() - 1]].iter().find(|next| left.contains_key(**next))
        {
            if let Some(at) = path.iter().position(|name| name == next) {
                let circle = path.split_off(at);
                if !circle.iter().any(|name| seen.contains(*name)) {
                    let names = circle.iter().chain(circle.first());
                    found.push(names.map(|name| (*name).clone()).collect());
                }
                path.extend(circle);
                break;
            }
            path.push(next);
        }
        seen.extend(path);
    }
    found
}

/// These names, and all names on which they depend.
pub(super) fn with_dependencies(
    names: impl IntoIterator<Item = String>,
    dependencies: &BTreeMap<String, BTreeSet<String>>,
) -> BTreeSet<String> {
    let (mut found, mut open) = (BTreeSet::new(), names.into_iter().collect::<Vec<_>>());
    while let Some(name) = open.pop() {
        if let Some(needs) = dependencies.get(&name)
            && found.insert(name)
        {
            open.extend(needs.iter().cloned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(text: &str) -> BTreeMap<String, BTreeSet<String>> {
        let line = |line: &str| {
            let (name, needs) = line.split_once(':').unwrap_or((line, ""));
            (name.to_owned(), needs.split_whitespace().map(str::to_owned).collect())
        };
        text.split(';').map(|part| line(part.trim())).collect()
    }

    #[test]
    fn each_name_comes_after_its_dependencies() {
        let (ordered, circles) = order(&graph("a: c std_msgs; b: a; c; d: b c"));
        assert_eq!(ordered, ["c", "a", "b", "d"]);
        assert_eq!(circles.len(), 0);
    }

    #[test]
    fn circles_are_named_once_each() {
        let (ordered, circles) = order(&graph("free; a: b; b: c; c: a; d: a; x: x; e: free"));
        assert_eq!(ordered[..2], ["free", "e"]);
        assert_eq!(circles, [vec!["a", "b", "c", "a"], vec!["x", "x"]]);
    }

    #[test]
    fn dependencies_are_followed() {
        let graph = graph("a: b; b: c; c: a; d: a");
        let found = with_dependencies(["b".to_owned()], &graph);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
    }
}
