//! Groups records by cell: all repetitions of a cell are together, with the dimensions that
//! distinguish the cell from others.

use std::collections::BTreeMap;

use super::quantity::dimension_with_value;
use crate::record::{Record, Value};

/// The dimensions of a cell, without the ignored dimensions.
pub(crate) type Place = BTreeMap<String, Value>;

/// The records of each cell, in the order in which cells were first measured; dimensions in
/// `without` do not distinguish cells.
pub(crate) fn cells<'a>(records: &[&'a Record], without: &[&str]) -> Vec<(Place, Vec<&'a Record>)> {
    let mut found: Vec<(Place, Vec<&'a Record>)> = Vec::new();
    for record in records {
        let mut place = record.dimensions.clone();
        place.retain(|name, _| !without.contains(&name.as_str()));
        match found.iter_mut().find(|(known, _)| *known == place) {
            Some((_, same)) => same.push(record),
            None => found.push((place, vec![record])),
        }
    }
    found
}

/// The dimensions in which these cells differ: first the system, then the other dimensions in the
/// order of their names.
pub(crate) fn varied<'a>(places: impl Iterator<Item = &'a Place> + Clone) -> Vec<String> {
    let first = places.clone().next();
    let differs = |name: &&String| {
        let own = first.and_then(|first| first.get(*name));
        places.clone().any(|place| place.get(*name) != own)
    };
    let mut names: Vec<String> = places.clone().flat_map(BTreeMap::keys).cloned().collect();
    names.sort_by_key(|name| (name != "system", name != "placement", name.clone()));
    names.dedup();
    names.retain(|name| name == "system" || differs(&name));
    names
}

/// A cell in words: the values of its varied dimensions.
pub(crate) fn label(place: &Place, varied: &[String]) -> String {
    let shown = varied.iter().filter_map(|name| Some(dimension_with_value(name, place.get(name)?)));
    shown.collect::<Vec<_>>().join(", ")
}

/// The median of some numbers.
pub(crate) fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_unstable_by(f64::total_cmp);
    let (lower, upper) = (numbers.get(numbers.len().checked_sub(1)? / 2)?, numbers.len() / 2);
    Some((lower + numbers[upper]) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_middle_counts() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }
}
