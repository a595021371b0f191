//! A topic of the engine.

use feros_cyclonedds_sys as sys;
use feros_dds::names::EndpointNames;
use feros_engine::{CreateEndpointError, Created};

use crate::c_string::c_string;
use crate::dds::{Code, Entity};
use crate::domain::Pool;

/// Creates the error for an operation that failed on an endpoint with these names.
pub(crate) fn failed(
    names: &EndpointNames,
    operation: &'static str,
) -> impl FnOnce(Code) -> CreateEndpointError {
    move |code| names.failed(operation, code, code.0 == sys::DDS_RETCODE_INCONSISTENT_POLICY)
}

/// A topic of the engine and the sertype that it uses.
#[derive(Debug)]
pub(crate) struct Topic {
    pub(crate) entity: Entity,
    pub(crate) sertype: *const sys::ddsi_sertype,
}

// SAFETY: the sertype does not change, except for an atomic counter, and it exists while the topic
// entity exists.
unsafe impl Send for Topic {}
// SAFETY: see above.
unsafe impl Sync for Topic {}

impl Topic {
    pub(crate) fn new(participant: &Entity, pool: &Pool, names: &EndpointNames) -> Created<Self> {
        let (name, type_name) = (c_string(&names.topic), c_string(&names.type_name));
        let mut sertype = std::ptr::null();
        // SAFETY: the participant and the pool are alive, the strings exist during the call, and
        // the out parameter is valid.
        let topic = unsafe {
            sys::feros_create_topic(
                participant.handle(),
                pool.as_ptr(),
                name.as_ptr(),
                type_name.as_ptr(),
                &raw mut sertype,
            )
        };
        let entity = Entity::new(topic).map_err(|code| match code.0 {
            sys::DDS_RETCODE_BAD_PARAMETER => CreateEndpointError::Name {
                name: names.ros.clone(),
                reason: "the engine does not accept it as a topic name".into(),
            },
            _ => failed(names, "creating the topic")(code),
        })?;
        Ok(Self { entity, sertype })
    }
}
