//! Service clients.

use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

use feros_engine::{FailureCounter, FillAborted, KEEP_ALL_LIMIT, Sample, TypeHash};
use feros_executor::{Ringer, Waitable};
use feros_transport::{Client, ClientOptions};
use feros_typesupport::ServiceProgram;

use crate::arguments::{Out, given, ours, text};
use crate::callback_thread::Told;
use crate::context::Context;
use crate::error::{Failure, guarded, guarded_pointer};
use crate::ffi::{
    rmw_client_t, rmw_event_callback_t, rmw_gid_t, rmw_node_t, rmw_qos_profile_t, rmw_request_id_t,
    rmw_ret_t, rmw_service_info_t, rosidl_service_type_support_t,
};
use crate::identity::identifier;
use crate::inbox::{Inbox, Source};
use crate::info::{self, nanos};
use crate::listener::Listener;
use crate::{names, node, programs, qos};

/// The end object, at which `data` of a client points.
pub(crate) struct ClientEnd {
    context: Arc<Context>,
    program: ServiceProgram,
    pub(crate) client: Client,
    entity: Arc<ClientEntity>,
    /// The entity, for wait sets.
    pub(crate) waitable: Arc<dyn Waitable>,
    malformed: FailureCounter,
    name: CString,
}

/// The part of a client that wait sets and the callback thread use.
struct ClientEntity {
    ringer: Ringer,
    inbox: Inbox<Responses>,
    listener: Listener,
}

impl Waitable for ClientEntity {
    fn ringer(&self) -> &Ringer {
        &self.ringer
    }

    fn is_ready(&self) -> bool {
        self.inbox.has_item()
    }
}

impl Told for ClientEntity {
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

/// The source of a client's responses.
struct Responses(Client);

impl Source for Responses {
    type Item = (i64, Sample);

    fn next(&mut self) -> Result<Option<(i64, Sample)>, Failure> {
        self.0.take_response().map_err(Failure::error)
    }
}

/// The end object of a client.
///
/// # Safety
/// The pointer is null or points at a living client.
pub(crate) unsafe fn end<'a>(client: *const rmw_client_t) -> Result<&'a ClientEnd, Failure> {
    // SAFETY: [handles] the client is null or lives, and `data` of an object of this library points
    // at its end object until it is destroyed.
    unsafe { given(ours(client)?.data.cast::<ClientEnd>(), "client") }
}

/// Creates a client.
///
/// # Safety
/// Each pointer is null or points at a valid value of its type through the call; the type support
/// lives as long as the client.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_create_client(
    node: *const rmw_node_t,
    type_support: *const rosidl_service_type_support_t,
    service_name: *const c_char,
    qos_policies: *const rmw_qos_profile_t,
) -> *mut rmw_client_t {
    guarded_pointer(|| {
        // SAFETY: [handles] the node lives. [type supports] The type support outlives the client.
        // [strings] The name ends with NUL. [pointers] The profile is valid for the call.
        unsafe {
            let node = node::end(node)?;
            let program = programs::of_service(type_support)?;
            let name = text(service_name, "service_name")?;
            create(node, program, name, given(qos_policies, "qos_policies")?)
        }
    })
}

fn create(
    node: &node::NodeEnd,
    program: ServiceProgram,
    name: &str,
    profile: &rmw_qos_profile_t,
) -> Result<*mut rmw_client_t, Failure> {
    let profile = qos::from_rmw(profile)?;
    names::check_endpoint(name, &profile)?;
    let ringer = Ringer::new();
    let graph = node.context.graph_condition.clone();
    let client = Client::new(
        &*node.context.session,
        ClientOptions {
            node: node.id,
            service: name,
            type_name: program.ros_type_name(),
            type_hash: program.type_hash().map(TypeHash),
            request_hash: program.request.type_hash().map(TypeHash),
            response_hash: program.response.type_hash().map(TypeHash),
            qos: profile,
            force_mapping: None,
            transports: node.context.transports,
            ringer: &ringer,
            on_response: Arc::new(|| ()), // the ringer already announces responses
            on_match: Arc::new(move || graph.trigger()),
        },
    )
    .map_err(Failure::error)?;
    let inbox = Inbox::new(Responses(client.clone()), KEEP_ALL_LIMIT, true, &ringer);
    let entity = Arc::new(ClientEntity { ringer, inbox, listener: Listener::default() });
    let end = Box::new(ClientEnd {
        context: Arc::clone(&node.context),
        program,
        client,
        waitable: entity.clone(),
        entity,
        malformed: FailureCounter::new(),
        name: CString::new(name).map_err(Failure::error)?,
    });
    let service_name = end.name.as_ptr();
    Ok(Box::into_raw(Box::new(rmw_client_t {
        implementation_identifier: identifier(),
        data: Box::into_raw(end).cast(),
        service_name,
    })))
}

/// Destroys a client.
///
/// # Safety
/// Node and client are null or valid; the client is not used afterwards.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_destroy_client(
    node: *mut rmw_node_t,
    client: *mut rmw_client_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] node and client live, and the library made both boxes. [destruction]
        // This is the last use of the client.
        let end = unsafe {
            node::end(node)?;
            end(client)?;
            let data = (*client).data.cast::<ClientEnd>();
            drop(Box::from_raw(client));
            Box::from_raw(data)
        };
        let context = Arc::clone(&end.context);
        if !context.is_forked() {
            end.entity.listener.clear();
            context.callbacks.remove(&(end.entity.clone() as Arc<dyn Told>));
            end.entity.inbox.close();
        }
        context.end(end);
        Ok(())
    })
}

