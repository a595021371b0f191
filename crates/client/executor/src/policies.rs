//! The orders in which ready entities can be executed.

mod deadline;
mod fair;
mod keyed;
mod priority;
mod ros;
mod sequence;

pub use deadline::Deadline;
pub use fair::Fair;
pub use priority::{Priority, chain_priorities};
pub use ros::Ros;
pub use sequence::{ReadyPositions, Sequence, Trigger};
