//! A router of the test's own on a free port of loopback, and sessions that know it.
#![allow(dead_code, reason = "each test uses some of it")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, OnceLock};

use feros_rmw::{Engine, OpenError, Session, SessionOptions};
use feros_rmw_zenoh::{ConfiguredZenohEngine, Router};

/// The domain of these tests; the router is theirs alone.
pub(crate) const DOMAIN_ID: u32 = 7;

/// A router in a process of its own, and where it is. In this process it would share the threads of
/// Zenoh that receive with those that it sends to, which wait for each other then.
pub(crate) struct Network {
    pub(crate) endpoint: String,
    /// What its router is configured with.
    overrides: String,
    router: Child,
    /// Held open: the process says something after a minute, and must not die of it.
    says: ChildStdout,
}

/// What the process that is a router is configured with: it is this program again.
const ROUTER_VARIABLE: &str = "FEROS_TEST_ZENOH_ROUTER";

/// A router that is silent for so long is taken to be gone, and is tried again soon.
pub(crate) const WATCHFUL: &str = "transport/link/tx/lease=2000;connect/retry={period_init_ms: 200, period_max_ms: 200, period_increase_factor: 1}";

/// A port that nobody has at the moment.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The router's process: ends when its parent does. Nothing in a run of the tests.
#[test]
fn router_process() {
    let Some(overrides) = std::env::var_os(ROUTER_VARIABLE) else { return };
    let router = Router::start_overridden(&overrides.to_string_lossy()).unwrap();
    println!("routing");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    drop(router);
    std::process::exit(0); // the harness would speak into a pipe that is closed
}

fn start(overrides: &str) -> (Child, ChildStdout) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["network::router_process", "--exact", "--nocapture"])
        .env(ROUTER_VARIABLE, overrides)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut says = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("routing") {
        line.clear();
        assert_ne!(says.read_line(&mut line).unwrap(), 0, "the router starts");
    }
    (child, says.into_inner())
}

impl Network {
    pub(crate) fn new() -> Self {
        Self::configured("tcp", "")
    }

    /// One whose router listens by this protocol, and has more of `ZENOH_CONFIG_OVERRIDE`.
    pub(crate) fn configured(protocol: &str, more: &str) -> Self {
        Self::at(format!("{protocol}/127.0.0.1:{}", free_port()), more)
    }

    /// One whose router listens here, and has more of `ZENOH_CONFIG_OVERRIDE`.
    pub(crate) fn at(endpoint: String, more: &str) -> Self {
        let overrides = format!("listen/endpoints=[\"{endpoint}\"];{more}");
        let (router, says) = start(&overrides);
        Self { endpoint, overrides, router, says }
    }

    /// The one of this process.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Network> = OnceLock::new();
        SHARED.get_or_init(Self::new)
    }

    /// The router is killed.
    pub(crate) fn kill(&mut self) {
        self.router.kill().unwrap();
        self.router.wait().unwrap();
    }

    /// Another one takes its place.
    pub(crate) fn restart(&mut self) {
        (self.router, self.says) = start(&self.overrides);
    }

    /// A session that finds others by the router and then talks to them itself.
    pub(crate) fn peer(&self) -> Arc<dyn Session> {
        session(&self.endpoint, "peer")
    }

    /// A session that talks by the router alone.
    pub(crate) fn client(&self) -> Arc<dyn Session> {
        session(&self.endpoint, "client")
    }

    /// The engine of sessions of this mode.
    pub(crate) fn engine(&self, mode: &str) -> Arc<dyn Engine> {
        Arc::new(engine(&self.endpoint, mode, ""))
    }

    /// A session of this mode with more of `ZENOH_CONFIG_OVERRIDE`, or why there is none.
    pub(crate) fn open(&self, mode: &str, more: &str) -> Result<Arc<dyn Session>, OpenError> {
        open(&self.endpoint, mode, more)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.router.kill(); // it may be dead
        let _ = self.router.wait();
    }
}

/// A session that looks for a router at this endpoint.
pub(crate) fn session(endpoint: &str, mode: &str) -> Arc<dyn Session> {
    open(endpoint, mode, "").unwrap()
}

fn open(endpoint: &str, mode: &str, more: &str) -> Result<Arc<dyn Session>, OpenError> {
    let options = SessionOptions { domain_id: DOMAIN_ID, ..SessionOptions::default() };
    engine(endpoint, mode, more).open(&options)
}

fn engine(endpoint: &str, mode: &str, more: &str) -> ConfiguredZenohEngine {
    ConfiguredZenohEngine {
        config_override: format!(
            "mode=\"{mode}\";connect/endpoints=[\"{endpoint}\"];listen/endpoints=[\"tcp/127.0.0.1:0\"];{more}"
        ),
        router_check_attempts: -1,
    }
}
