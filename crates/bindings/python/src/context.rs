//! The context: one participant in the graph.

use feros::engine::DiscoveryForm;
use feros::lifecycle::LifecycleNodeOptions;
use feros::{Arguments, ContextOptions, NodeOptions, Time};
use feros_sync::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::clock::Clock;
use crate::detached::Detached;
use crate::error::error;
use crate::lifecycle::LifecycleNode;
use crate::node::Node;
use crate::waiting::SLICE;
use crate::{parameter, qos};

/// One participant, which leaves the graph when the context and all objects made from it have been
/// dropped.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Context {
    context: Detached<feros::Context>,
    rest: Vec<String>,
    domain_id: u32,
    /// The guards of callbacks that run at shutdown.
    guards: Mutex<Vec<feros::ShutdownGuard>>,
}

#[pymethods]
impl Context {
    /// Makes a context from these arguments (without the program's name) and the environment.
    #[new]
    #[pyo3(signature = (args=Vec::new(), domain_id=None, ros_distro=None))]
    fn new(
        py: Python<'_>,
        args: Vec<String>,
        domain_id: Option<u32>,
        ros_distro: Option<String>,
    ) -> PyResult<Self> {
        let (arguments, rest) = Arguments::parse(args).map_err(error)?;
        let mut options = ContextOptions::from_variables().map_err(error)?;
        if let Some(domain_id) = domain_id {
            options.session.domain_id = domain_id;
        }
        if let Some(name) = ros_distro {
            let form = DiscoveryForm::of_distribution(&name);
            options.session.discovery_form = form.ok_or_else(|| {
                let known = DiscoveryForm::DISTRIBUTIONS.join(", ");
                error(format!("ros_distro is {name:?}; it takes one of {known}"))
            })?;
        }
        if let Some(enclave) = &arguments.enclave {
            options.session.enclave.clone_from(enclave);
        }
        let domain_id = options.session.domain_id;
        let context = py.detach(|| {
            feros::logging::init(&arguments);
            feros::Context::new(ContextOptions { arguments, ..options })
        });
        let context = Detached::new(context.map_err(error)?);
        Ok(Self { context, rest, domain_id, guards: Mutex::default() })
    }

    /// The arguments that are not ROS arguments.
    #[getter]
    fn remaining_arguments(&self) -> Vec<String> {
        self.rest.clone()
    }

    /// Whether the context has not been shut down yet.
    fn ok(&self) -> bool {
        self.context.is_ok()
    }

    /// Ends all spinning and waiting.
    fn shutdown(&self, py: Python<'_>) {
        py.detach(|| self.context.shutdown());
    }

    /// Calls `callback` when the context is shut down.
    fn on_shutdown(&self, py: Python<'_>, callback: Py<PyAny>) {
        let call = move || {
            let _ = Python::try_attach(|py| {
                if let Err(error) = callback.call0(py) {
                    error.print(py);
                }
            });
        };
        let guard = py.detach(|| self.context.on_shutdown(call));
        self.guards.lock().push(guard);
    }

    /// The domain.
    #[getter]
    fn domain_id(&self) -> u32 {
        self.domain_id
    }

    /// Blocks until a clock reaches a time, in nanoseconds; returns `false` if the context is shut
    /// down first.
    fn sleep_until(&self, py: Python<'_>, clock: &Bound<'_, Clock>, until: i64) -> PyResult<bool> {
        let (until, clock) = (Time::from_nanos(until), clock.get().inner());
        if clock.is_simulated() {
            return Ok(py.detach(|| clock.sleep_until(until, &self.context)));
        }
        loop {
            let left = until.saturating_since(clock.now()).min(SLICE);
            if left.is_zero() || !self.context.is_ok() {
                return Ok(left.is_zero());
            }
            py.detach(|| clock.sleep_for(left, &self.context));
            py.check_signals()?;
        }
    }

    /// Makes a node.
    #[pyo3(signature = (name, **options))]
    fn create_node(
        &self,
        py: Python<'_>,
        name: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Node> {
        let options = node_options(NodeOptions::new(name), options)?;
        let node = py.detach(|| self.context.create_node_with(options)).map_err(error)?;
        Ok(Node::new(node))
    }

    /// Makes a managed node. `run(name, previous)` calls the callback of a transition, such as
    /// `on_configure`, and returns the number of its result.
    #[pyo3(signature = (name, run, enable_communication_interface=true, **options))]
    fn create_lifecycle_node(
        &self,
        py: Python<'_>,
        name: &str,
        run: Py<PyAny>,
        enable_communication_interface: bool,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<LifecycleNode> {
        let options = LifecycleNodeOptions::from(node_options(NodeOptions::new(name), options)?)
            .enable_communication_interface(enable_communication_interface);
        LifecycleNode::new(py, &self.context, options, run)
    }
}

fn node_options(
    mut options: NodeOptions,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<NodeOptions> {
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        options = match name.as_str() {
            "namespace" => options.namespace(&value.extract::<String>()?),
            "arguments" => {
                let line: Vec<String> = value.extract()?;
                options.arguments(Arguments::parse(line).map_err(error)?.0)
            }
            "parameter_overrides" => {
                let overrides = value.cast::<PyDict>()?.iter().map(|(name, value)| {
                    PyResult::Ok((name.extract::<String>()?, parameter::from_python(&value)?))
                });
                options.parameter_overrides(overrides.collect::<PyResult<Vec<_>>>()?)
            }
            "enable_rosout" => options.enable_rosout(value.extract()?),
            "rosout_qos" => options.rosout_qos(qos::profile(value.extract()?)?),
            "use_global_arguments" => options.use_global_arguments(value.extract()?),
            "use_sim_time" => options.use_sim_time(value.extract()?),
            "allow_undeclared_parameters" => options.allow_undeclared_parameters(value.extract()?),
            "automatically_declare_parameters_from_overrides" => {
                options.automatically_declare_parameters_from_overrides(value.extract()?)
            }
            "start_parameter_services" => options.start_parameter_services(value.extract()?),
            "enable_logger_service" => options.enable_logger_service(value.extract()?),
            other => {
                return Err(PyValueError::new_err(format!("a node has no option {other:?}")));
            }
        };
    }
    Ok(options)
}
