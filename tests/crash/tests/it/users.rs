//! Processes of two users use the network transport, both log the reason, and neither can open the
//! other's memory.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Copy, NOBODY, Peer, Place, heard, is_root, number, segment, skipped, until};

fn must_be_other_user(found: &Value, publisher_uid: u32, subscription_uid: u32) {
    assert_eq!(found[0]["transport"], "network", "{found}");
    let expected = format!(
        "publisher (uid {publisher_uid}) and subscription (uid {subscription_uid}) belong to different users"
    );
    assert_eq!(found[0]["reason"], expected, "{found}");
}

/// All shared memory of a process of this user: the folder with its files, and the process's
/// anonymous file.
fn private_files(place: &Place, owner: &Peer) -> Vec<String> {
    let ours =
        |file: &PathBuf| file.components().any(|part| is_ours(&part.as_os_str().to_string_lossy()));
    let mut files: Vec<PathBuf> = place.files().into_iter().filter(ours).collect();
    assert!(!files.is_empty(), "the processes of this user share memory");
    files.push(place.dev_shm().join(folder_of(0)));
    files.push(segment(owner));
    files.iter().map(|file| file.display().to_string()).collect()
}

/// The name of the folder of a user.
fn folder_of(uid: u32) -> String {
    format!("feros-{uid}-{}", feros::shm::format_version())
}

fn is_ours(name: &str) -> bool {
    name == folder_of(0) || name.starts_with("feros_0_")
}

#[test]
fn two_users_talk_by_the_network_and_tell_why() {
    if !is_root() {
        return skipped("processes of two users", "only root can start them; run it as root");
    }
    let place = Place::of_host();
    let copy = Copy::of(NOBODY);
    let mut ours = Peer::start(&place, "ours");
    let mut friend = Peer::start(&place, "friend");
    let mut theirs = Peer::start_by(copy.command(&place), "theirs");
    ours.ask("publisher", json!({"name": "pub", "topic": "there", "id": 1}));
    friend.ask("listen", json!({"name": "sub", "topic": "there"}));
    ours.until_transport("pub", 1, "shared_memory");
    theirs.ask("listen", json!({"name": "sub", "topic": "there"}));
    theirs.ask("publisher", json!({"name": "pub", "topic": "back", "id": 2}));
    ours.ask("listen", json!({"name": "sub", "topic": "back"}));
    ours.ask("start", json!({"name": "pub", "period_us": 2000, "size": 10_000}));
    theirs.ask("start", json!({"name": "pub", "period_us": 2000, "size": 10_000}));
    until("messages come from the one user to the other and back", || {
        let (there, back) = (theirs.of("report", "sub"), ours.of("report", "sub"));
        (heard(&there, 1, "count") > 100 && heard(&back, 2, "count") > 100).then_some(())
    });
    // Both sides of both matches log the same reason.
    let to_theirs = ours.of("transports", "pub");
    let to_theirs =
        to_theirs.as_array().unwrap().iter().filter(|found| found["transport"] != "shared_memory");
    must_be_other_user(&to_theirs.cloned().collect(), 0, NOBODY);
    must_be_other_user(&theirs.of("transports", "sub"), 0, NOBODY);
    must_be_other_user(&theirs.of("transports", "pub"), NOBODY, 0);
    must_be_other_user(&ours.of("transports", "sub"), NOBODY, 0);
    assert_eq!(number(&theirs.of("counts", "sub"), "/host"), 0);
    // Meanwhile, processes of the same user share memory.
    until("the friend hears through shared memory", || {
        (number(&friend.of("counts", "sub"), "/host") > 100).then_some(())
    });

    let files = private_files(&place, &ours);
    let opened = theirs.ask("try_open", json!({"files": files}));
    assert_eq!(opened, json!([]), "another user opened shared memory");
    assert_ne!(
        friend.ask("try_open", json!({"files": files})),
        json!([]),
        "the test looks at real files"
    );
    println!("{} files of shared memory stayed closed to the other user", files.len());
    theirs.end();
    friend.end();
    ours.end();
    let folder = place.dev_shm().join(folder_of(NOBODY));
    assert!(!folder.exists(), "the folder was removed with the last process of its user");
}

#[test]
fn a_folder_that_another_user_made_first_is_not_trusted() {
    let place = match Place::own(&crate::support::DevShm::OfBytes(64 << 20)) {
        Ok(place) => place,
        Err(why) => return skipped("a folder made by another user", &why),
    };
    let trap = place.dev_shm().join(folder_of(0));
    std::fs::create_dir(&trap).unwrap();
    std::os::unix::fs::chown(&trap, Some(NOBODY), Some(NOBODY)).unwrap();
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
    let mut listener = Peer::start(&place, "listener");
    listener.ask("listen", json!({"name": "sub", "topic": "image"}));
    talker.ask("start", json!({"name": "pub", "period_us": 1000, "size": 1000}));
    until("messages come", || {
        (heard(&listener.of("report", "sub"), 1, "count") > 100).then_some(())
    });
    for (peer, name) in [(&mut talker, "pub"), (&mut listener, "sub")] {
        let found = peer.of("transports", name);
        assert_eq!(found[0]["transport"], "network", "{found}");
        let reason = found[0]["reason"].as_str().unwrap();
        assert!(reason.ends_with("access to its shared memory is denied"), "{reason}");
        until("the log says why", || peer.said().contains("is not trusted").then_some(()));
    }
    listener.end();
    talker.end();
}
