//! Requests and responses of services on the two local transports.
//!
//! Each server has a queue for requests of its process, and a channel in the memory of each client
//! of another process of its host (`feros_shm::ServerChannel`). A client knows the shortest
//! transport to each server that matches. If one of them can only be reached by the engine, the
//! request goes by the engine alone, which gives it to all of them; otherwise each server gets it
//! on its own transport. So no request arrives twice. A response takes the transport of its
//! request, or the engine where that transport is closed.
//!
//! Numbers of requests that the engine does not see begin far beyond the engine's own, so that a
//! response is never taken for that of another request.

use feros_rmw::{Gid, MessageInfo, Payload, Sample, Stamp};

pub(crate) mod caller;
pub(crate) mod channels;
pub(crate) mod counters;
pub(crate) mod inbox;
pub(crate) mod listening;
pub(crate) mod recipients;
pub(crate) mod registry;
pub(crate) mod routes;
pub(crate) mod waiting;

/// Requests that the engine does not see are numbered from here on. The engine counts its requests
/// from 1 and never reaches this number.
pub(crate) const FIRST_LOCAL_NUMBER: i64 = 1 << 62;

/// A request or a response of `sender` that came by a local transport to the endpoint `own`.
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
