//! The client for the parameters of another node, which may be a Feros node or a stock ROS 2 node.

use std::time::Duration;

use feros_engine::QosProfile;
use feros_msgs::rcl_interfaces::msg::{
    Parameter as ParameterMessage, ParameterEvent, SetParametersResult,
};
use feros_msgs::rcl_interfaces::srv::{
    DescribeParameters, DescribeParameters_Request, GetParameterTypes, GetParameterTypes_Request,
    GetParameters, GetParameters_Request, ListParameters, ListParameters_Request, SetParameters,
    SetParameters_Request, SetParametersAtomically, SetParametersAtomically_Request,
};
use feros_parameter::{
    NamedValue, ParameterDescriptor, ParameterList, ParameterType, ParameterValue,
};

use crate::create_error::CreateError;
use crate::error::Error;
use crate::lazy_client::LazyClient;
use crate::node::{Node, parameter_events};
use crate::topics::subscription::Subscription;

/// Reads and sets the parameters of another node.
///
/// Every call waits for the service and for the response, for at most the given time. Endpoints are
/// made when they are first needed.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// use feros::ParameterClient;
/// use std::time::Duration;
/// let camera = ParameterClient::new(&node, "/robot/camera")?;
/// let soon = Duration::from_secs(2);
/// let results = camera.set([("rate", 15.0)], soon)?;
/// if let Err(reason) = &results[0] {
///     println!("not set: {reason}");
/// }
/// println!("{:?}", camera.get(["rate", "frame_id"], soon)?);
/// # Ok::<(), feros::Error>(())
/// ```
pub struct ParameterClient {
    node: Node,
    remote: String,
    get: LazyClient<GetParameters>,
    types: LazyClient<GetParameterTypes>,
    set: LazyClient<SetParameters>,
    set_atomically: LazyClient<SetParametersAtomically>,
    describe: LazyClient<DescribeParameters>,
    list: LazyClient<ListParameters>,
}

/// Changes of a node's parameters that the node published together on `/parameter_events`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParameterChanges {
    /// The parameters that were declared.
    pub new: Vec<NamedValue>,
    /// The parameters that were set.
    pub changed: Vec<NamedValue>,
    /// The parameters that were deleted.
    pub deleted: Vec<NamedValue>,
}

impl ParameterClient {
    /// Makes a client for the node with the name `remote`, which is resolved like the names of
    /// services of `node`.
    ///
    /// # Errors
    /// When the name is not allowed.
    pub fn new(node: &Node, remote: &str) -> Result<Self, CreateError> {
        let remote = feros_engine::name::expand_topic_name(remote, node.name())?;
        let qos = QosProfile::parameters();
        let service = |name| format!("{remote}/{name}");
        Ok(Self {
            node: node.clone(),
            get: LazyClient::new(service("get_parameters"), qos),
            types: LazyClient::new(service("get_parameter_types"), qos),
            set: LazyClient::new(service("set_parameters"), qos),
            set_atomically: LazyClient::new(service("set_parameters_atomically"), qos),
            describe: LazyClient::new(service("describe_parameters"), qos),
            list: LazyClient::new(service("list_parameters"), qos),
            remote,
        })
    }

    /// The fully qualified name of the other node.
    pub fn remote_name(&self) -> &str {
        &self.remote
    }

    /// Reads the values of parameters, in the order of `names`. The result is empty if one of the
    /// parameters is not declared.
    ///
    /// # Errors
    /// When the node's service does not exist or does not answer in time.
    pub fn get<N: Into<String>>(
        &self,
        names: impl IntoIterator<Item = N>,
        timeout: Duration,
    ) -> Result<Vec<ParameterValue>, Error> {
        let request = GetParameters_Request { names: strings(names) };
        let response = self.get.call(&self.node, &request, timeout)?;
        Ok(response.values.into_iter().map(Into::into).collect())
    }

