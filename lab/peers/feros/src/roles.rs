//! The roles of the contract.

use feros::NodeOptions;
use feros_lab_contract::{
    self as contract, Arguments, Ended, Failure, Output, Placement, Role, wait_received,
};

use crate::incoming::{Then, subscribe};
use crate::outgoing::Outgoing;
use crate::payload::Carrier;
use crate::spinning::Spinning;
use crate::{Task, robot, transport};

pub(crate) fn messages<M: Carrier>(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    match task.arguments.role {
        Role::Talker => talker::<M>(task, output),
        Role::Listener | Role::Listeners => listener::<M>(task, output),
        Role::Relay => relay::<M>(task, output),
        Role::Pair => pair::<M>(task, output),
        Role::Chain => chain::<M>(task, output),
        Role::Member => robot::member::<M>(task, output),
        Role::Newcomer => robot::newcomer::<M>(task, output),
        other => Err(Failure::unsupported(format!("there is no role {}", other.word()))),
    }
}

fn talker<M: Carrier>(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    let node = task.context.create_node("talker")?;
    let outgoing = Outgoing::<M>::new(task, &node, &task.arguments.topic)?;
    outgoing.wait_for(task.arguments.matched)?;
    // The subscriptions may have ended when the last message has been sent.
    let reason = transport::reason(&outgoing.publisher);
    output.ready();
    outgoing.send_all(task.arguments.matched)?;
    let reason = reason.or_else(|| transport::reason(&outgoing.publisher));
    outgoing.linger();
    outgoing.check_path()?;
    transport::tell_published(output, &outgoing.publisher);
    if let Some(reason) = reason {
        output.note(&reason);
    }
    task.layers.tell(output);
    Ok(output.end(Some(&outgoing.published), &[]))
}

/// Runs one subscription, or several subscriptions in one process.
fn listener<M: Carrier>(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    let Arguments { index, topic, .. } = task.arguments;
    let count =
        if task.arguments.role == Role::Listeners { task.arguments.subscriptions } else { 1 };
    let spinning = Spinning::new(task.arguments);
    // With several subscriptions, the last message of one subscription is not the last message of
    // the run, so the laboratory ends the run.
    let stopper = || if count == 1 { spinning.stopper() } else { None };
    let (mut samples, mut received) = (Vec::new(), Vec::new());
    for index in *index..*index + count {
        let node = task.context.create_node(&format!("listener_{index}"))?;
        let own = task.arguments.samples(index);
        let recycle = Then::Recycle(<_>::default());
        let subscription = subscribe::<M>(task, &node, topic, &own, stopper(), recycle)?;
        spinning.add(&node)?;
        samples.push(own);
        received.push((node, subscription));
    }
    output.ready();
    spinning.until_done(task.arguments, &received[0].0, &samples[0])?;
    let subscriptions: Vec<_> = received.iter().map(|(_, subscription)| subscription).collect();
    transport::tell_received(output, &subscriptions);
    spinning.tell(output);
    task.layers.tell(output);
    Ok(output.end(None, &samples))
}

fn relay<M: Carrier>(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    let Arguments { index, topic, to, .. } = task.arguments;
    let node = task.context.create_node(&format!("relay_{index}"))?;
    let (samples, spinning) = (task.arguments.samples(0), Spinning::new(task.arguments));
    let outgoing = Outgoing::<M>::new(task, &node, to)?;
    let then = Then::Relay(outgoing.publisher.clone(), outgoing.published.clone());
    let _subscription = subscribe::<M>(task, &node, topic, &samples, spinning.stopper(), then)?;
    spinning.add(&node)?;
    outgoing.wait_a_while();
    output.ready();
    spinning.until_done(task.arguments, &node, &samples)?;
    outgoing.linger();
    Ok(output.end(Some(&outgoing.published), &[samples]))
}

