//! The service `~/get_type_description`: a node serves the descriptions of its endpoints' types to
//! other nodes, and requests descriptions from them.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::time::Duration;

use feros_engine::NodeName;
use feros_message::TypeHash;
use feros_message::interface::{
    FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription,
};
use feros_msgs::type_description_interfaces::msg as messages;
use feros_msgs::type_description_interfaces::srv::{
    GetTypeDescription, GetTypeDescription_Request, GetTypeDescription_Response,
};

use crate::create_error::CreateError;
use crate::graph::changes::GraphChanges;
use crate::node::Node;
use crate::services::client::{CallError, Client, ResponseFuture};
use crate::services::service::{Service, ServiceOptions};
use crate::wait_error::WaitError;

const SERVICE: &str = "get_type_description";

/// The reason why no other node provided the description of a type.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeDescriptionError {
    /// The client could not be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The node does not have the service, or discovery did not find the service.
    #[error("node {node} does not describe its types: {source}")]
    NoService {
        /// The node.
        node: NodeName,
        /// How the wait for the service ended.
        source: WaitError,
    },
    /// The request got no answer.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The node refused the request.
    #[error("node {node} does not describe `{type_name}`: {reason}")]
    Refused {
        /// The node.
        node: NodeName,
        /// The type.
        type_name: String,
        /// The node's reason.
        reason: String,
    },
    /// The node's answer does not describe the requested type.
    #[error(transparent)]
    Wrong(Box<WrongTypeDescription>),
}

/// The error for a description of a type other than the requested type.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "node {node} describes `{type_name}` as another type: the description is of `{found_name}` with hash {found_hash}, \
     but hash {asked_hash} was requested; the description is not used"
)]
pub struct WrongTypeDescription {
    /// The node.
    pub node: NodeName,
    /// The type.
    pub type_name: String,
    /// The requested hash.
    pub asked_hash: TypeHash,
    /// The name of the type in the description.
    pub found_name: String,
    /// The hash of the description.
    pub found_hash: TypeHash,
}

impl Node {
    /// Asks another node for the description of a type that one of its endpoints uses, and waits
    /// for the answer, for at most `timeout`. This needs no executor.
    ///
    /// The answer is untrusted. It is returned only if the hash computed from the description is
    /// `hash`; the hash does not cover the defaults of fields.
    ///
    /// # Errors
    /// See [`TypeDescriptionError`].
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// use feros::message::dynamic::DynamicType;
    /// use std::time::Duration;
    /// for publisher in node.publishers_info_by_topic("/scan")? {
    ///     let (Some(name), Some(hash)) = (publisher.node.name(), publisher.type_hash) else { continue };
    ///     let hash = feros::message::TypeHash(hash.0);
    ///     let described = node.get_type_description(name, &publisher.type_name, hash, Duration::from_secs(1))?;
    ///     let ty = DynamicType::from_description(&described)?;
    ///     println!("{} has {} fields", ty.name(), ty.fields().len());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get_type_description(
        &self,
        node: &NodeName,
        type_name: &str,
        hash: TypeHash,
        timeout: Duration,
    ) -> Result<TypeDescription, TypeDescriptionError> {
        self.get_type_description_of_any(node, &[], type_name, hash, timeout)
    }

    /// Asks `node` and all `others`, each as in
    /// [`get_type_description`](Self::get_type_description), and returns the first answer. At most
    /// 16 requests run in parallel, so that nodes that do not answer do not delay a node that does.
    ///
    /// # Errors
    /// When none of the nodes describes the type; the error belongs to the request to `node`.
    pub fn get_type_description_of_any(
        &self,
        node: &NodeName,
        others: &[NodeName],
        type_name: &str,
        hash: TypeHash,
        timeout: Duration,
    ) -> Result<TypeDescription, TypeDescriptionError> {
        let mut first = Question::new(node);
        let mut others: Vec<_> = others.iter().map(Question::new).collect();
        let waker = Waker::from(Arc::new(Announcement(self.context().changes().clone())));
        let mut task = TaskContext::from_waker(&waker);
        let mut described = None;
        let what = || format!("a server of {node}/{SERVICE}");
        let waited = self.context().wait_for_graph(timeout, what, || {
            let mut waiting = 0;
            for question in std::iter::once(&mut first).chain(&mut others) {
                match question.ask(self, type_name, hash, &mut task) {
                    Poll::Pending if waiting + 1 == MOST_ASKED => return false,
                    Poll::Pending => waiting += 1,
                    Poll::Ready(None) => {}
                    Poll::Ready(found) => {
                        described = found;
                        return true;
                    }
                }
            }
            waiting == 0
        });
        described.ok_or_else(|| first.why_not(waited))
    }
}

