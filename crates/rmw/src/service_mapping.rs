//! The form of a request's identity on the wire.

/// The form of the requests and replies of a service on DDS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ServiceMapping {
    /// Request identity in the inline QoS, as `rmw_fastrtps` does.
    #[default]
    RelatedSampleIdentity,
    /// A 16-byte header before the message, as `rmw_cyclonedds` does.
    PayloadHeader,
}
