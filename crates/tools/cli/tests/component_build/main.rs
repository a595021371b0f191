//! `feros component build` as a user calls it: packages outside of this repository, each built by
//! its own call into the default prefix, run in one container. And `feros build` of a folder with
//! packages of all kinds (`workspace`).
//!
//! The tests compile Feros anew, as a user's call does, in a folder below cargo's target folder
//! that the next run reuses. Nothing is downloaded: the versions are those of Feros's own lock
//! file.
#![allow(clippy::unwrap_used)]

mod home;
mod workspace;

use std::fs;
use std::path::{Path, PathBuf};

use feros_component::stamp::CRATES_VARIABLE;
use feros_test_support::eventually;
use home::Home;

const LOAD: [&str; 3] = ["component", "load", "/ComponentManager"];

/// A talker that logs with attributes: a feature of `tracing` that Feros itself does not need.
const SPEAKER: &str = r#"
use std::time::Duration;
use feros::msgs::std_msgs::msg::String as Text;
use feros::{Context, Error, Node, NodeOptions, NodeTimer};

pub struct Speaker { node: Node, _timer: NodeTimer }

#[tracing::instrument(skip_all)]
fn say(publisher: &feros::Publisher<Text>) {
    if let Err(error) = publisher.publish(Text { data: "hello".into() }) {
        tracing::error!("{error}");
    }
}

impl feros_component::Component for Speaker {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("speaker"))?;
        let publisher = node.create_publisher::<Text>("chatter", 10)?;
        let timer = node.create_wall_timer(Duration::from_millis(50), move || say(&publisher))?;
        Ok(Self { node, _timer: timer })
    }
    fn node(&self) -> &Node { &self.node }
}

feros_component::register!(Speaker, "speaker::Speaker");
"#;

#[test]
fn packages_built_apart_meet_in_one_container() {
    let home = Home::new();
    let counter = home.copy_of_example();
    let built = home.feros(&["component", "build", counter.to_str().unwrap()]);
    let library = |name: &str| home.prefix().join("lib").join(name);
    let line = |plugin: &str, file: &str| format!("{plugin};{}\n", library(file).display());
    assert_eq!(built, line("own_component::Counter", "libown_component_components.so"));

    // This is a separate call, as if a user made it on another day.
    let speaker = home.package("speaker", "tracing = \"0.1\"", SPEAKER);
    let built = home.feros(&["component", "build", speaker.to_str().unwrap()]);
    assert_eq!(built, line("speaker::Speaker", "libspeaker_components.so"));
    let types = "own_component\n  own_component::Counter\nspeaker\n  speaker::Speaker\n";
    assert_eq!(home.feros(&["component", "types"]), types);

    for kind in [&[][..], &["--process"]] {
        let container = home.start(&[&["container"][..], kind].concat());
        eventually(|| match home.feros(&["component", "list", "--containers-only"]) {
            listed if listed == "/ComponentManager\n" => Ok(()),
            listed => Err(listed),
        });
        assert_only_installed_files(&home, container.pid());
        home.feros(&[&LOAD[..], &["own_component", "own_component::Counter"]].concat());
        home.feros(&[&LOAD[..], &["speaker", "speaker::Speaker"]].concat());
        let count = home.feros(&["topic", "echo", "/count", "--once", "--field", "data"]);
        let counted = count.lines().next().and_then(|line| line.parse::<u64>().ok());
        assert!(counted.is_some_and(|count| count > 0), "{count:?}");
        refuses_another_feros(&home, &library("libspeaker_components.so"));
        container.interrupt();
    }
    refuses_to_break_the_prefix(&home);
}

/// The container is the installed one, and uses only libraries of its prefix.
fn assert_only_installed_files(home: &Home, pid: u32) {
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap();
    assert_eq!(
        program,
        home.prefix().join("lib/feros_component").join(program.file_name().unwrap())
    );
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let files = maps.lines().filter_map(|line| line.find('/').map(|place| &line[place..]));
    for name in ["libferos_shared", "libstd-"] {
        let mut mapped = files.clone().filter(|file| file.contains(name)).peekable();
        assert!(mapped.peek().is_some(), "{name} is mapped: {maps}");
        for file in mapped {
            let folder = Path::new(file).parent();
            assert_eq!(folder, Some(home.prefix().join("lib").as_path()), "{file}");
        }
    }
}

/// A library whose stamp names other crates is refused; the error contains both stamps.
fn refuses_another_feros(home: &Home, library: &Path) {
    let mut bytes = fs::read(library).unwrap();
    let wanted = b"\ncrates ";
    let places: Vec<usize> = (0..bytes.len() - wanted.len())
        .filter(|&place| bytes[place..].starts_with(wanted))
        .map(|place| place + wanted.len())
        .collect();
    assert!(!places.is_empty(), "the library contains the stamp");
    for place in places {
        assert_ne!(bytes[place..place + 16], *b"0000000000000000", "{CRATES_VARIABLE} was set");
        bytes[place..place + 16].fill(b'0');
    }
    let other = home.folder().join("libother.so");
    fs::write(&other, bytes).unwrap();
    let prefix = home.prefix();
    let register = ["component", "register", other.to_str().unwrap(), "--package", "other"];
    home.feros(&[&register[..], &["--prefix", prefix.to_str().unwrap()]].concat());
    let error = home.error(&[&LOAD[..], &["other", "speaker::Speaker"]].concat());
    let words = "libother.so does not fit this container: it was built on crates 0000000000000000, \
                 but the container on crates ";
    assert!(error.contains(words), "{error}");
    fs::remove_file(resource(&prefix, "other")).unwrap();
}

/// A package that would change Feros is refused before anything is compiled, and the other packages
/// stay.
fn refuses_to_break_the_prefix(home: &Home) {
    let needs = "bitflags = { version = \"2\", features = [\"serde\"] }";
    let third =
        home.package("third", needs, &SPEAKER.replace("#[tracing::instrument(skip_all)]", ""));
    let before = fs::read(home.prefix().join("share/feros_component/crates.txt")).unwrap();
    let error = home.error(&["component", "build", third.to_str().unwrap()]);
    for words in [
        "has packages for another Feros: own_component, speaker; ",
        "bitflags v2.",
        "build all in one call (`feros component build ",
        home.folder().join("speaker").to_str().unwrap(),
    ] {
        assert!(error.contains(words), "{words:?} is not in {error}");
    }
    let after = fs::read(home.prefix().join("share/feros_component/crates.txt")).unwrap();
    assert_eq!(before, after);
    assert!(!resource(&home.prefix(), "third").exists());
}

fn resource(prefix: &Path, package: &str) -> PathBuf {
    prefix.join("share/ament_index/resource_index/feros_components").join(package)
}