/// The limit on the requests that run at the same time. Each request needs endpoints, which are
/// announced to the whole graph.
const MOST_ASKED: usize = 16;

/// A waker that wakes the waits for the graph. A wait for an answer is one of them, and checks
/// again.
struct Announcement(Arc<GraphChanges>);

impl Wake for Announcement {
    fn wake(self: Arc<Self>) {
        self.0.announce();
    }
}

/// A request to one node.
struct Question<'a> {
    node: &'a NodeName,
    client: Option<Client<GetTypeDescription>>,
    call: Option<ResponseFuture<GetTypeDescription>>,
    refusal: Option<TypeDescriptionError>,
}

impl<'a> Question<'a> {
    fn new(node: &'a NodeName) -> Self {
        Self { node, client: None, call: None, refusal: None }
    }

    /// Polls for the answer. `None` means that there will be no answer; the reason is stored in
    /// `refusal`.
    fn ask(
        &mut self,
        asker: &Node,
        type_name: &str,
        hash: TypeHash,
        task: &mut TaskContext<'_>,
    ) -> Poll<Option<TypeDescription>> {
        if self.refusal.is_some() {
            return Poll::Ready(None);
        }
        match self.poll(asker, type_name, hash, task) {
            Ok(answer) => answer.map(Some),
            Err(refusal) => {
                (self.refusal, self.call, self.client) = (Some(refusal), None, None);
                Poll::Ready(None)
            }
        }
    }

    fn poll(
        &mut self,
        asker: &Node,
        type_name: &str,
        hash: TypeHash,
        task: &mut TaskContext<'_>,
    ) -> Result<Poll<TypeDescription>, TypeDescriptionError> {
        let client = match &self.client {
            Some(client) => client,
            None => {
                let service = format!("{}/{SERVICE}", self.node.fully_qualified());
                self.client.insert(asker.create_client(&service)?)
            }
        };
        let call = match &mut self.call {
            Some(call) => call,
            None if !client.service_is_ready() => return Ok(Poll::Pending),
            None => {
                client.check_servers()?;
                let request = GetTypeDescription_Request {
                    type_name: type_name.to_owned(),
                    type_hash: hash.to_string(),
                    include_type_sources: false,
                };
                self.call.insert(client.call(&request).map_err(CallError::from)?)
            }
        };
        match Pin::new(call).poll(task) {
            Poll::Pending => Ok(Poll::Pending),
            Poll::Ready(answer) => checked(answer?, self.node, type_name, hash).map(Poll::Ready),
        }
    }

    /// Returns the reason why there is no answer, after the wait has ended.
    fn why_not(self, waited: Result<(), WaitError>) -> TypeDescriptionError {
        let ended = match (self.refusal, waited) {
            (Some(refusal), _) => return refusal,
            (None, Err(ended)) => ended,
            // The wait ends with `Ok` only if all nodes have refused, so this case does not occur.
            (None, Ok(())) => WaitError::Shutdown { what: self.node.to_string() },
        };
        let Some(client) = self.client.filter(|_| self.call.is_some()) else {
            return TypeDescriptionError::NoService { node: self.node.clone(), source: ended };
        };
        let (service, available) = (client.service_name().to_owned(), client.service_is_ready());
        TypeDescriptionError::Call(match ended {
            WaitError::Timeout { waited, .. } => CallError::Timeout { service, waited, available },
            WaitError::Shutdown { .. } => CallError::Shutdown { service },
        })
    }
}

