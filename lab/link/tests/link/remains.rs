//! Tests that a link leaves nothing behind, no matter how its owner ends.

use feros_test_support::eventually;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use feros_link::{Link, LinkOptions, Namespace};

use crate::hosts::namespaces;

/// The processes of this machine that are in the namespace `net` or have a handle to it.
fn users_of(net: &str) -> BTreeSet<u32> {
    let processes = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes
        .filter(|process: &u32| {
            let is_it = |path: std::path::PathBuf| {
                std::fs::read_link(path).is_ok_and(|link| link.as_os_str() == net)
            };
            let handles =
                std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
            is_it(format!("/proc/{process}/ns/net").into())
                || handles.map(|entry| entry.path()).any(is_it)
        })
        .collect()
}

fn wait_until_nobody_uses(net: &str) {
    wait_until_users(net, BTreeSet::is_empty);
}

fn wait_until_users(net: &str, are_as_wanted: impl Fn(&BTreeSet<u32>) -> bool) {
    eventually(|| {
        let users = users_of(net);
        if are_as_wanted(&users) { Ok(()) } else { Err(format!("{net} is used by {users:?}")) }
    });
}

/// A process that is killed when this value is dropped, even by a failing test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap(); // SIGKILL, so that none of its code runs
        self.0.wait().unwrap();
    }
}

/// The namespace's name in /proc, read from inside.
fn name_of(namespace: &Namespace) -> String {
    let name = namespace.run(|| std::fs::read_link("/proc/thread-self/ns/net")).unwrap().unwrap();
    name.to_str().unwrap().to_string()
}

#[test]
fn dropping_a_namespace_ends_what_runs_in_it() {
    let Some((_alone, [namespace])) = namespaces() else { return };
    let name = name_of(&namespace);
    // The program has a child that outlives it, in a separate session, and both ignore polite
    // signals.
    let mut program = namespace.command("sh");
    program
        .args(["-c", "trap '' TERM HUP INT; setsid sleep 1000 & echo started; sleep 1000"])
        .stdout(Stdio::piped());
    let mut child = program.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    wait_until_users(&name, |users| users.len() >= 3);
    drop(namespace);
    wait_until_nobody_uses(&name);
    assert!(!child.wait().unwrap().success());
}

/// This is not a test, but the owner that the next test kills.
#[test]
#[ignore = "started by killing_the_owner_leaves_no_process_no_namespace_and_no_device"]
fn owner() {
    let (first, second) = (Namespace::new().unwrap(), Namespace::new().unwrap());
    let _link = Link::between(&first, &second, LinkOptions::default()).unwrap();
    let mut children: Vec<_> = [&first, &second]
        .iter()
        .map(|namespace| {
            namespace.command("sh").args(["-c", "setsid sleep 1000 & sleep 1000"]).spawn().unwrap()
        })
        .collect();
    println!("ready {} {}", name_of(&first), name_of(&second));
    for child in &mut children {
        child.wait().unwrap();
    }
}

#[test]
fn killing_the_owner_leaves_no_process_no_namespace_and_no_device() {
    let Some((_alone, [_permitted])) = namespaces() else { return };
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["remains::owner", "--exact", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    let owner = Killed(owner);
    let ready = lines
        .map(|line| line.unwrap())
        .find_map(|line| Some(line.split_once("ready ")?.1.to_string()))
        .unwrap();
    let names: Vec<&str> = ready.split(' ').collect();
    assert_eq!(names.len(), 2);
    for name in &names {
        wait_until_users(name, |users| users.len() >= 3); // owner, holder, programs
    }
    drop(owner);
    for name in &names {
        // The kernel removes a namespace that no process uses, with its devices.
        wait_until_nobody_uses(name);
    }
    let devices = std::fs::read_to_string("/proc/net/dev").unwrap();
    assert!(!devices.contains("feros0"), "{devices}");
}

#[test]
fn without_the_rights_it_says_so() {
    let permitted = namespaces::<1>();
    if permitted.is_none() {
        return; // the skip has been reported
    }
    // Runs this program without the rights of root.
    let output = Command::new("setpriv")
        .args(["--bounding-set=-all", "--inh-caps=-all", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["remains::attempt", "--exact", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).to_string();
    assert!(said.contains("run it as root"), "{said} {}", String::from_utf8_lossy(&output.stderr));
}

/// This is not a test: the test above starts it without rights.
#[test]
#[ignore = "started by without_the_rights_it_says_so"]
fn attempt() {
    println!("{}", Namespace::new().unwrap_err());
}
