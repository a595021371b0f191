//! Decides where the robot goes next.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, Waker};

use example_composition::{Latest, ManagedParts, header, log_failure, managed_component, send};
use feros::action::SetResultError;
use feros::lifecycle::LifecyclePublisher;
use feros::msgs::geometry_msgs::msg::PoseStamped;
use feros::msgs::nav_msgs::msg::{Odometry, Path};
use feros::msgs::std_msgs::msg::String as Text;
use feros::{
    ActionClient, CancelResponse, Error, GoalId, GoalResponse, GoalStatus, Parameter, QosProfile,
    ServerGoalHandle,
};

use crate::geometry::Pose2;
use crate::navigation_interfaces::action::{
    ComputePath, ComputePath_Goal, NavigateToPose, NavigateToPose_Feedback, NavigateToPose_Goal,
    NavigateToPose_Result,
};

const TICK_HZ: f64 = 100.0;
const TICKS_PER_PLAN: u32 = 100;
const TICKS_PER_FEEDBACK: u32 = 10;

managed_component!(
    /// Brings the robot to the pose of a goal of `navigate_to_pose` or of a message on `goal_pose`:
    /// asks the planner for a plan every second until the robot has arrived. A newer goal ends an
    /// older goal.
    BtNavigator, "bt_navigator", "navigation_graph::BtNavigator", bt_navigator
);

fn bt_navigator(parts: &mut ManagedParts) -> Result<(), Error> {
    let tolerance =
        parts.node().build_parameter("goal_tolerance", 0.15).range(0.01..=10.0).declare()?;
    let latched = QosProfile::keep_last(1).transient_local();
    let (states, plans) =
        (parts.publisher("navigation_state", latched)?, parts.publisher("plan", 10)?);
    let planner = parts.node().create_action_client::<ComputePath>("compute_path")?;
    let odometry = parts.newest::<Odometry>("odom", QosProfile::sensor_data())?;
    let goals = Latest::<Trip>::default();
    let heard = goals.clone();
    parts.hear("goal_pose", 10, move |aim: PoseStamped| heard.set(Trip::to(aim, None)))?;
    let (accepted, activity) = (goals.clone(), parts.activity());
    let decide = move |_: &GoalId, _: &NavigateToPose_Goal| match activity.is_active() {
        true => GoalResponse::AcceptAndExecute,
        false => GoalResponse::Reject,
    };
    let cancel = |_: &ServerGoalHandle<NavigateToPose>| CancelResponse::Accept;
    let begin = move |goal: ServerGoalHandle<NavigateToPose>| {
        accepted.set(Trip::to(goal.goal().pose.clone(), Some(goal)));
    };
    let callbacks = (decide, cancel, begin);
    let server =
        parts.node().create_action_server::<NavigateToPose, _>("navigate_to_pose", callbacks)?;
    parts.keep(server);
    let clock = parts.node().clock().clone();
    let planner = Planner { client: planner, asked: None };
    let under_way = Latest::<Trip>::default();
    let ended = under_way.clone();
    parts.at_deactivation(move || {
        if let Some(Trip { goal: Some(goal), .. }) = ended.take() {
            log_failure(goal.abort(NavigateToPose_Result::default()));
        }
    });
    let mut navigator = Navigator { states, plans, planner, tolerance, under_way, state: "" };
    parts.at_rate(TICK_HZ, move || {
        if let Some(newer) = goals.take() {
            navigator.begin(newer);
        }
        if let Some(odometry) = odometry.read() {
            let pose = odometry.pose.pose.clone();
            navigator.tick(PoseStamped { header: header(&clock, "map"), pose });
        }
    })
}

/// A drive to a goal.
struct Trip {
    aim: PoseStamped,
    /// The goal handle, if the goal came from the action.
    goal: Option<ServerGoalHandle<NavigateToPose>>,
    ticks: u32,
    until_plan: u32,
}

impl Trip {
    fn to(aim: PoseStamped, goal: Option<ServerGoalHandle<NavigateToPose>>) -> Self {
        Self { aim, goal, ticks: 0, until_plan: 0 }
    }
}

