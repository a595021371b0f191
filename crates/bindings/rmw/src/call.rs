//! The two ends of a service's calls: what clients and servers share.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

use feros_engine::{FailureCounters, KEEP_ALL_LIMIT, QosProfile, Sample};
use feros_executor::Ringer;
use feros_typesupport::{MessageProgram, ServiceProgram};

use crate::arguments::{Out, given, text};
use crate::context::Context;
use crate::entity::Entity;
use crate::error::Failure;
use crate::ffi::{
    rmw_node_t, rmw_qos_profile_t, rmw_request_id_t, rmw_service_info_t,
    rosidl_service_type_support_t,
};
use crate::inbox::{Inbox, Source};
use crate::info::nanos;
use crate::node::NodeEnd;
use crate::{handle, names, programs, qos};

/// The checked arguments with which a client or server is created.
pub(crate) struct Wanted<'a> {
    pub(crate) node: &'a NodeEnd,
    pub(crate) program: ServiceProgram,
    pub(crate) name: &'a str,
    pub(crate) qos: QosProfile,
}

impl Wanted<'_> {
    /// # Safety
    /// Each pointer is null or points to a valid value of its type throughout the call; the type
    /// support lives as long as the client or server.
    pub(crate) unsafe fn new(
        node: *const rmw_node_t,
        type_support: *const rosidl_service_type_support_t,
        name: *const c_char,
        profile: *const rmw_qos_profile_t,
    ) -> Result<Self, Failure> {
        // SAFETY: [handles] the node is alive. [type supports] The type support outlives the client
        // or server. [strings] The name ends with NUL. [pointers] The profile is valid for the
        // call.
        let (node, program, name, profile) = unsafe {
            let (node, program) = (handle::end(node)?, programs::of_service(type_support)?);
            (node, program, text(name, "service_name")?, given(profile, "qos_profile")?)
        };
        let qos = qos::from_rmw(profile)?;
        names::check_endpoint(name, &qos)?;
        Ok(Self { node, program, name, qos })
    }
}

/// The parts of a client or server besides its endpoint. The items of the source are the messages
/// that arrive, each with the request that it belongs to.
pub(crate) struct CallEnd<S: Source> {
    pub(crate) context: Arc<Context>,
    pub(crate) program: ServiceProgram,
    pub(crate) entity: Arc<Entity<S>>,
    pub(crate) name: CString,
}

impl<T, S: Source<Item = (T, Sample)> + 'static> CallEnd<S> {
    pub(crate) fn new(wanted: Wanted<'_>, source: S, ringer: Ringer) -> Result<Self, Failure> {
        let inbox = Inbox::new(source, KEEP_ALL_LIMIT, true, &ringer);
        Ok(Self {
            context: Arc::clone(&wanted.node.context),
            program: wanted.program,
            entity: Entity::new(inbox, ringer, Arc::new(|| ())), // the inbox pushes nothing out
            name: CString::new(wanted.name).map_err(Failure::error)?,
        })
    }

    /// Takes the next message of this program, a request or response as `what` says, if there is
    /// one; `id` returns the identity of its request. A message that cannot be decoded is counted,
    /// logged and skipped.
    ///
    /// # Safety
    /// Each pointer is null or points to a valid value of its type; the message has the program's
    /// type.
    pub(crate) unsafe fn take(
        &self,
        (what, program): (&str, &MessageProgram),
        header: *mut rmw_service_info_t,
        message: *mut c_void,
        taken: *mut bool,
        id: impl FnOnce(T) -> rmw_request_id_t,
    ) -> Result<(), Failure> {
        // SAFETY: [messages] the message is an initialized message of the program's type, which
        // nobody else uses. [outputs] There is memory for the header and the flag.
        unsafe {
            let header = Out::new(header, "request_header")?;
            let taken = Out::new(taken, "taken")?;
            taken.set(false);
            while let Some((request, sample)) = self.entity.inbox.take()? {
                if let Err(error) = program.decode(&sample.payload, message) {
                    self.refuse(what, &sample, &error);
                    continue;
                }
                header.set(rmw_service_info_t {
                    source_timestamp: nanos(sample.info.source_timestamp),
                    received_timestamp: nanos(sample.info.received_timestamp),
                    request_id: id(request),
                });
                taken.set(true);
                break;
            }
        }
        Ok(())
    }

    /// Logs a message that cannot be decoded as the service's type. All ends of the service in the
    /// process count together.
    fn refuse(&self, what: &str, sample: &Sample, error: &feros_typesupport::DecodeError) {
        static REFUSED: FailureCounters = FailureCounters::new();
        let name = self.name.to_string_lossy();
        if let Some(count) = REFUSED.count(&name) {
            tracing::error!(
                "{name}: {count} {what}s have been refused so far; the last, of {} bytes from {}, \
                 is not a {} {what}: {error}",
                sample.payload.len(),
                sample.info.publisher_gid,
                self.program.ros_type_name(),
            );
        }
    }
}
