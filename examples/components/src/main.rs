//! Composes the talker and the listener by hand, in one process, with one executor and one
//! participant.

use demo_components::{Listener, Talker};
use feros::{Context, Error, Executor, NodeOptions};
use feros_component::Component as _;

fn main() -> Result<(), Error> {
    let context = Context::from_env()?;
    let talker = Talker::new(&context, NodeOptions::default())?;
    let listener = Listener::new(&context, NodeOptions::default())?;
    let executor = Executor::new();
    executor.add_node(talker.node())?;
    executor.add_node(listener.node())?;
    Ok(executor.spin()?)
}
