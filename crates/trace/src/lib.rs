//! Trace points: where the time of a message goes, in an unmodified program, with no tracer.
//!
//! Every layer of a message's way has a [`Point`]. Off, passing one costs one relaxed load. On, it
//! costs a look at the clock and six stores into a ring of the thread: nobody waits, nothing is
//! allocated after a thread's first event, and when the ring is full the oldest events are
//! overwritten and counted.
//!
//! | point | where | thread |
//! |---|---|---|
//! | [`Publish`](Point::Publish) .. [`WriteEnd`](Point::WriteEnd) | the client, the engine's write | publishing |
//! | [`Received`](Point::Received), [`Announced`](Point::Announced) on the network transport | the engine | its receiving thread |
//! | [`Announced`](Point::Announced) on the intra-process and shared-memory transports | the client | publishing |
//! | [`Found`](Point::Found) .. [`Callback`](Point::Callback) | executor and client | spinning |
//!
//! A message is known by its publisher's gid and its stamp on every transport and in every process
//! ([`MessageId`]); the clock is CLOCK_MONOTONIC, the same for all processes of a host. So what two
//! processes recorded can be joined.
//!
//! `FEROS_TRACE=FOLDER` has a program write a file there when a context of it ends; `feros trace`
//! reads them. A program can do the same for itself: [`enable`], [`drain`], or [`enable_in`],
//! [`write`](fn@write). The crate `feros-trace-analysis` reads such files and joins them.
//!
//! With `FEROS_TRACE_PERIOD=1s` besides, a thread writes each second, so that `feros view` can show
//! the layers of a program that runs. Then a program keeps at most `FEROS_TRACE_BYTES` on the disk,
//! 64 MiB if that is not set: its file is begun anew when it has half of them, and the one before
//! is kept as `<process>.before.ferostrace`.

mod event;
mod point;
mod ring;
mod transport;

// Loom explores the rings; the rest is built on them, on mutexes and on files.
#[cfg(not(loom))]
mod clock;
#[cfg(not(loom))]
mod endpoint;
#[cfg(not(loom))]
mod environment;
#[cfg(not(loom))]
mod file;
#[cfg(not(loom))]
mod passing;
#[cfg(not(loom))]
mod periodic;
#[cfg(not(loom))]
mod recorder;

#[cfg(not(loom))]
pub use clock::now_nanos;
#[cfg(not(loom))]
pub use endpoint::{Endpoint, EndpointName, Kind, endpoints};
#[cfg(not(loom))]
pub use environment::{
    BYTES_VARIABLE, CAPACITY_VARIABLE, DEFAULT_BYTES, EnvironmentError, FOLDER_VARIABLE,
    PERIOD_VARIABLE, enable_from_environment,
};
pub use event::{Event, MessageId, ThreadEvents};
#[cfg(not(loom))]
pub use file::{FILE_EXTENSION, FORMAT, WriteError, format};
#[cfg(not(loom))]
pub use passing::{Delivery, Outbound, begin_turn, deliver, delivery, found_nanos, pass, taken};
pub use point::Point;
#[cfg(all(test, not(loom)))]
pub(crate) use recorder::alone;
#[cfg(not(loom))]
pub use recorder::{
    DEFAULT_CAPACITY, disable, drain, enable, enable_in, file, is_on, record, set_capacity, write,
};
pub use transport::Transport;
