//! A server of many goals: how much it publishes about them, and what that shows.

use std::collections::HashMap;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use feros::message::to_vec;
use feros::msgs::action_msgs::msg::GoalStatusArray;
use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Goal};
use feros::{
    ActionServer, ActionServerOptions, Executor, GoalId, QosProfile, ServerGoalHandle, Subscription,
};
use feros_test_support::{Background, until};

use super::result;
use crate::support::{WATCHDOG, context, spin_until, spinning_node};

const EXECUTING: i8 = 2;
const SUCCEEDED: i8 = 4;

/// The statuses that a subscription has received.
#[derive(Default)]
struct Seen {
    messages: usize,
    bytes: usize,
    /// The statuses of the last message.
    last: Vec<i8>,
    /// The last status of each goal, also of goals that the server has forgotten.
    of_goals: HashMap<GoalId, i8>,
}

impl Seen {
    fn note(&mut self, array: &GoalStatusArray) {
        self.messages += 1;
        self.bytes += to_vec(array).unwrap().len();
        self.last = array.status_list.iter().map(|said| said.status).collect();
        for said in &array.status_list {
            let before = self.of_goals.insert(said.goal_info.goal_id.uuid, said.status);
            assert!(before <= Some(said.status), "an older status came behind a newer one");
        }
    }

    fn goals_in(&self, status: i8) -> usize {
        self.of_goals.values().filter(|seen| **seen == status).count()
    }
}

/// A server that executes some goals, and that is spun only where the test says so.
struct Crowd {
    executor: Executor,
    server: ActionServer<Fibonacci>,
    goals: Vec<ServerGoalHandle<Fibonacci>>,
    seen: Arc<Mutex<Seen>>,
    _statuses: Subscription<GoalStatusArray>,
    _listening: Background,
}

impl Crowd {
    fn new(count: usize, result_timeout: Option<Duration>) -> Self {
        let context = context();
        let [serving, caller, listener] =
            ["server", "caller", "listener"].map(|name| context.create_node(name).unwrap());
        let (sender, accepted) = sync_channel(count);
        let options = ActionServerOptions::default().result_timeout(result_timeout);
        let accept = move |goal: ServerGoalHandle<Fibonacci>| sender.send(goal).unwrap();
        let server = serving
            .create_action_server_with::<Fibonacci, _>("fibonacci", options, accept)
            .unwrap();
        let seen = Arc::<Mutex<Seen>>::default();
        let noted = seen.clone();
        let statuses = listener
            .create_subscription(
                "fibonacci/_action/status",
                QosProfile::keep_all(),
                move |array: GoalStatusArray| noted.lock().unwrap().note(&array),
            )
            .unwrap();
        statuses.wait_for_publishers(1, WATCHDOG).unwrap();
        let listening = spinning_node(&listener);
        let executor = Executor::new();
        executor.add_node(&serving).unwrap();
        let client = caller.create_action_client::<Fibonacci>("fibonacci").unwrap();
        client.wait_for_server(WATCHDOG).unwrap();
        let mut goals = Vec::new();
        thread::scope(|scope| {
            let sending = scope.spawn(|| {
                for _ in 0..count {
                    client.send_goal_and_wait(Fibonacci_Goal { order: 2 }, WATCHDOG).unwrap();
                }
            });
            spin_until(&executor, || {
                goals.extend(accepted.try_iter());
                goals.len() == count
            });
            sending.join().unwrap();
        });
        let (_statuses, _listening) = (statuses, listening);
        let crowd = Self { executor, server, goals, seen, _statuses, _listening };
        crowd.spin_until("all goals execute", |seen| seen.last == vec![EXECUTING; count]);
        crowd
    }

    /// Lets each goal succeed, without a turn of the executor, so that no timer publishes.
    fn succeed(&self) {
        self.goals.iter().for_each(|goal| goal.succeed(result(&[])).unwrap());
    }

    fn spin_until(&self, what: &str, mut holds: impl FnMut(&Seen) -> bool) {
        until(what, || {
            self.executor.spin_all(WATCHDOG).unwrap();
            holds(&self.seen.lock().unwrap())
        });
    }
}

/// With a message for each change, these ends cost 28 MB: 1,000 messages of 1,000 statuses.
#[test]
fn a_thousand_ends_cost_less_than_a_megabyte() {
    let crowd = Crowd::new(1_000, None);
    let (messages, bytes) = {
        let seen = crowd.seen.lock().unwrap();
        (seen.messages, seen.bytes)
    };
    crowd.succeed();
    crowd.spin_until("all goals have succeeded", |seen| seen.last == vec![SUCCEEDED; 1_000]);
    let seen = crowd.seen.lock().unwrap();
    let (messages, bytes) = (seen.messages - messages, seen.bytes - bytes);
    assert!(messages <= 33 && bytes < 1_000_000, "{messages} messages of {bytes} bytes");
}

#[test]
fn each_end_is_shown_before_the_goal_is_forgotten() {
    let crowd = Crowd::new(100, Some(Duration::ZERO));
    crowd.succeed();
    crowd.spin_until("each end is shown", |seen| seen.goals_in(SUCCEEDED) == 100);
    crowd.spin_until("all goals are forgotten", |_| crowd.server.goal_count() == 0);
}

#[test]
fn a_server_that_ends_shows_the_ends_of_its_goals() {
    let crowd = Crowd::new(100, None);
    crowd.succeed();
    let Crowd { executor, server, seen, goals: _goals, _statuses, _listening } = crowd;
    drop((server, executor));
    until("each end is shown", || seen.lock().unwrap().goals_in(SUCCEEDED) == 100);
}
