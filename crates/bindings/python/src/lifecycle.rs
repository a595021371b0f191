//! Managed nodes: the state machine and its services are in Rust, and the callbacks of the
//! transitions are in Python.

use std::sync::Arc;

use feros::Error;
use feros::lifecycle::{
    CallbackReturn, LifecycleCallbacks, LifecycleNodeOptions, State, Transition, TransitionKey,
};
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

use crate::callback::Failures;
use crate::detached::Detached;
use crate::error::{ChangeStateError, error};
use crate::node::Node;

/// A managed node.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct LifecycleNode {
    node: Detached<feros::LifecycleNode>,
    failures: Arc<Failures>,
}

/// Calls the Python callbacks of the transitions.
struct Callbacks {
    run: Py<PyAny>,
    failures: Arc<Failures>,
}

impl Callbacks {
    fn call(&self, name: &str, previous: State) -> Result<CallbackReturn, Error> {
        let called = Python::try_attach(|py| {
            let returned = self.run.call1(py, (name, previous.id()))?.extract(py)?;
            of_number(returned)
        });
        match called {
            None => Err(Error::other("the interpreter has ended")),
            Some(Ok(returned)) => Ok(returned),
            Some(Err(error)) => Err(self.tell(name, error)),
        }
    }

    /// Prints the exception of a callback, and converts it to an error. An exception that is not an
    /// `Exception`, such as `KeyboardInterrupt`, ends the spinning instead of being printed.
    fn tell(&self, name: &str, error: PyErr) -> Error {
        let text = format!("{name} raised {error}");
        self.failures.run(|py| {
            if !error.is_instance_of::<PyException>(py) {
                return Err(error);
            }
            error.print(py);
            Ok(())
        });
        Error::other(text)
    }
}

fn of_number(number: u8) -> PyResult<CallbackReturn> {
    let all = [CallbackReturn::Success, CallbackReturn::Failure, CallbackReturn::Error];
    let found = all.into_iter().find(|known| *known as u8 == number);
    found.ok_or_else(|| PyValueError::new_err(format!("{number} is not a CallbackReturn")))
}

macro_rules! callbacks {
    ($($name:ident),*) => {
        impl LifecycleCallbacks for Callbacks {
            $(fn $name(
                &mut self,
                _: &feros::LifecycleNode,
                previous: State,
            ) -> Result<CallbackReturn, Error> {
                self.call(stringify!($name), previous)
            })*
        }
    };
}

callbacks!(on_configure, on_cleanup, on_activate, on_deactivate, on_shutdown, on_error);

/// A transition by its number or label.
#[derive(FromPyObject)]
enum Wanted {
    Id(u8),
    Label(String),
}

impl LifecycleNode {
    pub(crate) fn new(
        py: Python<'_>,
        context: &feros::Context,
        options: LifecycleNodeOptions,
        run: Py<PyAny>,
    ) -> PyResult<Self> {
        let failures: Arc<Failures> = Arc::default();
        let callbacks = Callbacks { run, failures: failures.clone() };
        let made = py.detach(|| context.create_lifecycle_node_with(options, callbacks));
        Ok(Self { node: Detached::new(made.map_err(error)?), failures })
    }
}

#[pymethods]
impl LifecycleNode {
    /// The node as a plain node, for everything that managed nodes have in common with other nodes.
    fn node(&self) -> Node {
        Node::with((**self.node).clone(), self.failures.clone())
    }

    /// The number of the current state.
    #[getter]
    fn state(&self) -> u8 {
        self.node.current_state().id()
    }

    /// Whether lifecycle publishers send now.
    #[getter]
    fn is_activated(&self) -> bool {
        self.node.is_activated()
    }

    /// Runs a transition, by its number or its label; returns the number of the state after it.
    fn trigger_transition(&self, py: Python<'_>, transition: Wanted) -> PyResult<u8> {
        let triggered = py.detach(|| {
            self.node.trigger_transition(match &transition {
                Wanted::Id(id) => TransitionKey::Id(*id),
                Wanted::Label(label) => TransitionKey::Label(label),
            })
        });
        let refused = |error: feros::lifecycle::ChangeStateError| {
            ChangeStateError::new_err(error.to_string())
        };
        triggered.map(State::id).map_err(refused)
    }

    /// The transitions from the current state, or all transitions. Each has its number, its label,
    /// and the numbers of its start and goal states.
    #[pyo3(signature = (all=false))]
    fn transitions(&self, all: bool) -> Vec<(u8, &'static str, u8, u8)> {
        let found = if all { Transition::ALL.to_vec() } else { self.node.available_transitions() };
        let plain = |t: Transition| (t.id(), t.label(), t.start().id(), t.goal().id());
        found.into_iter().map(plain).collect()
    }
}
