//! The talker and the listeners as components of one process: loaded into a container, they do the
//! same as a pair composed by hand. All components of the process note received messages in a
//! common static, from which the talker reports them at the end.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{LazyLock, Mutex, PoisonError};

use feros::msgs::std_msgs::msg::UInt8MultiArray;
use feros::{Context, Node, Subscription};
use feros_lab_contract::{Arguments, Failure, Placement, Program, Samples, wait_received};

use crate::incoming::{Then, subscribe};
use crate::layers::Layers;
use crate::outgoing::{Outgoing, Pool};
use crate::{EXTRAS, Task, version};

static RECEIVED: Mutex<BTreeMap<usize, Samples>> = Mutex::new(BTreeMap::new());
static POOL: LazyLock<Pool<UInt8MultiArray>> = LazyLock::new(Pool::default);

/// The arguments of a component, parsed like those of a program.
///
/// # Errors
/// See [`Arguments::parse`].
pub fn arguments(line: &str) -> Result<Arguments, String> {
    Arguments::parse(line.split_whitespace().map(str::to_owned), &EXTRAS)
}

/// Creates the subscription of a listener.
///
/// # Errors
/// If the subscription cannot be created.
pub fn listen(
    context: &Context,
    node: &Node,
    arguments: &Arguments,
    index: usize,
) -> Result<Subscription<UInt8MultiArray>, Failure> {
    let task = Task::new(arguments, context.clone(), Layers::default());
    let samples = arguments.samples(index);
    let is_shared = arguments.placement == Placement::Intra && arguments.subscriptions > 1;
    let then = if is_shared { Then::Share } else { Then::Recycle(POOL.clone()) };
    let subscription = subscribe(&task, node, &arguments.topic, &samples, None, then)?;
    RECEIVED.lock().unwrap_or_else(PoisonError::into_inner).insert(index, samples);
    Ok(subscription)
}

/// Performs the whole run of a talker, from its hello to its last line.
pub fn talk(system: &str, context: &Context, node: &Node, arguments: &Arguments) -> ExitCode {
    let version = version(Some(context));
    Program { system, version: &version, extras: &EXTRAS }.run_with(
        arguments,
        |arguments, output| {
            let task = Task::new(arguments, context.clone(), Layers::default());
            let outgoing = Outgoing::<UInt8MultiArray>::new(&task, node, &arguments.topic)?
                .with_pool(POOL.clone());
            outgoing.wait_for(arguments.subscriptions)?;
            output.ready();
            outgoing.send_all(arguments.subscriptions)?;
            let received = RECEIVED.lock().unwrap_or_else(PoisonError::into_inner);
            let received: Vec<Samples> = received.values().cloned().collect();
            wait_received(arguments, &received, outgoing.published.sent());
            outgoing.check_path()?;
            Ok(output.end(Some(&outgoing.published), &received))
        },
    )
}
