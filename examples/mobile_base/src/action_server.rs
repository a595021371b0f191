//! An action server out of what there is: the three services and two topics that stock action
//! clients talk to.
//!
//! It computes Fibonacci's numbers, one per step, for goals of
//! `example_interfaces/action/Fibonacci`.

use feros_sync::Mutex;
use std::sync::Arc;

use example_composition::{Parts, send};
use feros::msgs::action_msgs::msg::{GoalInfo, GoalStatus, GoalStatusArray};
use feros::msgs::action_msgs::srv::{CancelGoal, CancelGoal_Request, CancelGoal_Response};
use feros::msgs::builtin_interfaces::msg::Time;
use feros::msgs::example_interfaces::action::{
    Fibonacci_Feedback, Fibonacci_FeedbackMessage, Fibonacci_GetResult,
    Fibonacci_GetResult_Request, Fibonacci_GetResult_Response, Fibonacci_Result,
    Fibonacci_SendGoal, Fibonacci_SendGoal_Request, Fibonacci_SendGoal_Response,
};
use feros::{Clock, Error, Publisher, QosProfile, Responder};

/// Steps per second of a goal that runs.
const STEP_HZ: f64 = 10.0;
/// Steps for which the result of a goal that has ended is kept: ten seconds.
const RESULT_STEPS: u32 = 100;
/// A server that has so many goals, results included, accepts no more.
const MOST_GOALS: usize = 16;
/// Fibonacci's numbers beyond this one do not fit into 32 bits.
const GREATEST_ORDER: i32 = 45;
/// Waiting for the result of one goal more often is not answered before the goal ends, but at once.
const MOST_WAITING: usize = 16;

struct Goal {
    info: GoalInfo,
    status: i8,
    order: usize,
    sequence: Vec<i32>,
    waiting: Vec<Responder<Fibonacci_GetResult>>,
    steps_since_end: u32,
}

impl Goal {
    fn is_active(&self) -> bool {
        [GoalStatus::STATUS_EXECUTING, GoalStatus::STATUS_CANCELING].contains(&self.status)
    }

    /// One step; says whether the goal's status has changed.
    fn step(&mut self) -> bool {
        match self.status {
            GoalStatus::STATUS_CANCELING => self.status = GoalStatus::STATUS_CANCELED,
            GoalStatus::STATUS_EXECUTING if self.sequence.len() <= self.order => {
                let next = match self.sequence[..] {
                    [.., a, b] => a + b,
                    _ => i32::from(!self.sequence.is_empty()),
                };
                self.sequence.push(next);
                return false;
            }
            GoalStatus::STATUS_EXECUTING => self.status = GoalStatus::STATUS_SUCCEEDED,
            _ => {
                self.steps_since_end += 1;
                return false;
            }
        }
        true
    }

    fn result(&self) -> Fibonacci_GetResult_Response {
        let result = Fibonacci_Result { sequence: self.sequence.clone() };
        Fibonacci_GetResult_Response { status: self.status, result }
    }
}

/// The goals of one server, as its services and its timer share them.
#[derive(Default)]
struct Goals(Vec<Goal>);

impl Goals {
    /// Begins a goal; not if it cannot be reached, is there already, or there are too many.
    fn accept(&mut self, request: &Fibonacci_SendGoal_Request, stamp: Time) -> bool {
        let goal_id = &request.goal_id;
        let order = request.goal.order;
        if !(0..=GREATEST_ORDER).contains(&order)
            || self.0.len() >= MOST_GOALS
            || self.0.iter().any(|goal| goal.info.goal_id == *goal_id)
        {
            return false;
        }
        self.0.push(Goal {
            info: GoalInfo { goal_id: goal_id.clone(), stamp },
            status: GoalStatus::STATUS_EXECUTING,
            order: order.unsigned_abs() as usize,
            sequence: Vec::new(),
            waiting: Vec::new(),
            steps_since_end: 0,
        });
        true
    }

