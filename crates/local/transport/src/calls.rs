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

pub(crate) mod caller;
pub(crate) mod channels;
pub(crate) mod counters;
pub(crate) mod inbox;
pub(crate) mod listening;
pub(crate) mod local;
pub(crate) mod recipients;
pub(crate) mod routes;
pub(crate) mod waiting;
