//! An emulated link between network namespaces, in user space: what a program meets on a slow,
//! long, lossy or crowded network, on one machine, with one clock, and repeatable.
//!
//! Not every kernel has the queueing disciplines that emulate networks, and those that do count and
//! repeat little of what they did. Here the link is a thread between two TAP devices, each in a
//! network namespace of its own: what a host sends is read, held as long as the asked link would
//! need, perhaps dropped, and written to the other host. [`LinkOptions`] says how the link is; it
//! can be changed while it runs; [`Counters`] say what happened. The same seed and the same packets
//! give the same losses.
//!
//! ```no_run
//! use std::time::Duration;
//! use feros_link::{Link, LinkOptions, Namespace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (talker, listener) = (Namespace::new()?, Namespace::new()?); // 10.77.0.1 and 10.77.0.2
//! let link = Link::between(
//!     &talker,
//!     &listener,
//!     LinkOptions {
//!         rate_bits_per_second: Some(54_000_000),
//!         delay: Duration::from_millis(2),
//!         loss: 0.1,
//!         ..LinkOptions::default()
//!     },
//! )?;
//! let answers = listener.command("ping").args(["-c", "10", "10.77.0.1"]).status()?;
//! println!("{answers}, {:?}", link.counters());
//! # Ok(())
//! # }
//! ```
//!
//! # What it needs
//!
//! Linux, the rights to make namespaces and devices (root, or the capabilities `SYS_ADMIN` and
//! `NET_ADMIN`), `/dev/net/tun`, and the programs `unshare`, `nsenter`, `mount` (util-linux),
//! `find` (findutils) and `ip`, `tc` (iproute2). What is missing is said by [`NamespaceError`] and
//! [`LinkError`], with the cure.
//!
//! # What stays behind
//!
//! Nothing. Devices, namespaces and every program started in them end with the [`Link`] and the
//! [`Namespace`]s; also when their process is killed: a small process in each namespace notices
//! that its owner is gone, and ends whatever still runs in there.
//!
//! # How far it can be trusted
//!
//! The schedule itself is exact and free of drift (the tests hold rate, loss and delay to 2 %). A
//! packet's delivery is late by what the machine needs to wake the link's thread, which has
//! real-time priority where that is permitted, and by up to 50 us where packets follow each other
//! closely. [`DirectionCounters::largest_lateness`] says how late the latest was. How many packets
//! pass in a second depends on the machine, since each costs two system calls: on two cores of a
//! virtual machine 1 Gbit/s of full packets (81,000 a second) took 60 % of one, 100 Mbit/s 40 %, an
//! idle link nothing, and without a rate it carried 460,000 a second. `cargo run --release -p
//! feros-link --example ceiling` measures it. A higher rate than [`RATE_CEILING_BITS_PER_SECOND`]
//! is refused; at one that a slower machine does not reach, [`DirectionCounters::dropped_device`]
//! or the lateness grows.

mod counters;
mod error;
mod forward;
mod frame;
mod link;
mod loss;
mod namespace;
mod options;
mod scheduler;
mod tap;

pub use counters::{Counters, DirectionCounters};
pub use error::LinkError;
pub use link::{Link, Switch, host_address};
pub use namespace::{MissingProgram, Namespace, NamespaceError};
pub use options::{LinkOptions, LinkOptionsError, RATE_CEILING_BITS_PER_SECOND};
