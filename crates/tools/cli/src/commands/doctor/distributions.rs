//! The distributions of ROS 2 in the domain: which of them Feros speaks with, and what to set.

use feros_monitor::{Distribution, DistributionGroup, Distributions};
use serde_json::{Value, json};

use super::finding::Finding;
use super::programs::listed;

const AREA: &str = "distro";

const SPEAK_AS_HUMBLE: &str = "export FEROS_ROS_DISTRO=humble for this shell and all programs of \
                               Feros that these nodes shall understand";
const SPEAK_AS_USUAL: &str =
    "unset FEROS_ROS_DISTRO for this shell and all programs of Feros in this domain";
const SEPARATE: &str = "give Humble a domain of its own (ROS_DOMAIN_ID), and carry topics between \
                        the domains with feros bridge --distros";

pub(super) fn findings(found: &Distributions) -> Vec<Finding> {
    let is_newer = |group: &&DistributionGroup| {
        !matches!(group.may_be, [] | [Distribution::Feros | Distribution::Humble])
    };
    let humble = found.groups.iter().find(|group| group.may_be == [Distribution::Humble]);
    let newer: Vec<_> = found.groups.iter().filter(is_newer).map(DistributionGroup::name).collect();
    let of_group = |group| finding(group, found.is_own_form_of_humble);
    let mut findings: Vec<_> = found.groups.iter().map(of_group).collect();
    if humble.is_some() && !newer.is_empty() {
        let text = format!(
            "Humble and {} are in one domain: each cannot read the other's announcements of \
             nodes, and nodes of Humble may run out of memory over them",
            newer.join(", ")
        );
        findings.push(Finding::warning(AREA, text, SEPARATE));
    }
    findings
}

/// The finding about one group. `as_humble` says whether this process announces its nodes in the
/// form of Humble.
fn finding(group: &DistributionGroup, as_humble: bool) -> Finding {
    let who = described(group);
    let them = if group.participants == 1 { "it" } else { "them" };
    let others_as_humble = group.in_form_of_humble;
    let both = format!("{SPEAK_AS_HUMBLE}; or {SPEAK_AS_USUAL}");
    match group.may_be {
        [] => Finding::ok(AREA, format!("{who}, without nodes of ROS 2")),
        [Distribution::Feros] if as_humble && others_as_humble < group.participants => {
            let text = format!(
                "{who}; this shell announces its nodes in the form of Humble, unlike {them}"
            );
            Finding::warning(AREA, text, both)
        }
        [Distribution::Feros] if !as_humble && others_as_humble > 0 => {
            let text =
                format!("{who}; {others_as_humble} in the form of Humble, unlike this shell");
            Finding::warning(AREA, text, both)
        }
        [Distribution::Feros] => Finding::ok(AREA, who),
        [Distribution::Humble] if as_humble => {
            Finding::ok(AREA, format!("{who}; Feros speaks with {them} in the form of Humble"))
        }
        [Distribution::Humble] => {
            let text = format!(
                "{who}; Feros reads the announcements of Humble, but Humble cannot read those of \
                 Feros, and may run out of memory over them"
            );
            Finding::warning(AREA, text, SPEAK_AS_HUMBLE)
        }
        _ if as_humble => {
            let text = format!(
                "{who}; here Feros announces its nodes in the form of Humble (FEROS_ROS_DISTRO), \
                 which {} cannot read",
                group.name()
            );
            Finding::warning(AREA, text, SPEAK_AS_USUAL)
        }
        _ => Finding::ok(AREA, format!("{who}; Feros speaks with {them}")),
    }
}

/// A group in words: `2 participants of Kilted (Fast DDS 3.2.2): /camera, /lidar`.
fn described(group: &DistributionGroup) -> String {
    let DistributionGroup { participants, libraries, nodes, .. } = group;
    let what = if *participants == 1 { "participant" } else { "participants" };
    let of = match group.may_be {
        [] => "of an unknown kind".to_owned(),
        _ => format!("of {}", group.name()),
    };
    let libraries: Vec<_> = libraries.iter().map(ToString::to_string).collect();
    let libraries = match &libraries[..] {
        [] => String::new(),
        some => format!(" ({})", listed(some)),
    };
    let nodes: Vec<_> = nodes.iter().map(ToString::to_string).collect();
    let nodes = if nodes.is_empty() { String::new() } else { format!(": {}", listed(&nodes)) };
    format!("{participants} {what} {of}{libraries}{nodes}")
}

