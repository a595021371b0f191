//! The calls that nodes make to their master (`rosmaster/master_api.py`).

use std::sync::Arc;

use feros_sync::{AtomicBool, Ordering};

use crate::address::Address;
use crate::http;
use crate::peer_text::{MAX_NAME_BYTES, is_name, shown, shown_name};
use crate::xmlrpc::{self, Value};

/// The reason why a call to the master failed.
#[derive(Debug, thiserror::Error)]
pub enum MasterError {
    /// The master cannot be reached.
    #[error(
        "no ROS 1 master at {address} ({source}): start one with `roscore` or `rosmaster --core`, or set ROS_MASTER_URI"
    )]
    Unreachable {
        /// The address from the configuration.
        address: Address,
        /// The reason.
        source: std::io::Error,
    },
    /// The program that answers is not a master.
    #[error("the program at {address} is not a ROS 1 master: {source}")]
    NoMaster {
        /// The address.
        address: Address,
        /// The fault in the answer.
        source: xmlrpc::XmlRpcError,
    },
    /// The master refused the call.
    #[error("the ROS 1 master at {address} refused {method}: {reason}")]
    Refused {
        /// The address.
        address: Address,
        /// The method that was called.
        method: &'static str,
        /// The master's reason.
        reason: String,
    },
}

/// All publishers, subscribers and servers. They are given as names of topics and services, each
/// with the names of its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemState {
    /// Topics with their publishers.
    pub publishers: Vec<(String, Vec<String>)>,
    /// Topics with their subscribers.
    pub subscribers: Vec<(String, Vec<String>)>,
    /// Services with their servers.
    pub services: Vec<(String, Vec<String>)>,
}

impl SystemState {
    /// The nodes that have registered something. A name may occur several times.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        let all = self.publishers.iter().chain(&self.subscribers).chain(&self.services);
        all.flat_map(|(_, nodes)| nodes.iter().map(String::as_str))
    }
}

/// A client of the master.
#[derive(Clone, Debug)]
pub struct Master {
    address: Address,
    caller: String,
    /// Whether the warning about a malformed name has been logged. All clones share the flag.
    has_said: Arc<AtomicBool>,
}

impl Master {
    /// Creates a client of the master at an address, for the node with this name.
    #[must_use]
    pub fn new(address: Address, caller: &str) -> Self {
        Self { address, caller: caller.to_owned(), has_said: Arc::default() }
    }

    /// The master's address.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Calls a method with the caller's name and these parameters, and returns the value in the
    /// answer.
    ///
    /// # Errors
    /// Returns an error if the master cannot be reached or refuses.
    pub fn call(&self, method: &'static str, parameters: &[Value]) -> Result<Value, MasterError> {
        let mut all = vec![Value::Text(self.caller.clone())];
        all.extend_from_slice(parameters);
        let address = self.address.clone();
        let text = http::post(&address, &xmlrpc::call(method, &all))
            .map_err(|source| MasterError::Unreachable { address: address.clone(), source })?;
        self.read_answer(method, &text)
    }

    /// Parses the XML of a master's answer to a method, and returns the value in it.
    ///
    /// # Errors
    /// Returns an error if the text is not an answer of a master or reports a refusal.
    pub fn read_answer(&self, method: &'static str, text: &str) -> Result<Value, MasterError> {
        let address = self.address.clone();
        let answer = xmlrpc::read_answer(text)
            .map_err(|source| MasterError::NoMaster { address: address.clone(), source })?;
        match answer {
            Value::List(parts) if parts.len() == 3 => {
                let [code, reason, value]: [Value; 3] = parts.try_into().unwrap_or_else(|_| {
                    [Value::Int(-1), Value::Text(String::new()), Value::Int(0)]
                });
                if code.as_int() == Some(1) {
                    return Ok(value);
                }
                let reason = shown(reason.as_text().unwrap_or_default()).into_owned();
                Err(MasterError::Refused { address, method, reason })
            }
            _ => Err(MasterError::NoMaster {
                address,
                source: xmlrpc::XmlRpcError::Form(format!(
                    "the answer to {method} does not have the form of a master's answer"
                )),
            }),
        }
    }

