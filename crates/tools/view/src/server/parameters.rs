//! Parameters of nodes, read and set through their services, for several nodes at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use feros::message::Service;
use feros::msgs::rcl_interfaces::msg::{Parameter, ParameterEvent};
use feros::msgs::rcl_interfaces::srv::{
    GetParameters, GetParameters_Request, ListParameters, ListParameters_Request, SetParameters,
    SetParameters_Request,
};
use feros::{Client, ClientOptions, CreateError, Node, ParameterValue, QosProfile, Subscription};
use feros_engine::{EndpointKind, GraphSnapshot};
use feros_sync::Mutex;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Semaphore;

use crate::protocol::{NamedParameter, ParameterToSet, ServerOp, full_name, split_name, to_json};
use crate::server::calls::wait_until_ready;
use crate::server::clients::{Clients, in_turn};
use crate::server::kept::{Kept, Used};

/// The time to wait for a node's answer.
const ANSWER: Duration = Duration::from_secs(3);
/// The limit on nodes that are asked at the same time, since each costs two announced endpoints.
const AT_A_TIME: usize = 8;
/// The limit on nodes whose idle clients are kept.
const MOST_IDLE: usize = 16;

/// The names of the parameter services.
const LIST: &str = "list_parameters";
const GET: &str = "get_parameters";
const SET: &str = "set_parameters";

/// Clients of the parameter services of nodes.
pub(crate) struct Parameters {
    node: Node,
    by_node: Kept<String, Remote>,
}

/// Values of parameters, and messages about missing values.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) values: Vec<NamedParameter>,
    pub(crate) problems: Vec<String>,
}

impl Parameters {
    pub(crate) fn new(node: Node) -> Self {
        Self { node, by_node: Kept::new(MOST_IDLE) }
    }

    /// Returns the values of these parameters, or of all parameters of all nodes if `names` is
    /// empty. A client's questions to nodes are limited by its permits; `hear` receives the values
    /// of each node as soon as they come.
    pub(crate) async fn get(
        &self,
        names: &[String],
        graph: &GraphSnapshot,
        turns: &Semaphore,
        hear: impl Fn(&[NamedParameter]),
    ) -> Answer {
        let mut answer = Answer::default();
        let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for name in names {
            match split_name(name) {
                Ok((node, parameter)) => {
                    wanted.entry(node.to_owned()).or_default().push(parameter.to_owned());
                }
                Err(error) => answer.problems.push(error.to_string()),
            }
        }
        let asked = if names.is_empty() { LIST } else { GET };
        let known = nodes_with(asked, graph);
        if names.is_empty() {
            wanted = known.into_iter().map(|node| (node, Vec::new())).collect();
        } else {
            answer.problems.extend(without_server(asked, &mut wanted, &known));
        }
        let hear = &hear;
        let asked = wanted.into_iter().map(|(node, parameters)| async move {
            let _turn = in_turn(turns).await;
            let got = self.remote(&node).get(&self.node, &parameters).await;
            let got = got.map(|values| named(&node, values));
            if let Ok(values) = &got {
                hear(values);
            }
            (node, got)
        });
        for (_, got) in some_at_a_time(asked).await {
            match got {
                Ok(values) => answer.values.extend(values),
                Err(problem) => answer.problems.push(problem),
            }
        }
        answer.values.sort_by(|a, b| a.name.cmp(&b.name));
        answer
    }

