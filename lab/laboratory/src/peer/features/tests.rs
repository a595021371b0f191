#![allow(clippy::unwrap_used)]

use std::path::Path;

use super::*;

const WHOLE: &str = r#"
title = "A"
program = ["a"]
roles = ["talker"]
placements = ["local"]

[features]
sources = ["its manual"]
licence = "MIT"
systems = ["linux", "bare_metal"]
languages = ["cpp"]
discovery = "distributed"
transports = ["shared_memory", "udp"]
serialization = "cdr"
policies = ["reliability", "history"]
calls = false
scheduling = "no_threads"
"#;

const OTHER: &str = r#"
title = "B"
program = ["b"]
roles = ["pair", "server"]
placements = ["remote", "intra"]
features_of = ["a"]

[[variant]]
name = "own"
features_of = []
"#;

/// The peers `a` and `b`, or what is wrong with them.
fn read(a: &str, b: &str) -> Result<Peers, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("a", a), ("b", b)] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("peer.toml"), text).unwrap();
    }
    Peers::read(folder.path()).map_err(|error| error.to_string())
}

#[test]
fn a_system_declares_words_for_people() {
    let peers = read(WHOLE, OTHER).unwrap();
    let declared = peers.declarations(peers.system("a").unwrap());
    assert_eq!(declared.len(), 1);
    let said = |feature: Feature| declared[0].features[&feature].join(", ");
    assert_eq!((declared[0].name.as_str(), declared[0].title.as_str()), ("a", "A"));
    assert_eq!(said(Feature::PublishSubscribe), "yes");
    assert_eq!(said(Feature::Pointers), "no");
    assert_eq!(said(Feature::Calls), "no");
    assert_eq!(said(Feature::Systems), "Linux, no operating system");
    assert_eq!(said(Feature::Transports), "shared memory, UDP");
    assert_eq!(said(Feature::RealTime), "it starts no threads");
    assert_eq!(said(Feature::Licence), "MIT");
    assert!(!declared[0].features.contains_key(&Feature::Memory), "memory is only measured");
}

#[test]
fn a_program_may_stand_for_the_system_of_another_peer() {
    let peers = read(WHOLE, OTHER).unwrap();
    let declared = peers.declarations(peers.system("b").unwrap());
    // The facts are those of `a`; roles and placements are those of the program.
    assert_eq!((declared[0].name.as_str(), declared[0].title.as_str()), ("a", "A"));
    assert_eq!(declared[0].features[&Feature::Licence], ["MIT"]);
    assert_eq!(declared[0].features[&Feature::Hosts], ["yes"]);
    assert_eq!(declared[0].features[&Feature::Pointers], ["yes"]);
    assert!(peers.declarations(peers.system("b:own").unwrap()).is_empty());
}

#[test]
fn facts_are_complete_and_known() {
    for (from, to, expected) in [
        ("licence = \"MIT\"\n", "", "missing field `licence`"),
        ("licence = \"MIT\"", "licence = \" \"", "`licence` in [features] has no value"),
        ("[\"its manual\"]", "[]", "`sources` in [features] has no value"),
        ("[\"cpp\"]", "[]", "`languages` in [features] has no value"),
        ("\"udp\"", "\"upd\"", "udp"),
        ("calls = false", "calls = \"no\"", "boolean"),
        ("calls = false", "calls = false\nbeauty = true", "unknown field `beauty`"),
        ("[features]", "features_of = [\"a\"]\n[features]", "both [features] and `features_of`"),
    ] {
        assert!(WHOLE.contains(from), "{from}");
        let error = read(&WHOLE.replace(from, to), OTHER).unwrap_err();
        assert!(error.contains(expected), "{to}: {error}");
    }
    for (from, to) in [("[\"a\"]", "[\"c\"]"), ("features_of = []", "features_of = [\"b\"]")] {
        let error = read(WHOLE, &OTHER.replace(from, to)).unwrap_err();
        assert!(error.contains("no such peer has a section [features]"), "{error}");
    }
}

#[test]
fn every_peer_of_the_repository_declares_its_features() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers");
    let peers = Peers::read(&folder).unwrap();
    let mut described = 0;
    for peer in peers.iter() {
        let manifest = &peer.manifest;
        let is_named = manifest.features.is_some() || manifest.features_of.is_some();
        assert!(is_named, "{}: neither [features] nor `features_of`", peer.name);
        let stands_for_itself = manifest.features.is_some();
        let stands_for_others = manifest.features_of.as_ref().is_some_and(|of| !of.is_empty());
        for system in peer.systems().filter(|system| system.variant.is_none()) {
            let declared = peers.declarations(system);
            assert_eq!(
                !declared.is_empty(),
                stands_for_itself || stands_for_others,
                "{}",
                peer.name
            );
            // The declared calls of a system must not contradict the roles of its program.
            let calls = declared.iter().any(|one| one.features[&Feature::Calls] == ["yes"]);
            let has_calls = system.roles().contains(&Role::Calls);
            assert!(calls || !has_calls || declared.is_empty(), "{}", peer.name);
        }
        described += usize::from(stands_for_itself);
    }
    assert!(described >= 12, "only {described} systems are described");
}

/// The laboratory imports no engine, so this reads the list of the policies of ROS 2 as text.
#[test]
fn the_policies_are_those_of_ros2() {
    /// `depth` and the lease are parts of other policies; the flag is only of ROS.
    const OTHERS: [&str; 3] =
        ["depth", "liveliness_lease_duration", "avoid_ros_namespace_conventions"];
    let list = include_str!("../../../../../crates/engines/engine/src/qos/list.rs");
    let arms = list.lines().filter_map(|line| line.trim().strip_prefix("Self::"));
    let names = arms.filter_map(|arm| arm.split_once(" => \"")?.1.strip_suffix("\","));
    let (others, policies): (Vec<_>, Vec<_>) = names.partition(|name| OTHERS.contains(name));
    assert_eq!(others, OTHERS);
    assert!(policies.len() > 5, "{policies:?}");
    for name in policies {
        let policy: Result<Policy, _> = serde_json::from_value(name.into());
        assert_eq!(policy.unwrap().title(), name);
    }
}
