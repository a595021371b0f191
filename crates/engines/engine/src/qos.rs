//! Quality of service, with the policies, profiles and rules of stock ROS 2.

mod compatibility;
mod list;
mod policy;
mod profile;
mod resolution;

pub use compatibility::{QosIncompatibility, QosPolicyKind};
pub use list::QosPolicy;
pub use policy::{
    Durability, History, KEEP_ALL_LIMIT, Liveliness, ParsePolicyError, QosDuration, Reliability,
};
pub use profile::QosProfile;

#[cfg(test)]
mod tests;
