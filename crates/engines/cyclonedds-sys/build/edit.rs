//! One edit of one file in the source of Cyclone DDS.

/// An edit that replaces a text that occurs exactly `times` times.
pub(crate) struct Edit {
    /// A path inside the source tree.
    pub(crate) file: &'static str,
    /// The text to replace. It must occur exactly `times` times.
    pub(crate) anchor: &'static str,
    pub(crate) times: usize,
    pub(crate) replacement: &'static str,
}
