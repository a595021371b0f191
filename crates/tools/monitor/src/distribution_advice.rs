//! What to know about the distributions of ROS 2 in a domain: which of them Feros speaks with, and
//! what to set. `feros doctor` and the page of `feros view` show the same sentences.

use crate::distributions::{Distribution, DistributionGroup, Distributions};
use crate::lists::listed;

const SPEAK_AS_HUMBLE: &str = "export FEROS_ROS_DISTRO=humble for this shell and all programs of \
                               Feros that these nodes have to understand";
const SPEAK_AS_USUAL: &str = "unset FEROS_ROS_DISTRO, or leave out --distro, for this shell and \
                              all programs of Feros in this domain";
const SEPARATE: &str = "give Humble a domain of its own (ROS_DOMAIN_ID), and carry topics between \
                        the domains with feros bridge --distros";

/// What to know about the distributions in a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistributionAdvice {
    /// The participants of the group, and how Feros speaks with them.
    pub text: String,
    /// What to set. It is `None` if nothing is wrong.
    pub cure: Option<String>,
}

impl DistributionAdvice {
    fn fine(text: impl Into<String>) -> Self {
        Self { text: text.into(), cure: None }
    }

    fn warning(text: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { text: text.into(), cure: Some(cure.into()) }
    }
}

impl Distributions {
    /// Which of the distributions Feros speaks with, and what to set: one piece for each group in
    /// their order, and one more for each protocol on which Humble and newer distributions meet.
    pub fn advice(&self) -> Vec<DistributionAdvice> {
        let one_form = self.cure_of_two_forms();
        let of_group_here = |group| of_group(group, self.is_own_form_of_humble, &one_form);
        let of_groups = self.groups.iter().map(of_group_here);
        let apart = [true, false].into_iter().filter_map(|on_dds| self.humble_beside_newer(on_dds));
        of_groups.chain(apart).collect()
    }

    /// What to set if programs of Feros announce their nodes in different forms: the form that the
    /// other programs read, or either one if both kinds or neither is there.
    fn cure_of_two_forms(&self) -> String {
        match (self.groups.iter().any(is_humble), self.groups.iter().any(is_newer)) {
            (true, false) => SPEAK_AS_HUMBLE.to_owned(),
            (false, true) => SPEAK_AS_USUAL.to_owned(),
            _ => format!("{SPEAK_AS_HUMBLE}; or {SPEAK_AS_USUAL}"),
        }
    }

    /// The warning if nodes of Humble and of newer distributions are on one protocol.
    fn humble_beside_newer(&self, on_dds: bool) -> Option<DistributionAdvice> {
        let mut there = self.groups.iter().filter(|group| group.is_on_dds == on_dds);
        let newer = there.clone().filter(|group| is_newer(group)).map(DistributionGroup::name);
        let newer: Vec<_> = newer.collect();
        if newer.is_empty() || !there.any(is_humble) {
            return None;
        }
        let newer = newer.join(", ");
        let text = if on_dds {
            format!(
                "Humble and {newer} are in one domain: neither can read the other's announcements \
                 of nodes, and nodes of Humble may run out of memory over them"
            )
        } else {
            format!(
                "Humble and {newer} are in one domain: on Zenoh, no message passes between them, \
                 because the keys of Humble have no type hashes"
            )
        };
        Some(DistributionAdvice::warning(text, SEPARATE))
    }
}

fn is_humble(group: &DistributionGroup) -> bool {
    group.may_be == [Distribution::Humble]
}

/// Whether the participants are of a distribution of stock ROS 2 after Humble.
fn is_newer(group: &DistributionGroup) -> bool {
    !matches!(group.may_be, [] | [Distribution::Feros | Distribution::Humble])
}