    /// Cancels goals as the request says: that of its id, all up to its time, or without either
    /// all.
    fn cancel(&mut self, request: &CancelGoal_Request) -> CancelGoal_Response {
        let GoalInfo { goal_id, stamp } = &request.goal_info;
        let (no_id, until) = (goal_id.uuid == [0; 16], stamp.to_nanos());
        let is_meant = |goal: &Goal| {
            (no_id && until == 0)
                || (!no_id && goal.info.goal_id == *goal_id)
                || (until != 0 && goal.info.stamp.to_nanos() <= until)
        };
        let is_known = no_id || self.0.iter().any(|goal| goal.info.goal_id == *goal_id);
        let mut response = CancelGoal_Response::default();
        for goal in self
            .0
            .iter_mut()
            .filter(|goal| goal.status == GoalStatus::STATUS_EXECUTING && is_meant(goal))
        {
            goal.status = GoalStatus::STATUS_CANCELING;
            response.goals_canceling.push(goal.info.clone());
        }
        response.return_code = match (response.goals_canceling.is_empty(), is_known) {
            (false, _) => CancelGoal_Response::ERROR_NONE,
            (true, false) => CancelGoal_Response::ERROR_UNKNOWN_GOAL_ID,
            (true, true) if no_id => CancelGoal_Response::ERROR_REJECTED,
            (true, true) => CancelGoal_Response::ERROR_GOAL_TERMINATED,
        };
        response
    }

    fn statuses(&self) -> GoalStatusArray {
        let status = |goal: &Goal| GoalStatus { goal_info: goal.info.clone(), status: goal.status };
        GoalStatusArray { status_list: self.0.iter().map(status).collect() }
    }
}

/// Adds an action server to a node.
///
/// # Errors
/// When one of its endpoints cannot be made.
pub fn serve(parts: &mut Parts, action: &str) -> Result<(), Error> {
    let name = |entity: &str| format!("{action}/_action/{entity}");
    let goals = Arc::new(Mutex::new(Goals::default()));
    let status_qos = QosProfile::keep_last(1).transient_local();
    let feedback =
        parts.node().create_publisher::<Fibonacci_FeedbackMessage>(&name("feedback"), 10)?;
    let status = parts.node().create_publisher::<GoalStatusArray>(&name("status"), status_qos)?;
    let (all, clock, changed) = (goals.clone(), parts.node().clock().clone(), status.clone());
    parts.serve::<Fibonacci_SendGoal, _>(
        &name("send_goal"),
        move |request: Fibonacci_SendGoal_Request| accept(&all, &request, &clock, &changed),
    )?;
    let (all, changed) = (goals.clone(), status.clone());
    parts.serve::<CancelGoal, _>(&name("cancel_goal"), move |request: CancelGoal_Request| {
        let response = all.lock().cancel(&request);
        publish_statuses(&all, &changed);
        response
    })?;
    let all = goals.clone();
    parts.serve::<Fibonacci_GetResult, _>(
        &name("get_result"),
        move |request: Fibonacci_GetResult_Request, responder: Responder<Fibonacci_GetResult>| {
            answer_when_ended(&all, &request, responder);
        },
    )?;
    parts.at_rate(STEP_HZ, move || step(&goals, &feedback, &status))
}

fn publish_statuses(goals: &Mutex<Goals>, status: &Publisher<GoalStatusArray>) {
    let statuses = goals.lock().statuses();
    send(status, statuses);
}

fn accept(
    goals: &Mutex<Goals>,
    request: &Fibonacci_SendGoal_Request,
    clock: &Clock,
    status: &Publisher<GoalStatusArray>,
) -> Fibonacci_SendGoal_Response {
    let stamp = Time::from_nanos(clock.now().as_nanos());
    let accepted = goals.lock().accept(request, stamp.clone());
    if accepted {
        publish_statuses(goals, status);
    }
    Fibonacci_SendGoal_Response { accepted, stamp }
}

/// Answers at once for a goal that has ended or is not known (status 0), else when it has ended.
fn answer_when_ended(
    goals: &Mutex<Goals>,
    request: &Fibonacci_GetResult_Request,
    responder: Responder<Fibonacci_GetResult>,
) {
    let response = {
        let mut goals = goals.lock();
        match goals.0.iter_mut().find(|goal| goal.info.goal_id == request.goal_id) {
            Some(goal) if goal.is_active() && goal.waiting.len() < MOST_WAITING => {
                return goal.waiting.push(responder);
            }
            Some(goal) => goal.result(),
            None => Fibonacci_GetResult_Response::default(),
        }
    };
    answer(responder, &response);
}

fn answer(responder: Responder<Fibonacci_GetResult>, response: &Fibonacci_GetResult_Response) {
    if let Err(error) = responder.send(response) {
        tracing::error!("{error}");
    }
}

