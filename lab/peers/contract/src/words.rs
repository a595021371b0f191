//! The words of the contract, for both of its sides: the laboratory reads them in scenarios and
//! manifests, peers among their arguments.

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
            /// Every value, in the order in which they are explained.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word for it.
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
    /// What a program is in a cell.
    Role {
        /// Publishes.
        Talker = "talker",
        /// Subscribes once.
        Listener = "listener",
        /// Subscribes `--subscriptions` times in one process.
        Listeners = "listeners",
        /// Subscribes, and publishes what it receives on another topic.
        Relay = "relay",
        /// Publisher and subscriptions in one process.
        Pair = "pair",
        /// Publisher, relays and a subscription in one process, each a node.
        Chain = "chain",
        /// Nodes without entities.
        Nodes = "nodes",
        /// A whole graph of nodes, by name: with `--graph`, beside what all programs take.
        Graph = "graph",
        /// An executor with one entity that is always ready again, among `--idle` others that never
        /// are.
        Executor = "executor",
        /// Serves a service.
        Server = "server",
        /// Calls a service.
        Client = "client",
        /// A server and a client in one process.
        Calls = "calls",
    }
}

words! {
    /// Where publisher and subscriptions are.
    Placement {
        /// On two hosts: two network namespaces joined by a link.
        Remote = "remote",
        /// In processes of one host.
        Local = "local",
        /// In one process, through the middleware's ordinary way.
        Composed = "composed",
        /// In one process, by pointer.
        Intra = "intra",
    }
}

words! {
    /// What is sent.
    MessageType {
        /// A sequence of bytes, without padding.
        Bytes = "bytes",
        /// Text.
        String = "string",
    }
}

words! {
    /// Whether what is lost is sent again.
    Reliability {
        /// Until it is acknowledged.
        Reliable = "reliable",
        /// Once.
        BestEffort = "best_effort",
    }
}

words! {
    /// What a subscription gets that comes late.
    Durability {
        /// Nothing of before.
        Volatile = "volatile",
        /// What the publisher keeps.
        TransientLocal = "transient_local",
    }
}

words! {
    /// What is kept for delivery.
    History {
        /// The last `depth` messages.
        KeepLast = "keep_last",
        /// Everything.
        KeepAll = "keep_all",
    }
}

words! {
    /// What a talker writes of each payload before it is published.
    Fill {
        /// Its stamp alone.
        None = "none",
        /// All of it.
        Each = "each",
    }
}

words! {
    /// Who sends: the thread that publishes, or another.
    PublishMode {
        /// As the system does when nobody asks.
        Default = "default",
        /// The thread that publishes.
        Sync = "sync",
        /// Another: publish returns at once.
        Async = "async",
    }
}

words! {
    /// Who runs callbacks.
    Executor {
        /// What the system does when nobody asks.
        Default = "default",
        /// One thread for all.
        Single = "single",
        /// A pool of threads for all.
        Multi = "multi",
        /// A thread for each node.
        Isolated = "isolated",
    }
}

pub(crate) fn one_of(allowed: &[&str]) -> String {
    format!("it takes one of {}", allowed.join(", "))
}
