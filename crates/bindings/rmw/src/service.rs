//! Service servers.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::{CString, c_char, c_void};
use std::sync::{Arc, Weak};

use feros_engine::{PublishError, Sample, ServiceMapping, TypeHash};
use feros_executor::{Ringer, Waitable};
use feros_sync::Mutex;
use feros_transport::{Outgoing, Request, Service, ServiceOptions};

use crate::arguments::given;
use crate::call::{CallEnd, Wanted};
use crate::error::{Failure, guarded, guarded_pointer};
use crate::ffi::{
    rmw_event_callback_t, rmw_node_t, rmw_qos_profile_t, rmw_request_id_t, rmw_ret_t,
    rmw_service_info_t, rmw_service_t, rosidl_service_type_support_t,
};
use crate::handle::{end, free_of_node, handle};
use crate::host_message::HostMessage;
use crate::identity::identifier;
use crate::inbox::Source;
use crate::node::EndsWithNode;
use crate::qos;
use crate::unanswered::Unanswered;

/// The object that the `data` field of an `rmw_service_t` points to. A host program may forget to
/// destroy a server (rclpy never destroys its server for type descriptions); the node then ends the
/// server's parts.
pub(crate) struct ServiceEnd {
    server: Arc<ServerHolder>,
    /// The entity, for wait sets.
    pub(crate) waitable: Arc<dyn Waitable>,
    name: CString,
}

handle!(rmw_service_t => ServiceEnd);

/// Holds the parts of a server until the server or its node ends.
struct ServerHolder(Mutex<Option<Arc<Server>>>);

impl EndsWithNode for ServerHolder {
    fn end(&self) {
        let server = self.0.lock().take();
        let Some(server) = server else { return };
        let context = Arc::clone(&server.call.context);
        context.end(server, |server| server.call.entity.close(&context.callbacks));
    }
}

/// The parts of a server.
struct Server {
    call: CallEnd<Requests>,
    service: Service,
    unanswered: Mutex<Unanswered>,
}

/// The source of a server's requests.
struct Requests(Service);

impl Source for Requests {
    type Item = (Request, Sample);

    fn next(&mut self) -> Result<Option<(Request, Sample)>, Failure> {
        self.0.take_request().map_err(Failure::error)
    }
}

/// The parts of a server, unless its node has ended.
///
/// # Safety
/// The pointer is null or points to a live server.
unsafe fn server(service: *const rmw_service_t) -> Result<Arc<Server>, Failure> {
    // SAFETY: [handles] the server is null or alive.
    let server = unsafe { end(service) }?.server.0.lock().clone();
    server.ok_or_else(|| Failure::invalid("the node of the service has ended"))
}

/// Creates a server.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type throughout the call; the type
/// support lives as long as the server.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_create_service(
    node: *const rmw_node_t,
    type_support: *const rosidl_service_type_support_t,
    service_name: *const c_char,
    qos_profile: *const rmw_qos_profile_t,
) -> *mut rmw_service_t {
    guarded_pointer(|| {
        // SAFETY: [handles, type supports, strings, pointers] `Wanted` gets the arguments of this
        // call.
        create(unsafe { Wanted::new(node, type_support, service_name, qos_profile) }?)
    })
}

fn create(wanted: Wanted<'_>) -> Result<*mut rmw_service_t, Failure> {
    let (ringer, node) = (Ringer::new(), wanted.node);
    let service = Service::new(
        &*node.context.session,
        ServiceOptions {
            node: node.id,
            service: wanted.name,
            type_name: wanted.program.ros_type_name(),
            type_hash: wanted.program.type_hash().map(TypeHash),
            request_hash: wanted.program.request.type_hash().map(TypeHash),
            response_hash: wanted.program.response.type_hash().map(TypeHash),
            qos: wanted.qos,
            mapping: ServiceMapping::default(),
            replies_on_demand: false,
            local_requests_only: false,
            transports: node.context.transports,
            ringer: &ringer,
        },
    )
    .map_err(Failure::error)?;
    let call = CallEnd::new(wanted, Requests(service.clone()), ringer)?;
    let (name, waitable) = (call.name.clone(), call.entity.clone());
    let server = Arc::new(Server { call, service, unanswered: Mutex::default() });
    let server = Arc::new(ServerHolder(Mutex::new(Some(server))));
    node.keep(Arc::downgrade(&server) as Weak<dyn EndsWithNode>);
    let end = Box::new(ServiceEnd { server, waitable, name });
    Ok(Box::into_raw(Box::new(rmw_service_t {
        implementation_identifier: identifier(),
        service_name: end.name.as_ptr(),
        data: Box::into_raw(end).cast(),
    })))
}

