//! From events to layers: reading what processes recorded, joining it message by message, and showing it.

mod figures;
mod layers;
mod merge;
mod perfetto;
mod series;
mod summary;

pub use figures::{Figure6, Figure11};
pub use layers::{Breakdown, Layer, Way};
pub use merge::{Deliveries, Delivery, Trace, TraceError};
pub use series::{Joined, PointSeries, join, series};
pub use summary::{LayerSummary, Percentiles, ProcessSummary, Summary, TopicSummary};