/// Runs a node for the publisher, and a node for each subscription.
fn pair<M: Carrier>(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    let Arguments { topic, subscriptions, .. } = task.arguments;
    let spinning = Spinning::new(task.arguments);
    let node = task.context.create_node("talker")?;
    let outgoing = Outgoing::<M>::new(task, &node, topic)?;
    let (mut samples, mut received) = (Vec::new(), Vec::new());
    for index in 0..*subscriptions {
        let node = task.context.create_node(&format!("listener_{index}"))?;
        let is_shared = task.arguments.placement == Placement::Intra && *subscriptions > 1;
        let then = if is_shared { Then::Share } else { Then::Recycle(outgoing.pool.clone()) };
        let own = task.arguments.samples(index);
        let subscription = subscribe::<M>(task, &node, topic, &own, None, then)?;
        spinning.add(&node)?;
        samples.push(own);
        received.push((node, subscription));
    }
    let beside = spinning.beside()?;
    outgoing.wait_for(*subscriptions)?;
    output.ready();
    outgoing.send_all(*subscriptions)?;
    wait_received(task.arguments, &samples, outgoing.published.sent());
    spinning.end(beside)?;
    outgoing.check_path()?;
    let subscriptions: Vec<_> = received.iter().map(|(_, subscription)| subscription).collect();
    transport::tell_received(output, &subscriptions);
    spinning.tell(output);
    task.layers.tell(output);
    Ok(output.end(Some(&outgoing.published), &samples))
}

/// Each node has its own executor and thread, unless the arguments select another executor.
fn chain<M: Carrier>(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    let Arguments { topic, nodes, executor, .. } = task.arguments;
    let kind = match executor {
        contract::Executor::Default => contract::Executor::Isolated,
        other => *other,
    };
    let spinning = Spinning::of(kind, task.arguments);
    let link = |index: usize| format!("{topic}_{index}");
    let first = task.context.create_node("node_0")?;
    let outgoing = Outgoing::<M>::new(task, &first, &link(0))?;
    let last = task.arguments.samples(0);
    let counts = task.arguments.without_samples();
    let (mut relays, mut received) = (Vec::new(), Vec::new());
    for index in 1..*nodes {
        let node = task.context.create_node(&format!("node_{index}"))?;
        let subscription = if index + 1 == *nodes {
            let then = Then::Recycle(outgoing.pool.clone());
            subscribe::<M>(task, &node, &link(index - 1), &last, None, then)?
        } else {
            let mut relay = Outgoing::<M>::new(task, &node, &link(index))?;
            relay.published = counts.published();
            let then = Then::Relay(relay.publisher.clone(), relay.published.clone());
            relays.push(relay);
            subscribe::<M>(task, &node, &link(index - 1), &counts.samples(0), None, then)?
        };
        spinning.add(&node)?;
        received.push((node, subscription));
    }
    let beside = spinning.beside()?;
    for link in relays.iter().chain([&outgoing]) {
        link.wait_for(1)?;
    }
    output.ready();
    outgoing.send_all(1)?;
    wait_received(task.arguments, std::slice::from_ref(&last), outgoing.published.sent());
    spinning.end(beside)?;
    for link in relays.iter().chain([&outgoing]) {
        link.check_path()?;
    }
    if let Some((_, last)) = received.last() {
        transport::tell_received(output, &[last]);
    }
    task.layers.tell(output);
    Ok(output.end(Some(&outgoing.published), &[last]))
}

pub(crate) fn nodes(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    let spinning = Spinning::new(task.arguments);
    let mut nodes = Vec::new();
    for index in 0..task.arguments.nodes {
        // Several processes may have nodes, and node names must be unique in a graph.
        let name = format!("idle_{}_{index}", std::process::id());
        let node = task.context.create_node_with(NodeOptions::new(&name))?;
        spinning.add(&node)?;
        nodes.push(node);
    }
    output.ready();
    spinning.idle(task.arguments)?;
    Ok(output.end(None, &[]))
}
