//! The contents of a service introspection event, which reports one step of a call. Generic code
//! writes these contents into the derived message `<Service>_Event`.

/// The step of a call that a [`ServiceEventInfo`] reports. The numbers are those of
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

/// The contents of an event, except the request and the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServiceEventInfo {
    /// The step.
    pub kind: ServiceEventKind,
    /// The time of the step, in seconds since the clock's epoch.
    pub sec: i32,
    /// The nanoseconds in addition to the seconds.
    pub nanosec: u32,
    /// The identity of the client.
    pub client_gid: [u8; 16],
    /// The number that the client gave to the request.
    pub sequence_number: i64,
}