/// Returns the description in an answer if it describes the requested type.
fn checked(
    answer: GetTypeDescription_Response,
    node: &NodeName,
    type_name: &str,
    hash: TypeHash,
) -> Result<TypeDescription, TypeDescriptionError> {
    if !answer.successful {
        return Err(TypeDescriptionError::Refused {
            node: node.clone(),
            type_name: type_name.to_owned(),
            reason: answer.failure_reason,
        });
    }
    let description = from_message(answer.type_description);
    let (found_name, found_hash) =
        (&description.type_description.type_name, description.type_hash());
    if found_hash != hash || found_name != type_name {
        return Err(TypeDescriptionError::Wrong(Box::new(WrongTypeDescription {
            node: node.clone(),
            type_name: type_name.to_owned(),
            asked_hash: hash,
            found_name: found_name.clone(),
            found_hash,
        })));
    }
    Ok(description)
}

/// The service that describes the types of a node's endpoints, until it is dropped.
pub(crate) struct TypeDescriptionService {
    _service: Service<GetTypeDescription>,
}

/// Starts the service, which describes the types that the node has noted.
pub(crate) fn start(node: &Node) -> Result<TypeDescriptionService, CreateError> {
    let options = ServiceOptions { replies_on_demand: true, ..ServiceOptions::default() };
    let weak = node.downgrade();
    let describe = move |request: GetTypeDescription_Request| {
        let found = match request.type_hash.parse::<TypeHash>() {
            Err(error) => Err(error.to_string()),
            Ok(hash) => weak
                .upgrade()
                .and_then(|node| node.described_type(hash))
                .ok_or_else(|| "Type not currently in use by this node".to_owned()),
        };
        match found {
            Ok(description) => GetTypeDescription_Response {
                successful: true,
                type_description: to_message(description),
                ..GetTypeDescription_Response::default()
            },
            Err(failure_reason) => GetTypeDescription_Response {
                // The reason quotes text from the client, which may contain a NUL character, but a
                // ROS string may not.
                failure_reason: failure_reason.replace('\0', "\u{fffd}"),
                ..GetTypeDescription_Response::default()
            },
        }
    };
    let service = Service::new(node, &format!("~/{SERVICE}"), options, describe)?;
    Ok(TypeDescriptionService { _service: service })
}

fn to_message(description: TypeDescription) -> messages::TypeDescription {
    let field = |field: FieldDescription| messages::Field {
        name: field.name,
        r#type: messages::FieldType {
            type_id: field.ty.type_id,
            capacity: field.ty.capacity,
            string_capacity: field.ty.string_capacity,
            nested_type_name: field.ty.nested_type_name,
        },
        default_value: field.default_value,
    };
    let individual = |individual: IndividualTypeDescription| messages::IndividualTypeDescription {
        type_name: individual.type_name,
        fields: individual.fields.into_iter().map(field).collect(),
    };
    messages::TypeDescription {
        type_description: individual(description.type_description),
        referenced_type_descriptions: description
            .referenced_type_descriptions
            .into_iter()
            .map(individual)
            .collect(),
    }
}

fn from_message(message: messages::TypeDescription) -> TypeDescription {
    let field = |field: messages::Field| FieldDescription {
        name: field.name,
        ty: FieldTypeDescription {
            type_id: field.r#type.type_id,
            capacity: field.r#type.capacity,
            string_capacity: field.r#type.string_capacity,
            nested_type_name: field.r#type.nested_type_name,
        },
        default_value: field.default_value,
    };
    let individual = |individual: messages::IndividualTypeDescription| IndividualTypeDescription {
        type_name: individual.type_name,
        fields: individual.fields.into_iter().map(field).collect(),
    };
    TypeDescription {
        type_description: individual(message.type_description),
        referenced_type_descriptions: message
            .referenced_type_descriptions
            .into_iter()
            .map(individual)
            .collect(),
    }
}
