//! Trace points: they show where the time of a message goes, in an unmodified program, without a
//! tracer.
//!
//! Every layer that a message passes has a [`Point`]. While the trace is off, passing a point costs
//! one relaxed load. While it is on, that costs a read of the clock and six stores into a ring of
//! the thread: no thread waits, nothing is allocated after a thread's first event, and when the
//! ring is full, the oldest events are overwritten and counted.
//!
//! | point | where | thread |
//! |---|---|---|
//! | [`Publish`](Point::Publish) .. [`WriteEnd`](Point::WriteEnd) | the client, the engine's write | publishing |
//! | [`Received`](Point::Received), [`Announced`](Point::Announced) on the network transport | the engine | its receiving thread |
//! | [`Announced`](Point::Announced) on the intra-process and shared-memory transports | the client | publishing |
//! | [`Found`](Point::Found) .. [`Callback`](Point::Callback) | executor and client | spinning |
//!
//! On every transport and in every process, a message is identified by its publisher's gid and its
//! stamp ([`MessageId`]); the clock is CLOCK_MONOTONIC, the same for all processes of a host. So
//! the records of two processes can be joined.
//!
//! With `FEROS_TRACE=FOLDER`, a program writes a file there when one of its contexts ends;
//! `feros trace` reads such files. A program can do the same for itself: [`enable`], [`drain`], or
//! [`enable_in`], [`write`](fn@write). The crate `feros-trace-analysis` reads such files and joins
//! them.
//!
//! If `FEROS_TRACE_PERIOD=1s` is set too, a thread writes each second, so that `feros view` can
//! show the layers of a running program. Then a program keeps at most `FEROS_TRACE_BYTES` on the
//! disk, 64 MiB by default: a new file is begun when the present one has half of them, and the
//! former one is kept as `<process>.before.ferostrace`.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `point` | the points that a message passes |
//! | `passing` | the functions that layers call there |
//! | `event`, `ring` | one passing, and the ring of a thread |
//! | `recorder`, `endpoint`, `clock` | the trace of this process: whether it is on, its rings, its endpoints |
//! | `environment`, `periodic` | the settings of the environment, and writing while the program runs |
//! | `file` | the file of a process |
//! | `transport` | the names of the transports |
//!
//! # Invariants
//!
//! The ring of a thread is bounded, and a recording thread never waits for a thread that reads or
//! writes the trace.

mod event;
mod point;
mod ring;
mod transport;

// Loom explores the rings; the rest builds on them, on mutexes and on files.
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
