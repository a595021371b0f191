//! A process that is measured: it publishes, receives, or does both, as its coordinator orders.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver as Orders, sync_channel};
use std::time::Duration;

use feros::Context;

use super::Kind;
use super::options::{Options, Role};
use super::protocol::{Event, Order, Published, listen};
use super::publisher::Sender;
use super::subscription::Receiver;
use crate::error::CliError;

/// How long the counterpart may take to appear.
pub(super) const MATCH_LIMIT: Duration = Duration::from_secs(30);

pub(super) fn run(role: Role, kind: Kind, options: &Options) -> Result<ExitCode, CliError> {
    // Its own command line has no ROS arguments.
    let (context, _) = Context::from_args(std::iter::empty())?;
    match role {
        Role::Publisher => publish(&context, kind, options),
        Role::Subscription => receive(&context, kind, options),
        Role::Both => do_both(&context, kind, options),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn publish(context: &Context, kind: Kind, options: &Options) -> Result<(), CliError> {
    let node = context.create_node("feros_perf_publisher")?;
    let sender = Sender::new(&node, kind, options)?;
    let orders = orders(context)?;
    sender.wait_for_match(MATCH_LIMIT)?;
    sender.wait_for_transport(MATCH_LIMIT)?;
    Event::Ready.tell()?;
    Event::Published(send(&sender, &orders)?).tell()?;
    // The publisher stays until the subscription has what it sent: then the coordinator closes the
    // input.
    while orders.recv().is_ok() {}
    Ok(())
}

fn receive(context: &Context, kind: Kind, options: &Options) -> Result<(), CliError> {
    let node = context.create_node("feros_perf_subscription")?;
    let receiver = Receiver::new(&node, kind, options)?;
    let finish = receiver.finisher();
    listen(context, move |order| {
        if let Order::Finish(sent) = order {
            finish(sent);
        }
    })?;
    receiver.wait_for_match(MATCH_LIMIT)?;
    Event::Ready.tell()?;
    receiver.spin()?;
    Event::Received(receiver.report()).tell()
}

fn do_both(context: &Context, kind: Kind, options: &Options) -> Result<(), CliError> {
    let sending = context.create_node("feros_perf_publisher")?;
    let receiving = context.create_node("feros_perf_subscription")?;
    let (sender, receiver) =
        (Sender::new(&sending, kind, options)?, Receiver::new(&receiving, kind, options)?);
    let orders = orders(context)?;
    sender.wait_for_match(MATCH_LIMIT)?;
    receiver.wait_for_match(MATCH_LIMIT)?;
    let finish = receiver.finisher();
    let published = std::thread::scope(|scope| {
        // Shared memory is opened by who spins.
        let spinning = scope.spawn(|| receiver.spin());
        let ready = sender.wait_for_transport(MATCH_LIMIT).and_then(|()| Event::Ready.tell());
        let published = ready.and_then(|()| send(&sender, &orders));
        finish(published.as_ref().map_or(0, |published| published.sent));
        spinning.join().map_err(|_| CliError::failed("the subscription panicked"))??;
        published
    })?;
    Event::Published(published).tell()?;
    Event::Received(receiver.report()).tell()
}

fn send(sender: &Sender<'_>, orders: &Orders<Order>) -> Result<Published, CliError> {
    match orders.recv() {
        Ok(Order::Go) => sender.send(),
        _ => Err(CliError::failed("the measurement was ended before it began")),
    }
}

fn orders(context: &Context) -> Result<Orders<Order>, CliError> {
    let (send, receive) = sync_channel(4);
    listen(context, move |order| {
        // Two orders are all that come, and one that nobody waits for any more means nothing.
        let _ = send.try_send(order);
    })?;
    Ok(receive)
}
