//! Builds of systems under test report their progress, and the Python of ROS 2 is found.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use feros_lab::peer::Peers;
use feros_lab::peer_builder::{PeerBuilder, PeerState};

use crate::fixture::lab_folder;

fn script(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_build_that_takes_long_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    for (name, build) in [("slow", "sleep 2"), ("quick", ":")] {
        let peer = folder.path().join("peers").join(name);
        script(&peer.join("build"), build);
        let manifest =
            "title = \"T\"\nbuild = [\"./build\"]\nprogram = [\"true\"]\nroles = [\"talker\"]\n";
        std::fs::write(peer.join("peer.toml"), manifest).unwrap();
    }
    let peers = Peers::read(&folder.path().join("peers")).unwrap();
    let mut builder = PeerBuilder::at(folder.path().join("cache"));
    let mut said = Vec::new();
    for peer in peers.iter() {
        let mut waits = |text: &str| said.push(text.to_owned());
        let system = peers.system(&peer.name).unwrap();
        let state = builder.prepare(system, &AtomicBool::new(false), &mut waits).unwrap();
        assert!(matches!(state, PeerState::Ready(_)), "{state:?}");
    }
    assert!(said[0].starts_with("builds slow, 1 s so far"), "{said:?}");
    assert!(said[0].ends_with("cache/slow/build.log"), "{said:?}");
}

#[test]
fn a_configuration_with_a_build_of_its_own_may_be_missing_alone() {
    let folder = tempfile::tempdir().unwrap();
    let peer = folder.path().join("peers/stock");
    script(&peer.join("build"), "touch $FEROS_LAB_OUT/program");
    script(&peer.join("library"), "echo there is no compiler >&2; exit 69");
    let manifest = "title = \"T\"\nbuild = [\"./build\"]\nprogram = [\"true\"]\nroles = [\"talker\"]\n\
        [[variant]]\nname = \"plain\"\n[[variant]]\nname = \"with\"\nbuild = [\"./library\"]\n";
    std::fs::write(peer.join("peer.toml"), manifest).unwrap();
    let peers = Peers::read(&folder.path().join("peers")).unwrap();
    let mut builder = PeerBuilder::at(folder.path().join("cache"));
    let reason = |state: PeerState| match state {
        PeerState::Ready(_) => String::new(),
        PeerState::Missing(missing) => missing.reason,
    };
    for (name, expected) in
        [("stock", ""), ("stock:plain", ""), ("stock:with", "there is no compiler")]
    {
        let system = peers.system(name).unwrap();
        let state = builder.prepare(system, &AtomicBool::new(false), &mut |_| ()).unwrap();
        assert_eq!(reason(state), expected, "{name}");
        // Another process gets the state from the files.
        let known = PeerBuilder::at(folder.path().join("cache")).known(system).unwrap();
        assert_eq!(reason(known), expected, "{name}");
    }
}

#[test]
fn the_python_of_ros_is_found_by_its_prefix_and_on_path() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("ros");
    script(&prefix.join("bin/python"), "echo of the prefix");
    let build = |out: &str, prefix: &Path| {
        let mut command = Command::new("./build");
        command.current_dir(lab_folder().join("peers/rclpy"));
        command.env("FEROS_LAB_OUT", folder.path().join(out)).env("FEROS_ROS2", prefix);
        command.status().unwrap().code()
    };
    assert_eq!(build("out", &prefix), Some(0));
    let python = Command::new(folder.path().join("out/python")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&python.stdout), "of the prefix\n");
}
