//! Activates the servers that the robot needs, and monitors them.

use std::future::Future;
use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};

use example_composition::{Parts, component, header, send};
use feros::lifecycle::Transition;
use feros::message::Service;
use feros::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use feros::msgs::lifecycle_msgs::msg::State;
use feros::msgs::lifecycle_msgs::srv::{
    ChangeState, ChangeState_Request, GetState, GetState_Request,
};
use feros::{CallError, Client, Error, Node, ResponseFuture};

const RATE_HZ: f64 = 20.0;
/// The limit on the duration of a call, in seconds.
const PATIENCE_SECONDS: f64 = 5.0;

const SERVERS: [&str; 11] = [
    "map_server",
    "amcl",
    "global_costmap",
    "local_costmap",
    "planner_server",
    "smoother_server",
    "controller_server",
    "behavior_server",
    "bt_navigator",
    "velocity_smoother",
    "collision_monitor",
];

component!(
    /// Activates the servers, asks each in turn for its state, and publishes on `diagnostics` which
    /// servers are active.
    LifecycleManager, "lifecycle_manager", "navigation_graph::LifecycleManager", lifecycle_manager
);

fn lifecycle_manager(parts: &mut Parts) -> Result<(), Error> {
    let node = parts.node().clone();
    let diagnostics = node.create_publisher::<DiagnosticArray>("/diagnostics", 10)?;
    let servers = SERVERS.into_iter().map(|name| Server::new(&node, name));
    let mut servers = servers.collect::<Result<Vec<_>, _>>()?;
    let clock = node.clock().clone();
    let mut turn = 0;
    parts.at_rate(RATE_HZ, move || {
        servers.iter_mut().for_each(Server::look);
        servers[turn].ask();
        turn = (turn + 1) % servers.len();
        if turn == 0 {
            let status = servers.iter().map(Server::status).collect();
            send(&diagnostics, DiagnosticArray { header: header(&clock, ""), status });
        }
    })
}

/// The manager's knowledge of a managed node.
struct Server {
    name: &'static str,
    get_state: Call<GetState>,
    change_state: Call<ChangeState>,
    /// The state, as a constant of `lifecycle_msgs/State`.
    state: u8,
}

impl Server {
    fn new(node: &Node, name: &'static str) -> Result<Self, Error> {
        Ok(Self {
            name,
            get_state: Call::new(node.create_client(&format!("{name}/get_state"))?),
            change_state: Call::new(node.create_client(&format!("{name}/change_state"))?),
            state: State::PRIMARY_STATE_UNKNOWN,
        })
    }

    fn ask(&mut self) {
        if self.get_state.is_idle() {
            self.get_state.begin(&GetState_Request::default());
        }
    }

    /// Notes the server's response, and requests its next transition until the server is active.
    fn look(&mut self) {
        if self.change_state.look().is_some() {
            self.ask();
        }
        let Some(response) = self.get_state.look() else { return };
        self.state = response.current_state.id;
        let transition = match self.state {
            State::PRIMARY_STATE_UNCONFIGURED => Transition::CONFIGURE,
            State::PRIMARY_STATE_INACTIVE => Transition::ACTIVATE,
            _ => return,
        };
        if self.change_state.is_idle() {
            self.change_state.begin(&ChangeState_Request { transition: transition.into() });
        }
    }

    fn status(&self) -> DiagnosticStatus {
        let is_active = self.state == State::PRIMARY_STATE_ACTIVE;
        DiagnosticStatus {
            level: if is_active { DiagnosticStatus::OK } else { DiagnosticStatus::STALE },
            name: self.name.to_owned(),
            message: if is_active { "active" } else { "not active" }.to_owned(),
            ..DiagnosticStatus::default()
        }
    }
}

/// A client of a service that makes one call at a time. A timer polls it, so that no callback
/// waits.
struct Call<S: Service> {
    client: Client<S>,
    response: Option<ResponseFuture<S>>,
    ticks: u32,
}

impl<S: Service> Call<S> {
    fn new(client: Client<S>) -> Self {
        Self { client, response: None, ticks: 0 }
    }

    fn is_idle(&self) -> bool {
        self.response.is_none()
    }

    /// Starts a call, if the service is ready.
    fn begin(&mut self, request: &S::Request) {
        if !self.client.service_is_ready() {
            return;
        }
        match self.client.call(request) {
            Ok(response) => (self.response, self.ticks) = (Some(response), 0),
            Err(error) => tracing::error!("{error}"),
        }
    }

    /// The response, if it has arrived; a call that takes too long is abandoned.
    fn look(&mut self) -> Option<S::Response> {
        let response = self.response.as_mut()?;
        self.ticks += 1;
        let looked: Poll<Result<S::Response, CallError>> =
            pin!(response).poll(&mut TaskContext::from_waker(Waker::noop()));
        match looked {
            Poll::Pending if f64::from(self.ticks) < PATIENCE_SECONDS * RATE_HZ => None,
            Poll::Pending => {
                tracing::warn!("{} does not answer", self.client.service_name());
                self.response = None;
                None
            }
            Poll::Ready(answer) => {
                self.response = None;
                answer.inspect_err(|error| tracing::error!("{error}")).ok()
            }
        }
    }
}
