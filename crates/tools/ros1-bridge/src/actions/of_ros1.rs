//! An actionlib server that gets goals from clients of ROS 2.
//!
//! ROS 2 needs to know immediately whether a goal is accepted, but actionlib decides this later. So
//! the bridge accepts each goal, which then waits until the server starts it. If the server rejects
//! the goal, the bridge aborts it.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros::action::{GenericActionServer, Serialized};
use feros::{
    ActionCallbacks, ActionServerOptions, CancelResponse, GoalId, GoalResponse, GoalStatus, Node,
    SerializedMessage, ServerGoalHandle,
};
use feros_ros1::{
    Publication, Ros1GoalId, Ros1GoalStatus, read_about, read_statuses, write_cancel, write_goal,
};
use feros_sync::Mutex;

use super::ends::{Ends, send};
use super::{GONE_AFTER, MOST_GOALS, now};
use crate::counts::Counters;
use crate::error::BridgeError;
use crate::types::{ActionPlans, Types};

/// How long to wait until the goal's handle is canceling. The handle may learn of a cancel request
/// later than the ROS 1 server.
const CANCELING_WITHIN: Duration = Duration::from_secs(1);

/// A ROS 1 server that clients of ROS 2 use.
pub(crate) struct OfRos1 {
    ros2: Node,
    name: String,
    goals: Arc<Goals>,
    /// Declared before `ends`, so that the goals end while the topics still exist.
    server: Option<GenericActionServer>,
    ends: Ends,
    /// The time since which the ROS 1 server has not been connected.
    silent_since: Option<Instant>,
    pub(crate) ros1_type: String,
}

/// The goals of an action, and the topics that they use.
struct Goals {
    name: String,
    plans: ActionPlans,
    counters: Arc<Counters>,
    goal: Arc<Publication>,
    cancel: Arc<Publication>,
    /// The active goals, by their ROS 1 names.
    active: Mutex<BTreeMap<String, Active>>,
}

struct Active {
    handle: ServerGoalHandle<Serialized>,
    /// Whether the ROS 1 server has reported the goal.
    is_known: bool,
    is_to_be_canceled: bool,
}

impl OfRos1 {
    pub(crate) fn new(
        (ros1, ros2): (&feros_ros1::Node, &Node),
        name: &str,
        ros1_type: &str,
        types: &Arc<Types>,
        counters: &Arc<Counters>,
    ) -> Result<Self, BridgeError> {
        let (_, plans) = types.ros2_action(ros1_type)?;
        let mut ends = Ends::new(ros1, name);
        let [goal, result, feedback] = plans.ros1.topics.clone();
        let goals = Arc::new(Goals {
            name: name.to_owned(),
            plans,
            counters: counters.clone(),
            goal: ends.advertise("goal", &goal)?,
            cancel: ends.advertise("cancel", &types.actionlib("GoalID")?)?,
            active: Mutex::default(),
        });
        let heard = goals.clone();
        ends.subscribe("result", &result, move |body| heard.result(body))?;
        let heard = goals.clone();
        ends.subscribe("feedback", &feedback, move |body| heard.feedback(body))?;
        let heard = goals.clone();
        ends.subscribe("status", &types.actionlib("GoalStatusArray")?, move |body| {
            heard.statuses(body);
        })?;
        Ok(Self {
            ros2: ros2.clone(),
            name: name.to_owned(),
            goals,
            server: None,
            ends,
            silent_since: None,
            ros1_type: ros1_type.to_owned(),
        })
    }

    /// Starts to serve in ROS 2 once all topics are connected, and stops when they have been
    /// disconnected for a while.
    pub(crate) fn update(&mut self) {
        if !self.ends.are_connected() {
            let since = self.silent_since.get_or_insert_with(Instant::now);
            if self.server.is_some() && since.elapsed() > GONE_AFTER {
                self.leave();
            }
            return;
        }
        self.silent_since = None;
        if self.server.is_some() {
            return;
        }
        let plans = &self.goals.plans;
        let made = self.ros2.create_generic_action_server(
            &self.name,
            &plans.identity,
            plans.empty_result.clone(),
            ActionServerOptions::default(),
            Decides { goals: self.goals.clone(), next: None },
        );
        match made {
            Ok(server) => self.server = Some(server),
            Err(error) => {
                let text = format!("the action {} is not bridged: {error}", self.name);
                self.goals.counters.warn_once(text);
            }
        }
    }

    /// Whether the action is visible in ROS 2.
    pub(crate) fn is_served(&self) -> bool {
        self.server.is_some()
    }

    /// Aborts the active goals and stops serving.
    fn leave(&mut self) {
        self.server = None;
        let left = std::mem::take(&mut *self.goals.active.lock());
        for _ in left {
            Counters::add(&self.goals.counters.failed);
        }
    }
}

impl Drop for OfRos1 {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Accepts goals from ROS 2.
struct Decides {
    goals: Arc<Goals>,
    /// The goal that is about to be accepted, in the ROS 1 format.
    next: Option<(GoalId, Vec<u8>)>,
}

impl ActionCallbacks<Serialized> for Decides {
    fn handle_goal(&mut self, id: &GoalId, goal: &SerializedMessage) -> GoalResponse {
        let goals = &self.goals;
        let mut body = Vec::new();
        if let Err(error) = goals.plans.goal.to_ros1(goal, &mut body) {
            goals.malformed("a goal of ROS 2", &error);
            return GoalResponse::Reject;
        }
        if goals.active.lock().len() >= MOST_GOALS {
            goals.counters.fail(format!(
                "goals of {} are rejected, because {MOST_GOALS} goals are already under way",
                goals.name
            ));
            return GoalResponse::Reject;
        }
        self.next = Some((*id, body));
        GoalResponse::AcceptAndDefer
    }

