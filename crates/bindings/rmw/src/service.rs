//! Service servers.

use std::ffi::{CString, c_char, c_void};
use std::sync::{Arc, Weak};

use feros_engine::{
    FailureCounter, FillAborted, KEEP_ALL_LIMIT, PublishError, Sample, ServiceMapping, TypeHash,
};
use feros_executor::{Ringer, Waitable};
use feros_sync::Mutex;
use feros_transport::{Request, Service, ServiceOptions};
use feros_typesupport::{DecodeError, ServiceProgram};

use crate::arguments::{Out, given, ours, text};
use crate::callback_thread::Told;
use crate::context::Context;
use crate::error::{Failure, guarded, guarded_pointer};
use crate::ffi::{
    rmw_event_callback_t, rmw_node_t, rmw_qos_profile_t, rmw_request_id_t, rmw_ret_t,
    rmw_service_info_t, rmw_service_t, rosidl_service_type_support_t,
};
use crate::identity::identifier;
use crate::inbox::{Inbox, Source};
use crate::info::nanos;
use crate::listener::Listener;
use crate::node::EndsWithNode;
use crate::unanswered::Unanswered;
use crate::{names, node, programs, qos};

/// The end object, at which `data` of a server points. A host program may forget to destroy a
/// server (rclpy never destroys its server for type descriptions); the node then ends the server's
/// parts.
pub(crate) struct ServiceEnd {
    server: Arc<ServerHolder>,
    /// The entity, for wait sets.
    pub(crate) waitable: Arc<dyn Waitable>,
    name: CString,
}

/// Holds the parts of a server until the server or its node ends.
struct ServerHolder(Mutex<Option<Arc<Server>>>);

impl EndsWithNode for ServerHolder {
    fn end(&self) {
        let server = self.0.lock().take();
        let Some(server) = server else { return };
        let context = Arc::clone(&server.context);
        if !context.is_forked() {
            server.entity.listener.clear();
            context.callbacks.remove(&(server.entity.clone() as Arc<dyn Told>));
            server.entity.inbox.close();
        }
        context.end(server);
    }
}

/// The parts of a server.
struct Server {
    context: Arc<Context>,
    program: ServiceProgram,
    service: Service,
    entity: Arc<ServiceEntity>,
    unanswered: Mutex<Unanswered>,
    malformed: FailureCounter,
    name: String,
}

/// The part of a server that wait sets and the callback thread use.
struct ServiceEntity {
    ringer: Ringer,
    inbox: Inbox<Requests>,
    listener: Listener,
}

impl Waitable for ServiceEntity {
    fn ringer(&self) -> &Ringer {
        &self.ringer
    }

    fn is_ready(&self) -> bool {
        self.inbox.has_item()
    }
}

impl Told for ServiceEntity {
    fn ringer(&self) -> &Ringer {
        &self.ringer
    }

    fn has_news(&self) -> bool {
        self.listener.is_set() && self.inbox.has_news(|| {})
    }

    fn tell(&self) {
        self.listener.tell(|| self.inbox.count_news());
    }
}

/// The source of a server's requests.
struct Requests(Service);

impl Source for Requests {
    type Item = (Request, Sample);

    fn next(&mut self) -> Result<Option<(Request, Sample)>, Failure> {
        self.0.take_request().map_err(Failure::error)
    }
}

/// # Safety
/// The pointer is null or points at a living server.
unsafe fn end<'a>(service: *const rmw_service_t) -> Result<&'a ServiceEnd, Failure> {
    // SAFETY: [handles] the server is null or lives, and `data` of an object of this library points
    // at its end object until it is destroyed.
    unsafe { given(ours(service)?.data.cast::<ServiceEnd>(), "service") }
}

/// # Safety
/// The contract of [`end`].
unsafe fn server(service: *const rmw_service_t) -> Result<Arc<Server>, Failure> {
    // SAFETY: [handles] the server is null or lives.
    let server = unsafe { end(service) }?.server.0.lock().clone();
    server.ok_or_else(|| Failure::invalid("the node of the service has ended"))
}

