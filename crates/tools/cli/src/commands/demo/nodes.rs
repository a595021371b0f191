//! The talker and the listener of the demo: written as a user would write them, except that they
//! report events to the coordinator.

use std::io::Write;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, SystemTime};

use feros::msgs::std_msgs::msg::String as Text;
use feros::{Context, Executor, MessageInfo};

use super::conversation::{Event, Participant, Start, TOPIC, hello};
use crate::error::CliError;
use crate::notices;
use crate::process_group::listen_to_lines;

/// How long a talker waits for its listeners.
const LISTENERS_LIMIT: Duration = Duration::from_secs(20);

pub(super) fn talk() -> Result<(), CliError> {
    let (context, _) = Context::from_args(std::iter::empty())?;
    let node = context.create_node(Participant::Talker.node())?;
    let publisher = node.create_publisher::<Text>(TOPIC, 10)?;
    let (send, orders) = sync_channel(1);
    listen_to_lines(&context, move |line| {
        if let Some(go) = Start::parse(line) {
            // The coordinator sends this command only once.
            let _ = send.try_send(go);
        }
    })?;
    tell(&Event::Ready)?;
    let Ok(go) = orders.recv() else { return Ok(()) };
    if let Err(error) = publisher.wait_for_subscriptions(go.listeners, LISTENERS_LIMIT) {
        notices::warn(error);
    }

    let (node_name, executor) = (Participant::Talker.node(), Executor::new());
    let (mut number, stopper) = (0, executor.stopper());
    let _timer = node.create_wall_timer(Duration::from_secs_f64(1.0 / go.rate_hz), move || {
        number += 1;
        let text = hello(number, node_name);
        // `Said` is reported before publishing: the message may be heard before this thread runs
        // again.
        let said = tell(&Event::Said { text: text.clone() });
        let published = publisher.publish(Text { data: text }).map_err(CliError::from);
        if let Err(error) = said.and(published) {
            notices::error(error);
            stopper.stop();
        }
        if number == go.count {
            stopper.stop();
        }
    })?;
    executor.add_node(&node)?;
    executor.spin()?;
    tell(&Event::Done)?;
    // Waits until the coordinator closes the input: the last message may still be on its way.
    while orders.recv().is_ok() {}
    Ok(())
}

pub(super) fn listen() -> Result<(), CliError> {
    let (context, _) = Context::from_args(std::iter::empty())?;
    let node = context.create_node(Participant::Listener.node())?;
    let _subscription =
        node.create_subscription(TOPIC, 10, |message: Text, info: MessageInfo| {
            let now = SystemTime::now();
            let latency = info.source_timestamp.and_then(|sent| now.duration_since(sent).ok());
            let latency_us = latency.map(|latency| latency.as_nanos() as f64 / 1000.0);
            if let Err(error) = tell(&Event::Heard { text: message.data, latency_us }) {
                notices::error(error);
            }
        })?;
    listen_to_lines(&context, |_| {})?;
    let executor = Executor::new();
    executor.add_node(&node)?;
    tell(&Event::Ready)?;
    executor.spin()?;
    Ok(())
}

fn tell(event: &Event) -> Result<(), CliError> {
    let line = serde_json::to_string(event).map_err(CliError::failed)?;
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    Ok(output.flush()?)
}
