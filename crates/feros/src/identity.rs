//! The identity of message and service types, as endpoints announce them.

use feros_message::{Message, Service};
use feros_rmw::TypeHash;

/// Name and hash of a message type, as endpoints announce them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeIdentity {
    /// The name, as `package/msg/Name`.
    pub name: String,
    /// The hash; an endpoint without a hash matches by name only.
    pub hash: Option<TypeHash>,
}

impl TypeIdentity {
    /// The identity of a generated type.
    pub fn of<M: Message>() -> Self {
        Self { name: M::TYPE_NAME.to_owned(), hash: Some(TypeHash(M::TYPE_HASH.0)) }
    }
}

/// Name and hashes of a service type, as endpoints announce them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceIdentity {
    /// The name, as `package/srv/Name`.
    pub name: String,
    /// Hash of the service type.
    pub type_hash: Option<TypeHash>,
    /// Hash of the request message.
    pub request_hash: Option<TypeHash>,
    /// Hash of the response message.
    pub response_hash: Option<TypeHash>,
}

impl ServiceIdentity {
    /// The identity of a generated service type.
    pub fn of<S: Service>() -> Self {
        let hash = |hash: feros_message::TypeHash| Some(TypeHash(hash.0));
        Self {
            name: S::TYPE_NAME.to_owned(),
            type_hash: hash(S::TYPE_HASH),
            request_hash: hash(<S::Request as Message>::TYPE_HASH),
            response_hash: hash(<S::Response as Message>::TYPE_HASH),
        }
    }
}
