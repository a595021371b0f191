//! Talker and listeners of the laboratory as components, in a library that containers load. The
//! script `../pair_in_container` starts the container and loads them, as a user would.

use feros_shared as _;

use feros::msgs::std_msgs::msg::UInt8MultiArray;
use feros::{Context, Error, Node, NodeOptions, Subscription};
use feros_component::{Component, register};
use feros_lab_contract::Arguments;
use feros_lab_feros::components;
use rustix::process::{Signal, getpid, kill_process};

/// The name of the system under test.
const SYSTEM: &str = "feros_containers";

/// A subscription of the pair. Its parameters are `arguments`, which the script got, and `index`,
/// its index among the subscriptions.
pub struct Listener {
    node: Node,
    _subscription: Subscription<UInt8MultiArray>,
}

impl Component for Listener {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("listener"))?;
        let index =
            usize::try_from(node.declare_parameter("index", 0_i64)?.get()).map_err(Error::other)?;
        let subscription = components::listen(context, &node, &arguments(&node)?, index)
            .map_err(|failure| Error::other(failure.to_string()))?;
        Ok(Self { node, _subscription: subscription })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

/// The publisher of the pair, on its own thread. It writes the contract's lines to the standard
/// output of the container, and ends the container after its last line. Its parameter is
/// `arguments`, which the script got.
pub struct Talker {
    node: Node,
}

impl Component for Talker {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("talker"))?;
        let (arguments, context, publishes) = (arguments(&node)?, context.clone(), node.clone());
        let run = move || {
            // The talker has reported its failure itself.
            let _ = components::talk(SYSTEM, &context, &publishes, &arguments);
            drop(publishes);
            if let Err(error) = kill_process(getpid(), Signal::TERM) {
                eprintln!("error: the container cannot be ended: {error}");
            }
        };
        std::thread::Builder::new().name("talker".into()).spawn(run).map_err(Error::other)?;
        Ok(Self { node })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

fn arguments(node: &Node) -> Result<Arguments, Error> {
    let line = node.declare_parameter("arguments", "")?.get();
    components::arguments(&line).map_err(Error::other)
}

register!(Listener, "feros_containers::Listener");
register!(Talker, "feros_containers::Talker");
