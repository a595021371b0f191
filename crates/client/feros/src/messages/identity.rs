//! The identities of message and service types, as endpoints announce them.

use feros_engine::TypeHash;
use feros_message::{Message, Service};

/// The name and the hash of a message type, as endpoints announce them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeIdentity {
    /// The name, in the form `package/msg/Name`.
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

/// The name and the hashes of a service type, as endpoints announce them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceIdentity {
    /// The name, in the form `package/srv/Name`.
    pub name: String,
    /// The hash of the service type.
    pub type_hash: Option<TypeHash>,
    /// The hash of the request message.
    pub request_hash: Option<TypeHash>,
    /// The hash of the response message.
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
