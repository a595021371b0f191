//! An emulated link between network namespaces, in user space. It reproduces a slow, long, lossy or
//! crowded network on one machine, with one clock, and repeatably.
//!
//! Not every kernel has the queueing disciplines that emulate networks. These disciplines also have
//! few counters, and their losses cannot be repeated. This link is a thread between two TAP
//! devices, each in a separate network namespace: the thread reads what a host sends, holds it as
//! long as the requested link would need, perhaps drops it, and writes it to the other host.
//! [`LinkOptions`] describe the link and can change while it runs; [`Counters`] count its packets.
//! The same seed and the same packets give the same losses.
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
//! # Requirements
//!
//! Linux, the rights to create namespaces and devices (root, or the capabilities `SYS_ADMIN` and
//! `NET_ADMIN`), `/dev/net/tun`, and the programs `unshare`, `nsenter`, `mount` (util-linux),
//! `find` (findutils) and `ip`, `tc` (iproute2). [`NamespaceError`] and [`LinkError`] name the
//! missing requirement and the cure.
//!
//! # What stays behind
//!
//! Nothing. Devices, namespaces and every program started in them end with the [`Link`] and the
//! [`Namespace`]s, even if their process is killed: a small process in each namespace notices that
//! its owner no longer exists, and ends every program that still runs there.
//!
//! # Accuracy
//!
//! The schedule itself is exact and free of drift (the tests check rate, loss and delay to 2 %). A
//! packet's delivery is late by the time that the machine needs to wake the link's thread (which
//! has real-time priority where permitted), and by up to 50 us if packets follow each other
//! closely. [`DirectionCounters::largest_lateness`] is the largest such delay. The number of
//! packets per second depends on the machine, since each packet costs two system calls: on a
//! virtual machine with two cores, 1 Gbit/s of full packets (81,000 per second) took 60 % of one
//! core, 100 Mbit/s took 40 %, and an idle link took nothing; without a rate limit, the link
//! carried 460,000 packets per second. `cargo run --release -p feros-link --example ceiling`
//! measures it. A higher rate than [`RATE_CEILING_BITS_PER_SECOND`] is refused; if a slower machine
//! does not reach the rate, [`DirectionCounters::dropped_device`] or the lateness grows.

mod counters;
mod error;
mod forward;
mod link;
mod loss;
mod namespace;
mod options;
mod scheduler;
mod tap;

pub use counters::{Counters, DirectionCounters};
pub use error::LinkError;
pub use link::Link;
pub use namespace::{MissingProgram, Namespace, NamespaceError};
pub use options::{LinkOptions, LinkOptionsError, RATE_CEILING_BITS_PER_SECOND};
pub use tap::host_address;
