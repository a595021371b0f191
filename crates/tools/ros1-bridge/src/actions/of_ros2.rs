//! A ROS 2 server that gets goals from clients of actionlib.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros::action::{GenericActionClient, GoalResult, SendGoalError};
use feros::{ActionClientOptions, GoalStatus, Node, SerializedMessage};
use feros_interface::TypeName;
use feros_ros1::{
    Publication, Ros1GoalId, Ros1GoalStatus, read_cancel, read_goal, write_about, write_statuses,
};
use feros_sync::{AtomicBool, Mutex, Ordering};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::ends::{Ends, send};
use super::goals::{Goal, Goals};
use super::{GONE_AFTER, MOST_GOALS, now};
use crate::counts::Counters;
use crate::error::BridgeError;
use crate::types::{ActionPlans, Types};
use crate::waiting::wait;

/// The period at which the bridge publishes the statuses of all goals, as an actionlib server does.
const STATUS_EVERY: Duration = Duration::from_millis(200);

/// A ROS 2 server that clients of ROS 1 use.
pub(crate) struct OfRos2 {
    ros1: feros_ros1::Node,
    name: String,
    types: Arc<Types>,
    counters: Arc<Counters>,
    client: GenericActionClient,
    plans: Arc<ActionPlans>,
    served: Option<(Arc<Server>, Ends)>,
    /// The time since which the ROS 2 server has been absent.
    gone_since: Option<Instant>,
    pub(crate) ros2_type: TypeName,
}

/// The server that is visible in ROS 1.
struct Server {
    name: String,
    client: GenericActionClient,
    plans: Arc<ActionPlans>,
    counters: Arc<Counters>,
    status: Arc<Publication>,
    feedback: Arc<Publication>,
    result: Arc<Publication>,
    goals: Mutex<Goals>,
    changed: Notify,
    /// Whether the ROS 2 server is absent.
    is_gone: AtomicBool,
    is_over: AtomicBool,
}

impl OfRos2 {
    pub(crate) fn new(
        (ros1, ros2): (&feros_ros1::Node, &Node),
        name: &str,
        ros2_type: TypeName,
        types: &Arc<Types>,
        counters: &Arc<Counters>,
    ) -> Result<Self, BridgeError> {
        let plans = Arc::new(types.ros1_action(&ros2_type)?);
        let options = ActionClientOptions::default();
        Ok(Self {
            ros1: ros1.clone(),
            name: name.to_owned(),
            types: types.clone(),
            counters: counters.clone(),
            client: ros2.create_generic_action_client(name, &plans.identity, options)?,
            plans,
            served: None,
            gone_since: None,
            ros2_type,
        })
    }

    /// Records whether the ROS 2 server is present; returns whether to continue bridging the
    /// action.
    pub(crate) fn note_server(&mut self, is_there: bool) -> bool {
        if let Some((server, _)) = &self.served {
            server.is_gone.store(!is_there, Ordering::Release);
        }
        if is_there {
            self.gone_since = None;
            return true;
        }
        self.gone_since.get_or_insert_with(Instant::now).elapsed() < GONE_AFTER
    }

    /// Starts to serve in ROS 1 once the ROS 2 server is ready.
    pub(crate) fn update(&mut self) {
        if self.served.is_some() || !self.client.server_is_ready() {
            return;
        }
        match self.serve() {
            Ok(served) => self.served = Some(served),
            Err(error) => {
                let text = format!("the action {} is not bridged: {error}", self.name);
                self.counters.warn_once(text);
            }
        }
    }

    /// Whether the action is visible in ROS 1.
    pub(crate) fn is_served(&self) -> bool {
        self.served.is_some()
    }

    fn serve(&self) -> Result<(Arc<Server>, Ends), BridgeError> {
        let mut ends = Ends::new(&self.ros1, &self.name);
        let [goal, result, feedback] = &self.plans.ros1.topics;
        let server = Arc::new(Server {
            name: self.name.clone(),
            client: self.client.clone(),
            plans: self.plans.clone(),
            counters: self.counters.clone(),
            status: ends.advertise("status", &self.types.actionlib("GoalStatusArray")?)?,
            feedback: ends.advertise("feedback", feedback)?,
            result: ends.advertise("result", result)?,
            goals: Mutex::default(),
            changed: Notify::new(),
            is_gone: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        });
        let heard = server.clone();
        ends.subscribe("goal", goal, move |body| heard.take_goal(body))?;
        let heard = server.clone();
        ends.subscribe("cancel", &self.types.actionlib("GoalID")?, move |body| {
            heard.take_cancel(body);
        })?;
        let told = server.clone();
        feros_ros1::spawn(async move { told.tell_statuses().await });
        Ok((server, ends))
    }
}

impl Drop for OfRos2 {
    fn drop(&mut self) {
        if let Some((server, _)) = &self.served {
            server.is_over.store(true, Ordering::Release);
            server.changed.notify_one();
        }
    }
}

impl Server {
    fn malformed(&self, what: &str, error: &dyn std::fmt::Display) {
        Counters::add(&self.counters.malformed);
        self.counters.warn_once(format!("{what} on {} is refused: {error}", self.name));
    }

