//! What the robot does next, and whether all that it needs is there.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};

use example_composition::{Latest, Parts, component, header, send};
use feros::message::Service;
use feros::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use feros::msgs::geometry_msgs::msg::{PoseStamped, Twist};
use feros::msgs::lifecycle_msgs::msg::State;
use feros::msgs::lifecycle_msgs::srv::{GetState, GetState_Request};
use feros::msgs::nav_msgs::msg::Odometry;
use feros::msgs::nav_msgs::srv::{GetPlan, GetPlan_Request};
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use feros::{CallError, Client, Error, QosProfile, ResponseFuture};

use crate::geometry::Pose2;
use crate::serve_state;

/// Seconds that a call may take.
const PATIENCE_SECONDS: f64 = 5.0;

/// At most one call of a service at a time, looked after by a timer: a callback never waits.
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

    /// Begins a call, if a server is there.
    fn begin(&mut self, request: &S::Request) {
        if !self.client.service_is_ready() {
            return;
        }
        match self.client.call(request) {
            Ok(response) => (self.response, self.ticks) = (Some(response), 0),
            Err(error) => tracing::error!("{error}"),
        }
    }

    /// The response, if it has come; a call that takes too long is given up.
    fn look(&mut self, rate_hz: f64) -> Option<S::Response> {
        let response = self.response.as_mut()?;
        self.ticks += 1;
        let looked: Poll<Result<S::Response, CallError>> =
            pin!(response).poll(&mut TaskContext::from_waker(Waker::noop()));
        match looked {
            Poll::Pending if f64::from(self.ticks) < PATIENCE_SECONDS * rate_hz => None,
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

component!(
    /// Brings the robot to where `goal_pose` says: asks the planner for a plan each second, as long
    /// as it is not there.
    BtNavigator, "bt_navigator", "navigation_graph::BtNavigator", bt_navigator
);

fn bt_navigator(parts: &mut Parts) -> Result<(), Error> {
    const TICK_HZ: f64 = 100.0;
    const TICKS_PER_PLAN: u32 = 100;
    let tolerance =
        parts.node().build_parameter("goal_tolerance", 0.15).range(0.01..=10.0).declare()?;
    let states = parts
        .node()
        .create_publisher::<Text>("navigation_state", QosProfile::keep_last(1).transient_local())?;
    let mut planner = Call::new(parts.node().create_client::<GetPlan>("compute_path")?);
    let odometry = parts.newest::<Odometry>("odom", QosProfile::sensor_data())?;
    let goals = parts.newest::<PoseStamped>("goal_pose", 10)?;
    serve_state(parts)?;
    let clock = parts.node().clock().clone();
    let mut goal = None::<Arc<PoseStamped>>;
    let (mut until_plan, mut state) = (0, "");
    parts.at_rate(TICK_HZ, move || {
        let mut become_ = |new: &'static str| {
            if state != new {
                state = new;
                send(&states, Text { data: new.to_owned() });
            }
        };
        if let Some(newer) = goals.take() {
            (goal, until_plan) = (Some(newer), 0);
        }
        let response = planner.look(TICK_HZ);
        if goal.is_some() && response.is_some_and(|response| response.plan.poses.is_empty()) {
            goal = None;
            become_("no way");
        }
        let (Some(aim), Some(odometry)) = (&goal, odometry.read()) else { return };
        if Pose2::of(&odometry.pose.pose).distance_to(Pose2::of(&aim.pose)) < tolerance.get() {
            goal = None;
            return become_("arrived");
        }
        become_("driving");
        if until_plan > 0 {
            until_plan -= 1;
        } else if planner.is_idle() {
            let start =
                PoseStamped { header: header(&clock, "map"), pose: odometry.pose.pose.clone() };
            planner.begin(&GetPlan_Request {
                start,
                goal: PoseStamped::clone(aim),
                tolerance: 0.1,
            });
            // A planner that is not there is looked for again at the next tick.
            until_plan = if planner.is_idle() { 0 } else { TICKS_PER_PLAN };
        }
    })
}

component!(
    /// Turns in place for a while when it is told to, and stops.
    BehaviorServer, "behavior_server", "navigation_graph::BehaviorServer", behavior_server
);

fn behavior_server(parts: &mut Parts) -> Result<(), Error> {
    const RATE_HZ: f64 = 10.0;
    const SPIN_STEPS: u32 = 20;
    let commands = parts.node().create_publisher::<Twist>("cmd_vel_nav", 10)?;
    let remaining = Latest::<u32>::default();
    let done = |message: &str| Trigger_Response { success: true, message: message.to_owned() };
    for (service, steps) in [("spin", SPIN_STEPS), ("stop", 1)] {
        let remaining = remaining.clone();
        parts.serve::<Trigger, _>(service, move |_: Trigger_Request| {
            remaining.set(steps);
            done(service)
        })?;
    }
    serve_state(parts)?;
    parts.at_rate(RATE_HZ, move || {
        let Some(steps) = remaining.take() else { return };
        let mut command = Twist::default();
        if steps > 1 {
            command.angular.z = 1.0;
            remaining.set(steps - 1);
        }
        send(&commands, command);
    })
}

component!(
    /// Asks one server after the other for its state, and tells on `diagnostics` which of them are
    /// active.
    LifecycleManager, "lifecycle_manager", "navigation_graph::LifecycleManager", lifecycle_manager
);

fn lifecycle_manager(parts: &mut Parts) -> Result<(), Error> {
    const RATE_HZ: f64 = 20.0;
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
    let diagnostics = parts.node().create_publisher::<DiagnosticArray>("/diagnostics", 10)?;
    let mut calls = Vec::new();
    for server in SERVERS {
        calls.push((
            server,
            Call::new(parts.node().create_client::<GetState>(&format!("{server}/get_state"))?),
            false,
        ));
    }
    let clock = parts.node().clock().clone();
    let mut turn = 0;
    parts.at_rate(RATE_HZ, move || {
        for (_, call, is_active) in &mut calls {
            if let Some(response) = call.look(RATE_HZ) {
                *is_active = response.current_state.id == State::PRIMARY_STATE_ACTIVE;
            }
        }
        let (_, call, _) = &mut calls[turn];
        if call.is_idle() {
            call.begin(&GetState_Request::default());
        }
        turn = (turn + 1) % SERVERS.len();
        if turn == 0 {
            let status = calls.iter().map(|(server, _, is_active)| DiagnosticStatus {
                level: if *is_active { DiagnosticStatus::OK } else { DiagnosticStatus::STALE },
                name: (*server).to_owned(),
                message: if *is_active { "active" } else { "not heard of" }.to_owned(),
                ..DiagnosticStatus::default()
            });
            send(
                &diagnostics,
                DiagnosticArray { header: header(&clock, ""), status: status.collect() },
            );
        }
    })
}
