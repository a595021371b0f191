//! The behaviors of the robot other than driving to a goal.

use std::f64::consts::TAU;

use example_composition::{Latest, ManagedParts, log_failure, managed_component, send};
use feros::msgs::geometry_msgs::msg::Twist;
use feros::{CancelResponse, Error, GoalId, GoalResponse, ServerGoalHandle};

use crate::navigation_interfaces::action::{Spin, Spin_Feedback, Spin_Goal, Spin_Result};

const RATE_HZ: f64 = 10.0;
/// The turn rate, in radians per second.
const TURN: f64 = 1.0;

managed_component!(
    /// Turns in place on request.
    BehaviorServer, "behavior_server", "navigation_graph::BehaviorServer", behavior_server
);

fn behavior_server(parts: &mut ManagedParts) -> Result<(), Error> {
    let commands = parts.publisher::<Twist>("cmd_vel_nav", 10)?;
    let activity = parts.activity();
    let decide = move |_: &GoalId, goal: &Spin_Goal| {
        let is_possible = (0.0..=TAU).contains(&goal.target_yaw) && activity.is_active();
        if is_possible { GoalResponse::AcceptAndExecute } else { GoalResponse::Reject }
    };
    let cancel = |_: &ServerGoalHandle<Spin>| CancelResponse::Accept;
    let newest = Latest::<Turning>::default();
    let accepted = newest.clone();
    let begin = move |goal: ServerGoalHandle<Spin>| {
        let newer = Turning { goal, turned: 0.0 };
        if let Some(older) = accepted.take() {
            older.abort();
        }
        accepted.set(newer);
    };
    let server = parts.node().create_action_server::<Spin, _>("spin", (decide, cancel, begin))?;
    parts.keep(server);
    let turning = newest.clone();
    parts.at_deactivation(move || {
        if let Some(turning) = turning.take() {
            turning.abort();
        }
    });
    parts.at_rate(RATE_HZ, move || {
        let Some(mut turning) = newest.take() else { return };
        let (command, goes_on) = turning.step();
        send(&commands, command);
        if goes_on {
            newest.set(turning);
        }
    })
}

/// A turn that is being executed.
struct Turning {
    goal: ServerGoalHandle<Spin>,
    /// The angle turned so far, in radians.
    turned: f64,
}

impl Turning {
    /// The next command for the wheels, and whether more follow.
    fn step(&mut self) -> (Twist, bool) {
        let result = Spin_Result { turned: self.turned };
        let mut command = Twist::default();
        if self.goal.is_canceling() {
            log_failure(self.goal.canceled(result));
            return (command, false);
        }
        if self.turned >= self.goal.goal().target_yaw {
            log_failure(self.goal.succeed(result));
            return (command, false);
        }
        command.angular.z = TURN;
        self.turned += TURN / RATE_HZ;
        log_failure(self.goal.publish_feedback(Spin_Feedback { turned: self.turned }));
        (command, true)
    }

    fn abort(self) {
        log_failure(self.goal.abort(Spin_Result { turned: self.turned }));
    }
}
