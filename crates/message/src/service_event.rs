//! The contents of a service introspection event, one step of a call, as generic code puts them
//! into the derived message `<Service>_Event`.

/// Which step of a call a [`ServiceEventInfo`] is about; the numbers are those of
/// `service_msgs/msg/ServiceEventInfo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ServiceEventKind {
    /// The client has sent the request.
    RequestSent = 0,
    /// The server has taken the request.
    RequestReceived = 1,
    /// The server has sent the response.
    ResponseSent = 2,
    /// The client has taken the response.
    ResponseReceived = 3,
}

/// The contents of an event besides request and response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServiceEventInfo {
    /// The step.
    pub kind: ServiceEventKind,
    /// When it happened: seconds since the epoch of the clock.
    pub sec: i32,
    /// Nanoseconds beyond the seconds.
    pub nanosec: u32,
    /// The client.
    pub client_gid: [u8; 16],
    /// The number of the request at its client.
    pub sequence_number: i64,
}
