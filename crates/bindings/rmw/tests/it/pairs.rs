//! Programs in C of one distribution, with the library and with libraries of the other distribution
//! loaded first. Each pair either works, or ends with a sentence: no pair ends by a signal.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use feros_interop::{Distribution, Domain, environment};
use serde_json::Value;

use crate::support::library;

/// The program of the laboratory's peer `rcl`, in which a publisher and a subscription exchange
/// three messages.
struct Program {
    folder: tempfile::TempDir,
}

const ARGUMENTS: &str = "--role pair --placement local --topic pair --type bytes --size 16 \
    --rate 100 --count 3 --seconds 0 --warm-up 0 --reliability reliable --durability volatile \
    --history keep_last --depth 10 --deadline-ms 0 --publish default --timeout 60 --samples all \
    --fill none --work-micros 0 --executor default --subscriptions 1";

impl Program {
    /// Builds the program with the libraries of an environment.
    fn build(environment: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../lab/peers/rcl");
        let output = Command::new(source.join("build"))
            .current_dir(&source)
            .env("FEROS_ROS2", environment)
            .env("FEROS_LAB_OUT", folder.path())
            .output()
            .expect("the script runs");
        assert!(output.status.success(), "{output:?}");
        Self { folder }
    }

    /// Runs it with the library, and with `others` of an environment of another distribution.
    fn run(&self, domain: &Domain, others: &[&str], environment: &Path) -> Output {
        let mut command = Command::new(self.folder.path().join("rcl"));
        command.args(ARGUMENTS.split_whitespace());
        domain.confine(&mut command);
        command.env("RMW_IMPLEMENTATION", "rmw_feros").env_remove("ROS_DISTRO");
        let others = others.iter().map(|name| environment.join("lib").join(name));
        let first: Vec<_> = [library().to_owned()].into_iter().chain(others).collect();
        command.env("LD_PRELOAD", std::env::join_paths(first).unwrap());
        let paths = std::env::join_paths(folders_of_libraries(environment)).unwrap();
        command.env("LD_LIBRARY_PATH", paths);
        let _watchdog = feros_test_support::Watchdog::start();
        command.output().expect("the program runs")
    }
}

/// The folders in which the wheels of ROS 2 have their libraries.
fn folders_of_libraries(environment: &Path) -> Vec<PathBuf> {
    let libraries = environment.join("lib");
    let inside = |folder: PathBuf| folder.read_dir().into_iter().flatten().flatten();
    let packages = inside(libraries.clone()).map(|entry| entry.path().join("site-packages"));
    let further = packages.flat_map(inside).map(|entry| entry.path());
    let further = further.filter(|path| path.extension().is_some_and(|end| end == "libs"));
    [libraries].into_iter().chain(further).collect()
}

/// The line of the contract of the laboratory with this key.
fn line(output: &Output, key: &str) -> Option<Value> {
    let lines = String::from_utf8_lossy(&output.stdout);
    let mut lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.find_map(|line| line.get(key).cloned())
}

#[test]
fn each_pair_of_distributions_works_or_ends_with_a_sentence() {
    let Some(domain) = Domain::reserve() else { return };
    let found = |of| Some((of, environment(of)?.canonicalize().unwrap()));
    let [Some(kilted), Some(jazzy)] = Distribution::ALL.map(found) else { return };
    for ((own, environment), (other, of_other)) in [(&kilted, &jazzy), (&jazzy, &kilted)] {
        let program = Program::build(environment);
        let output = program.run(&domain, &[], environment);
        assert_eq!(output.status.code(), Some(0), "{own:?}: {output:?}");
        assert_eq!(line(&output, "end").unwrap()["received"], serde_json::json!([3]), "{output:?}");
        for foreign in ["librcl.so", "librmw.so"] {
            let output = program.run(&domain, &[foreign], of_other);
            assert_eq!(output.status.code(), Some(1), "{own:?}, {foreign}: {output:?}");
            let error = line(&output, "error").unwrap_or_else(|| panic!("{output:?}"));
            let text = error["text"].as_str().unwrap();
            let file = of_other.join("lib").join(foreign);
            let says = format!("{} is of ROS 2 {}", file.display(), other.name());
            assert!(text.contains(&says), "{text}");
            assert!(text.contains(&format!(" is of ROS 2 {}, but ", own.name())), "{text}");
            assert!(text.contains("start the program with the libraries of one distribution"));
        }
    }
}
