//! Messages: Python classes whose instances are serialized and deserialized, by a plan that is made
//! once per class.

mod decode;
mod default;
mod encode;
mod field;
mod layout;
mod number;
mod plan;
mod runtime;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use feros::TypeIdentity;
use feros::engine::TypeHash;
use feros_interface::{MessageDefinition, TypeDescription};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

pub(crate) use decode::{decode, may_view};
pub(crate) use encode::{encode_into, encoded_size};
pub(crate) use field::Field;
pub(crate) use layout::Layout;
pub(crate) use plan::{Plan, scalar};

use crate::ffi;

/// A message type: its definition and, once its class has been made, the plan that encodes and
/// decodes instances.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct MessageType {
    definition: Arc<MessageDefinition>,
    /// The description of the type that nodes publish.
    description: TypeDescription,
    hash: TypeHash,
    /// The hash of the service, if this message is the request of a service.
    service_hash: Option<TypeHash>,
    plan: OnceLock<Arc<Plan>>,
}

impl MessageType {
    pub(crate) fn new(
        definition: Arc<MessageDefinition>,
        description: TypeDescription,
        service_hash: Option<TypeHash>,
    ) -> Self {
        let hash = TypeHash(description.type_hash().0);
        Self { definition, description, hash, service_hash, plan: OnceLock::new() }
    }

    /// The description of the type, with all types to which it refers.
    pub(crate) fn description(&self) -> &TypeDescription {
        &self.description
    }

    /// The plan for encoding and decoding messages of the type.
    pub(crate) fn plan(&self) -> PyResult<&Arc<Plan>> {
        let unbound = || PyRuntimeError::new_err(format!("{} has no class yet", self.name()));
        self.plan.get().ok_or_else(unbound)
    }

    /// The identity that endpoints of the type announce.
    pub(crate) fn identity(&self) -> TypeIdentity {
        TypeIdentity { name: self.name(), hash: Some(self.hash) }
    }

    pub(crate) fn type_hash(&self) -> TypeHash {
        self.hash
    }

    /// The hash of the service, if this message is the request of a service.
    pub(crate) fn service_hash(&self) -> Option<TypeHash> {
        self.service_hash
    }

    /// The serialized message.
    pub(crate) fn to_vec(&self, message: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let plan = self.plan()?;
        let mut bytes = vec![0; encoded_size(plan, message)?];
        encode_into(plan, message, &mut bytes)?;
        Ok(bytes)
    }
}

#[pymethods]
impl MessageType {
    /// The name, as `package/msg/Name`.
    #[getter]
    fn name(&self) -> String {
        self.definition.name.to_string()
    }

    /// The hash with which stock ROS 2 compares types, as `RIHS01_...`.
    #[getter]
    fn hash(&self) -> String {
        feros_interface::TypeHash(self.hash.0).to_string()
    }

    /// Completes the class that was made for the type: adds an attribute for each field. `nested`
    /// has the types of nested messages by name; the classes of those types are already complete.
    fn bind(
        &self,
        class: &Bound<'_, PyType>,
        nested: HashMap<String, Py<MessageType>>,
    ) -> PyResult<()> {
        let plan = Plan::new(&self.definition, class, |name| {
            let missing = || PyTypeError::new_err(format!("the class of {name} must exist first"));
            nested.get(name).ok_or_else(missing)?.get().plan().cloned()
        })?;
        let plan = Arc::new(plan);
        for (index, field) in self.definition.fields.iter().enumerate() {
            class.setattr(field.name.as_str(), Field::new(&plan, index))?;
        }
        let twice = |_| PyRuntimeError::new_err(format!("{} already has a class", self.name()));
        self.plan.set(plan).map_err(twice)
    }

    /// Fills a new instance with the given values, and with defaults.
    #[pyo3(signature = (message, given, checks))]
    fn initialize<'py>(
        &self,
        message: &Bound<'py, PyAny>,
        given: Option<&Bound<'py, PyDict>>,
        checks: bool,
    ) -> PyResult<()> {
        default::initialize(self.plan()?, message, given, checks)
    }

    /// The serialized message, with its 4-byte header.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        message: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let plan = self.plan()?;
        let size = encoded_size(plan, message)?;
        PyBytes::new_with(py, size, |buffer| encode_into(plan, message, buffer))
    }

    /// Decodes a message from serialized bytes. With `views`, sequences of numbers point into
    /// `data`.
    #[pyo3(signature = (data, views=false, checks=false))]
    fn decode<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        views: bool,
        checks: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, plan) = (data.py(), self.plan()?);
        if let Ok(bytes) = data.cast::<PyBytes>() {
            let block = (views && may_view(plan, bytes.as_bytes())).then_some(data);
            return decode(py, plan, bytes.as_bytes(), block, checks);
        }
        let copied = ffi::with_buffer(data, |contents| {
            let mut bytes = vec![0; contents.len()];
            contents.copy_to(&mut bytes);
            bytes
        });
        let Some(bytes) = copied else {
            let got = data.get_type().name()?;
            return Err(PyTypeError::new_err(format!("expected serialized bytes, not {got}")));
        };
        decode(py, plan, &bytes, None, checks)
    }

    fn __repr__(&self) -> String {
        format!("<message type {}>", self.name())
    }
}
