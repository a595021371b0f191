//! A router for the test, on a free loopback port, and sessions that use this router.
#![allow(dead_code, reason = "each test uses some of it")]

use std::io::Read as _;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use feros_engine::{DiscoveryForm, Engine, NamePrefix, OpenError, Session, SessionOptions};
use feros_test_support::{TestProcess, free_tcp_port};
use feros_zenoh::{ConfiguredZenohEngine, Router};
use zenoh::Wait as _;

/// The domain of these tests. No other tests use the router.
pub(crate) const DOMAIN_ID: u32 = 7;

/// A router in a separate process, and its address. If the router were in the test's process, it
/// would share Zenoh's receiving threads with the receivers of the test, which could deadlock.
pub(crate) struct Network {
    pub(crate) endpoint: String,
    /// The configuration of the router.
    overrides: String,
    router: TestProcess,
}

/// The variable with the configuration of a router's process, which runs this program.
const ROUTER_VARIABLE: &str = "FEROS_TEST_ZENOH_ROUTER";

/// With these settings, a silent router soon counts as dead, and sessions soon try to connect
/// again.
pub(crate) const WATCHFUL: &str = "transport/link/tx/lease=2000;connect/retry={period_init_ms: 200, period_max_ms: 200, period_increase_factor: 1}";

/// The router's process, which ends with its parent. In a normal test run, this test does nothing.
#[test]
fn router_process() {
    let Some(overrides) = std::env::var_os(ROUTER_VARIABLE) else { return };
    let router = Router::start_overridden(&overrides.to_string_lossy()).unwrap();
    println!("routing");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    drop(router);
    std::process::exit(0); // otherwise the harness would write to a closed pipe
}

fn start(overrides: &str) -> TestProcess {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(ROUTER_VARIABLE, overrides);
    let mut router = TestProcess::start(command, "network::router_process");
    router.said("routing");
    router
}

impl Network {
    pub(crate) fn new() -> Self {
        Self::configured("tcp", "")
    }

    /// Creates a network whose router listens with this protocol. `more` is added to
    /// `ZENOH_CONFIG_OVERRIDE`.
    pub(crate) fn configured(protocol: &str, more: &str) -> Self {
        Self::at(format!("{protocol}/127.0.0.1:{}", free_tcp_port()), more)
    }

    /// Creates a network whose router listens at this address. `more` is added to
    /// `ZENOH_CONFIG_OVERRIDE`.
    pub(crate) fn at(endpoint: String, more: &str) -> Self {
        let overrides = format!("listen/endpoints=[\"{endpoint}\"];{more}");
        let router = start(&overrides);
        Self { endpoint, overrides, router }
    }

    /// The network that all tests of this process share.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Network> = OnceLock::new();
        SHARED.get_or_init(Self::new)
    }

    /// Kills the router.
    pub(crate) fn kill(&mut self) {
        self.router.kill();
    }

    /// Starts a new router at the same address.
    pub(crate) fn restart(&mut self) {
        self.router = start(&self.overrides);
    }

    /// Opens a session that discovers other sessions through the router and then connects to them
    /// directly.
    pub(crate) fn peer(&self) -> Arc<dyn Session> {
        session(&self.endpoint, "peer")
    }

    /// Opens a session that communicates only through the router.
    pub(crate) fn client(&self) -> Arc<dyn Session> {
        session(&self.endpoint, "client")
    }

    /// Opens a session that communicates only through the router, and announces itself in this
    /// form.
    pub(crate) fn client_in_form(&self, discovery_form: DiscoveryForm) -> Arc<dyn Session> {
        let options =
            SessionOptions { domain_id: DOMAIN_ID, discovery_form, ..SessionOptions::default() };
        engine(&self.endpoint, "client", "").open(&options).unwrap()
    }

    /// Opens a session of Zenoh alone, which is a client of the router.
    pub(crate) fn stranger(&self) -> zenoh::Session {
        let mut config = zenoh::Config::default();
        let endpoint = &self.endpoint;
        for (key, value) in [
            ("mode", "\"client\"".to_owned()),
            ("connect/endpoints", format!("[\"{endpoint}\"]")),
            ("scouting/multicast/enabled", "false".to_owned()),
        ] {
            config.insert_json5(key, &value).unwrap();
        }
        zenoh::open(config).wait().unwrap()
    }

    /// Opens a session that knows only the names below this namespace.
    pub(crate) fn part(&self, below: &str) -> Arc<dyn Session> {
        part(&self.endpoint, below, "")
    }

    /// Returns the engine for sessions with this mode.
    pub(crate) fn engine(&self, mode: &str) -> Arc<dyn Engine> {
        Arc::new(engine(&self.endpoint, mode, ""))
    }

    /// Opens a session with this mode, or returns the error. `more` is added to
    /// `ZENOH_CONFIG_OVERRIDE`.
    pub(crate) fn open(&self, mode: &str, more: &str) -> Result<Arc<dyn Session>, OpenError> {
        open(&self.endpoint, mode, more)
    }
}

/// Opens a session that looks for a router at this endpoint, and knows only the names below this
/// namespace. `more` is added to `ZENOH_CONFIG_OVERRIDE`.
pub(crate) fn part(endpoint: &str, below: &str, more: &str) -> Arc<dyn Session> {
    let engine = ConfiguredZenohEngine {
        config_override: format!("connect/endpoints=[\"{endpoint}\"];{more}"),
        router_check_attempts: 0,
    };
    let options = SessionOptions {
        domain_id: DOMAIN_ID,
        graph_below: Some(NamePrefix::new(below).unwrap()),
        ..SessionOptions::default()
    };
    engine.open(&options).unwrap()
}

/// Opens a session that looks for a router at this endpoint.
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
