//! An action server and its client. The goals of the server run until a request ends them.
//!
//! Operations: `serve {name}`, `goals` (order and status of each goal), `succeed {order}`; `call
//! {name}` waits for a server, `send_goal {order}` sends a goal and requests its result, `result`
//! waits for the result of the oldest goal.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use feros::action::ResultFuture;
use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Goal, Fibonacci_Result};
use feros::{ActionClient, ActionServer, ClientGoalHandle, Node, ServerGoalHandle};
use serde_json::{Value, json};

/// The limit on waits; the engine needs less time to detect that a process was killed.
const PATIENCE: Duration = Duration::from_secs(100);

type Sent = (ClientGoalHandle<Fibonacci>, ResultFuture<Fibonacci>);

pub(crate) struct Actions {
    node: Node,
    server: Option<ActionServer<Fibonacci>>,
    accepted: Arc<Mutex<Vec<ServerGoalHandle<Fibonacci>>>>,
    client: Option<ActionClient<Fibonacci>>,
    sent: Vec<Sent>,
}

impl Actions {
    pub(crate) fn new(node: &Node) -> Self {
        let (node, accepted) = (node.clone(), Arc::default());
        Self { node, server: None, accepted, client: None, sent: Vec::new() }
    }

    /// Executes an operation; returns `None` if the operation does not belong to this module.
    pub(crate) fn handle(&mut self, op: &str, request: &Value) -> Option<Result<Value, String>> {
        let name = request["name"].as_str().unwrap_or_default();
        let order = i32::try_from(request["order"].as_i64().unwrap_or_default()).unwrap();
        Some(match op {
            "serve" => self.serve(name),
            "goals" => Ok(self.goals()),
            "succeed" => self.succeed(order),
            "call" => self.call(name),
            "send_goal" => self.send_goal(order),
            "result" => Ok(self.result()),
            _ => return None,
        })
    }

    fn serve(&mut self, name: &str) -> Result<Value, String> {
        let accepted = self.accepted.clone();
        let accept = move |goal: ServerGoalHandle<Fibonacci>| accepted.lock().unwrap().push(goal);
        let server = self.node.create_action_server(name, accept).map_err(|e| e.to_string())?;
        self.server = Some(server);
        Ok(Value::Null)
    }

    fn goals(&self) -> Value {
        let goals = self.accepted.lock().unwrap();
        goals.iter().map(|goal| json!([goal.goal().order, goal.status().to_string()])).collect()
    }

    fn succeed(&self, order: i32) -> Result<Value, String> {
        let goals = self.accepted.lock().unwrap().clone();
        let goal = goals.iter().find(|goal| goal.goal().order == order).ok_or("no such goal")?;
        let result = Fibonacci_Result { sequence: vec![order] };
        goal.succeed(result).map(|()| Value::Null).map_err(|error| error.to_string())
    }

    fn call(&mut self, name: &str) -> Result<Value, String> {
        let text = |error: feros::Error| error.to_string();
        let client = self.node.create_action_client(name).map_err(|error| text(error.into()))?;
        client.wait_for_server(PATIENCE).map_err(|error| text(error.into()))?;
        self.client = Some(client);
        Ok(Value::Null)
    }

    fn send_goal(&mut self, order: i32) -> Result<Value, String> {
        let client = self.client.as_ref().ok_or("no client")?;
        let goal = client.send_goal_and_wait(Fibonacci_Goal { order }, PATIENCE);
        let goal = goal.map_err(|error| error.to_string())?;
        let result = goal.get_result().map_err(|error| error.to_string())?;
        self.sent.push((goal, result));
        Ok(Value::Null)
    }

    fn result(&mut self) -> Value {
        let (_, result) = self.sent.remove(0);
        match result.wait(PATIENCE) {
            Ok(outcome) => json!([outcome.status.to_string(), outcome.result.sequence]),
            Err(error) => json!({ "error": error.to_string() }),
        }
    }
}
