//! Two versions of Feros on one host, with different formats of shared memory: each shares memory
//! with programs of its own version alone, and messages between them take the network, which every
//! command that shows transports tells.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use feros::shm::format_version;
use feros_interop::Domain;

use crate::process::{Finished, Running, eventually};

/// What precedes the format in the file of a program (`feros-shm`, `format_version`).
const MARK: &[u8] = b"feros-shm-format";

/// A copy of the command with the next format. No other byte differs.
fn next_version(folder: &Path) -> PathBuf {
    let mut program = std::fs::read(env!("CARGO_BIN_EXE_feros")).unwrap();
    let ours = [MARK, &format_version().to_le_bytes()].concat();
    let places: Vec<usize> = (0..program.len() - ours.len())
        .filter(|&at| program[at] == ours[0] && program[at..].starts_with(&ours))
        .collect();
    assert_eq!(places.len(), 1, "one number in the program: {places:?}");
    let number = places[0] + MARK.len();
    program[number..number + 4].copy_from_slice(&next_format().to_le_bytes());
    let path = folder.join("feros");
    std::fs::write(&path, program).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

fn next_format() -> u32 {
    format_version() + 1
}

/// One domain with programs of two versions.
struct Host {
    domain: Domain,
    next: PathBuf,
}

impl Host {
    fn ours(&self, words: &[&str]) -> Running {
        Running::start_in(&self.domain, words)
    }

    fn theirs(&self, words: &[&str]) -> Running {
        let mut command = feros_test_support::command_of(&self.next);
        command.args(words);
        self.domain.confine(&mut command);
        Running::spawn(command)
    }
}

/// The folder in which the processes of this user with a format find each other.
fn folder_of(format: u32) -> PathBuf {
    let uid = rustix::process::geteuid().as_raw();
    Path::new("/dev/shm").join(format!("feros-{uid}-{format}"))
}

fn says<'a>(wanted: &'a [&'a str]) -> impl Fn(&Finished) -> bool + 'a {
    move |finished| wanted.iter().all(|wanted| finished.out.contains(wanted))
}

#[test]
fn two_versions_talk_over_the_network_and_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host { domain: Domain::reserve_without_ros2(), next: next_version(folder.path()) };
    let said = host.theirs(&["--version"]).finish().success();
    assert!(said.ends_with(&format!("format of shared memory: {}\n", next_format())), "{said}");

    let line = ["topic", "pub", "/words", "std_msgs/msg/String", "data: hello", "--rate", "50"];
    let talker = host.theirs(&line);
    let echo = ["topic", "echo", "/words"];
    let listeners = [host.ours(&echo), host.theirs(&echo)];
    let once = ["topic", "echo", "/words", "--once"];
    assert!(host.ours(&once).finish().success().contains("data: hello"));
    assert!(host.theirs(&once).finish().success().contains("data: hello"));

    let reason = format!(
        "the shared memory formats differ (publisher {}, subscription {})",
        next_format(),
        format_version()
    );
    let wanted = ["network", reason.as_str()];
    eventually(|| host.ours(&["topic", "info", "-v", "/words"]).finish(), says(&wanted));
    // The command of the next version also sees that the other match shares memory.
    let wanted = ["shared memory", reason.as_str()];
    eventually(|| host.theirs(&["topic", "info", "-v", "/words"]).finish(), says(&wanted));
    let cure = "use the same version of Feros for both";
    let wanted = ["takes the network transport", reason.as_str(), cure];
    eventually(|| host.ours(&["doctor"]).finish(), says(&wanted));

    assert!(folder_of(next_format()).is_dir(), "a space of that format alone");
    talker.interrupt();
    assert_eq!(talker.finish().code, Some(0));
    for listener in listeners {
        listener.interrupt();
        assert_eq!(listener.finish().code, Some(0));
    }
    assert!(!folder_of(next_format()).exists(), "the last process of a format removes its space");
}
