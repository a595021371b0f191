//! The options of nodes.

use std::collections::BTreeMap;

use feros_engine::{NameError, NodeName, QosProfile};
use feros_parameter::ParameterValue;

use crate::arguments::{Arguments, remap_node};
use crate::context::Context;
use crate::create_error::CreateError;

/// The options of a node.
///
/// ```
/// use feros::{NodeOptions, Arguments};
/// let (arguments, _) = Arguments::parse(["--ros-args", "-r", "image:=/camera/image"].map(String::from))?;
/// let options = NodeOptions::new("detector").arguments(arguments).parameter_overrides([("rate", 5.0)]);
/// # Ok::<(), feros::ArgumentError>(())
/// ```
#[derive(Debug, Clone)]
pub struct NodeOptions {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) arguments: Arguments,
    pub(crate) parameter_overrides: BTreeMap<String, ParameterValue>,
    pub(crate) enable_rosout: bool,
    pub(crate) rosout_qos: QosProfile,
    pub(crate) use_global_arguments: bool,
    pub(crate) use_sim_time: bool,
    pub(crate) use_intra_process_comms: bool,
    pub(crate) allow_undeclared_parameters: bool,
    pub(crate) automatically_declare_parameters_from_overrides: bool,
    pub(crate) start_parameter_services: bool,
    pub(crate) local_requests_only: bool,
    pub(crate) start_parameter_event_publisher: bool,
    pub(crate) enable_logger_service: bool,
}

impl Default for NodeOptions {
    /// The default options, for a node in the namespace `/` without a name. Set the name before you
    /// make the node.
    fn default() -> Self {
        Self {
            name: String::new(),
            namespace: String::new(),
            arguments: Arguments::default(),
            parameter_overrides: BTreeMap::new(),
            enable_rosout: true,
            rosout_qos: QosProfile::rosout_default(),
            use_global_arguments: true,
            use_sim_time: false,
            use_intra_process_comms: true,
            allow_undeclared_parameters: false,
            automatically_declare_parameters_from_overrides: false,
            start_parameter_services: true,
            local_requests_only: false,
            start_parameter_event_publisher: true,
            enable_logger_service: false,
        }
    }
}

impl NodeOptions {
    /// The options of a node with this name in the namespace `/`.
    pub fn new(name: &str) -> Self {
        Self::default().name(name)
    }

    /// Sets the name, which the arguments may remap.
    pub fn name(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Sets the namespace, which the arguments may remap.
    pub fn namespace(self, namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), ..self }
    }

    /// Sets remap rules and parameters for this node alone. They take precedence over the process's
    /// command line.
    pub fn arguments(self, arguments: Arguments) -> Self {
        Self { arguments, ..self }
    }

    /// Sets values of parameters, which override the values from all arguments and the defaults
    /// that the node declares.
    pub fn parameter_overrides<N: Into<String>, V: Into<ParameterValue>>(
        mut self,
        overrides: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let overrides = overrides.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.parameter_overrides.extend(overrides);
        self
    }

    /// Sets whether the node's log messages are published on `/rosout`; they are by default.
    pub fn enable_rosout(self, enable_rosout: bool) -> Self {
        Self { enable_rosout, ..self }
    }

    /// Sets the QoS policies for log messages on `/rosout`, instead of
    /// [`QosProfile::rosout_default`](crate::QosProfile::rosout_default).
    pub fn rosout_qos(self, rosout_qos: QosProfile) -> Self {
        Self { rosout_qos, ..self }
    }

    /// Sets whether the process's command line remaps the node's names and sets its parameters, as
    /// it does by default.
    pub fn use_global_arguments(self, use_global_arguments: bool) -> Self {
        Self { use_global_arguments, ..self }
    }

    /// Sets whether ROS time follows `/clock` from the start. This is the default of the parameter
    /// `use_sim_time`.
    pub fn use_sim_time(self, use_sim_time: bool) -> Self {
        Self { use_sim_time, ..self }
    }

    /// Sets whether messages between nodes of this process may take the intra-process transport;
    /// they may by default.
    pub fn use_intra_process_comms(self, use_intra_process_comms: bool) -> Self {
        Self { use_intra_process_comms, ..self }
    }

    /// Sets whether setting an undeclared parameter declares it. By default, setting an undeclared
    /// parameter fails.
    pub fn allow_undeclared_parameters(self, allow_undeclared_parameters: bool) -> Self {
        Self { allow_undeclared_parameters, ..self }
    }

    /// Sets whether every parameter that has a value from arguments or options is declared
    /// automatically, dynamically typed. By default only the parameters that the node declares
    /// exist.
    pub fn automatically_declare_parameters_from_overrides(self, automatically: bool) -> Self {
        Self { automatically_declare_parameters_from_overrides: automatically, ..self }
    }

    /// Sets whether other nodes may read and set the node's parameters; they may by default.
    pub fn start_parameter_services(self, start_parameter_services: bool) -> Self {
        Self { start_parameter_services, ..self }
    }

    /// Sets whether only nodes of this host, determined by the address of their requests, may read
    /// and set the node's parameters, set logger levels and manage a managed node; by default all
    /// nodes may. For your own services use
    /// [`ServiceOptions::local_requests_only`](crate::ServiceOptions::local_requests_only).
    pub fn local_requests_only(self, local_requests_only: bool) -> Self {
        Self { local_requests_only, ..self }
    }

    /// Sets whether changes of the node's parameters are published on `/parameter_events`; they are
    /// by default.
    pub fn start_parameter_event_publisher(self, start_parameter_event_publisher: bool) -> Self {
        Self { start_parameter_event_publisher, ..self }
    }

    /// Sets whether other nodes may read and set the levels of the process's loggers, with the
    /// services `~/get_logger_levels` and `~/set_logger_levels`; they may not by default.
    pub fn enable_logger_service(self, enable_logger_service: bool) -> Self {
        Self { enable_logger_service, ..self }
    }

    pub(crate) fn remapped_name(&self, context: &Context) -> Result<NodeName, NameError> {
        let global =
            if self.use_global_arguments { &context.arguments().remap_rules[..] } else { &[] };
        remap_node(self.arguments.remap_rules.iter().chain(global), &self.namespace, &self.name)
    }

    /// Collects the values that override the defaults of parameters. A source that comes later in
    /// this function wins over an earlier source.
    pub(crate) fn resolve_overrides(
        &mut self,
        context: &Context,
        node: &NodeName,
    ) -> Result<BTreeMap<String, ParameterValue>, CreateError> {
        let mut overrides = kept_by_engine(context, node);
        if self.use_global_arguments {
            overrides.extend(context.parameter_overrides().for_node(node));
        }
        overrides.extend(self.arguments.parameter_overrides()?.for_node(node));
        overrides.append(&mut self.parameter_overrides);
        Ok(overrides)
    }
}

/// Reads the parameter values that the engine stores for the node, for example on a ROS 1 master.
fn kept_by_engine(context: &Context, node: &NodeName) -> BTreeMap<String, ParameterValue> {
    let mut kept = BTreeMap::new();
    let initial = context.session().parameter_server().map(|server| server.initial(node));
    for (name, yaml) in initial.into_iter().flatten() {
        match ParameterValue::from_yaml(&yaml) {
            Ok(value) => drop(kept.insert(name, value)),
            Err(error) => tracing::warn!(
                "{node}: the stored value of parameter {name} cannot be used: {error}"
            ),
        }
    }
    kept
}
