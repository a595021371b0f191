//! What `feros --version` says, and where build.rs finds the commit.

use std::path::Path;
use std::process::Command;

use crate::process::feros;

#[allow(dead_code)] // the test calls what `main` calls
#[path = "../../build.rs"]
mod build_script;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

#[test]
fn the_version_names_commit_engines_and_distributions() {
    assert_eq!(feros(&["-V"]).success(), concat!("feros ", env!("CARGO_PKG_VERSION"), "\n"));
    let said = feros(&["--version"]).success();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], concat!("feros ", env!("CARGO_PKG_VERSION")));
    assert_eq!(lines[1], format!("commit: {}", env!("FEROS_COMMIT")));
    for name in feros::ENGINE_NAMES {
        let (built_in, missing) = lines[2].split_once(" (").unwrap_or((lines[2], ""));
        let line = if feros::engine(name).is_ok() { built_in } else { missing };
        assert!(line.contains(name), "{name} in {said}");
    }
    assert!(
        lines[3].starts_with("distributions of ROS 2: ") && lines[3].contains("jazzy"),
        "{said}"
    );
    assert_eq!(lines[4], format!("format of shared memory: {}", feros::shm::format_version()));
}

#[test]
fn the_commit_of_these_sources_is_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let words = ["rev-parse", "HEAD"];
    let head = Command::new("git").arg("-C").arg(folder).args(words).output().unwrap();
    let head = String::from_utf8(head.stdout).unwrap();
    assert_eq!(build_script::commit(folder).as_deref(), Some(head.trim()));
}

/// A repository with one commit, and a package in a folder of it. Returns the commit.
fn repository(root: &Path, package: &str) -> String {
    std::fs::create_dir_all(root.join(package)).unwrap();
    let run = |words: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?} {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    run(&["init", "--quiet"]);
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    run(&[&author[..], &["commit", "--quiet", "--allow-empty", "-m", "first"]].concat());
    run(&["rev-parse", "HEAD"])
}

#[test]
fn the_commit_comes_from_the_repository_of_the_sources_alone() {
    let root = tempfile::tempdir().unwrap();
    let commit = repository(root.path(), "crates/tools/cli");
    let package = root.path().join("crates/tools/cli");
    assert_eq!(build_script::commit(&package), Some(commit));
    let watched = build_script::files_to_watch(&package);
    assert!(watched.iter().any(|path| path.ends_with("logs/HEAD")), "{watched:?}");
    assert!(watched.iter().all(|path| path.is_file()), "{watched:?}");

    let other = tempfile::tempdir().unwrap();
    repository(other.path(), "vendor/feros-cli");
    let package = other.path().join("vendor/feros-cli");
    assert_eq!(build_script::commit(&package), None);
    assert!(build_script::files_to_watch(&package).is_empty());
    std::fs::write(package.join(".cargo_vcs_info.json"), record(COMMIT)).unwrap();
    assert_eq!(build_script::commit(&package), Some(COMMIT.to_owned()));
    std::fs::write(package.join(".cargo_vcs_info.json"), record("x\\u001b[2J")).unwrap();
    assert_eq!(build_script::commit(&package), None);

    let tarball = tempfile::tempdir().unwrap();
    assert_eq!(build_script::commit(tarball.path()), None);
}

/// The file that cargo puts into a package.
fn record(commit: &str) -> String {
    format!(
        "{{\n  \"git\": {{\n    \"sha1\": \"{commit}\"\n  }},\n  \"path_in_vcs\": \"crates\"\n}}"
    )
}
