//! Service servers.

use feros::engine::{FailureCounter, TypeHash};
use feros::{
    CallId, GenericService, QosProfile, SerializedMessage, SerializedResponder, ServiceIdentity,
    ServiceOptions,
};
use feros_sync::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::callback::Owner;
use crate::callback_group::{Schedule, callback_options};
use crate::detached::Detached;
use crate::error::{DecodeError, FerosError, error, publish_error};
use crate::message::{MessageType, decode};

/// The name of a service type, and the types of its two messages.
pub(crate) type ServiceTypes<'a> = (&'a str, Py<MessageType>, Py<MessageType>);

/// The client of a call, and the call's number at that client.
pub(crate) type CallTuple<'py> = (Bound<'py, PyBytes>, i64);

pub(crate) fn call_tuple(py: Python<'_>, call: CallId) -> CallTuple<'_> {
    (PyBytes::new(py, &call.client.0), call.sequence_number)
}

/// The identity that endpoints with these types announce.
pub(crate) fn identity(types: &ServiceTypes<'_>) -> ServiceIdentity {
    ServiceIdentity {
        name: types.0.to_owned(),
        type_hash: types.1.get().service_hash(),
        request_hash: Some(types.1.get().type_hash()),
        response_hash: Some(types.2.get().type_hash()),
    }
}

pub(crate) fn hash_text(hash: TypeHash) -> String {
    feros_interface::TypeHash(hash.0).to_string()
}

/// Answers the requests of a service.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Service {
    service: Detached<GenericService>,
    type_hash: Option<TypeHash>,
}

impl Service {
    pub(crate) fn new(
        py: Python<'_>,
        owner: Owner<'_>,
        name: &str,
        types: ServiceTypes<'_>,
        qos: QosProfile,
        callback: Py<PyAny>,
        schedule: Option<Schedule>,
    ) -> PyResult<Self> {
        let identity = identity(&types);
        let (_, request_type, response_type) = types;
        let (failures, service) = (owner.failures.clone(), name.to_owned());
        let malformed = FailureCounter::new();
        let answer = move |request: SerializedMessage, responder: SerializedResponder| {
            failures.run(|py| {
                let plan = request_type.get().plan()?;
                let request = match decode(py, plan, &request, None, false) {
                    Ok(request) => request,
                    Err(error) if error.is_instance_of::<DecodeError>(py) => {
                        responder.give_up();
                        if let Some(count) = malformed.count() {
                            let text = error.value(py);
                            tracing::error!(
                                "{service}: {count} requests have been refused so far; the last \
                                 error: {text}"
                            );
                        }
                        return Ok(());
                    }
                    Err(error) => return Err(error),
                };
                let responder = Responder {
                    responder: Mutex::new(Some(responder)),
                    response_type: response_type.clone_ref(py),
                };
                callback.call1(py, (request, responder)).map(drop)
            });
        };
        let mut options = ServiceOptions::from(qos);
        options.callback = callback_options(schedule.as_ref());
        let node = owner.node;
        let made = py.detach(|| node.create_generic_service(name, &identity, options, answer));
        Ok(Self { service: Detached::new(made.map_err(error)?), type_hash: identity.type_hash })
    }
}

#[pymethods]
impl Service {
    #[getter]
    fn service_name(&self) -> String {
        self.service.service_name().to_owned()
    }

    /// The hash of the service type that the server announces, as `RIHS01_...`.
    #[getter]
    fn type_hash(&self) -> Option<String> {
        self.type_hash.map(hash_text)
    }
}

/// Sends the response to one request, now or later, from any thread.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Responder {
    responder: Mutex<Option<SerializedResponder>>,
    response_type: Py<MessageType>,
}

impl Responder {
    fn take(&self) -> PyResult<SerializedResponder> {
        let responder = self.responder.lock().take();
        responder.ok_or_else(|| FerosError::new_err("the request was already answered"))
    }
}

#[pymethods]
impl Responder {
    /// Sends the response.
    fn send(&self, py: Python<'_>, response: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = self.response_type.get().to_vec(response)?;
        let responder = self.take()?;
        py.detach(|| responder.send(&bytes)).map_err(publish_error)
    }

    /// Sends the response; an error, for example because the client has left, is logged.
    fn answer(&self, py: Python<'_>, response: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = self.response_type.get().to_vec(response)?;
        let responder = self.take()?;
        py.detach(|| responder.answer(&bytes));
        Ok(())
    }

    /// The identity of the call in service introspection events; `None` once the request has been
    /// answered.
    #[getter]
    fn call_id<'py>(&self, py: Python<'py>) -> Option<CallTuple<'py>> {
        let responder = self.responder.lock();
        responder.as_ref().map(|responder| call_tuple(py, responder.call_id()))
    }

    /// The identity of the request: its client, and the number that the client gave to the request.
    #[getter]
    fn request_id<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyBytes>, i64)> {
        let responder = self.responder.lock();
        let id = responder.as_ref()?.request_id();
        Some((PyBytes::new(py, &id.client), id.sequence_number))
    }
}
