//! Message filters, which match messages of several topics, and hold back messages.
//!
//! A filter takes messages as `Arc<M>` and calls a closure with the results. Filters do not depend
//! on a node: their inputs are closures, too, so an input can be the callback of a subscription or
//! of another filter.
//!
//! ```
//! use feros_message_filters::{ApproximateTime, synchronize};
//! use feros_msgs::sensor_msgs::msg::{CameraInfo, Image};
//! use std::sync::Arc;
//!
//! let (synchronizer, (images, infos)) = synchronize(
//!     ApproximateTime::new(10),
//!     |image: Arc<Image>, info: Arc<CameraInfo>| println!("{} {}", image.width, info.width),
//! );
//! // let image = node.create_subscription("image", 10, images)?;
//! // let info = node.create_subscription("camera_info", 10, infos)?;
//! images(Arc::default());
//! infos(Arc::default());
//! assert_eq!(synchronizer.counts().matched, 1);
//! ```
//!
//! | you know from `message_filters` | here |
//! |---|---|
//! | `TimeSynchronizer<A, B>`, `ExactTime` | [`synchronize`] with [`ExactTime`] |
//! | `Synchronizer<ApproximateTime<A, B>>` | [`synchronize`] with [`ApproximateTime`] |
//! | `Cache<M>` | [`Cache`] |
//! | `Chain<M>` | [`Chain`] |
//! | `Subscriber<M>` | `node.create_subscription(topic, qos, input)` |
//! | `tf2_ros::MessageFilter<M>` | [`TransformFilter`] |
//!
//! One thread at a time calls a closure, without holding a lock. If two threads call inputs at the
//! same time, the first thread delivers the results of both. The number of waiting messages is
//! bounded.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `policy`, `exact_time`, `approximate_time` | the trait of policies, and both policies |
//! | `synchronizer`, `input`, `outlet` | the code around a policy: its inputs, and the output to a closure |
//! | `cache`, `chain` | the last messages of a topic; filters put together at run time |
//! | `transform_filter` | messages that wait for a transform |
//!
//! # Invariants
//!
//! The crate does not depend on nodes, since inputs are closures. All dropped messages are counted.
#![forbid(unsafe_code)]

mod approximate_time;
mod cache;
mod chain;
mod exact_time;
mod input;
mod outlet;
mod policy;
mod synchronizer;
mod transform_filter;

pub use approximate_time::ApproximateTime;
pub use cache::Cache;
pub use chain::Chain;
pub use exact_time::ExactTime;
pub use input::Input;
pub use policy::{AnyMessage, Policy, Sorted};
pub use synchronizer::{SetCallback, Synchronizer, SynchronizerCounts, synchronize};
pub use transform_filter::{
    DropReason, TransformFilter, TransformFilterBuilder, TransformFilterCounts,
};

pub use feros_executor::Time;
