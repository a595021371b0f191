//! From trace points to layers: reading what processes recorded, joining it message by message, and
//! showing it.
//!
//! [`Trace::read`] reads the files of a folder (`FEROS_TRACE`), [`Summary::of`] says what the
//! messages of each topic and path took in each layer; [`LiveTrace`] says it of programs that run.
//! A laboratory that gets points from programs instead of files uses [`series`](fn@series) and
//! [`join`].
//!
//! A crate of its own, so that what is traced depends on none of this.

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
