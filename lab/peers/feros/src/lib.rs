//! Feros as a system under test: the client library as users have it, in every role, in every
//! placement, and with every form of a message. The program composes nodes by hand; [`components`]
//! has the same nodes as components for containers.
//!
//! `--form`: how a message is published and taken. `ordinary` is the form of most programs (publish
//! a struct, and receive it in a closure), `view` reads received messages without a copy, `built`
//! also builds messages in memory that the publisher lends, `raw` uses bytes. `--transport` is the
//! only transport that messages may take. With `--in-turn`, messages circulate within a process:
//! the publisher gives them away, and the subscription gives them back (`cache`: eight messages,
//! `memory`: more than caches hold). `--dispatch publishing-thread` runs callbacks on the
//! publishing thread. `--busy-wait yes` makes executors look for work before they sleep. `--graph`
//! is a graph of `lab/graphs`; `--until N` ends it after N messages of its chain, instead of when
//! the laboratory stops it.

mod calls;
pub mod components;
mod graph;
mod incoming;
mod layers;
mod outgoing;
mod payload;
mod robot;
mod roles;
mod spinning;
mod transport;
mod turns;

use std::process::ExitCode;

use feros::msgs::std_msgs::msg::{String as Text, UInt8MultiArray};
use feros::{Context, ContextOptions, Dispatch, Durability, History, QosProfile, Reliability};
use feros_lab_contract::graph::Graph;
use feros_lab_contract::{self as contract, Arguments, Extra, Failure, MessageType, Program, Role};

use layers::Layers;

pub(crate) const EXTRAS: [Extra<'_>; 7] = [
    Extra { name: "--form", allowed: &["ordinary", "view", "built", "raw"], default: "ordinary" },
    Extra { name: "--transport", allowed: &["any", "shared_memory", "network"], default: "any" },
    Extra { name: "--in-turn", allowed: &["any", "cache", "memory"], default: "any" },
    Extra { name: "--dispatch", allowed: &["executor", "publishing-thread"], default: "executor" },
    Extra { name: "--busy-wait", allowed: &["no", "yes"], default: "no" },
    Extra { name: "--graph", allowed: Graph::NAMES, default: "driving" },
    Extra { name: "--until", allowed: &[], default: "0" },
];

/// The form in which messages are published and taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Ordinary,
    View,
    Built,
    Raw,
}

/// The task of the program, in types of Feros.
struct Task<'a> {
    arguments: &'a Arguments,
    context: Context,
    form: Form,
    qos: QosProfile,
    dispatch: Dispatch,
    layers: Layers,
}

/// The program, with the arguments of the process.
pub fn main() -> ExitCode {
    let opened = Arguments::parse(std::env::args().skip(1), &EXTRAS).map(|arguments| {
        let layers = Layers::new(&arguments);
        open(&arguments).map(|context| (context, layers))
    });
    let context =
        opened.as_ref().ok().and_then(|opened| opened.as_ref().ok()).map(|(context, _)| context);
    let version = version(context);
    Program { system: "feros", version: &version, extras: &EXTRAS }.run(|arguments, output| {
        let (context, layers) = opened.map_err(Failure::from)??;
        let task = Task::new(arguments, context, layers);
        match (arguments.role, arguments.payload) {
            (Role::Nodes, _) => roles::nodes(&task, output),
            (Role::Graph, _) => graph::run(&task, output),
            (Role::Executor, _) => turns::measure(task.arguments, output),
            (Role::Server, _) => calls::server(&task, output),
            (Role::Client, _) => calls::client(&task, output),
            (Role::Calls, _) => calls::both(&task, output),
            (_, MessageType::Bytes) => roles::messages::<UInt8MultiArray>(&task, output),
            (_, MessageType::String) => roles::messages::<Text>(&task, output),
        }
    })
}

/// The version of Feros and, once there is a context, of its engine.
pub(crate) fn version(context: Option<&Context>) -> String {
    let mut version = format!("Feros {}", env!("CARGO_PKG_VERSION"));
    if let Some(context) = context {
        let session = context.session();
        version += &format!(", {} {}", session.engine_name(), session.engine_version());
    }
    version
}

fn open(arguments: &Arguments) -> Result<Context, Failure> {
    let mut options = ContextOptions::from_variables()?;
    options.transports = transport::restricted(arguments, options.transports)?;
    // The context removes its shared memory.
    options.handle_signals = true;
    Ok(Context::new(options)?)
}

impl<'a> Task<'a> {
    fn new(arguments: &'a Arguments, context: Context, layers: Layers) -> Self {
        let form = match arguments.extra("--form") {
            "view" => Form::View,
            "built" => Form::Built,
            "raw" => Form::Raw,
            _ => Form::Ordinary,
        };
        let dispatch = match arguments.extra("--dispatch") {
            "publishing-thread" => Dispatch::PublishingThread,
            _ => Dispatch::Executor,
        };
        let mut qos = QosProfile::keep_last(arguments.depth);
        if arguments.history == contract::History::KeepAll {
            qos.history = History::KeepAll;
        }
        if arguments.reliability == contract::Reliability::BestEffort {
            qos.reliability = Reliability::BestEffort;
        }
        if arguments.durability == contract::Durability::TransientLocal {
            qos.durability = Durability::TransientLocal;
        }
        if let Some(deadline) = arguments.deadline {
            qos = qos.deadline(deadline);
        }
        Self { arguments, context, form, qos, dispatch, layers }
    }
}
