//! Turns trace points into layers: reads the records of processes, joins them message by message,
//! and presents them.
//!
//! [`Trace::read`] reads the files of a folder (`FEROS_TRACE`), [`Summary::of`] gives the times
//! that the messages of each topic and transport took in each layer; [`LiveTrace`] does the same
//! for running programs. A laboratory that gets points from the output of programs instead of files
//! uses [`series`](fn@series) and [`join`].
//!
//! This is a separate crate, so that traced programs do not depend on it.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `read`, `blocks` | the file of a process, and its blocks, from untrusted bytes |
//! | `merge` | joins the records of several processes |
//! | `layers`, `figures` | the layers of messages, and their groups |
//! | `summary` | the times of each topic and transport |
//! | `live` | running programs, whose files grow |
//! | `series` | points that a laboratory gets from programs |
//! | `perfetto` | a trace in the form of ui.perfetto.dev |
//!
//! # Invariants
//!
//! The crate depends on no client library and no engine. The memory for growing files is bounded,
//! whatever the files contain.

mod blocks;
mod figures;
mod layers;
mod live;
mod merge;
mod perfetto;
mod read;
mod series;
mod summary;

pub use figures::{Figure6, Figure11};
pub use layers::{Breakdown, Layer, Way};
pub use live::{GrowingFile, LiveFigures, LiveTrace, PairLayers, WINDOW_LOOKS};
pub use merge::{Deliveries, Delivery, Trace, TraceError};
pub use read::{Process, ReadError};
pub use series::{Joined, PointSeries, join, series};
pub use summary::{LayerSummary, Percentiles, ProcessSummary, Summary, TopicSummary};