/// The groups as JSON objects.
pub(super) fn to_json(found: &Distributions) -> Vec<Value> {
    let one = |group: &DistributionGroup| {
        let may_be: Vec<_> = group.may_be.iter().map(|one| one.id()).collect();
        let libraries: Vec<_> = group.libraries.iter().map(ToString::to_string).collect();
        let nodes: Vec<_> = group.nodes.iter().map(ToString::to_string).collect();
        json!({
            "name": group.name(),
            "may_be": may_be,
            "participants": group.participants,
            "in_form_of_humble": group.in_form_of_humble,
            "libraries": libraries,
            "nodes": nodes,
        })
    };
    found.groups.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros_engine::dds::library::Library;
    use feros_engine::{DiscoveryForm, Gid, GraphSnapshot, NodeInfo, NodeName, ParticipantInfo};

    use super::*;
    use crate::commands::doctor::finding::Status;

    const OWN: Gid = Gid([9; 16]);

    fn kilted(number: u8) -> ParticipantInfo {
        ParticipantInfo {
            form: Some(DiscoveryForm::SinceIron),
            library: Library::parse("01.0f 3.2.2.0"),
            ..ParticipantInfo::new(Gid([number; 16]))
        }
    }

    fn in_form(form: DiscoveryForm, of: ParticipantInfo) -> ParticipantInfo {
        ParticipantInfo { form: Some(form), ..of }
    }

    fn humble(number: u8) -> ParticipantInfo {
        in_form(DiscoveryForm::Humble, kilted(number))
    }

    /// The distributions of these participants, seen by a process that announces in this form.
    fn seen(as_humble: bool, participants: Vec<ParticipantInfo>) -> Distributions {
        let form = if as_humble { DiscoveryForm::Humble } else { DiscoveryForm::SinceIron };
        let own = ParticipantInfo { gid: OWN, is_feros: true, ..in_form(form, kilted(9)) };
        let node = |of: &ParticipantInfo| NodeInfo {
            name: NodeName::new("/", &format!("n{}", of.gid.0[0])).unwrap(),
            enclave: "/".into(),
            participant: of.gid,
        };
        let nodes = participants.iter().filter(|of| of.form.is_some()).map(node).collect();
        let participants = participants.into_iter().chain([own]).collect();
        let graph = GraphSnapshot { participants, nodes, ..GraphSnapshot::default() };
        Distributions::of(&graph, &[OWN])
    }

    fn told(as_humble: bool, participants: Vec<ParticipantInfo>) -> Vec<(Status, String)> {
        let findings = findings(&seen(as_humble, participants));
        findings.into_iter().map(|found| (found.status, found.text)).collect()
    }

    #[test]
    fn what_feros_speaks_with_is_fine() {
        let bare = ParticipantInfo { form: None, ..kilted(1) };
        for (as_humble, participants, text) in [
            (
                false,
                vec![kilted(1), kilted(2)],
                "2 participants of Kilted (Fast DDS 3.2.2): /n1, /n2; Feros speaks with them",
            ),
            (
                false,
                vec![ParticipantInfo { is_feros: true, ..kilted(1) }],
                "1 participant of Feros (Fast DDS 3.2.2): /n1",
            ),
            (
                true,
                vec![humble(1)],
                "1 participant of Humble (Fast DDS 3.2.2): /n1; Feros speaks with it in the form \
                 of Humble",
            ),
            (
                false,
                vec![bare],
                "1 participant of an unknown kind (Fast DDS 3.2.2), without nodes of ROS 2",
            ),
        ] {
            assert_eq!(told(as_humble, participants), [(Status::Ok, text.to_owned())]);
        }
        assert_eq!(told(false, Vec::new()), []);
    }

    /// The warnings, each with its cure.
    fn warnings(as_humble: bool, participants: Vec<ParticipantInfo>) -> Vec<(String, String)> {
        let found = findings(&seen(as_humble, participants)).into_iter();
        let warnings = found.filter(|found| found.status == Status::Warning);
        warnings.map(|found| (found.text, found.cure.unwrap())).collect()
    }

    #[test]
    fn forms_that_are_not_understood_are_warnings_with_the_variable() {
        let feros = |of| ParticipantInfo { is_feros: true, ..of };
        let (set, unset) = ("export FEROS_ROS_DISTRO=humble", "unset FEROS_ROS_DISTRO");
        for (as_humble, participant, text, cures) in [
            (false, humble(1), "Humble cannot read those of Feros", vec![set]),
            (true, kilted(1), "which Kilted cannot read", vec![unset]),
            (true, feros(kilted(1)), "in the form of Humble, unlike it", vec![set, unset]),
            (false, feros(humble(1)), "1 in the form of Humble, unlike", vec![set, unset]),
        ] {
            let found = warnings(as_humble, vec![participant]);
            let [warning] = &found[..] else { panic!("one warning: {found:?}") };
            assert!(warning.0.contains(text), "{warning:?}");
            assert!(cures.iter().all(|cure| warning.1.contains(cure)), "{warning:?}");
        }
        let found = warnings(false, vec![humble(1), kilted(2)]);
        let [_, (text, cure)] = &found[..] else { panic!("two warnings: {found:?}") };
        assert!(text.starts_with("Humble and Kilted are in one domain"), "{text}");
        assert!(cure.contains("ROS_DOMAIN_ID") && cure.contains("feros bridge"), "{cure}");
    }

    #[test]
    fn json_has_what_may_be_and_what_shows_it() {
        let cyclone = ParticipantInfo { library: Library::parse("01.10 r/0.10.5/"), ..kilted(1) };
        let expected = json!([{
            "name": "Jazzy or Kilted",
            "may_be": ["jazzy", "kilted"],
            "participants": 1,
            "in_form_of_humble": 0,
            "libraries": ["Cyclone DDS 0.10.5"],
            "nodes": ["/n1"],
        }]);
        assert_eq!(Value::from(to_json(&seen(false, vec![cyclone]))), expected);
    }
}