/// Destroys a server.
///
/// # Safety
/// Node and server are null or valid; the server is not used afterwards.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_destroy_service(
    node: *mut rmw_node_t,
    service: *mut rmw_service_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] node and server are alive. [destruction] This is the last use of the
        // server.
        unsafe { free_of_node(node, service) }?.server.end();
        Ok(())
    })
}

/// Takes the next request, if there is one, together with the identity of its client.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type; the request has the service's type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_request(
    service: *const rmw_service_t,
    request_header: *mut rmw_service_info_t,
    ros_request: *mut c_void,
    taken: *mut bool,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the server is alive. [messages] The request is an initialized message
        // of the service's type, which nobody else uses. [outputs] There is memory for the header
        // and the flag.
        unsafe {
            let end = server(service)?;
            given(ros_request, "ros_request")?;
            let program = ("request", &end.call.program.request);
            end.call.take(program, request_header, ros_request, taken, |request| {
                let (writer_guid, sequence_number) =
                    (request.id().client, request.id().sequence_number);
                end.unanswered.lock().add(request, |known| end.service.is_awaited(known));
                rmw_request_id_t { writer_guid, sequence_number }
            })
        }
    })
}

/// Sends the response to a request. Succeeds even if the client no longer exists.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type; the response has the service's
/// type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_send_response(
    service: *const rmw_service_t,
    request_header: *mut rmw_request_id_t,
    ros_response: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the server is alive. [pointers] The header is valid for the call.
        // [messages] The response has the service's type, and nobody writes it during the call.
        unsafe {
            let end = server(service)?;
            let id = given(request_header, "request_header")?;
            given(ros_response, "ros_response")?;
            let program = &end.call.program.response;
            let mut response = HostMessage::new(program, ros_response).map_err(Failure::error)?;
            let (request, len) = (end.unanswered.lock().take(id), response.size_bytes());
            let fill = &mut |memory: &mut [u8]| response.fill(memory);
            match end.service.send_response(&request, len, fill) {
                Ok(()) | Err(PublishError::ClientGone { .. }) => Ok(()),
                Err(error) => Err(response.refused(error)),
            }
        }
    })
}

/// Sets or clears the callback. A thread of this library calls it with the number of new requests.
///
/// # Safety
/// The server is null or valid. The callback may be called with the data on any thread until
/// another callback is set.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_service_set_on_new_request_callback(
    service: *mut rmw_service_t,
    callback: rmw_event_callback_t,
    user_data: *const c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the server is alive. [callbacks] The function may be called with its
        // data until it is replaced.
        unsafe {
            let end = server(service)?;
            end.call.entity.listen(&end.call.context.callbacks, callback, user_data)
        }
    })
}

/// The policies of the endpoint that receives requests.
///
/// # Safety
/// The server is null or valid; the profile is null or points to memory for a profile.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_service_request_subscription_get_actual_qos(
    service: *const rmw_service_t,
    profile: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    // SAFETY: [handles] the server is alive. [outputs] There is memory for the profile.
    guarded(|| unsafe { qos::report(&server(service)?.service.qos(), profile) })
}

/// The policies of the endpoint that sends responses.
///
/// # Safety
/// The server is null or valid; the profile is null or points to memory for a profile.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_service_response_publisher_get_actual_qos(
    service: *const rmw_service_t,
    profile: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    // SAFETY: [handles] the server is alive. [outputs] There is memory for the profile.
    guarded(|| unsafe { qos::report(&server(service)?.service.qos(), profile) })
}
