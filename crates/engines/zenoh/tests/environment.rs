//! Tests of the environment variables of `rmw_zenoh`. Separate processes of this program read them.
#![allow(clippy::unwrap_used)]

mod network;
#[path = "../../ros1-master/tests/said/mod.rs"]
mod said;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use feros_engine::{Engine as _, SessionOptions};
use feros_test_support::{TestProcess, free_tcp_port, spawn};
use feros_zenoh::{Router, ZenohEngine};

use network::{DOMAIN_ID, Network};

/// The variable for the role of a process: a `session`, a session that is `waiting` for a router,
/// or a `router`.
const ROLE_VARIABLE: &str = "FEROS_TEST_ZENOH_ROLE";
const ATTEMPTS: &str = "ZENOH_ROUTER_CHECK_ATTEMPTS";
const OVERRIDE: &str = "ZENOH_CONFIG_OVERRIDE";
const VARIABLES: [&str; 4] =
    ["ZENOH_SESSION_CONFIG_URI", "ZENOH_ROUTER_CONFIG_URI", OVERRIDE, ATTEMPTS];
const NO_ROUTER: &str = "no Zenoh router is at ";

/// Starts a process with these variables.
fn start(role: &str, variables: &[(&str, &str)]) -> TestProcess {
    let mut command = Command::new(std::env::current_exe().unwrap());
    for name in VARIABLES {
        command.env_remove(name);
    }
    command.env(ROLE_VARIABLE, role).envs(variables.iter().copied());
    TestProcess::start(command, "environment_process")
}

/// Returns the number of warnings about a missing router that the process logs until its session is
/// open.
fn warnings(mut process: TestProcess) -> usize {
    let before = std::iter::repeat_with(|| process.line());
    let before = before.take_while(|line| !line.starts_with("opened "));
    before.filter(|line| line.starts_with("warned ")).count()
}

/// Plays a role in a separate process and prints the outcome. In a normal test run, this test does
/// nothing.
#[test]
fn environment_process() {
    match std::env::var(ROLE_VARIABLE).as_deref() {
        Ok("session") => {
            said::listen();
            let configuration = open();
            for warning in said::all_said(NO_ROUTER) {
                println!("warned {warning}");
            }
            println!("opened {configuration}");
            wait_for_the_end();
        }
        Ok("waiting") => {
            said::listen();
            spawn("warnings", || println!("warned {}", said::said(NO_ROUTER)));
            println!("opened {}", open());
            wait_for_the_end();
        }
        Ok("router") => {
            let router = Router::start().unwrap();
            println!("locators {:?}", router.locators());
            println!("configuration {}", router.configuration());
            wait_for_the_end();
        }
        _ => {}
    }
}

/// Opens a session with the configuration from the variables. The session stays open until the
/// process ends.
fn open() -> String {
    let options = SessionOptions { domain_id: DOMAIN_ID, ..SessionOptions::default() };
    let session = ZenohEngine.open(&options).unwrap();
    let configuration = session.configuration();
    std::mem::forget(session);
    configuration
}

fn wait_for_the_end() {
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn overrides(endpoint: &str) -> String {
    format!("connect/endpoints=[\"{endpoint}\"];listen/endpoints=[\"tcp/127.0.0.1:0\"]")
}

/// There is no router. With a negative number of attempts, the session does not look for a router.
/// With a positive number, it continues after this number of attempts.
#[test]
fn a_session_looks_for_a_router_as_often_as_configured() {
    let nowhere = overrides(&format!("tcp/127.0.0.1:{}", free_tcp_port()));
    let warnings = |attempts: Option<&str>| {
        let attempts = attempts.map(|attempts| (ATTEMPTS, attempts));
        let variables: Vec<_> = attempts.into_iter().chain([(OVERRIDE, &*nowhere)]).collect();
        warnings(start("session", &variables))
    };
    assert_eq!(warnings(Some("-1")), 0);
    assert_eq!(warnings(Some("2")), 1);
    assert_eq!(warnings(None), 1, "once by default");
}

/// With 0 attempts, a session waits for a router without a limit. With a large number, it waits for
/// a long time. In both cases, the session opens when the router starts.
#[test]
fn a_session_waits_for_a_router() {
    let mut network = Network::new();
    for attempts in ["0", "1000000"] {
        network.kill();
        let variables = [(ATTEMPTS, attempts), (OVERRIDE, &*overrides(&network.endpoint))];
        let mut waiting = start("waiting", &variables);
        let warning = waiting.said("warned ");
        assert!(warning.contains(&network.endpoint) && warning.contains("feros zenoh router"));
        network.restart();
        waiting.said("opened ");
    }
}

/// A file for a test, which is removed when this value is dropped.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let name = format!("{}-{name}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0); // a file left in the target folder does no harm
    }
}

/// All four variables are set, and they have the same values for a router and for a session. The
/// router and the session each use their own file and not the defaults, and the override has
/// precedence over both files.
#[test]
fn files_take_the_place_of_defaults_and_overrides_stand_above_both() {
    let endpoint = format!("tcp/127.0.0.1:{}", free_tcp_port());
    let scouting = "scouting: { multicast: { enabled: false }, delay: 111 }";
    let of_session = File::new(
        "session.json5",
        &format!("{{ mode: 'client', connect: {{ endpoints: ['{endpoint}'] }}, {scouting} }}"),
    );
    let of_router = File::new(
        "router.json5",
        &format!("{{ mode: 'router', listen: {{ endpoints: ['{endpoint}'] }}, {scouting} }}"),
    );
    let variables = [
        ("ZENOH_SESSION_CONFIG_URI", of_session.0.to_str().unwrap()),
        ("ZENOH_ROUTER_CONFIG_URI", of_router.0.to_str().unwrap()),
        (OVERRIDE, "scouting/delay=222"),
        (ATTEMPTS, "0"),
    ];
    let mut router = start("router", &variables);
    assert!(router.said("locators ").contains(&endpoint));
    let parsed = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let router_has = parsed(router.said("configuration "));
    // The session waits for a router without a limit. So when it is open, the router at this
    // address exists.
    let session_has = parsed(start("session", &variables).said("opened "));
    assert_eq!((&router_has["mode"], &session_has["mode"]), (&"router".into(), &"client".into()));
    for has in [router_has, session_has] {
        assert_eq!(has["scouting"]["delay"], 222, "the override: {has}");
        let of_feros = [&has["scouting"]["gossip"]["target"], &has["connect"]["retry"]];
        assert!(of_feros.iter().all(|value| value.is_null()), "a file replaces all: {has}");
    }
}
