//! A disk that becomes full during a run: a small file system in a mount namespace that ends with
//! the test.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use feros_test_support::skip;

use crate::fixture::{Fixture, Running};

/// A process in a mount namespace of its own, with a small file system at a path.
struct SmallDisk {
    holder: Child,
    seen: PathBuf,
}

impl SmallDisk {
    /// `None` if the system does not allow that.
    fn at(place: PathBuf) -> Option<Self> {
        fs::create_dir(&place).unwrap();
        let script = "mount -t tmpfs -o size=48m none \"$0\" && echo ready && exec cat";
        let mut holder = Command::new("unshare")
            .args(["--mount", "sh", "-c", script])
            .arg(&place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut line = String::new();
        BufReader::new(holder.stdout.take()?).read_line(&mut line).unwrap();
        let seen = PathBuf::from(format!("/proc/{}/root", holder.id()))
            .join(place.strip_prefix("/").unwrap());
        let disk = Self { holder, seen };
        (line == "ready\n").then_some(disk)
    }

    /// Writes until the disk is full.
    fn fill(&self) {
        let mut file = fs::File::create(self.seen.join("filler")).unwrap();
        let mut block = vec![1; 1 << 20];
        while !block.is_empty() {
            if file.write_all(&block).is_err() {
                block.truncate(block.len() / 2);
            }
        }
    }

    fn clear(&self) {
        fs::remove_file(self.seen.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

#[test]
fn a_full_disk_ends_a_run_and_loses_nothing() {
    let fixture = Fixture::new();
    let Some(disk) = SmallDisk::at(fixture.path("small")) else {
        return skip("a small disk of the test's own needs a mount namespace; run it as root");
    };
    let out = disk.seen.join("out");
    let cells = || fs::read_to_string(out.join("cells.jsonl")).unwrap_or_default();
    let namespace = format!("--mount=/proc/{}/ns/mnt", disk.holder.id());
    let place = fixture.path("small/out");
    let line = format!("run quick --system mock --out {}", place.display());
    let start = || Running::of(fixture.wrapped(&["nsenter", &namespace], &line));

    let running = start();
    crate::fixture::wait_until("a cell", || cells().lines().count() >= 1);
    disk.fill();
    let ended = running.finish();
    let kept = cells();
    let done = kept.lines().count();
    let full = format!(
        "error: no space is left for {}: the {done} results so far are kept; free some space and \
         repeat the command to continue",
        place.display()
    );
    assert_eq!(ended.failure(1), full);
    assert!((1..3).contains(&done) && kept.ends_with('\n'), "{kept}");
    assert_eq!(fixture.processes(), [0_u32; 0], "left behind by {ended:?}");

    // While the disk is full, nothing changes.
    assert_eq!(start().finish().failure(1), full);
    assert_eq!(cells(), kept);

    disk.clear();
    let ended = start().finish();
    assert!(
        ended.success().contains(&format!(": {} measured now, 0 failed", 3 - done)),
        "{ended:?}"
    );
    assert!(cells().starts_with(&kept) && cells().lines().count() == 3);
}