    fn take_goal(self: &Arc<Self>, body: &[u8]) {
        let (mut goal_id, rest) = match read_goal(body) {
            Ok(read) => read,
            Err(error) => return self.malformed("a goal of ROS 1", &error),
        };
        if goal_id.stamp == (0, 0) {
            goal_id.stamp = now();
        }
        let mut request = Vec::new();
        if let Err(error) = self.plans.goal.to_ros2(rest, &mut request) {
            self.malformed("a goal of ROS 1", &error);
            return self.refuse(goal_id, &format!("the bridge refuses it: {error}"));
        }
        {
            let mut goals = self.goals.lock();
            if goal_id.id.is_empty() {
                goal_id.id = goals.new_name();
            }
            if goals.has(&goal_id.id) {
                return;
            }
            if goals.len() >= MOST_GOALS {
                drop(goals);
                return self.refuse(goal_id, &format!("{MOST_GOALS} goals are already under way"));
            }
            goals.insert(&goal_id);
        }
        self.changed.notify_one();
        let (server, id) = (self.clone(), goal_id);
        // A goal may take any time, so a task follows it.
        feros_ros1::spawn(async move { server.follow(&id, request).await });
    }

    fn refuse(&self, goal_id: Ros1GoalId, text: &str) {
        Counters::add(&self.counters.failed);
        self.end(&goal_id, Ros1GoalStatus::REJECTED, text, None);
    }

    /// Follows a goal from its request to its result.
    async fn follow(self: &Arc<Self>, goal_id: &Ros1GoalId, request: Vec<u8>) {
        let ended = self.outcome(goal_id, request).await;
        match ended {
            Ok(outcome) => {
                let status = match outcome.status {
                    GoalStatus::Succeeded => Ros1GoalStatus::SUCCEEDED,
                    GoalStatus::Canceled => Ros1GoalStatus::PREEMPTED,
                    _ => Ros1GoalStatus::ABORTED,
                };
                Counters::add(&self.counters.calls);
                self.end(goal_id, status, "", Some(&outcome.result));
            }
            Err((status, text)) => {
                if status != Ros1GoalStatus::REJECTED {
                    Counters::add(&self.counters.failed);
                }
                self.end(goal_id, status, &text, None);
            }
        }
    }

    /// Returns the result of a goal from the ROS 2 server, or the goal's ROS 1 status and the
    /// reason why there is no result.
    async fn outcome(
        self: &Arc<Self>,
        goal_id: &Ros1GoalId,
        request: Vec<u8>,
    ) -> Result<GoalResult<SerializedMessage>, (u8, String)> {
        let is_over =
            || self.is_over.load(Ordering::Acquire) || self.is_gone.load(Ordering::Acquire);
        let gone = || (Ros1GoalStatus::ABORTED, "the ROS 2 server has ended".to_owned());
        let aborted = |error: &dyn std::fmt::Display| (Ros1GoalStatus::ABORTED, error.to_string());
        let (told, id) = (self.clone(), goal_id.clone());
        let feedback = move |feedback: SerializedMessage| told.tell(&id, &feedback);
        let sent = self.client.send_goal_with_feedback(request, feedback);
        let sent = sent.map_err(|error| (Ros1GoalStatus::REJECTED, error.to_string()))?;
        let handle = match wait(sent, is_over).await.ok_or_else(gone)? {
            Ok(handle) => handle,
            Err(error @ SendGoalError::Rejected { .. }) => {
                return Err((Ros1GoalStatus::REJECTED, error.to_string()));
            }
            Err(error) => return Err(aborted(&error)),
        };
        if self.goals.lock().accepted(&goal_id.id, handle.clone()) {
            handle.cancel().map_err(|error| aborted(&error)).map(drop)?;
        }
        self.changed.notify_one();
        let result = handle.get_result().map_err(|error| aborted(&error))?;
        wait(result, is_over).await.ok_or_else(gone)?.map_err(|error| aborted(&error))
    }

    /// Ends a goal in ROS 1. If ROS 2 has no result, the result has default values.
    fn end(&self, goal_id: &Ros1GoalId, status: u8, text: &str, result: Option<&[u8]>) {
        let about = Ros1GoalStatus { goal_id: goal_id.clone(), status, text: text.to_owned() };
        self.goals.lock().end(about.clone());
        self.changed.notify_one();
        let result = result.unwrap_or(&self.plans.empty_result);
        let sent = send(&self.result, |out| {
            write_about(out, now(), &about);
            self.plans.result.to_ros1(result, out)
        });
        if let Err(error) = sent {
            self.malformed("a result of ROS 2", &error);
        }
    }

    fn tell(&self, goal_id: &Ros1GoalId, feedback: &[u8]) {
        let Some(about) = self.goals.lock().status(&goal_id.id) else { return };
        let sent = send(&self.feedback, |out| {
            write_about(out, now(), &about);
            self.plans.feedback.to_ros1(feedback, out)
        });
        match sent {
            Ok(()) => Counters::add(&self.counters.to_ros1),
            Err(error) => self.malformed("feedback of ROS 2", &error),
        }
    }

    fn take_cancel(&self, body: &[u8]) {
        let wish = match read_cancel(body) {
            Ok(read) => read,
            Err(error) => return self.malformed("a cancel request of ROS 1", &error),
        };
        let handles: Vec<Goal> = self.goals.lock().cancel(&wish);
        for handle in handles {
            // The success of the cancel request shows in the goal's status and result.
            if let Err(error) = handle.cancel() {
                self.counters.fail(format!("a goal of {} continues: {error}", self.name));
            }
        }
        self.changed.notify_one();
    }

    /// Publishes the statuses of all goals, after each change and periodically.
    async fn tell_statuses(&self) {
        while !self.is_over.load(Ordering::Acquire) {
            let _ = timeout(STATUS_EVERY, self.changed.notified()).await; // or the period is over
            let statuses = self.goals.lock().statuses();
            if self.status.connections() > 0 {
                let Ok(()) = send::<Infallible>(&self.status, |out| {
                    write_statuses(out, now(), &statuses);
                    Ok(())
                });
            }
        }
    }
}