/// Sends a request, and returns its number.
///
/// # Safety
/// Each pointer is null or points at a valid value of its type; the request has the service's type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_send_request(
    client: *const rmw_client_t,
    ros_request: *const c_void,
    sequence_id: *mut i64,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the client lives. [messages] The request has the service's type, and
        // nobody writes it during the call. [outputs] There is memory for the number.
        unsafe {
            let end = end(client)?;
            given(ros_request, "ros_request")?;
            let sequence_id = Out::new(sequence_id, "sequence_id")?;
            let program = &end.program.request;
            let len = program.serialized_len(ros_request).map_err(Failure::error)?;
            let mut failure = None;
            let sent = end.client.send_request(len, &mut |memory: &mut [u8]| {
                program.encode(ros_request, memory).map(|_| ()).map_err(|error| {
                    failure = Some(error);
                    FillAborted
                })
            });
            let (number, _) = sent.map_err(|error| match failure {
                Some(error) => Failure::error(error),
                None => Failure::error(error),
            })?;
            sequence_id.set(number);
        }
        Ok(())
    })
}

/// Takes the next response, if there is one, together with the number of its request.
///
/// # Safety
/// Each pointer is null or points at a valid value of its type; the response has the service's
/// type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_response(
    client: *const rmw_client_t,
    request_header: *mut rmw_service_info_t,
    ros_response: *mut c_void,
    taken: *mut bool,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the client lives. [messages] The response is an initialized message of
        // the service's type, which nobody else uses. [outputs] There is memory for the header and
        // the flag.
        unsafe {
            let end = end(client)?;
            let header = Out::new(request_header, "request_header")?;
            given(ros_response, "ros_response")?;
            let taken = Out::new(taken, "taken")?;
            taken.set(false);
            while let Some((sequence_number, sample)) = end.entity.inbox.take()? {
                if let Err(error) = end.program.response.decode(&sample.payload, ros_response) {
                    end.refuse(&sample, &error);
                    continue;
                }
                header.set(rmw_service_info_t {
                    source_timestamp: nanos(sample.info.source_timestamp),
                    received_timestamp: nanos(sample.info.received_timestamp),
                    request_id: rmw_request_id_t {
                        writer_guid: end.client.response_gid().0,
                        sequence_number,
                    },
                });
                taken.set(true);
                break;
            }
        }
        Ok(())
    })
}

impl ClientEnd {
    fn refuse(&self, sample: &Sample, error: &feros_typesupport::DecodeError) {
        if let Some(count) = self.malformed.count() {
            tracing::error!(
                "{}: refused {count} so far: a response of {} bytes from {} is not a {} response: \
                 {error}",
                self.name.to_string_lossy(),
                sample.payload.len(),
                sample.info.publisher_gid,
                self.program.ros_type_name(),
            );
        }
    }
}

/// Writes whether a server is available for requests that are sent now.
///
/// # Safety
/// Node and client are null or valid; the result is null or memory for a bool.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_service_server_is_available(
    node: *const rmw_node_t,
    client: *const rmw_client_t,
    is_available: *mut bool,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] node and client live. [outputs] There is memory for the answer.
        let (end, answer) = unsafe {
            node::end(node)?;
            (end(client)?, Out::new(is_available, "is_available")?)
        };
        answer.set(end.client.service_is_available());
        Ok(())
    })
}

/// Sets or clears the callback. A thread of this library calls it with the number of new responses.
///
/// # Safety
/// The client is null or valid. The callback may be called with the data on any thread until
/// another callback is set.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_client_set_on_new_response_callback(
    client: *mut rmw_client_t,
    callback: rmw_event_callback_t,
    user_data: *const c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the client lives.
        let end = unsafe { end(client) }?;
        let told: Arc<dyn Told> = end.entity.clone();
        // SAFETY: [callbacks] the function may be called with its data until it is replaced.
        unsafe { end.entity.listener.set(callback, user_data) };
        end.context.callbacks.listen(told, callback.is_some())
    })
}

/// # Safety
/// The contract of [`rmw_client_request_publisher_get_actual_qos`].
unsafe fn actual_qos(
    client: *const rmw_client_t,
    profile: *mut rmw_qos_profile_t,
) -> Result<(), Failure> {
    // SAFETY: [handles] the client lives. [outputs] There is memory for the profile.
    let (end, profile) = unsafe { (end(client)?, Out::new(profile, "qos")?) };
    profile.set(qos::to_rmw(&end.client.qos()));
    Ok(())
}

/// The policies of the endpoint that sends requests.
///
/// # Safety
/// The client is null or valid; the profile is null or memory for a profile.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_client_request_publisher_get_actual_qos(
    client: *const rmw_client_t,
    profile: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    // SAFETY: [handles, outputs] `actual_qos` gets the arguments of this call.
    guarded(|| unsafe { actual_qos(client, profile) })
}

/// The policies of the endpoint that receives responses.
///
/// # Safety
/// The client is null or valid; the profile is null or memory for a profile.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_client_response_subscription_get_actual_qos(
    client: *const rmw_client_t,
    profile: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    // SAFETY: [handles, outputs] `actual_qos` gets the arguments of this call.
    guarded(|| unsafe { actual_qos(client, profile) })
}

/// The identity of a client.
///
/// # Safety
/// The client is null or valid; the gid is null or memory for a gid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_gid_for_client(
    client: *const rmw_client_t,
    gid_out: *mut rmw_gid_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the client lives. [outputs] There is memory for the gid.
        let (end, out) = unsafe { (end(client)?, Out::new(gid_out, "gid")?) };
        out.set(info::gid(end.client.response_gid()));
        Ok(())
    })
}