/// Creates a server.
///
/// # Safety
/// Each pointer is null or points at a valid value of its type through the call; the type support
/// lives as long as the server.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_create_service(
    node: *const rmw_node_t,
    type_support: *const rosidl_service_type_support_t,
    service_name: *const c_char,
    qos_profile: *const rmw_qos_profile_t,
) -> *mut rmw_service_t {
    guarded_pointer(|| {
        // SAFETY: [handles] the node lives. [type supports] The type support outlives the server.
        // [strings] The name ends with NUL. [pointers] The profile is valid for the call.
        unsafe {
            let node = node::end(node)?;
            let program = programs::of_service(type_support)?;
            let name = text(service_name, "service_name")?;
            create(node, program, name, given(qos_profile, "qos_profile")?)
        }
    })
}

fn create(
    node: &node::NodeEnd,
    program: ServiceProgram,
    name: &str,
    profile: &rmw_qos_profile_t,
) -> Result<*mut rmw_service_t, Failure> {
    let profile = qos::from_rmw(profile)?;
    names::check_endpoint(name, &profile)?;
    let ringer = Ringer::new();
    let service = Service::new(
        &*node.context.session,
        ServiceOptions {
            node: node.id,
            service: name,
            type_name: program.ros_type_name(),
            type_hash: program.type_hash().map(TypeHash),
            request_hash: program.request.type_hash().map(TypeHash),
            response_hash: program.response.type_hash().map(TypeHash),
            qos: profile,
            mapping: ServiceMapping::default(),
            replies_on_demand: false,
            local_requests_only: false,
            transports: node.context.transports,
            ringer: &ringer,
        },
    )
    .map_err(Failure::error)?;
    let inbox = Inbox::new(Requests(service.clone()), KEEP_ALL_LIMIT, true, &ringer);
    let entity = Arc::new(ServiceEntity { ringer, inbox, listener: Listener::default() });
    let waitable: Arc<dyn Waitable> = entity.clone();
    let server = Arc::new(ServerHolder(Mutex::new(Some(Arc::new(Server {
        context: Arc::clone(&node.context),
        program,
        service,
        entity,
        unanswered: Mutex::default(),
        malformed: FailureCounter::new(),
        name: name.to_owned(),
    })))));
    node.keep(Arc::downgrade(&server) as Weak<dyn EndsWithNode>);
    let name = CString::new(name).map_err(Failure::error)?;
    let end = Box::new(ServiceEnd { server, waitable, name });
    let service_name = end.name.as_ptr();
    Ok(Box::into_raw(Box::new(rmw_service_t {
        implementation_identifier: identifier(),
        data: Box::into_raw(end).cast(),
        service_name,
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
        // SAFETY: [handles] node and server live, and the library made both boxes. [destruction]
        // This is the last use of the server.
        let end = unsafe {
            node::end(node)?;
            end(service)?;
            let data = (*service).data.cast::<ServiceEnd>();
            drop(Box::from_raw(service));
            Box::from_raw(data)
        };
        end.server.end();
        Ok(())
    })
}

/// Takes the next request, if there is one, together with the identity of its client.
///
/// # Safety
/// Each pointer is null or points at a valid value of its type; the request has the service's type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_request(
    service: *const rmw_service_t,
    request_header: *mut rmw_service_info_t,
    ros_request: *mut c_void,
    taken: *mut bool,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the server lives. [messages] The request is an initialized message of
        // the service's type, which nobody else uses. [outputs] There is memory for the header and
        // the flag.
        unsafe {
            let end = server(service)?;
            let header = Out::new(request_header, "request_header")?;
            given(ros_request, "ros_request")?;
            let taken = Out::new(taken, "taken")?;
            taken.set(false);
            while let Some((request, sample)) = end.entity.inbox.take()? {
                if let Err(error) = end.program.request.decode(&sample.payload, ros_request) {
                    end.refuse(&sample, &error);
                    continue;
                }
                header.set(rmw_service_info_t {
                    source_timestamp: nanos(sample.info.source_timestamp),
                    received_timestamp: nanos(sample.info.received_timestamp),
                    request_id: rmw_request_id_t {
                        writer_guid: request.id().client,
                        sequence_number: request.id().sequence_number,
                    },
                });
                end.unanswered.lock().add(request, |known| end.service.is_awaited(known));
                taken.set(true);
                break;
            }
        }
        Ok(())
    })
}

