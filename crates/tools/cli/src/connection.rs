//! The command's own node: hidden, without `/rosout`. It waits for the graph no longer than
//! necessary.

use std::sync::Arc;
use std::time::{Duration, Instant};

use feros::{Context, ContextOptions, Node, NodeOptions, WaitError};
use feros_engine::GraphSnapshot;
use feros_engine::graph::EndpointNode;

use crate::error::CliError;
use crate::help_heading::GENERAL_OPTIONS;
use crate::value_parsers::parse_seconds;

/// A graph that has not changed for this long counts as complete.
const QUIET: Duration = Duration::from_millis(250);
/// The longest wait for the graph without `--spin-time`.
const PATIENCE: Duration = Duration::from_millis(900);

/// The longest wait for the names of nodes, which participants announce after their endpoints;
/// plain DDS participants never announce any.
const PATIENCE_FOR_NAMES: Duration = Duration::from_millis(2500);

/// How long to wait for the graph.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct DiscoveryArgs {
    /// Wait this long for other nodes to be discovered, instead of until the graph is quiet
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = GENERAL_OPTIONS)]
    pub(crate) spin_time: Option<Duration>,
    /// Use the simulated time of /clock, in verbs that depend on time
    #[arg(short = 's', long, hide = true)]
    pub(crate) use_sim_time: bool,
    /// Accepted for command lines written for `ros2`: there is no daemon
    #[arg(long, hide = true)]
    no_daemon: bool,
}

/// A participant with one node; clones share both.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) context: Context,
    pub(crate) node: Node,
}

impl Connection {
    /// Joins the graph under the command's hidden name.
    pub(crate) fn open() -> Result<Self, CliError> {
        Self::open_as(None, false)
    }

    /// Joins the graph under a name; SIGINT ends all waits.
    pub(crate) fn open_as(name: Option<&str>, use_sim_time: bool) -> Result<Self, CliError> {
        Self::open_with(name, use_sim_time, true)
    }

    /// Joins the graph under the command's hidden name; the caller handles SIGINT.
    pub(crate) fn open_without_signals() -> Result<Self, CliError> {
        Self::open_with(None, false, false)
    }

    fn open_with(
        name: Option<&str>,
        use_sim_time: bool,
        handle_signals: bool,
    ) -> Result<Self, CliError> {
        let options = ContextOptions::from_variables().map_err(CliError::usage)?;
        let context = Context::new(ContextOptions { handle_signals, ..options })?;
        let own = format!("_feros_cli_{}", std::process::id());
        let options = NodeOptions::new(name.unwrap_or(&own))
            .enable_rosout(false)
            .start_parameter_services(false)
            .start_parameter_event_publisher(false)
            .parameter_overrides([("start_type_description_service", false)])
            .use_sim_time(use_sim_time);
        let node = context.create_node_with(options).map_err(|error| match error {
            feros::CreateError::Name(error) => CliError::usage(error),
            other => other.into(),
        })?;
        Ok(Self { context, node })
    }

    /// Returns the graph as soon as it seems complete.
    ///
    /// # Errors
    /// When the user interrupts.
    pub(crate) fn discover(&self, args: &DiscoveryArgs) -> Result<Arc<GraphSnapshot>, CliError> {
        if let Some(time) = args.spin_time {
            self.wait_until(time, |_| false)?;
            return Ok(self.context.graph());
        }
        self.discover_within(QUIET, PATIENCE)
    }

    /// Returns the graph as soon as it has not changed for `quiet`, and after `longest` at the
    /// latest.
    ///
    /// # Errors
    /// When the user interrupts.
    pub(crate) fn discover_within(
        &self,
        quiet: Duration,
        longest: Duration,
    ) -> Result<Arc<GraphSnapshot>, CliError> {
        let started = Instant::now();
        loop {
            let graph = self.context.graph();
            let left = longest.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(graph);
            }
            let patience = if self.knows_others(&graph) { quiet.min(left) } else { left };
            if !self.wait_until(patience, |now| now.generation != graph.generation)? {
                return Ok(graph);
            }
        }
    }

    /// Returns the graph as [`Connection::discover`] does, but also waits for the names of
    /// the nodes of all endpoints of ROS.
    ///
    /// # Errors
    /// When the user interrupts.
    pub(crate) fn discover_nodes(
        &self,
        args: &DiscoveryArgs,
    ) -> Result<Arc<GraphSnapshot>, CliError> {
        let graph = self.discover(args)?;
        let is_complete = |graph: &GraphSnapshot| {
            graph.endpoints.iter().all(|e| !e.is_ros || matches!(e.node, EndpointNode::Named(_)))
        };
        if args.spin_time.is_some() || is_complete(&graph) {
            return Ok(graph);
        }
        self.wait_until(PATIENCE_FOR_NAMES, is_complete)?;
        Ok(self.context.graph())
    }

    /// Waits until the graph satisfies a condition; returns whether it did in time.
    ///
    /// # Errors
    /// When the user interrupts.
    pub(crate) fn wait_until(
        &self,
        timeout: Duration,
        condition: impl Fn(&GraphSnapshot) -> bool,
    ) -> Result<bool, CliError> {
        let waited = self.context.wait_for_graph(
            timeout,
            || "the graph",
            || condition(&self.context.graph()),
        );
        match waited {
            Ok(()) => Ok(true),
            Err(WaitError::Timeout { .. }) => Ok(false),
            Err(WaitError::Shutdown { .. }) => Err(CliError::Interrupted),
            Err(other) => Err(other.into()),
        }
    }

    fn knows_others(&self, graph: &GraphSnapshot) -> bool {
        let own = self.context.session().gid();
        graph.endpoints.iter().any(|endpoint| !endpoint.gid.is_of_session_of(&own))
            || graph.nodes.iter().any(|node| !node.participant.is_of_session_of(&own))
    }

    /// The fully qualified form of a topic's name.
    pub(crate) fn topic_name(&self, name: &str) -> Result<String, CliError> {
        self.node.resolve_topic_name(name, false).map_err(CliError::usage)
    }

    /// The fully qualified form of a service's name.
    pub(crate) fn service_name(&self, name: &str) -> Result<String, CliError> {
        self.node.resolve_service_name(name).map_err(CliError::usage)
    }
}