/// The function that ends a goal.
type End =
    fn(&ServerGoalHandle<NavigateToPose>, NavigateToPose_Result) -> Result<(), SetResultError>;

struct Navigator {
    states: LifecyclePublisher<Text>,
    plans: LifecyclePublisher<Path>,
    planner: Planner,
    tolerance: Parameter<f64>,
    under_way: Latest<Trip>,
    state: &'static str,
}

impl Navigator {
    fn begin(&mut self, trip: Trip) {
        self.planner.asked = None; // its result would belong to the previous trip
        if let Some(Trip { goal: Some(older), .. }) = self.under_way.take() {
            log_failure(older.abort(NavigateToPose_Result::default()));
        }
        self.under_way.set(trip);
    }

    fn tick(&mut self, here: PoseStamped) {
        let answer = self.planner.look();
        let Some(mut trip) = self.under_way.take() else { return };
        let distance_remaining = Pose2::of(&here.pose).distance_to(Pose2::of(&trip.aim.pose));
        let ends: Option<(&'static str, End)> = if answer == Some(GoalStatus::Aborted) {
            Some(("no way", ServerGoalHandle::abort))
        } else if trip.goal.as_ref().is_some_and(ServerGoalHandle::is_canceling) {
            send(&self.plans, Path::default()); // there is no longer a plan to follow
            Some(("canceled", ServerGoalHandle::canceled))
        } else if distance_remaining < self.tolerance.get() {
            Some(("arrived", ServerGoalHandle::succeed))
        } else {
            None
        };
        if let Some((state, end)) = ends {
            if let Some(goal) = &trip.goal {
                log_failure(end(goal, NavigateToPose_Result { distance_remaining }));
            }
            return self.say(state);
        }
        self.say("driving");
        if let Some(goal) = &trip.goal
            && trip.ticks.is_multiple_of(TICKS_PER_FEEDBACK)
        {
            log_failure(goal.publish_feedback(NavigateToPose_Feedback { distance_remaining }));
        }
        trip.ticks = trip.ticks.wrapping_add(1);
        if trip.until_plan > 0 {
            trip.until_plan -= 1;
        } else if self.planner.asked.is_none() {
            // If the planner is not ready, the next tick tries again.
            let is_asked =
                self.planner.ask(ComputePath_Goal { start: here, goal: trip.aim.clone() });
            trip.until_plan = if is_asked { TICKS_PER_PLAN } else { 0 };
        }
        self.under_way.set(trip);
    }

    fn say(&mut self, state: &'static str) {
        if self.state != state {
            self.state = state;
            send(&self.states, Text { data: state.to_owned() });
        }
    }
}

/// The future of a goal of the planner, which yields the goal's final status.
type Asked = Pin<Box<dyn Future<Output = Result<GoalStatus, Error>> + Send>>;

/// A client of the planner that has at most one goal at a time. A timer polls it, so that no
/// callback waits.
struct Planner {
    client: ActionClient<ComputePath>,
    asked: Option<Asked>,
}

impl Planner {
    /// Asks for a plan, which the planner publishes; returns false if the planner is not ready.
    fn ask(&mut self, goal: ComputePath_Goal) -> bool {
        if !self.client.server_is_ready() {
            return false;
        }
        let client = self.client.clone();
        self.asked = Some(Box::pin(async move {
            let goal = client.send_goal(goal)?.await?;
            Ok(goal.get_result()?.await?.status)
        }));
        true
    }

    /// The final status of the goal, if it has ended.
    fn look(&mut self) -> Option<GoalStatus> {
        let asked = self.asked.as_mut()?;
        let Poll::Ready(answer) = asked.as_mut().poll(&mut TaskContext::from_waker(Waker::noop()))
        else {
            return None;
        };
        self.asked = None;
        // A planner without a costmap rejects goals.
        answer.inspect_err(|error| tracing::warn!("{error}")).ok()
    }
}