    /// Returns all publishers, subscribers and servers.
    ///
    /// # Errors
    /// See [`Master::call`].
    pub fn system_state(&self) -> Result<SystemState, MasterError> {
        Ok(self.read_system_state(&self.call("getSystemState", &[])?))
    }

    /// Reads the answer to `getSystemState`. Malformed parts are omitted.
    #[must_use]
    pub fn read_system_state(&self, state: &Value) -> SystemState {
        let part = |index: usize| -> Vec<(String, Vec<String>)> {
            let all = state.as_list().get(index).map(Value::as_list).unwrap_or_default();
            all.iter()
                .filter_map(|entry| {
                    let [name, nodes] = entry.as_list() else { return None };
                    let nodes = nodes.as_list().iter().filter_map(|node| self.name(node));
                    Some((self.name(name)?, nodes.collect()))
                })
                .collect()
        };
        SystemState { publishers: part(0), subscribers: part(1), services: part(2) }
    }

    /// Reads a name that a node registered. Returns `None` if the name is malformed, which is
    /// logged once.
    fn name(&self, value: &Value) -> Option<String> {
        let name = value.as_text()?;
        if is_name(name) {
            return Some(name.to_owned());
        }
        if !self.has_said.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "a node has registered the name {} with the ROS 1 master at {}: names have at most {MAX_NAME_BYTES} \
                 bytes and no control characters; this name and others like it are ignored; end that node",
                shown_name(name),
                self.address
            );
        }
        None
    }

    /// Returns the types of topics. A topic is missing if no node has stated its type.
    ///
    /// # Errors
    /// See [`Master::call`].
    pub fn topic_types(&self) -> Result<Vec<(String, String)>, MasterError> {
        Ok(self.read_topic_types(&self.call("getTopicTypes", &[])?))
    }

    /// Reads the answer to `getTopicTypes`. Malformed parts are omitted.
    #[must_use]
    pub fn read_topic_types(&self, types: &Value) -> Vec<(String, String)> {
        let pair = |entry: &Value| match entry.as_list() {
            [name, ty] => Some((self.name(name)?, self.name(ty)?)),
            _ => None,
        };
        types.as_list().iter().filter_map(pair).collect()
    }

    /// Returns the master's own URI. All nodes of one master get the same URI, no matter which host
    /// name each of them uses for the master.
    ///
    /// # Errors
    /// See [`Master::call`].
    pub fn own_uri(&self) -> Result<String, MasterError> {
        let uri = self.call("getUri", &[])?;
        Ok(self.name(&uri).unwrap_or_default())
    }

    /// Returns the address of a service.
    ///
    /// # Errors
    /// See [`Master::call`]. The master refuses unknown services.
    pub fn lookup_service(&self, service: &str) -> Result<String, MasterError> {
        let uri = self.call("lookupService", &[service.into()])?;
        Ok(uri.as_text().unwrap_or_default().to_owned())
    }

    /// Returns a parameter or a tree of parameters.
    ///
    /// # Errors
    /// See [`Master::call`]. The master refuses parameters that are not set.
    pub fn parameter(&self, name: &str) -> Result<Value, MasterError> {
        self.call("getParam", &[name.into()])
    }

    /// Sets a parameter.
    ///
    /// # Errors
    /// See [`Master::call`].
    pub fn set_parameter(&self, name: &str, value: Value) -> Result<(), MasterError> {
        self.call("setParam", &[name.into(), value]).map(drop)
    }

    /// Deletes a parameter or a tree of parameters, if it is set.
    ///
    /// # Errors
    /// See [`Master::call`]. A missing parameter is not an error.
    pub fn delete_parameter(&self, name: &str) -> Result<(), MasterError> {
        match self.call("deleteParam", &[name.into()]) {
            Ok(_) | Err(MasterError::Refused { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Returns the strings in a list.
pub(crate) fn texts(list: &Value) -> Vec<String> {
    list.as_list().iter().filter_map(Value::as_text).map(str::to_owned).collect()
}
