//! The services of the nodes.

use std::any::Any;

use feros::message::Service;
use feros::{CreateError, Node};

/// A service, which ends when it is dropped.
pub(crate) type Offered = Box<dyn Any + Send + Sync>;

/// Offers a service that answers from the state of its owner.
pub(crate) fn offer<S: Service, O: Clone + Send + 'static>(
    node: &Node,
    name: &str,
    owner: &O,
    answer: fn(&O, S::Request) -> S::Response,
) -> Result<Offered, CreateError> {
    let owner = owner.clone();
    let callback = move |request: S::Request| answer(&owner, request);
    Ok(Box::new(node.create_service::<S, _>(name, callback)?))
}
