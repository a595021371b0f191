//! The interface definitions that a program knows: shipped with Feros, in installed packages, and
//! in added folders.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use feros::engine::TypeHash;
use feros_interface::{
    BaseType, Constant, Field, InterfaceSet, Literal, MessageDefinition, Namespace, PLACES, Shape,
    TypeName, shipped_package, shipped_packages,
};
use feros_sync::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{UnknownTypeError, error};
use crate::message::MessageType;

/// The known interfaces. A package from a later source completely replaces the same package from an
/// earlier source. Shipped packages are parsed when they are first needed.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Interfaces {
    set: Mutex<Arc<InterfaceSet>>,
    /// The reasons why packages could not be loaded; errors about missing types mention the first
    /// reason.
    faults: Mutex<Vec<String>>,
}

impl Interfaces {
    /// The interfaces loaded so far.
    fn loaded(&self) -> Arc<InterfaceSet> {
        self.set.lock().clone()
    }

    /// The loaded interfaces, after the package and all packages to which it refers have been
    /// loaded.
    fn with_package(&self, package: &str) -> Arc<InterfaceSet> {
        let mut set = self.loaded();
        let mut wanted = vec![package.to_owned()];
        // The derived messages of services and actions need these packages.
        wanted.extend(["service_msgs", "action_msgs"].map(str::to_owned));
        let mut seen = BTreeSet::new();
        while let Some(package) = wanted.pop() {
            if !seen.insert(package.clone()) {
                continue;
            }
            if !set.has_package(&package) {
                Arc::make_mut(&mut set).add_packages(shipped_package(&package));
            }
            let messages = set.messages().filter(|message| message.name.package == package);
            let references = messages.flat_map(|message| message.references());
            wanted.extend(references.map(|name| name.package.clone()));
        }
        *self.set.lock() = set.clone();
        set
    }

    /// All interfaces.
    fn all(&self) -> Arc<InterfaceSet> {
        let mut set = self.loaded();
        Arc::make_mut(&mut set).add_packages(feros_interface::shipped().clone());
        *self.set.lock() = set.clone();
        set
    }

    fn unknown(&self, error: impl std::fmt::Display) -> PyErr {
        UnknownTypeError::new_err(format!("{error}; {}", self.places()))
    }

    /// The full name of a type, with a set that contains all types to which it refers.
    fn find_in(&self, text: &str) -> PyResult<(Arc<InterfaceSet>, TypeName)> {
        let package = text.split('/').next().unwrap_or_default();
        let set = self.with_package(package);
        if let Ok(name) = text.parse::<TypeName>()
            && set.contains(&name)
        {
            return Ok((set, name));
        }
        let set = self.all();
        let name = set.find(text).map_err(|error| self.unknown(error))?;
        Ok((set, name))
    }
}

#[pymethods]
impl Interfaces {
    /// Makes the set of interfaces: those shipped with Feros, and those in folders named by
    /// environment variables.
    #[new]
    fn new() -> Self {
        let mut set = InterfaceSet::new();
        let faults = set.load_environment();
        Self { set: Mutex::new(Arc::new(set)), faults: Mutex::new(faults) }
    }

    /// Adds a package, or all packages of a folder; returns their names.
    fn add_folder(&self, folder: PathBuf) -> PyResult<Vec<String>> {
        let mut set = (*self.loaded()).clone();
        let packages = set.load_dir(folder).map_err(error)?;
        *self.set.lock() = Arc::new(set);
        Ok(packages)
    }

    /// Describes the places in which Feros looks for types, with the error of a package that cannot
    /// be read.
    fn places(&self) -> String {
        let fault = match self.faults.lock().first() {
            Some(fault) => format!("; also, some packages cannot be read: {fault}"),
            None => String::new(),
        };
        format!(
            "types are looked up {PLACES} and in the folders added by \
             feros.interfaces.add_folder{fault}"
        )
    }

    /// The names of all packages.
    fn packages(&self) -> Vec<String> {
        let loaded = self.loaded();
        let mut packages = loaded.packages();
        packages.extend(shipped_packages());
        packages.sort_unstable();
        packages.dedup();
        packages.into_iter().map(str::to_owned).collect()
    }

    /// The names in a namespace (`msg`, `srv`, `action`) of a package.
    fn names(&self, package: &str, namespace: &str) -> Vec<String> {
        let set = self.with_package(package);
        let interfaces = set.interfaces().map(|interface| interface.name());
        let here =
            |name: &&TypeName| name.package == package && name.namespace.as_str() == namespace;
        interfaces.filter(here).map(|name| name.name.clone()).collect()
    }

    /// The full name of the type that `package/msg/Name` or `package/Name` refers to.
    fn find(&self, text: &str) -> PyResult<String> {
        Ok(self.find_in(text)?.1.to_string())
    }