    /// Reads the types of parameters, in the order of `names`. The result is empty if one of the
    /// parameters is not declared.
    ///
    /// # Errors
    /// See [`ParameterClient::get`].
    pub fn types<N: Into<String>>(
        &self,
        names: impl IntoIterator<Item = N>,
        timeout: Duration,
    ) -> Result<Vec<ParameterType>, Error> {
        let request = GetParameterTypes_Request { names: strings(names) };
        let response = self.types.call(&self.node, &request, timeout)?;
        Ok(response
            .types
            .into_iter()
            .map(|ty| ParameterType::from_number(ty).unwrap_or_default())
            .collect())
    }

    /// Sets parameters one after the other; returns a result for each parameter, with the node's
    /// reason if the node refused the value.
    ///
    /// # Errors
    /// See [`ParameterClient::get`].
    pub fn set<N: Into<String>, V: Into<ParameterValue>>(
        &self,
        parameters: impl IntoIterator<Item = (N, V)>,
        timeout: Duration,
    ) -> Result<Vec<Result<(), String>>, Error> {
        let request = SetParameters_Request { parameters: messages(parameters) };
        let response = self.set.call(&self.node, &request, timeout)?;
        Ok(response.results.into_iter().map(outcome).collect())
    }

    /// Sets all of these parameters, or no parameter if the node refuses one of the values. The
    /// inner error is the node's reason.
    ///
    /// # Errors
    /// See [`ParameterClient::get`].
    pub fn set_atomically<N: Into<String>, V: Into<ParameterValue>>(
        &self,
        parameters: impl IntoIterator<Item = (N, V)>,
        timeout: Duration,
    ) -> Result<Result<(), String>, Error> {
        let request = SetParametersAtomically_Request { parameters: messages(parameters) };
        let response = self.set_atomically.call(&self.node, &request, timeout)?;
        Ok(outcome(response.result))
    }

    /// Reads the descriptors of parameters. The result is empty if one of the parameters is not
    /// declared.
    ///
    /// # Errors
    /// See [`ParameterClient::get`].
    pub fn describe<N: Into<String>>(
        &self,
        names: impl IntoIterator<Item = N>,
        timeout: Duration,
    ) -> Result<Vec<ParameterDescriptor>, Error> {
        let request = DescribeParameters_Request { names: strings(names) };
        let response = self.describe.call(&self.node, &request, timeout)?;
        Ok(response.descriptors.into_iter().map(Into::into).collect())
    }

    /// Lists the names of parameters, like [`Node::list_parameters`].
    ///
    /// # Errors
    /// See [`ParameterClient::get`].
    pub fn list<N: Into<String>>(
        &self,
        prefixes: impl IntoIterator<Item = N>,
        depth: u64,
        timeout: Duration,
    ) -> Result<ParameterList, Error> {
        let request = ListParameters_Request { prefixes: strings(prefixes), depth };
        let result = self.list.call(&self.node, &request, timeout)?.result;
        Ok(ParameterList { names: result.names, prefixes: result.prefixes })
    }

    /// Makes a subscription that calls `callback`, on the executor of the client's node, for each
    /// change of the other node's parameters.
    ///
    /// # Errors
    /// When the engine refuses the subscription.
    pub fn on_event(
        &self,
        mut callback: impl FnMut(ParameterChanges) + Send + 'static,
    ) -> Result<Subscription<ParameterEvent>, CreateError> {
        let remote = self.remote.clone();
        let named = |parameters: Vec<ParameterMessage>| {
            parameters.into_iter().map(|message| (message.name, message.value.into())).collect()
        };
        self.node.create_subscription(
            parameter_events::TOPIC,
            QosProfile::parameter_events(),
            move |event: ParameterEvent| {
                if event.node == remote {
                    callback(ParameterChanges {
                        new: named(event.new_parameters),
                        changed: named(event.changed_parameters),
                        deleted: named(event.deleted_parameters),
                    });
                }
            },
        )
    }
}

fn strings<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Vec<String> {
    names.into_iter().map(Into::into).collect()
}

fn messages<N: Into<String>, V: Into<ParameterValue>>(
    parameters: impl IntoIterator<Item = (N, V)>,
) -> Vec<ParameterMessage> {
    parameters
        .into_iter()
        .map(|(name, value)| parameter_events::to_message((name.into(), value.into())))
        .collect()
}

fn outcome(result: SetParametersResult) -> Result<(), String> {
    if result.successful { Ok(()) } else { Err(result.reason) }
}
