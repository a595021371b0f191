//! One change to one file of the source of Cyclone DDS.

/// Replaces a text that occurs exactly `times` times.
pub(crate) struct Edit {
    /// A path inside the source tree.
    pub(crate) file: &'static str,
    /// Text that must occur exactly `times` times.
    pub(crate) anchor: &'static str,
    pub(crate) times: usize,
    pub(crate) replacement: &'static str,
}
