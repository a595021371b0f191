//! The words of the contract, for both sides: the laboratory reads them in scenarios and manifests,
//! peers read them in their arguments.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Declares the words of a dimension: the same in scenario files, in manifests, and as arguments.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$meaning])* #[serde(rename = $word)] $variant),+
        }

        impl $name {
            /// All values, in the order of their explanations.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word for the value.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(one_of(&[$($word),+])),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

words! {
    /// The role of a program in a cell.
    Role {
        /// Publishes.
        Talker = "talker",
        /// Subscribes once.
        Listener = "listener",
        /// Subscribes `--subscriptions` times in one process.
        Listeners = "listeners",
        /// Subscribes, and publishes the received messages on another topic.
        Relay = "relay",
        /// Has the publisher and the subscriptions in one process.
        Pair = "pair",
        /// Publisher, relays and a subscription in one process, each a node.
        Chain = "chain",
        /// Nodes without entities.
        Nodes = "nodes",
        /// A whole graph of nodes; `--graph`, in addition to the common arguments, names it.
        Graph = "graph",
        /// An executor with one entity that is always ready, among `--idle` others that are never
        /// ready.
        Executor = "executor",
        /// Serves a service.
        Server = "server",
        /// Calls a service.
        Client = "client",
        /// A server and a client in one process.
        Calls = "calls",
        /// One process of a robot: a node with parameters, publishers and subscriptions, which are
        /// matched by those of other members.
        Member = "member",
        /// A process that joins the members of a robot, and waits for its first message.
        Newcomer = "newcomer",
    }
}

words! {
    /// The topics that join the members of a robot.
    Topology {
        /// Each member subscribes to topics of its two neighbours.
        Ring = "ring",
        /// All publishers and subscriptions of all members are on one topic.
        OneTopic = "one_topic",
    }
}

words! {
    /// The placement of publisher and subscriptions.
    Placement {
        /// On two hosts: two network namespaces joined by a link.
        Remote = "remote",
        /// In processes of one host.
        Local = "local",
        /// In one process, over the engine's ordinary transport.
        Composed = "composed",
        /// In one process, by pointer.
        Intra = "intra",
    }
}

words! {
    /// The type of messages.
    MessageType {
        /// A sequence of bytes, without padding.
        Bytes = "bytes",
        /// Text.
        String = "string",
    }
}

words! {
    /// Whether lost messages are sent again.
    Reliability {
        /// Messages are sent again until they have been acknowledged.
        Reliable = "reliable",
        /// Each message is sent once.
        BestEffort = "best_effort",
    }
}

words! {
    /// Which messages a late subscription gets.
    Durability {
        /// No earlier messages.
        Volatile = "volatile",
        /// The messages that the publisher keeps.
        TransientLocal = "transient_local",
    }
}

words! {
    /// Which messages are kept for delivery.
    History {
        /// The last `depth` messages.
        KeepLast = "keep_last",
        /// All messages.
        KeepAll = "keep_all",
    }
}

words! {
    /// The part of each payload that a talker writes before publishing.
    Fill {
        /// Only the stamp.
        None = "none",
        /// The whole payload.
        Each = "each",
    }
}

words! {
    /// The thread that sends: the publishing thread or another thread.
    PublishMode {
        /// The default of the system.
        Default = "default",
        /// The publishing thread.
        Sync = "sync",
        /// Another thread: publish returns immediately.
        Async = "async",
    }
}

words! {
    /// The executor that runs callbacks.
    Executor {
        /// The default of the system.
        Default = "default",
        /// One thread for all nodes.
        Single = "single",
        /// A pool of threads for all nodes.
        Multi = "multi",
        /// A thread for each node.
        Isolated = "isolated",
    }
}

pub(crate) fn one_of(allowed: &[&str]) -> String {
    format!("it takes one of {}", allowed.join(", "))
}
