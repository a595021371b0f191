//! Servers and clients of a service; each response has a string of `--size` characters.

use std::collections::BTreeMap;
use std::time::Duration;

use feros::msgs::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use feros::{Client, Node, Service};
use feros_lab_contract::{Arguments, Ended, Failure, MessageType, Output, Published, Samples};
use feros_lab_contract::{Placement, now_nanos};

use crate::spinning::Spinning;
use crate::{Task, transport};

/// The time limit of a call: longer than any call whose time is worth measuring.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves until the laboratory stops it.
pub(crate) fn server(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    let spinning = Spinning::new(task.arguments);
    let node = task.context.create_node("server")?;
    let _service = serve(task, &node)?;
    spinning.add(&node)?;
    output.ready();
    spinning.idle(task.arguments)?;
    Ok(output.end(None, &[]))
}

/// Makes calls, one after the other.
pub(crate) fn client(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    let node = task.context.create_node("client")?;
    let calling = Calling::new(task, &node)?;
    output.ready();
    calling.call_all()?;
    calling.tell(output);
    Ok(output.end(Some(&calling.published), &[calling.samples]))
}

/// A node that serves, with its own thread, and a node that calls.
pub(crate) fn both(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    let spinning = Spinning::new(task.arguments);
    let serving = task.context.create_node("server")?;
    let _service = serve(task, &serving)?;
    spinning.add(&serving)?;
    let beside = spinning.beside()?;
    let node = task.context.create_node("client")?;
    let calling = Calling::new(task, &node)?;
    output.ready();
    calling.call_all()?;
    spinning.end(beside)?;
    calling.tell(output);
    Ok(output.end(Some(&calling.published), &[calling.samples]))
}

fn serve(task: &Task<'_>, node: &Node) -> Result<Service<Trigger>, Failure> {
    let Arguments { topic, payload, .. } = task.arguments;
    if *payload != MessageType::String {
        return Err(Failure::unsupported("a response is a string: --type string"));
    }
    let message = task.arguments.text_payload();
    let answer =
        move |_: Trigger_Request| Trigger_Response { success: true, message: message.clone() };
    Ok(node.create_service::<Trigger, _>(topic, answer)?)
}

struct Calling<'a> {
    arguments: &'a Arguments,
    client: Client<Trigger>,
    published: Published,
    samples: Samples,
}

impl<'a> Calling<'a> {
    /// Creates the client and waits for its server on the transport under test.
    fn new(task: &Task<'a>, node: &Node) -> Result<Self, Failure> {
        let arguments = task.arguments;
        let client = node.create_client::<Trigger>(&arguments.topic)?;
        client
            .wait_for_service(PATIENCE)
            .map_err(|error| Failure::not_matched(error.to_string()))?;
        // The network transport is available first; a shorter one follows a moment later.
        while client.transports().iter().any(transport::is_pending) {
            if arguments.wait_stopped(Duration::from_millis(2)) {
                return Err(Failure::not_matched("shared memory was not available in time"));
            }
        }
        transport::check_matches(arguments, &client.transports())?;
        let (published, samples) = (arguments.published(), arguments.samples(0));
        Ok(Self { arguments, client, published, samples })
    }

    /// Makes all calls. A sample is the time from before a call until its response has come.
    fn call_all(&self) -> Result<(), Failure> {
        let mut stamp = self.arguments.payload();
        let size_bytes = stamp.len();
        for number in self.arguments.pace() {
            let at = self.arguments.stamp(&mut stamp, number);
            let response = self.client.call_and_wait(&Trigger_Request::default(), PATIENCE)?;
            let now = now_nanos();
            if response.message.len() != size_bytes {
                return Err(format!("a response has {} characters", response.message.len()).into());
            }
            self.samples.note(&stamp, now);
            self.published.note(number, at);
        }
        Ok(())
    }

    /// Reports how many calls took each transport; within a process, only the network transport is
    /// used if the placement asks for it.
    fn tell(&self, output: &Output) {
        let counts = self.client.counts();
        output.values(&BTreeMap::from([
            ("received_intra_process", counts.intra_process.messages as f64),
            ("received_shared_memory", counts.shared_memory.messages as f64),
            ("received_network", counts.network.messages as f64),
        ]));
        if self.arguments.placement == Placement::Local {
            let found = self.client.transports().into_iter().find_map(|found| found.reason);
            if let Some(reason) = found {
                output.note(&format!(
                    "the calls do not take the shortest transport: {}",
                    reason.of_service()
                ));
            }
        }
    }
}
