//! A graph of `lab/graphs` in one process: each node with its publishers, subscriptions and timer,
//! all in the executor that the arguments select.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use feros::msgs::std_msgs::msg::UInt8MultiArray;
use feros::{
    MatchTransport, MessageInfo, Node, NodeTimer, Publisher, PublisherOptions, Subscription,
    SubscriptionOptions,
};
use feros_lab_contract::graph::{Figures, Graph, Head, Kind, Step, Worker};
use feros_lab_contract::{Ended, Failure, Output, Placement};

use crate::spinning::Spinning;
use crate::{Task, transport};

/// The interval at which the program checks whether it must stop.
const LOOK: Duration = Duration::from_millis(50);

/// The publisher of a step.
#[derive(Clone)]
struct Sender {
    publisher: Publisher<UInt8MultiArray>,
    bytes: usize,
    /// Whether a message is shared with its subscriptions, instead of encoded for each.
    is_shared: bool,
}

impl Sender {
    fn send(&self, head: Head) {
        let mut message =
            UInt8MultiArray { data: vec![0; self.bytes], ..UInt8MultiArray::default() };
        head.write(&mut message.data);
        let result = if self.is_shared {
            self.publisher.publish(Arc::new(message))
        } else {
            self.publisher.publish(&message)
        };
        // The figures count missing messages; the reason is logged here.
        if let Err(error) = result {
            eprintln!("error: a node could not publish: {error}");
        }
    }
}

/// A step with its callbacks. Two callbacks of a step never compute at the same time.
#[derive(Clone)]
struct Working {
    worker: Arc<Mutex<Worker>>,
    sender: Option<Sender>,
}

impl Working {
    fn run(&self, work: impl FnOnce(&mut Worker) -> Option<Head>) {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock is held during the send, so that the numbers of a topic come in order. No
        // subscription of a graph is called on the publishing thread.
        if let (Some(head), Some(sender)) = (work(&mut worker), &self.sender) {
            sender.send(head);
        }
    }

    fn receive(&self, input: usize, message: &UInt8MultiArray) {
        match Head::read(&message.data) {
            Some(head) => self.run(|worker| worker.receive(input, head)),
            None => eprintln!("error: a message of {} bytes has no head", message.data.len()),
        }
    }
}

/// The entities of a graph, which live as long as it runs.
#[derive(Default)]
struct Entities {
    nodes: BTreeMap<String, Node>,
    subscriptions: Vec<Subscription<UInt8MultiArray>>,
    steps: Vec<(Node, Option<Duration>, Working)>,
}

/// Runs the graph until its chain has carried `--until` messages (0: without a limit), or until the
/// laboratory stops it.
pub(crate) fn run(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    if !matches!(task.arguments.placement, Placement::Composed | Placement::Intra) {
        return Err(Failure::unsupported("the graph runs in one process: composed or intra"));
    }
    let graph = Graph::named(task.arguments.extra("--graph"))?;
    let until: usize = task.arguments.extra("--until").parse()?;
    let cyclic = graph.steps.iter().find(|step| step.kind == Kind::Cyclic);
    let period = cyclic.and_then(|step| step.period).unwrap_or_default();
    let figures = Figures::new(task.arguments.warm_up, period);
    let spinning = Spinning::new(task.arguments);
    let mut entities = Entities::default();
    for step in &graph.steps {
        entities.add(task, &graph, step, &figures)?;
    }
    for node in entities.nodes.values() {
        spinning.add(node)?;
    }
    let beside = spinning.beside()?;
    entities.wait_matched(task, &graph)?;
    let timers = entities.start()?;
    output.ready();
    while !task.arguments.wait_stopped(LOOK) && (until == 0 || figures.messages() < until) {}
    spinning.end(beside)?;
    drop(timers);
    for (_, _, working) in &entities.steps {
        if let Some(sender) = &working.sender {
            transport::check_published(task, &sender.publisher)?;
        }
    }
    transport::tell_received(output, &entities.subscriptions.iter().collect::<Vec<_>>());
    let values = figures.values();
    if !values.is_empty() {
        output.values(&values);
    }
    Ok(output.end(None, &[]))
}

impl Entities {
    /// Adds a step: its node, unless an earlier step has it, its publisher and its subscriptions.
    fn add(
        &mut self,
        task: &Task<'_>,
        graph: &Graph,
        step: &Step,
        figures: &Figures,
    ) -> Result<(), Failure> {
        let node = match self.nodes.get(&step.node) {
            Some(node) => node.clone(),
            None => {
                let node = task.context.create_node(&step.node)?;
                self.nodes.insert(step.node.clone(), node.clone());
                node
            }
        };
        let sender = match &step.output {
            None => None,
            Some(topic) => Some(Sender {
                publisher: node.create_publisher(topic, PublisherOptions::from(task.qos))?,
                bytes: graph.message_bytes,
                is_shared: task.arguments.placement == Placement::Intra,
            }),
        };
        let worker = Arc::new(Mutex::new(graph.worker(step, figures)));
        let working = Working { worker, sender };
        for (input, topic) in step.inputs.iter().enumerate() {
            let working = working.clone();
            let options = SubscriptionOptions::from(task.qos).log_lost_messages(false);
            self.subscriptions.push(node.create_subscription(
                topic,
                options,
                move |message: Arc<UInt8MultiArray>, _info: MessageInfo| {
                    working.receive(input, &message);
                },
            )?);
        }
        self.steps.push((node, step.period, working));
        Ok(())
    }

    /// Waits until each publisher has all of its subscriptions.
    fn wait_matched(&self, task: &Task<'_>, graph: &Graph) -> Result<(), Failure> {
        let wanted = graph.subscriptions();
        for (step, (_, _, working)) in graph.steps.iter().zip(&self.steps) {
            let Some(sender) = &working.sender else { continue };
            let topic = step.output.as_deref().unwrap_or_default();
            let count = wanted.get(topic).copied().unwrap_or(0);
            let is_matched = || {
                let matches = sender.publisher.transports();
                let has_transport = |found: &MatchTransport| found.transport.is_some();
                matches.len() >= count && matches.iter().all(has_transport)
            };
            while !is_matched() {
                if task.arguments.wait_stopped(Duration::from_millis(1)) {
                    let found = sender.publisher.subscription_count();
                    let text = format!("{found} of {count} subscriptions to {topic} were found");
                    return Err(Failure::not_matched(text));
                }
            }
            if count > 0 {
                transport::check_matches(task.arguments, &sender.publisher.transports())?;
            }
        }
        Ok(())
    }

    /// Starts the timers.
    fn start(&self) -> Result<Vec<NodeTimer>, Failure> {
        let mut timers = Vec::new();
        for (node, period, working) in &self.steps {
            if let Some(period) = period {
                let working = working.clone();
                timers.push(node.create_wall_timer(*period, move || working.run(Worker::tick))?);
            }
        }
        Ok(timers)
    }
}
