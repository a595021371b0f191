//! What an engine keeps of what its users may ask for.

/// What an engine keeps. What it does not keep, it announces all the same, as others may want to
/// know it; it warns of it when an endpoint asks for it, and then it has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Whether a publisher matches a subscription only if it offers what that requests. Else
    /// policies decide nothing.
    pub compatibility: bool,
    /// Whether missed deadlines are reported.
    pub deadline: bool,
    /// Whether a publisher's liveliness can be manual and have a lease. Else a publisher is alive
    /// as long as its session is.
    pub liveliness: bool,
    /// Whether a service is a pair of topics of DDS, with both
    /// [`ServiceMapping`](crate::ServiceMapping)s.
    pub dds_services: bool,
}

impl Kept {
    /// Everything, as on DDS.
    pub const ALL: Self =
        Self { compatibility: true, deadline: true, liveliness: true, dds_services: true };
}
