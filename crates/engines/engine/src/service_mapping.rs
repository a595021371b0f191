//! How the identity of a service request is sent.

/// How a service's requests and replies are encoded on DDS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ServiceMapping {
    /// The identity of the request is in the inline QoS, as in `rmw_fastrtps`.
    #[default]
    RelatedSampleIdentity,
    /// The identity of the request is in a 16-byte header before the message, as in
    /// `rmw_cyclonedds`.
    PayloadHeader,
}
