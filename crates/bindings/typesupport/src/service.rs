//! [`ServiceProgram`]: the messages of a service.

use crate::distribution::Layout;
use crate::error::CompileError;
use crate::ffi;
use crate::message::MessageProgram;
use crate::type_support::{find_service, hash_value, type_name};

/// A service type, compiled from a `rosidl_service_type_support_t`.
#[derive(Debug)]
pub struct ServiceProgram {
    /// The request.
    pub request: MessageProgram,
    /// The response.
    pub response: MessageProgram,
    /// The event message that service introspection publishes, if the package has one.
    pub event: Option<MessageProgram>,
    ros_type_name: String,
    type_hash: Option<[u8; 32]>,
}

impl ServiceProgram {
    /// Compiles the messages of a service, in the layout of the host's distribution.
    ///
    /// # Errors
    /// The same as [`MessageProgram::compile`].
    ///
    /// # Safety
    /// The contract of [`MessageProgram::compile`].
    pub unsafe fn compile(
        type_support: *const ffi::rosidl_service_type_support_t,
        layout: Layout,
    ) -> Result<Self, CompileError> {
        // SAFETY: by this function's contract.
        let (found, language) = unsafe { find_service(type_support) }?;
        // SAFETY: by this function's contract.
        let members = unsafe { found.data.cast::<ffi::ServiceMembers>().as_ref() };
        let Some(members) = members else {
            let message = "a service".to_owned();
            return Err(CompileError::Incomplete { message, what: "description" });
        };
        // SAFETY: by this function's contract.
        let ros_type_name = unsafe { type_name(members.service_namespace_, members.service_name_) };
        // SAFETY: by this function's contract; the type supports of a service's messages are
        // introspection in the same language as the service's.
        let message = |type_support: *const ffi::rosidl_message_type_support_t, what| unsafe {
            let message = ros_type_name.clone();
            let found = type_support.as_ref().ok_or(CompileError::Incomplete { message, what })?;
            MessageProgram::of_introspection(found, language, layout)
        };
        let event = match found.event_typesupport.is_null() {
            true => None,
            false => Some(message(found.event_typesupport, "event")?),
        };
        // SAFETY: by this function's contract.
        let type_hash = unsafe {
            let hash = found.get_type_hash_func.map(|function| function(found));
            hash.and_then(|hash| hash_value(hash))
        };
        Ok(Self {
            request: message(found.request_typesupport, "request")?,
            response: message(found.response_typesupport, "response")?,
            event,
            type_hash,
            ros_type_name,
        })
    }

    /// The name of the type, such as `std_srvs/srv/SetBool`.
    #[must_use]
    pub fn ros_type_name(&self) -> &str {
        &self.ros_type_name
    }

    /// The RIHS01 hash of the type; `None` if its package has no hash.
    #[must_use]
    pub fn type_hash(&self) -> Option<[u8; 32]> {
        self.type_hash
    }
}
