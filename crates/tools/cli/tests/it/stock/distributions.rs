//! `feros doctor` tells the distributions of stock nodes apart.

use feros_interop::{Distribution, Domain, Peer, environment, peers_are_on_feros};
use serde_json::{Value, json};

use crate::process::{Running, eventually};

/// How the doctor names a distribution, and the library that each participant announces.
fn name_and_library(of: Distribution) -> (&'static str, &'static str) {
    match of {
        Distribution::Kilted => ("Kilted", "Fast DDS 3.2."),
        Distribution::Jazzy => ("Jazzy", "Fast DDS before 3.0"),
    }
}

/// The only element of a JSON array of texts.
fn only<'a>(group: &'a Value, key: &str) -> &'a str {
    let [one] = &group[key].as_array().unwrap()[..] else { panic!("several {key}: {group}") };
    one.as_str().unwrap()
}

#[test]
fn nodes_of_several_distributions_are_in_groups_of_their_own() {
    if peers_are_on_feros("announcing the version of Fast DDS") {
        return;
    }
    let Some(domain) = Domain::reserve() else { return };
    let installed = Distribution::ALL.into_iter().filter_map(|of| Some((of, environment(of)?)));
    let peers: Vec<_> = installed
        .map(|(of, environment)| (of, Peer::start_of(&environment, &domain, "/theirs", of.name())))
        .collect();
    let report = || {
        let finished = Running::start_in(&domain, &["doctor", "--json"]).finish();
        serde_json::from_str::<Value>(&finished.out).unwrap_or_else(|_| panic!("{finished:?}"))
    };
    let group = |report: &Value, of: Distribution| {
        let mut groups = report["distributions"].as_array().unwrap().iter();
        let name = json!(name_and_library(of).0);
        groups.find(|group| group["name"] == name).cloned()
    };
    let has_node = |group: Value| group["nodes"] != json!([]);
    let report = eventually(report, |report| {
        peers.iter().all(|(of, _)| group(report, *of).is_some_and(has_node))
    });
    let groups = report["distributions"].as_array().unwrap();
    assert_eq!(groups.len(), peers.len(), "{report}");
    for (of, _) in &peers {
        let group = group(&report, *of).unwrap();
        let (name, library) = name_and_library(*of);
        assert_eq!(group["may_be"], json!([of.name()]));
        assert_eq!([&group["participants"], &group["in_form_of_humble"]], [&json!(1), &json!(0)]);
        assert_eq!(only(&group, "nodes"), format!("/theirs/{}", of.name()));
        let announced = only(&group, "libraries");
        assert!(announced.starts_with(library), "{group}");
        let text = format!(
            "1 participant of {name} ({announced}): /theirs/{}; Feros speaks with it",
            of.name()
        );
        let finding = json!({"area": "distro", "status": "ok", "text": text});
        let findings = report["findings"].as_array().unwrap();
        let is_told =
            |found: &Value| ["area", "status", "text"].iter().all(|key| found[key] == finding[key]);
        assert!(findings.iter().any(is_told), "{finding} is not in {report}");
    }
}
