//! Service clients.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use feros_engine::{Sample, TypeHash};
use feros_executor::{Ringer, Waitable};
use feros_transport::{Client, ClientOptions, Outgoing};

use crate::arguments::{Out, given};
use crate::call::{CallEnd, Wanted};
use crate::distribution::refuse_null;
use crate::error::{Failure, guarded, guarded_pointer};
use crate::ffi::{
    rmw_client_t, rmw_event_callback_t, rmw_gid_t, rmw_node_t, rmw_qos_profile_t, rmw_request_id_t,
    rmw_ret_t, rmw_service_info_t, rosidl_service_type_support_t,
};
use crate::handle::{end, free_of_node, handle};
use crate::host_message::HostMessage;
use crate::identity::identifier;
use crate::inbox::Source;
use crate::{info, qos};

/// The object that the `data` field of an `rmw_client_t` points to.
pub(crate) struct ClientEnd {
    call: CallEnd<Responses>,
    client: Client,
    /// The entity, for wait sets.
    pub(crate) waitable: Arc<dyn Waitable>,
}

handle!(rmw_client_t => ClientEnd);

/// The source of a client's responses.
struct Responses(Client);

impl Source for Responses {
    type Item = (i64, Sample);

    fn next(&mut self) -> Result<Option<(i64, Sample)>, Failure> {
        self.0.take_response().map_err(Failure::error)
    }
}

/// Creates a client.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type throughout the call; the type
/// support lives as long as the client.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_create_client(
    node: *const rmw_node_t,
    type_support: *const rosidl_service_type_support_t,
    service_name: *const c_char,
    qos_policies: *const rmw_qos_profile_t,
) -> *mut rmw_client_t {
    guarded_pointer(|| {
        // SAFETY: [handles, type supports, strings, pointers] `Wanted` gets the arguments of this
        // call.
        create(unsafe { Wanted::new(node, type_support, service_name, qos_policies) }?)
    })
}

fn create(wanted: Wanted<'_>) -> Result<*mut rmw_client_t, Failure> {
    let (ringer, context) = (Ringer::new(), &wanted.node.context);
    let graph = context.graph_condition.clone();
    let client = Client::new(
        &*context.session,
        ClientOptions {
            node: wanted.node.id,
            service: wanted.name,
            type_name: wanted.program.ros_type_name(),
            type_hash: wanted.program.type_hash().map(TypeHash),
            request_hash: wanted.program.request.type_hash().map(TypeHash),
            response_hash: wanted.program.response.type_hash().map(TypeHash),
            qos: wanted.qos,
            force_mapping: None,
            transports: context.transports,
            ringer: &ringer,
            on_response: Arc::new(|| ()), // the ringer already announces responses
            on_match: Arc::new(move || graph.trigger()),
        },
    )
    .map_err(Failure::error)?;
    let call = CallEnd::new(wanted, Responses(client.clone()), ringer)?;
    let end = Box::new(ClientEnd { waitable: call.entity.clone(), call, client });
    Ok(Box::into_raw(Box::new(rmw_client_t {
        implementation_identifier: identifier(),
        service_name: end.call.name.as_ptr(),
        data: Box::into_raw(end).cast(),
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
        // SAFETY: [handles] node and client are alive. [destruction] This is the last use of the
        // client.
        let end = unsafe { free_of_node(node, client) }?;
        let context = Arc::clone(&end.call.context);
        context.end(end, |end| end.call.entity.close(&context.callbacks));
        Ok(())
    })
}

/// Sends a request, and returns its number.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type; the request has the service's type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_send_request(
    client: *const rmw_client_t,
    ros_request: *const c_void,
    sequence_id: *mut i64,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the client is alive. [messages] The request has the service's type, and
        // nobody writes it during the call. [outputs] There is memory for the number.
        unsafe {
            let end = end(client)?;
            given(ros_request, "ros_request")?;
            let sequence_id = Out::new(sequence_id, "sequence_id")?;
            let program = &end.call.program.request;
            let mut request = HostMessage::new(program, ros_request).map_err(Failure::error)?;
            let len = request.size_bytes();
            let sent = end.client.send_request(len, &mut |memory: &mut [u8]| request.fill(memory));
            let (number, _) = sent.map_err(|error| request.refused(error))?;
            sequence_id.set(number);
        }
        Ok(())
    })
}

/// Takes the next response, if there is one, together with the number of its request.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type; the response has the service's
/// type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_response(
    client: *const rmw_client_t,
    request_header: *mut rmw_service_info_t,
    ros_response: *mut c_void,
    taken: *mut bool,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the client is alive. [messages] The response is an initialized message
        // of the service's type, which nobody else uses. [outputs] There is memory for the header
        // and the flag.
        unsafe {
            let end = end(client)?;
            given(ros_response, "ros_response")?;
            let response = ("response", &end.call.program.response);
            end.call.take(response, request_header, ros_response, taken, |sequence_number| {
                rmw_request_id_t { writer_guid: end.client.response_gid().0, sequence_number }
            })
        }
    })
}

/// Writes whether a server is available for requests that are sent now.
///
/// # Safety
/// Node and client are null or valid; the result is null or points to memory for a bool.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_service_server_is_available(
    node: *const rmw_node_t,
    client: *const rmw_client_t,
    is_available: *mut bool,
) -> rmw_ret_t {
    guarded(|| {
        refuse_null(node, "node")?;
        refuse_null(client, "client")?;
        refuse_null(is_available, "is_available")?;
        // SAFETY: [handles] node and client are alive. [outputs] There is memory for the answer.
        let (end, answer) = unsafe {
            end(node)?;
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
        // SAFETY: [handles] the client is alive. [callbacks] The function may be called with its
        // data until it is replaced.
        unsafe {
            let end = end(client)?;
            end.call.entity.listen(&end.call.context.callbacks, callback, user_data)
        }
    })
}

/// The policies of the endpoint that sends requests.
///
/// # Safety
/// The client is null or valid; the profile is null or points to memory for a profile.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_client_request_publisher_get_actual_qos(
    client: *const rmw_client_t,
    profile: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    // SAFETY: [handles] the client is alive. [outputs] There is memory for the profile.
    guarded(|| unsafe { qos::report(&end(client)?.client.qos(), profile) })
}

/// The policies of the endpoint that receives responses.
///
/// # Safety
/// The client is null or valid; the profile is null or points to memory for a profile.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_client_response_subscription_get_actual_qos(
    client: *const rmw_client_t,
    profile: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    // SAFETY: [handles] the client is alive. [outputs] There is memory for the profile.
    guarded(|| unsafe { qos::report(&end(client)?.client.qos(), profile) })
}

/// The identity of a client.
///
/// # Safety
/// The client is null or valid; the gid is null or points to memory for a gid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_gid_for_client(
    client: *const rmw_client_t,
    gid_out: *mut rmw_gid_t,
) -> rmw_ret_t {
    // SAFETY: [handles] the client is alive. [outputs] There is memory for the gid.
    guarded(|| unsafe { info::report_gid(end(client)?.client.response_gid(), gid_out) })
}
