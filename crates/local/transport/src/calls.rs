//! Requests and responses of services over the two local transports.
//!
//! Each server has a queue for requests from its own process, and a channel in the memory of each
//! client in other processes of the host (`feros_shm::ServerChannel`). A client knows the most
//! direct transport to each matching server. If at least one server can be reached only through the
//! engine, the request goes only through the engine, which gives it to all servers. Otherwise, each
//! server gets the request over the most direct transport to that server. So no request arrives
//! twice. A response takes the same transport as its request, or goes through the engine if that
//! transport has been closed.
//!
//! The numbers of requests that the engine does not see start far above the engine's numbers, so
//! that a response is never assigned to the wrong request.

use feros_engine::{Gid, MessageInfo, Payload, Sample, Stamp};

pub(crate) mod caller;
pub(crate) mod channels;
pub(crate) mod counters;
pub(crate) mod inbox;
pub(crate) mod listening;
pub(crate) mod recipients;
pub(crate) mod routes;
pub(crate) mod waiting;

/// The number of the first request that the engine does not see. The engine counts its requests
/// from 1 and never reaches this number.
pub(crate) const FIRST_LOCAL_NUMBER: i64 = 1 << 62;

/// Makes the sample of a request or response that the endpoint `own` received from `sender` over a
/// local transport.
pub(crate) fn local_sample(own: Gid, sender: Gid, stamp: Stamp, payload: Payload) -> Sample {
    let info = MessageInfo {
        source_timestamp: stamp.to_system_time(),
        received_timestamp: None,
        publication_sequence_number: None,
        publisher_gid: sender,
        from_same_session: sender.is_of_session_of(&own),
    };
    Sample { payload, info }
}