    fn handle_cancel(&mut self, goal: &ServerGoalHandle<Serialized>) -> CancelResponse {
        let id = name_of(&goal.goal_id());
        match self.goals.active.lock().get_mut(&id) {
            Some(active) => active.is_to_be_canceled = true,
            None => return CancelResponse::Reject,
        }
        let goal_id = Ros1GoalId { stamp: (0, 0), id };
        let Ok(()) = send::<Infallible>(&self.goals.cancel, |out| {
            write_cancel(out, &goal_id);
            Ok(())
        });
        CancelResponse::Accept
    }

    fn handle_accepted(&mut self, handle: ServerGoalHandle<Serialized>) {
        let Some((id, body)) = self.next.take().filter(|(id, _)| *id == handle.goal_id()) else {
            return;
        };
        let goal_id = Ros1GoalId { stamp: now(), id: name_of(&id) };
        let active = Active { handle, is_known: false, is_to_be_canceled: false };
        self.goals.active.lock().insert(goal_id.id.clone(), active);
        let Ok(()) = send::<Infallible>(&self.goals.goal, |out| {
            write_goal(out, now(), &goal_id);
            out.extend_from_slice(&body);
            Ok(())
        });
    }
}

impl Goals {
    fn malformed(&self, what: &str, error: &dyn std::fmt::Display) {
        Counters::add(&self.counters.malformed);
        self.counters.warn_once(format!("{what} on {} is refused: {error}", self.name));
    }

    fn feedback(&self, body: &[u8]) {
        let (about, rest) = match read_about(body) {
            Ok(read) => read,
            Err(error) => return self.malformed("feedback of ROS 1", &error),
        };
        let active = self.active.lock().get(&about.goal_id.id).map(|one| one.handle.clone());
        // The goal may belong to another client of the server.
        let Some(handle) = active else { return };
        let mut out = Vec::new();
        match self.plans.feedback.to_ros2(rest, &mut out) {
            Err(error) => self.malformed("feedback of ROS 1", &error),
            Ok(()) => match handle.publish_feedback(out) {
                Ok(()) => Counters::add(&self.counters.to_ros2),
                Err(error) => {
                    self.counters.fail(error.to_string());
                }
            },
        }
    }

    fn statuses(&self, body: &[u8]) {
        let statuses = match read_statuses(body) {
            Ok(read) => read,
            Err(error) => return self.malformed("a status of ROS 1", &error),
        };
        let listed: BTreeSet<&str> =
            statuses.iter().map(|status| status.goal_id.id.as_str()).collect();
        let (mut begun, mut lost) = (Vec::new(), Vec::new());
        {
            let mut active = self.active.lock();
            for status in &statuses {
                if let Some(one) = active.get_mut(&status.goal_id.id) {
                    one.is_known = true;
                    if status.status == Ros1GoalStatus::ACTIVE {
                        begun.push(one.handle.clone());
                    }
                }
            }
            active.retain(|id, one| {
                let is_lost = one.is_known && !listed.contains(id.as_str());
                if is_lost {
                    lost.push(one.handle.clone());
                }
                !is_lost
            });
        }
        for handle in begun {
            if handle.status() == GoalStatus::Accepted {
                // The goal may be canceling by now.
                let _ = handle.execute();
            }
        }
        for handle in lost {
            let name = &self.name;
            self.counters.fail(format!(
                "a goal of {name} is aborted: its server in ROS 1 no longer reports it"
            ));
            end(&handle, GoalStatus::Aborted, self.plans.empty_result.clone());
        }
    }

    fn result(&self, body: &[u8]) {
        let (about, rest) = match read_about(body) {
            Ok(read) => read,
            Err(error) => return self.malformed("a result of ROS 1", &error),
        };
        let Some(active) = self.active.lock().remove(&about.goal_id.id) else { return };
        let mut out = Vec::new();
        if let Err(error) = self.plans.result.to_ros2(rest, &mut out) {
            self.malformed("a result of ROS 1", &error);
            return end(&active.handle, GoalStatus::Aborted, self.plans.empty_result.clone());
        }
        if about.status == Ros1GoalStatus::REJECTED {
            let (name, text) = (&self.name, feros_ros1::shown(&about.text));
            self.counters.warn_once(format!("the server of {name} rejects a goal: {text}"));
        }
        let status = match about.status {
            Ros1GoalStatus::SUCCEEDED => GoalStatus::Succeeded,
            // Without a cancel request from ROS 2, a newer goal may have replaced this one.
            Ros1GoalStatus::PREEMPTED | Ros1GoalStatus::RECALLED if active.is_to_be_canceled => {
                GoalStatus::Canceled
            }
            _ => GoalStatus::Aborted,
        };
        end(&active.handle, status, out);
        Counters::add(&self.counters.calls);
    }
}

/// Ends a goal, whatever its state.
fn end(handle: &ServerGoalHandle<Serialized>, status: GoalStatus, result: Vec<u8>) {
    if status == GoalStatus::Canceled {
        feros_ros1::waiting(|| {
            let asked = Instant::now();
            while !handle.is_canceling() && asked.elapsed() < CANCELING_WITHIN {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
    } else if handle.status() == GoalStatus::Accepted {
        let _ = handle.execute();
    }
    let ended = match status {
        GoalStatus::Succeeded => handle.succeed(result),
        GoalStatus::Canceled => handle.canceled(result),
        _ => handle.abort(result),
    };
    if let Err(error) = ended {
        tracing::debug!("{error}");
    }
}

/// Returns the ROS 1 name of a ROS 2 goal.
fn name_of(id: &GoalId) -> String {
    let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("ros2-{digits}")
}
