//! From trace points to layers: reading the records of processes, joining them message by message,
//! and showing them.
//!
//! [`Trace::read`] reads the files of a folder (`FEROS_TRACE`), [`Summary::of`] gives the times
//! that the messages of each topic and transport took in each layer; [`LiveTrace`] does so for
//! running programs. A laboratory that gets points from programs instead of files uses
//! [`series`](fn@series) and [`join`].
//!
//! It is a separate crate, so that traced code depends on none of this.

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