/// A step of all goals. What is to be sent is sent without the lock.
fn step(
    goals: &Mutex<Goals>,
    feedback: &Publisher<Fibonacci_FeedbackMessage>,
    status: &Publisher<GoalStatusArray>,
) {
    let (mut reports, mut answers, mut changed) = (Vec::new(), Vec::new(), false);
    {
        let mut goals = goals.lock();
        for goal in &mut goals.0 {
            if goal.step() {
                changed = true;
                let result = goal.result();
                answers.extend(goal.waiting.drain(..).map(|responder| (responder, result.clone())));
            } else if goal.is_active() {
                let (goal_id, sequence) = (goal.info.goal_id.clone(), goal.sequence.clone());
                reports.push(Fibonacci_FeedbackMessage {
                    goal_id,
                    feedback: Fibonacci_Feedback { sequence },
                });
            }
        }
        goals.0.retain(|goal| goal.steps_since_end <= RESULT_STEPS);
    }
    reports.into_iter().for_each(|report| send(feedback, report));
    if changed {
        publish_statuses(goals, status);
    }
    answers.into_iter().for_each(|(responder, response)| answer(responder, &response));
}

#[cfg(test)]
mod tests {
    use feros::msgs::example_interfaces::action::Fibonacci_Goal;
    use feros::msgs::unique_identifier_msgs::msg::UUID;

    use super::*;

    fn request(id: u8, order: i32) -> Fibonacci_SendGoal_Request {
        Fibonacci_SendGoal_Request {
            goal_id: UUID { uuid: [id; 16] },
            goal: Fibonacci_Goal { order },
        }
    }

    fn cancel(goals: &mut Goals, id: u8, nanos: i64) -> (i8, usize) {
        let goal_info =
            GoalInfo { goal_id: UUID { uuid: [id; 16] }, stamp: Time::from_nanos(nanos) };
        let response = goals.cancel(&CancelGoal_Request { goal_info });
        (response.return_code, response.goals_canceling.len())
    }

    #[test]
    fn a_goal_runs_to_its_end() {
        let mut goals = Goals::default();
        assert!(goals.accept(&request(1, 10), Time::default()));
        let steps = (1..100).find(|_| goals.0[0].step());
        assert_eq!((steps, goals.0[0].status), (Some(12), GoalStatus::STATUS_SUCCEEDED));
        assert_eq!(goals.0[0].sequence, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55]);
    }

    #[test]
    fn goals_that_cannot_be_reached_are_refused_and_so_are_too_many() {
        let mut goals = Goals::default();
        assert!(!goals.accept(&request(1, -1), Time::default()));
        assert!(!goals.accept(&request(1, i32::MAX), Time::default()));
        assert!(goals.accept(&request(1, GREATEST_ORDER), Time::default()));
        assert!(!goals.accept(&request(1, 1), Time::default()), "the same id twice");
        while !goals.0[0].step() {}
        assert_eq!(goals.0[0].sequence.last(), Some(&1_134_903_170));
        let accepted =
            (2..100).filter(|id| goals.accept(&request(*id, 1), Time::default())).count();
        assert_eq!(accepted + 1, MOST_GOALS);
    }

    #[test]
    fn goals_are_canceled_as_the_request_says() {
        let mut goals = Goals::default();
        for id in 1..=4 {
            assert!(goals.accept(&request(id, 10), Time::from_nanos(i64::from(id) * 1000)));
        }
        assert_eq!(cancel(&mut goals, 9, 0), (CancelGoal_Response::ERROR_UNKNOWN_GOAL_ID, 0));
        assert_eq!(cancel(&mut goals, 2, 0), (CancelGoal_Response::ERROR_NONE, 1));
        assert_eq!(
            goals
                .0
                .iter_mut()
                .filter_map(|goal| goal.step().then_some(goal.info.goal_id.uuid[0]))
                .count(),
            1
        );
        assert_eq!(cancel(&mut goals, 2, 0), (CancelGoal_Response::ERROR_GOAL_TERMINATED, 0));
        assert_eq!(cancel(&mut goals, 0, 1500), (CancelGoal_Response::ERROR_NONE, 1), "goal 1");
        assert_eq!(cancel(&mut goals, 0, 0), (CancelGoal_Response::ERROR_NONE, 2), "goals 3 and 4");
        goals.0.iter_mut().for_each(|goal| {
            goal.step();
        });
        assert_eq!(cancel(&mut goals, 0, 0), (CancelGoal_Response::ERROR_REJECTED, 0));
    }
}