/// The advice about one group. `as_humble` says whether this process announces its nodes in the
/// form of Humble, and `one_form` is what to set if programs of Feros use different forms.
fn of_group(group: &DistributionGroup, as_humble: bool, one_form: &str) -> DistributionAdvice {
    let who = described(group);
    let them = if group.participants == 1 { "it" } else { "them" };
    let others_as_humble = group.in_form_of_humble;
    match group.may_be {
        [] => DistributionAdvice::fine(format!("{who}, without nodes of ROS 2")),
        [Distribution::Feros] if as_humble && others_as_humble < group.participants => {
            let text = format!(
                "{who}; this shell announces its nodes in the form of Humble, unlike {them}"
            );
            DistributionAdvice::warning(text, one_form)
        }
        [Distribution::Feros] if !as_humble && others_as_humble > 0 => {
            let announce = if others_as_humble == 1 { "announces its" } else { "announce their" };
            let text = format!(
                "{who}; {others_as_humble} of them {announce} nodes in the form of Humble, and \
                 this shell does not"
            );
            DistributionAdvice::warning(text, one_form)
        }
        [Distribution::Feros] => DistributionAdvice::fine(who),
        [Distribution::Humble] if as_humble => DistributionAdvice::fine(format!(
            "{who}; Feros speaks with {them} in the form of Humble"
        )),
        [Distribution::Humble] if !group.is_on_dds => {
            let text = format!(
                "{who}; on Zenoh, no message passes between Humble and Feros without the setting \
                 for Humble, because the keys of Humble have no type hashes"
            );
            DistributionAdvice::warning(text, SPEAK_AS_HUMBLE)
        }
        [Distribution::Humble] => {
            let text = format!(
                "{who}; Feros reads the announcements of Humble, but Humble cannot read those of \
                 Feros, and may run out of memory over them"
            );
            DistributionAdvice::warning(text, SPEAK_AS_HUMBLE)
        }
        _ if as_humble && !group.is_on_dds => {
            let text = format!(
                "{who}; here Feros has the setting for Humble (FEROS_ROS_DISTRO or --distro): it \
                 receives their messages, but on Zenoh, they receive no message of Feros"
            );
            DistributionAdvice::warning(text, SPEAK_AS_USUAL)
        }
        _ if as_humble => {
            let text = format!(
                "{who}; here Feros announces its nodes in the form of Humble (FEROS_ROS_DISTRO or \
                 --distro), which {} cannot read",
                group.name()
            );
            DistributionAdvice::warning(text, SPEAK_AS_USUAL)
        }
        _ => DistributionAdvice::fine(format!("{who}; Feros speaks with {them}")),
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros_engine::dds::library::Library;
    use feros_engine::{DiscoveryForm, Gid, GraphSnapshot, NodeInfo, NodeName, ParticipantInfo};

    use super::*;

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

    fn told(as_humble: bool, participants: Vec<ParticipantInfo>) -> Vec<DistributionAdvice> {
        seen(as_humble, participants).advice()
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
            assert_eq!(told(as_humble, participants), [DistributionAdvice::fine(text)]);
        }
        assert_eq!(told(false, Vec::new()), []);
    }

    /// The warnings, each with its cure.
    fn warnings(as_humble: bool, participants: Vec<ParticipantInfo>) -> Vec<(String, String)> {
        let found = told(as_humble, participants).into_iter();
        found.filter_map(|found| Some((found.text, found.cure?))).collect()
    }

    fn on_zenoh(of: ParticipantInfo) -> ParticipantInfo {
        ParticipantInfo { library: None, ..of }
    }

    /// On Zenoh, Humble needs no more memory; messages do not pass.
    #[test]
    fn warnings_about_zenoh_say_what_does_not_pass() {
        for (as_humble, participant, text, cure) in [
            (
                false,
                humble(1),
                "1 participant of Humble: /n1; on Zenoh, no message passes between Humble and \
                 Feros without the setting for Humble, because the keys of Humble have no type \
                 hashes",
                SPEAK_AS_HUMBLE,
            ),
            (
                true,
                kilted(1),
                "1 participant of Jazzy, Kilted, Lyrical or later: /n1; here Feros has the setting \
                 for Humble (FEROS_ROS_DISTRO or --distro): it receives their messages, but on \
                 Zenoh, they receive no message of Feros",
                SPEAK_AS_USUAL,
            ),
        ] {
            let expected = [(text.to_owned(), cure.to_owned())];
            assert_eq!(warnings(as_humble, vec![on_zenoh(participant)]), expected);
        }
        let found = warnings(false, vec![on_zenoh(humble(1)), on_zenoh(kilted(2))]);
        let [_, (text, cure)] = &found[..] else { panic!("two warnings: {found:?}") };
        let said = "Humble and Jazzy, Kilted, Lyrical or later are in one domain: on Zenoh, no \
                    message passes between them, because the keys of Humble have no type hashes";
        assert_eq!((text.as_str(), cure.as_str()), (said, SEPARATE));
        let fine = "1 participant of Humble: /n1; Feros speaks with it in the form of Humble";
        assert_eq!(told(true, vec![on_zenoh(humble(1))]), [DistributionAdvice::fine(fine)]);
    }

    #[test]
    fn humble_on_one_protocol_does_not_meet_newer_ones_on_the_other() {
        let found = warnings(false, vec![humble(1), on_zenoh(kilted(2))]);
        let [(text, _)] = &found[..] else { panic!("one warning: {found:?}") };
        assert!(text.starts_with("1 participant of Humble (Fast DDS 3.2.2): /n1; "), "{text}");
    }

    #[test]
    fn forms_that_are_not_understood_are_warnings_with_the_variable() {
        let feros = |of| ParticipantInfo { is_feros: true, ..of };
        let set = "export FEROS_ROS_DISTRO=humble";
        let unset = "unset FEROS_ROS_DISTRO, or leave out --distro";
        for (as_humble, participant, text, cures) in [
            (false, humble(1), "Humble cannot read those of Feros", vec![set]),
            (true, kilted(1), "which Kilted cannot read", vec![unset]),
            (true, feros(kilted(1)), "in the form of Humble, unlike it", vec![set, unset]),
            (
                false,
                feros(humble(1)),
                "1 of them announces its nodes in the form of Humble, and",
                vec![set, unset],
            ),
        ] {
            let found = warnings(as_humble, vec![participant]);
            let [warning] = &found[..] else { panic!("one warning: {found:?}") };
            assert!(warning.0.contains(text), "{warning:?}");
            assert!(cures.iter().all(|cure| warning.1.contains(cure)), "{warning:?}");
        }
        // Beside stock programs, the cure is the form that they read.
        for (other, cure, wrong) in [(kilted(2), unset, set), (humble(2), set, unset)] {
            let found = warnings(false, vec![feros(humble(1)), other]);
            let (_, told) = found.iter().find(|(text, _)| text.contains("1 of them")).unwrap();
            assert!(told.contains(cure) && !told.contains(wrong), "{told}");
        }
        let found = warnings(false, vec![humble(1), kilted(2)]);
        let [_, (text, cure)] = &found[..] else { panic!("two warnings: {found:?}") };
        assert!(text.starts_with("Humble and Kilted are in one domain"), "{text}");
        assert!(cure.contains("ROS_DOMAIN_ID") && cure.contains("feros bridge"), "{cure}");
    }
}
