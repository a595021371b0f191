//! A domain of DDS and a router of Zenoh, for a single test; commands and nodes on either engine or
//! on both.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use feros::engine::{Engine, SessionOptions};
use feros::msgs::std_msgs::msg::UInt32;
use feros::{
    Context, ContextOptions, Executor, Node, Publisher, QosProfile, Subscription, Transport,
};
use feros_engine_pair::PairEngine;
use feros_interop::Domain;
use feros_test_support::{Background, WATCHDOG, eventually};
use feros_zenoh::ConfiguredZenohEngine;

use crate::process::{Finished, Running};

pub(crate) const KEEP_ALL: [&str; 4] =
    ["--qos-history", "keep_all", "--qos-reliability", "reliable"];
pub(crate) const UINT32: &str = "std_msgs/msg/UInt32";

/// The engine on DDS: `cyclonedds`, or the engine that the environment names.
pub(crate) static DDS: LazyLock<String> = LazyLock::new(|| {
    let asked = std::env::var("FEROS_TEST_DDS").unwrap_or_else(|_| "cyclonedds".to_owned());
    feros::engine(&asked).map(|engine| engine.name().to_owned()).unwrap()
});
pub(crate) const ZENOH: &str = "zenoh";
pub(crate) static BOTH: LazyLock<String> = LazyLock::new(|| format!("{},{ZENOH}", *DDS));

/// The networks of two engines.
pub(crate) struct Wires {
    domain: Domain,
    /// The configuration of a session on Zenoh.
    overrides: String,
    _router: Running,
}

impl Wires {
    pub(crate) fn new() -> Self {
        let domain = Domain::reserve_without_ros2();
        let mut router = Running::start_with_in(&domain, &["zenoh", "router"], |command| {
            // It takes a free port, and reports it.
            command.env("ZENOH_CONFIG_OVERRIDE", "listen/endpoints=[\"tcp/127.0.0.1:0\"]");
        });
        let said = router.line().unwrap();
        let endpoint = said.strip_prefix("Routing at ").unwrap();
        let overrides =
            format!("connect/endpoints=[\"{endpoint}\"];listen/endpoints=[\"tcp/127.0.0.1:0\"]");
        Self { domain, overrides, _router: router }
    }

    /// Starts `feros --engine ENGINE ...`.
    pub(crate) fn start(&self, engine: &str, arguments: &[&str]) -> Running {
        self.start_plain(&[&["--engine", engine], arguments].concat())
    }

    /// Starts `feros` without an option for the engine.
    pub(crate) fn start_plain(&self, arguments: &[&str]) -> Running {
        Running::start_with_in(&self.domain, arguments, |command| {
            command.env("ZENOH_CONFIG_OVERRIDE", &self.overrides);
        })
    }

    /// Runs `feros --engine ENGINE ...` to its end.
    pub(crate) fn feros(&self, engine: &str, arguments: &[&str]) -> Finished {
        self.start(engine, arguments).finish()
    }

    fn zenoh(&self) -> Arc<dyn Engine> {
        let config_override = self.overrides.clone();
        Arc::new(ConfiguredZenohEngine { config_override, router_check_attempts: -1 })
    }

    /// A context on [`DDS`], [`ZENOH`] or both, with only the network transport: everything that it
    /// receives has come through one of the engines.
    fn context(&self, engine: &str) -> Context {
        let dds = feros::engine(&DDS).unwrap();
        let engine = match engine {
            one if one == *DDS => dds,
            ZENOH => self.zenoh(),
            _ => Arc::new(PairEngine::new([dds, self.zenoh()])),
        };
        Context::new(ContextOptions {
            engine: Some(engine),
            transports: [Transport::Network].into_iter().collect(),
            ..ContextOptions::new(SessionOptions::localhost(self.domain.id().into()))
        })
        .unwrap()
    }

    /// A node on [`DDS`], [`ZENOH`] or both.
    pub(crate) fn node(&self, engine: &str, name: &str) -> Spun {
        Spun::new(self.context(engine).create_node(name).unwrap())
    }

    /// A node on each engine alone, and one on both.
    pub(crate) fn nodes(&self) -> [Spun; 3] {
        [(&**DDS, "on_dds"), (ZENOH, "on_zenoh"), (&**BOTH, "on_both")]
            .map(|(engine, name)| self.node(engine, name))
    }
}

/// A node that is spun until this is dropped.
pub(crate) struct Spun {
    _spinning: Background,
    pub(crate) node: Node,
}

impl Spun {
    fn new(node: Node) -> Self {
        let executor = Executor::new();
        executor.add_node(&node).unwrap();
        let stopper = executor.stopper();
        let spin = move || executor.spin().unwrap();
        Self { _spinning: Background::start("spinning", spin, move || stopper.stop()), node }
    }
}

/// The numbers that a subscription receives.
pub(crate) struct Heard {
    pub(crate) subscription: Subscription<UInt32>,
    pub(crate) numbers: Receiver<u32>,
}

impl Heard {
    pub(crate) fn new(node: &Node, topic: &str) -> Self {
        let (sender, numbers) = sync_channel(100_000);
        let heard = move |message: UInt32| sender.send(message.data).unwrap();
        let qos = QosProfile::keep_all();
        let subscription = node.create_subscription::<UInt32, _>(topic, qos, heard).unwrap();
        Self { subscription, numbers }
    }

    pub(crate) fn next(&self) -> u32 {
        self.numbers.recv_timeout(WATCHDOG).unwrap()
    }
}

/// Repeats an action a hundred times a second, until dropped.
pub(crate) fn repeating(mut work: impl FnMut() + Send + 'static) -> Background {
    let (stop, stopped) = sync_channel::<()>(1);
    let work = move || {
        while stopped.recv_timeout(Duration::from_millis(10)) == Err(RecvTimeoutError::Timeout) {
            work();
        }
    };
    Background::start("repeating", work, move || drop(stop))
}

/// Publishes, even if a slow subscription holds up a publisher that keeps all messages.
pub(crate) fn publish(publisher: &Publisher<UInt32>, data: u32) {
    eventually(|| publisher.publish(UInt32 { data }));
}

/// A file for `topic pub --yaml-file` with this many numbers from `first` on.
pub(crate) fn numbers_in(folder: &Path, first: u32, count: u32) -> String {
    let file = folder.join(format!("{first}.yaml"));
    let numbers: Vec<String> =
        (first..first + count).map(|data| format!("data: {data}\n")).collect();
    std::fs::write(&file, numbers.join("---\n")).unwrap();
    file.to_str().unwrap().to_owned()
}

/// The number in a line of `topic echo`.
pub(crate) fn number_in(line: &str) -> Option<u32> {
    line.strip_prefix("data: ").map(|number| number.parse().unwrap())
}

/// Each source has its own numbers, starting at a multiple of this.
pub(crate) const OF_A_SOURCE: u32 = 100_000;

/// Checks that the numbers of each source are consecutive, each once and in order. They may begin
/// anywhere, since the sides of a match discover it at different times. Returns how many there are.
pub(crate) fn count_in_order(numbers: &[u32], source: u32) -> usize {
    let own: Vec<u32> =
        numbers.iter().copied().filter(|number| number / OF_A_SOURCE == source).collect();
    for two in own.windows(2) {
        assert_eq!(two[1], two[0] + 1, "of source {source}: twice, lost, or out of order");
    }
    own.len()
}