    /// Sets parameters; returns messages about those that were refused.
    pub(crate) async fn set(
        &self,
        parameters: Vec<ParameterToSet>,
        graph: &GraphSnapshot,
        turns: &Semaphore,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        let mut wanted: BTreeMap<String, Vec<Parameter>> = BTreeMap::new();
        for ParameterToSet { name, value } in parameters {
            match (split_name(&name), value.into_value()) {
                (Ok((node, parameter)), Ok(value)) => wanted
                    .entry(node.to_owned())
                    .or_default()
                    .push(Parameter { name: parameter.to_owned(), value: value.into() }),
                (Err(error), _) => problems.push(error.to_string()),
                (_, Err(reason)) => problems.push(format!("{name} is not set: {reason}")),
            }
        }
        problems.extend(without_server(SET, &mut wanted, &nodes_with(SET, graph)));
        let asked = wanted.into_iter().map(|(node, parameters)| async move {
            let _turn = in_turn(turns).await;
            let refused = self.remote(&node).set(&self.node, &node, parameters).await;
            (node, refused)
        });
        problems.extend(some_at_a_time(asked).await.into_iter().flat_map(|(_, refused)| refused));
        problems
    }

    fn remote(&self, node: &str) -> Used<'_, String, Remote> {
        let new = || Remote { node: node.to_owned(), ..Remote::default() };
        let Ok(remote) = self.by_node.get(node.to_owned(), || Ok::<_, Infallible>(new()));
        remote
    }

    /// Drops the clients of nodes that no longer exist.
    pub(crate) fn follow(&self, graph: &GraphSnapshot) {
        let nodes = nodes_with(LIST, graph);
        self.by_node.retain(|node| nodes.contains(node));
    }

    /// Drops the idle clients.
    pub(crate) fn forget_all(&self) {
        self.by_node.retain(|_| false);
    }
}

/// Converts the values of a node's parameters into the form for clients.
fn named(node: &str, values: Vec<(String, ParameterValue)>) -> Vec<NamedParameter> {
    let named = |(name, value): (String, _)| NamedParameter {
        name: full_name(node, &name),
        value: to_json(value),
    };
    values.into_iter().map(named).collect()
}

/// Asks a few nodes at a time, the next one after each answer; returns the answers sorted by the
/// node's name.
async fn some_at_a_time<T>(
    mut questions: impl Iterator<Item = impl Future<Output = (String, T)>>,
) -> Vec<(String, T)> {
    let (mut asked, mut answers) = (FuturesUnordered::new(), Vec::new());
    loop {
        asked.extend(questions.by_ref().take(AT_A_TIME - asked.len()));
        let Some(answer) = asked.next().await else { break };
        answers.push(answer);
    }
    answers.sort_by(|(a, _), (b, _)| a.cmp(b));
    answers
}

/// Returns the nodes that have this parameter service.
fn nodes_with(service: &str, graph: &GraphSnapshot) -> BTreeSet<String> {
    let is_server = |endpoint: &feros_engine::EndpointInfo| endpoint.kind == EndpointKind::Service;
    let services = graph.names_and_types(is_server).into_keys();
    let node = |name: String| Some(name.strip_suffix(service)?.strip_suffix('/')?.to_owned());
    services.filter_map(node).collect()
}

/// Removes the nodes that do not have a service, and returns a message about each: asking costs
/// endpoints, and a client can invent any number of names.
fn without_server<T>(
    service: &str,
    wanted: &mut BTreeMap<String, T>,
    known: &BTreeSet<String>,
) -> Vec<String> {
    let mut problems = Vec::new();
    wanted.retain(|node, _| {
        let is_known = known.contains(node);
        if !is_known {
            problems.push(format!("no server of {node}/{service} was found"));
        }
        is_known
    });
    problems
}

/// The clients of one node's parameter services.
#[derive(Default)]
struct Remote {
    node: String,
    list: Slot<ListParameters>,
    get: Slot<GetParameters>,
    set: Slot<SetParameters>,
}

struct Slot<S: Service>(Mutex<Option<Client<S>>>);