impl Server {
    fn refuse(&self, sample: &Sample, error: &DecodeError) {
        if let Some(count) = self.malformed.count() {
            tracing::error!(
                "{}: refused {count} so far: a request of {} bytes from {} is not a {} request: \
                 {error}",
                self.name,
                sample.payload.len(),
                sample.info.publisher_gid,
                self.program.ros_type_name(),
            );
        }
    }
}

/// Sends the response to a request. Succeeds even if the client no longer exists.
///
/// # Safety
/// Each pointer is null or points at a valid value of its type; the response has the service's
/// type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_send_response(
    service: *const rmw_service_t,
    request_header: *mut rmw_request_id_t,
    ros_response: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the server lives. [pointers] The header is valid for the call.
        // [messages] The response has the service's type, and nobody writes it during the call.
        unsafe {
            let end = server(service)?;
            let id = given(request_header, "request_header")?;
            given(ros_response, "ros_response")?;
            let program = &end.program.response;
            let len = program.serialized_len(ros_response).map_err(Failure::error)?;
            let request = end.unanswered.lock().take(id);
            let mut failure = None;
            let sent = end.service.send_response(&request, len, &mut |memory: &mut [u8]| {
                program.encode(ros_response, memory).map(|_| ()).map_err(|error| {
                    failure = Some(error);
                    FillAborted
                })
            });
            match (sent, failure) {
                (Ok(()) | Err(PublishError::ClientGone { .. }), _) => Ok(()),
                (Err(_), Some(error)) => Err(Failure::error(error)),
                (Err(error), None) => Err(Failure::error(error)),
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
        // SAFETY: [handles] the server is null or lives.
        let end = unsafe { server(service) }?;
        let told: Arc<dyn Told> = end.entity.clone();
        // SAFETY: [callbacks] the function may be called with its data until it is replaced.
        unsafe { end.entity.listener.set(callback, user_data) };
        end.context.callbacks.listen(told, callback.is_some())
    })
}

/// # Safety
/// The contract of [`rmw_service_request_subscription_get_actual_qos`].
unsafe fn actual_qos(
    service: *const rmw_service_t,
    profile: *mut rmw_qos_profile_t,
) -> Result<(), Failure> {
    // SAFETY: [handles] the server lives. [outputs] There is memory for the profile.
    let (end, profile) = unsafe { (server(service)?, Out::new(profile, "qos")?) };
    profile.set(qos::to_rmw(&end.service.qos()));
    Ok(())
}

/// The policies of the endpoint that receives requests.
///
/// # Safety
/// The server is null or valid; the profile is null or memory for a profile.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_service_request_subscription_get_actual_qos(
    service: *const rmw_service_t,
    profile: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    // SAFETY: [handles, outputs] `actual_qos` gets the arguments of this call.
    guarded(|| unsafe { actual_qos(service, profile) })
}

/// The policies of the endpoint that sends responses.
///
/// # Safety
/// The server is null or valid; the profile is null or memory for a profile.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_service_response_publisher_get_actual_qos(
    service: *const rmw_service_t,
    profile: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    // SAFETY: [handles, outputs] `actual_qos` gets the arguments of this call.
    guarded(|| unsafe { actual_qos(service, profile) })
}
