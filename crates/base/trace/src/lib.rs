//! Trace points, which show where a message spends its time. The program does not need to be
//! modified, and no separate tracer is necessary.
//!
//! Each layer that a message passes has a [`Point`]. While the trace is off, passing a point costs
//! one relaxed load. While the trace is on, it costs reading the clock and six stores into the ring
//! of the thread, which is a bounded queue. No thread waits, and after the first event of a thread,
//! nothing is allocated. When the ring is full, the oldest events are overwritten and counted.
//!
//! | point | where | thread |
//! |---|---|---|
//! | [`Publish`](Point::Publish) .. [`WriteEnd`](Point::WriteEnd) | the client, the engine's write | publishing |
//! | [`Received`](Point::Received), [`Announced`](Point::Announced) on the network transport | the engine | its receiving thread |
//! | [`Announced`](Point::Announced) on the intra-process and shared-memory transports | the client | publishing |
//! | [`Found`](Point::Found) .. [`Callback`](Point::Callback) | executor and client | spinning |
//!
//! On all transports and in all processes, a message is identified by the gid of its publisher and
//! by its stamp ([`MessageId`]). The clock is CLOCK_MONOTONIC, which is the same for all processes
//! of a host. For these reasons, the records of several processes can be combined.
//!
//! With `FEROS_TRACE=FOLDER`, a program writes a file to the folder when one of its contexts ends.
//! The command `feros trace` reads such files. The crate `feros-trace-analysis` reads and combines
//! them in code. A program can also record its own trace: in memory with [`enable`] and [`drain`],
//! or in a file with [`enable_in`] and [`write`](fn@write).
//!
//! If `FEROS_TRACE_PERIOD=1s` is also set, a thread writes the file every second, so that `feros
//! view` can show the layers of a running program. Such a program uses at most `FEROS_TRACE_BYTES`
//! of disk space, which is 64 MiB by default. When the file reaches half of this limit, it is
//! renamed to `<process>.before.ferostrace`, and a new file is started.
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `point` | the points that a message passes |
//! | `passing` | the functions that layers call at these points |
//! | `event`, `ring` | events, each of which records that a message passed a trace point, and the ring of a thread |
//! | `switch`, `recorder`, `endpoint`, `clock` | the trace of this process: whether it is on, its rings, its endpoints |
//! | `environment`, `periodic` | the settings in the environment, and the thread that writes while the program runs |
//! | `file` | the trace file of a process |
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

// Loom explores only the rings. The other modules consist of rings, mutexes and files.
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
mod switch;

#[cfg(not(loom))]
pub use clock::{boot_id, now_nanos};
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
pub use recorder::{DEFAULT_CAPACITY, drain, enable_in, file, record, set_capacity, write};
#[cfg(not(loom))]
pub use switch::{disable, enable, is_on};
pub use transport::Transport;