impl<S: Service> Default for Slot<S> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<S: Service> Slot<S> {
    async fn call(
        &self,
        node: &Node,
        service: &str,
        request: &S::Request,
    ) -> Result<S::Response, String> {
        let client = {
            let mut client = self.0.lock();
            match &*client {
                Some(client) => client.clone(),
                None => {
                    let options = ClientOptions::from(QosProfile::parameters());
                    let made = node.create_client_with::<S>(service, options);
                    client.insert(made.map_err(|error| error.to_string())?).clone()
                }
            }
        };
        wait_until_ready(|| client.service_is_ready(), service).await?;
        let response = client.call(request).map_err(|error| error.to_string())?;
        match tokio::time::timeout(ANSWER, response).await {
            Ok(response) => response.map_err(|error| error.to_string()),
            Err(_) => Err(format!("{service} did not respond within {ANSWER:?}")),
        }
    }
}

impl Remote {
    /// Returns the values of the named parameters, without those that the node lacks, or of all its
    /// parameters if `names` is empty.
    async fn get(
        &self,
        node: &Node,
        names: &[String],
    ) -> Result<Vec<(String, ParameterValue)>, String> {
        if !names.is_empty() {
            let values = self.values(node, names).await?;
            if values.len() == names.len() {
                return Ok(values);
            }
        }
        // A node that lacks one of the parameters answers with an empty list, so the node's
        // parameters are listed first.
        let service = format!("{}/{LIST}", self.node);
        let request = ListParameters_Request { prefixes: Vec::new(), depth: 0 };
        let mut known = self.list.call(node, &service, &request).await?.result.names;
        if !names.is_empty() {
            let wanted: BTreeSet<&String> = names.iter().collect();
            known.retain(|name| wanted.contains(name));
        }
        if known.is_empty() { Ok(Vec::new()) } else { self.values(node, &known).await }
    }

    async fn values(
        &self,
        node: &Node,
        names: &[String],
    ) -> Result<Vec<(String, ParameterValue)>, String> {
        let service = format!("{}/{GET}", self.node);
        let request = GetParameters_Request { names: names.to_vec() };
        let values = self.get.call(node, &service, &request).await?.values;
        let names = names.iter().cloned();
        Ok(names.zip(values.into_iter().map(ParameterValue::from)).collect())
    }

    async fn set(&self, node: &Node, name: &str, parameters: Vec<Parameter>) -> Vec<String> {
        let service = format!("{}/{SET}", self.node);
        let request = SetParameters_Request { parameters };
        let results = match self.set.call(node, &service, &request).await {
            Ok(response) => response.results,
            Err(problem) => return vec![problem],
        };
        let refused = request.parameters.iter().zip(results).filter(|(_, how)| !how.successful);
        let reason = |(parameter, how): (
            &Parameter,
            feros::msgs::rcl_interfaces::msg::SetParametersResult,
        )| {
            format!("{} is not set: {}", full_name(name, &parameter.name), how.reason)
        };
        refused.map(reason).collect()
    }
}

/// Reports changes of parameters to the clients that asked for them.
pub(crate) fn listen(
    node: &Node,
    clients: &Arc<Clients>,
) -> Result<Subscription<ParameterEvent>, CreateError> {
    let clients = clients.clone();
    let qos = QosProfile::parameter_events();
    node.create_subscription("/parameter_events", qos, move |event: ParameterEvent| {
        let node = event.node;
        let now = event.new_parameters.into_iter().chain(event.changed_parameters);
        let deleted = event.deleted_parameters.into_iter().map(|parameter| (parameter.name, None));
        let changed: Vec<NamedParameter> = now
            .map(|parameter| (parameter.name, Some(parameter.value)))
            .chain(deleted)
            .map(|(name, value)| NamedParameter {
                name: full_name(&node, &name),
                value: to_json(value.map_or(ParameterValue::NotSet, Into::into)),
            })
            .collect();
        for client in clients.all() {
            let wants = client.wants.lock();
            let is_wanted =
                |parameter: &&NamedParameter| wants.parameters.contains(&parameter.name);
            let parameters: Vec<_> = changed.iter().filter(is_wanted).cloned().collect();
            drop(wants);
            if !parameters.is_empty() {
                client.tell(&ServerOp::ParameterValues { parameters: &parameters, id: None });
            }
        }
    })
}
