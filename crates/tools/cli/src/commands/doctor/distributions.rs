//! The distributions of ROS 2 in the domain: which of them Feros speaks with, and what to set.

use feros_monitor::{DistributionAdvice, DistributionGroup, Distributions};
use serde_json::{Value, json};

use super::finding::Finding;

const AREA: &str = "distro";

pub(super) fn findings(found: &Distributions) -> Vec<Finding> {
    let finding = |DistributionAdvice { text, cure }| match cure {
        Some(cure) => Finding::warning(AREA, text, cure),
        None => Finding::ok(AREA, text),
    };
    found.advice().into_iter().map(finding).collect()
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

    /// A participant with the node `/n` in this form.
    fn seen(form: DiscoveryForm) -> Distributions {
        let gid = Gid([1; 16]);
        let library = Library::parse("01.10 r/0.10.5/");
        let participant =
            ParticipantInfo { form: Some(form), library, ..ParticipantInfo::new(gid) };
        let name = NodeName::new("/", "n").unwrap();
        let node = NodeInfo { name, enclave: "/".into(), participant: gid };
        let graph = GraphSnapshot {
            participants: vec![participant],
            nodes: vec![node],
            ..GraphSnapshot::default()
        };
        Distributions::of(&graph, &[])
    }

    #[test]
    fn what_has_a_cure_is_a_warning() {
        for (form, status) in
            [(DiscoveryForm::SinceIron, Status::Ok), (DiscoveryForm::Humble, Status::Warning)]
        {
            let [found] = &findings(&seen(form))[..] else { panic!("one group: {form}") };
            assert_eq!((found.area, found.status), (AREA, status), "{found:?}");
            assert_eq!(found.cure.is_some(), status == Status::Warning, "{found:?}");
            assert!(found.text.starts_with("1 participant of "), "{found:?}");
        }
    }

    #[test]
    fn json_has_what_may_be_and_what_shows_it() {
        let expected = json!([{
            "name": "Jazzy or Kilted",
            "may_be": ["jazzy", "kilted"],
            "participants": 1,
            "in_form_of_humble": 0,
            "libraries": ["Cyclone DDS 0.10.5"],
            "nodes": ["/n"],
        }]);
        assert_eq!(Value::from(to_json(&seen(DiscoveryForm::SinceIron))), expected);
    }
}
