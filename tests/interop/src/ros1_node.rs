//! A node of ROS 1 in another process, which follows the test's commands (`node.py` of the tests of
//! `feros ros1 bridge`).

use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::process::Process;

/// A node of rospy; dropping it kills it as SIGKILL does.
pub struct Ros1Node {
    process: Process,
    heard: Vec<Value>,
}

impl Ros1Node {
    /// Starts a node that follows commands as `node.py` does, and waits until it is ready.
    ///
    /// # Panics
    /// When ROS 1 is not installed.
    #[must_use]
    pub fn start(command: Command) -> Self {
        let mut node = Self { process: Process::start(command), heard: Vec::new() };
        assert_eq!(node.answer("ready"), json!(true));
        node
    }

    fn next(&mut self) -> Value {
        let started = Instant::now();
        while let Some(line) = self.process.next(started) {
            if let Ok(value @ Value::Object(_)) = serde_json::from_str(&line) {
                return value;
            }
            self.process.said.push(line);
        }
        panic!("the node of ROS 1 prints no further line: {:#?}", self.process.said);
    }

    fn answer(&mut self, key: &str) -> Value {
        loop {
            let value = self.next();
            match value.get(key) {
                Some(answer) => return answer.clone(),
                None => self.heard.push(value),
            }
        }
    }

    /// Makes the node execute an operation of `node.py`.
    ///
    /// # Panics
    /// When the node prints no further line.
    pub fn run(&mut self, operation: Value) -> Value {
        self.process.tell(operation);
        self.answer("done")
    }

    /// The next message on a topic, with all its properties.
    ///
    /// # Panics
    /// When the node prints no further line.
    pub fn heard(&mut self, topic: &str) -> Value {
        loop {
            if let Some(index) = self.heard.iter().position(|value| value["topic"] == topic) {
                return self.heard.remove(index);
            }
            let value = self.next();
            self.heard.push(value);
        }
    }

    /// Whether a text has been received.
    pub fn heard_any(&mut self, topic: &str, text: &str) -> bool {
        let is = |value: &Value| value["topic"] == topic && value["message"]["data"] == text;
        self.heard.iter().any(is)
    }

    /// Removes and returns a message that was received before the last answer, if there is one.
    pub fn heard_line(&mut self, topic: &str, is: impl Fn(&Value) -> bool) -> Option<Value> {
        let found = |value: &Value| value["topic"] == topic && is(&value["message"]);
        let index = self.heard.iter().position(found)?;
        Some(self.heard.remove(index)["message"].take())
    }

    /// Publishes as soon as a subscriber is connected.
    ///
    /// # Panics
    /// When the node prints no further line.
    pub fn publish(&mut self, topic: &str, fields: &Value) {
        feros_test_support::eventually(|| {
            let operation = json!({"do": "publish_now", "topic": topic, "fields": fields});
            if self.run(operation) == json!(true) { Ok(()) } else { Err("nobody is connected") }
        });
    }
}