    /// A message type whose class has not been made yet.
    fn message_type(&self, name: &str) -> PyResult<MessageType> {
        let (set, name) = self.find_in(name)?;
        // Circular or missing references make the description fail here, before anything is made
        // from the type.
        let description = set.type_description(&name).map_err(|error| self.unknown(error))?;
        match set.message(&name) {
            Some(definition) => {
                let service_hash = service_hash(&set, &name);
                Ok(MessageType::new(definition.clone(), description, service_hash))
            }
            None => Err(PyValueError::new_err(format!("{name} is not a message"))),
        }
    }

    /// The definition of a message, for the code that makes its class.
    fn definition<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let (set, name) = self.find_in(name)?;
        let Some(definition) = set.message(&name) else {
            return Err(PyValueError::new_err(format!("{name} is not a message")));
        };
        describe(py, definition)
    }

    /// The kind of an interface: `msg`, `srv` or `action`; `message` for a message that is part of
    /// a service or action.
    fn kind(&self, name: &str) -> PyResult<&'static str> {
        let (set, name) = self.find_in(name)?;
        Ok(match set.get(&name).map(|interface| interface.namespace()) {
            Some(Namespace::Msg) => "msg",
            Some(Namespace::Srv) => "srv",
            Some(Namespace::Action) => "action",
            None if set.service(&name).is_some() => "srv",
            None => "message",
        })
    }

    /// The hash of any type, as `RIHS01_...`.
    fn hash(&self, name: &str) -> PyResult<String> {
        let (set, name) = self.find_in(name)?;
        Ok(set.type_hash(&name).map_err(|error| self.unknown(error))?.to_string())
    }

    /// The text of the definition.
    fn text(&self, name: &str) -> PyResult<String> {
        let (set, name) = self.find_in(name)?;
        let found = set.get(&name).map(|interface| interface.to_string());
        let part = || set.message(&name).map(|message| message.to_string());
        found
            .or_else(part)
            .ok_or_else(|| PyValueError::new_err(format!("{name} has no definition")))
    }
}

/// The hash of the service that has this request.
fn service_hash(set: &InterfaceSet, request: &TypeName) -> Option<TypeHash> {
    let service = request.name.strip_suffix("_Request")?;
    let name = TypeName { name: service.to_owned(), ..request.clone() };
    set.service(&name)?;
    set.type_hash(&name).ok().map(|hash| TypeHash(hash.0))
}

fn describe<'py>(py: Python<'py>, definition: &MessageDefinition) -> PyResult<Bound<'py, PyDict>> {
    let definition: &MessageDefinition = &definition.with_words();
    let description = PyDict::new(py);
    description.set_item("name", definition.name.to_string())?;
    description.set_item("comment", definition.comment.join(" "))?;
    let fields = definition.fields.iter().map(|field| describe_field(py, field));
    description.set_item("fields", PyList::new(py, fields.collect::<PyResult<Vec<_>>>()?)?)?;
    let (constants, comments) = (PyDict::new(py), PyDict::new(py));
    for Constant { name, ty, value, comment } in &definition.constants {
        constants.set_item(name, crate::message::scalar(py, ty, Some(value))?)?;
        comments.set_item(name, comment.join(" "))?;
    }
    description.set_item("constants", constants)?;
    description.set_item("constant_comments", comments)?;
    Ok(description)
}

/// Describes a field: its name, type (as in IDL), bound if it is a string, name of the message if
/// it is a message, shape (`one`, `array`, `sequence`), size or bound, and declared default.
fn describe_field<'py>(py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyDict>> {
    let described = PyDict::new(py);
    described.set_item("name", &field.name)?;
    described.set_item("comment", field.comment.join(" "))?;
    let (base, bound, nested) = match &field.ty.base {
        BaseType::Bool => ("boolean", None, None),
        BaseType::Byte => ("octet", None, None),
        BaseType::Char => ("uint8", None, None),
        BaseType::Float32 => ("float", None, None),
        BaseType::Float64 => ("double", None, None),
        BaseType::String { bound } => ("string", *bound, None),
        BaseType::WString { bound } => ("wstring", *bound, None),
        BaseType::Nested(name) => ("message", None, Some(name.to_string())),
        number => (number.keyword().unwrap_or_default(), None, None),
    };
    described.set_item("base", base)?;
    described.set_item("bound", bound)?;
    described.set_item("nested", nested)?;
    let (shape, size) = match field.ty.shape {
        Shape::Single => ("one", None),
        Shape::Array(size) => ("array", Some(size)),
        Shape::BoundedSequence(bound) => ("sequence", Some(bound)),
        Shape::Sequence => ("sequence", None),
    };
    described.set_item("shape", shape)?;
    described.set_item("size", size)?;
    let default = match &field.default {
        None => None,
        Some(Literal::Array(elements)) => {
            let elements = elements.iter();
            let elements = elements.map(|e| crate::message::scalar(py, &field.ty.base, Some(e)));
            let list = PyList::new(py, elements.collect::<PyResult<Vec<_>>>()?)?;
            Some(list.into_any().unbind())
        }
        Some(value) => Some(crate::message::scalar(py, &field.ty.base, Some(value))?),
    };
    described.set_item("default", default)?;
    Ok(described)
}
