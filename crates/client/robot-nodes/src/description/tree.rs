//! Checks that links and joints form a tree, and that no joints mimic each other in a loop. Nothing
//! here recurses, since a description may be deep.

use std::collections::{HashMap, HashSet};

use feros_wording::did_you_mean;

use super::MAX_LINKS;
use super::error::{DescriptionError, listed, shown};
use super::joint::Joint;
use super::read::{Parts, line_at};

/// Returns the name of the root link, if links and joints form a tree.
pub(super) fn root_of(parts: &Parts, text: &str) -> Result<String, DescriptionError> {
    let links = &parts.links;
    if links.is_empty() {
        return Err(DescriptionError::NoLinks { robot: shown(&parts.name) });
    }
    if links.len() > MAX_LINKS {
        return Err(DescriptionError::TooManyLinks { links: links.len(), limit: MAX_LINKS });
    }
    let mut places = HashMap::new();
    for (place, (name, at)) in links.iter().enumerate() {
        if places.insert(name.as_str(), place).is_some() {
            let (line, name) = (line_at(text, *at), shown(name));
            return Err(DescriptionError::Duplicate { line, what: "link", name });
        }
    }
    let (parents, joints_above) = parents(&parts.joints, &places, text)?;
    let roots: Vec<usize> = (0..links.len()).filter(|link| joints_above[*link].is_none()).collect();
    if roots.len() > 1 {
        let line = line_at(text, links[roots[1]].1);
        let links = listed(roots.iter().map(|root| links[*root].0.as_str()), ", ");
        return Err(DescriptionError::SeveralRoots { line, links });
    }
    if let Some(members) = find_loop(&parents) {
        let joint = members.first().and_then(|link| joints_above[*link]);
        let line = joint.map_or(1, |joint| line_at(text, joint.place));
        let joint = joint.map(|joint| shown(&joint.name)).unwrap_or_default();
        let links = listed(members.iter().map(|link| links[*link].0.as_str()), " -> ");
        return Err(DescriptionError::Loop { line, joint, links });
    }
    // Without a loop, following the parents leads to a link without a parent.
    Ok(roots.first().map(|root| links[*root].0.clone()).unwrap_or_default())
}

type Parents<'a> = (Vec<Option<usize>>, Vec<Option<&'a Joint>>);

/// The parent link of each link, and the joint between both.
fn parents<'a>(
    joints: &'a [Joint],
    places: &HashMap<&str, usize>,
    text: &str,
) -> Result<Parents<'a>, DescriptionError> {
    let mut parents = vec![None; places.len()];
    let mut above: Vec<Option<&Joint>> = vec![None; places.len()];
    let mut names = HashSet::new();
    for joint in joints {
        let line = || line_at(text, joint.place);
        if !names.insert(joint.name.as_str()) {
            let name = shown(&joint.name);
            return Err(DescriptionError::Duplicate { line: line(), what: "joint", name });
        }
        let place = |link: &str, role| {
            places.get(link).copied().ok_or_else(|| DescriptionError::UnknownLink {
                line: line(),
                joint: shown(&joint.name),
                role,
                link: shown(link),
                suggestion: suggestion(link, places),
            })
        };
        let (parent, child) = (place(&joint.parent, "parent")?, place(&joint.child, "child")?);
        if let Some(first) = above[child] {
            return Err(DescriptionError::TwoParents {
                line: line(),
                link: shown(&joint.child),
                first: shown(&first.name),
                second: shown(&joint.name),
            });
        }
        above[child] = Some(joint);
        parents[child] = Some(parent);
    }
    Ok((parents, above))
}

/// Suggests a link with a similar name. Long names are left out, since comparing them takes time.
fn suggestion(link: &str, places: &HashMap<&str, usize>) -> String {
    const LONGEST: usize = 80;
    if link.len() > LONGEST {
        return String::new();
    }
    did_you_mean(link, places.keys().copied().filter(|name| name.len() <= LONGEST))
}

/// Refuses joints that mimic each other.
pub(super) fn refuse_mimic_loops(
    joints: &[Joint],
    places: &HashMap<String, usize>,
    text: &str,
) -> Result<(), DescriptionError> {
    let mimicked = |joint: &Joint| places.get(&joint.mimic.as_ref()?.joint).copied();
    let next: Vec<Option<usize>> = joints.iter().map(mimicked).collect();
    match find_loop(&next) {
        Some(members) => Err(DescriptionError::MimicLoop {
            line: line_at(text, members.first().map_or(0, |joint| joints[*joint].place)),
            joints: listed(members.iter().map(|joint| joints[*joint].name.as_str()), " -> "),
        }),
        None => Ok(()),
    }
}

/// Finds the members of a loop in a list that names at most one successor for each place.
fn find_loop(next: &[Option<usize>]) -> Option<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut walks = vec![UNSEEN; next.len()];
    for walk in 0..next.len() {
        let mut place = walk;
        while walks[place] == UNSEEN {
            walks[place] = walk;
            match next[place] {
                Some(following) => place = following,
                None => break,
            }
        }
        if walks[place] == walk && next[place].is_some() {
            let mut members = vec![place];
            let mut following = next[place]?;
            while following != place {
                members.push(following);
                following = next[following]?;
            }
            return Some(members);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_found_wherever_the_search_begins() {
        assert_eq!(find_loop(&[]), None);
        assert_eq!(find_loop(&[None, Some(0), Some(0), Some(2)]), None);
        assert_eq!(find_loop(&[Some(0)]), Some(vec![0]));
        // A path leads into the loop.
        assert_eq!(find_loop(&[Some(1), Some(2), Some(3), Some(1)]), Some(vec![1, 2, 3]));
        assert_eq!(find_loop(&[None, Some(0), Some(3), Some(2)]), Some(vec![2, 3]));
    }
}
