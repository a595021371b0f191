//! The exceptions of the package, and the conversion of errors to exceptions. An exception has the
//! text of its error.

use feros::{CallError, PublishError, WaitError};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    feros,
    FerosError,
    PyException,
    "The base class of the errors of feros, except for wrong types and wrong values."
);
create_exception!(feros, DecodeError, FerosError, "The bytes are not a message of the type.");
create_exception!(feros, LoanError, FerosError, "A loan can no longer be used.");
create_exception!(feros, CallFailed, FerosError, "A service call got no response.");
create_exception!(feros, ShutdownError, FerosError, "The context was shut down.");
create_exception!(
    feros,
    ParameterError,
    FerosError,
    "A parameter cannot be declared, read or set."
);
create_exception!(feros, UnknownTypeError, FerosError, "The interface type is unknown.");
create_exception!(
    feros,
    ChangeStateError,
    FerosError,
    "A managed node did not change its state as requested."
);

/// Converts an error for which there is no special exception.
pub(crate) fn error(error: impl std::fmt::Display) -> PyErr {
    FerosError::new_err(error.to_string())
}

pub(crate) fn publish_error(error: PublishError) -> PyErr {
    match error {
        PublishError::NoServer { .. } => CallFailed::new_err(error.to_string()),
        other => FerosError::new_err(other.to_string()),
    }
}

pub(crate) fn call_error(error: CallError) -> PyErr {
    match error {
        CallError::Timeout { .. } => pyo3::exceptions::PyTimeoutError::new_err(error.to_string()),
        CallError::Shutdown { .. } => ShutdownError::new_err(error.to_string()),
        other => CallFailed::new_err(other.to_string()),
    }
}

pub(crate) fn wait_error(error: WaitError) -> PyErr {
    match error {
        WaitError::Shutdown { .. } => ShutdownError::new_err(error.to_string()),
        other => pyo3::exceptions::PyTimeoutError::new_err(other.to_string()),
    }
}

/// Adds the exceptions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("FerosError", py.get_type::<FerosError>())?;
    module.add("DecodeError", py.get_type::<DecodeError>())?;
    module.add("LoanError", py.get_type::<LoanError>())?;
    module.add("CallFailed", py.get_type::<CallFailed>())?;
    module.add("ShutdownError", py.get_type::<ShutdownError>())?;
    module.add("ParameterError", py.get_type::<ParameterError>())?;
    module.add("UnknownTypeError", py.get_type::<UnknownTypeError>())?;
    module.add("ChangeStateError", py.get_type::<ChangeStateError>())
}
