//! The operations of the server, in JSON.

use serde::Serialize;

use super::parameter::ParameterJson;

/// An operation of the server, in JSON. Figures are not among these operations: they are written
/// with their own `op` in `server/figures`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ServerOp<'a> {
    /// The identity and the capabilities of the server; the first operation.
    ServerInfo {
        /// The name of the server, for users.
        name: &'a str,
        /// The capabilities of the server.
        capabilities: &'a [&'a str],
        /// The encodings that messages of clients may have.
        supported_encodings: &'a [&'a str],
        /// More data about the server.
        metadata: &'a std::collections::BTreeMap<String, String>,
        /// A new value means that the server was restarted.
        session_id: &'a str,
    },
    /// A message for users.
    Status {
        /// The severity: 0 information, 1 warning, 2 error.
        level: u8,
        /// The text.
        message: &'a str,
        /// Replaces the status of the same id.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
    },
    /// New topics that can be subscribed to.
    Advertise {
        /// The new channels.
        channels: &'a [Channel],
    },
    /// Topics that no longer exist.
    Unadvertise {
        /// The channels of the topics.
        channel_ids: &'a [u32],
    },
    /// New services that can be called.
    AdvertiseServices {
        /// The new services.
        services: &'a [Service],
    },
    /// Services that no longer exist.
    UnadvertiseServices {
        /// The numbers of the services.
        service_ids: &'a [u32],
    },
    /// Values of parameters, as an answer or as the report of a change.
    ParameterValues {
        /// The parameters with their values.
        parameters: &'a [NamedParameter],
        /// The id of the question; absent in reports of changes.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
    },
    /// The changes of the connection graph.
    ConnectionGraphUpdate(&'a ConnectionGraphUpdate),
    /// A call of a service failed.
    ServiceCallFailure {
        /// The service.
        service_id: u32,
        /// The number of the call.
        call_id: u32,
        /// The reason.
        message: &'a str,
    },
    /// The report of `feros doctor`.
    DoctorReport {
        /// All findings.
        findings: &'a [Finding],
    },
}

impl ServerOp<'_> {
    /// The text of the operation.
    pub fn to_text(&self) -> String {
        // Serializing fails only for maps with keys other than strings, and for values that return
        // an error themselves; no operation has these.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A topic with one of its types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Channel {
    /// The channel's number, which is never reused.
    pub id: u32,
    /// The topic's fully qualified name.
    pub topic: String,
    /// The encoding of the messages: `cdr`.
    pub encoding: &'static str,
    /// The topic's type, as `package/msg/Name`.
    pub schema_name: String,
    /// The definition of the type with all types that it refers to; empty if the type is unknown.
    pub schema: String,
    /// The format of `schema`: `ros2msg`, or empty if the type is unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub schema_encoding: String,
}

/// A service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Service {
    /// The service's number, which is never reused.
    pub id: u32,
    /// Its fully qualified name.
    pub name: String,
    /// Its type, as `package/srv/Name`.
    #[serde(rename = "type")]
    pub service_type: String,
    /// The type of requests.
    pub request: ServiceSchema,
    /// The type of responses.
    pub response: ServiceSchema,
}

/// The type of a service's requests or responses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceSchema {
    /// The encoding of the requests or responses: `cdr`.
    pub encoding: &'static str,
    /// The type, as `package/srv/Name_Request`.
    pub schema_name: String,
    /// The format of `schema`: `ros2msg`.
    pub schema_encoding: String,
    /// The definition of the type with all types that it refers to.
    pub schema: String,
}

/// A parameter with its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedParameter {
    /// The node, a dot, and the parameter.
    pub name: String,
    /// Its value.
    #[serde(flatten)]
    pub value: ParameterJson,
}

/// The changes of the connection graph; the first operation has the whole graph.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionGraphUpdate {
    /// Topics with the nodes that publish them.
    #[serde(serialize_with = "ids::publishers")]
    pub published_topics: Vec<NamedIds>,
    /// Topics with the nodes that subscribe to them.
    #[serde(serialize_with = "ids::subscribers")]
    pub subscribed_topics: Vec<NamedIds>,
    /// Services with the nodes that serve them.
    #[serde(serialize_with = "ids::providers")]
    pub advertised_services: Vec<NamedIds>,
    /// Topics that no longer exist.
    pub removed_topics: Vec<String>,
    /// Services that no longer exist.
    pub removed_services: Vec<String>,
}

/// A topic or service, and its nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedIds {
    /// The name of the topic or service.
    pub name: String,
    /// The nodes.
    pub ids: Vec<String>,
}

/// One finding of `feros doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject of the check.
    pub area: String,
    /// The severity.
    pub level: Severity,
    /// The finding.
    pub text: String,
    /// The remedy.
    pub cure: Option<String>,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The check found no problem.
    Ok,
    /// ROS works, but not as well as it could.
    Warning,
    /// ROS does not work.
    Error,
}

/// In the JSON of the connection graph, the key for a list of nodes differs between publishers,
/// subscriptions and services.
mod ids {
    use serde::Serializer;
    use serde::ser::SerializeSeq as _;
    use serde_json::json;

    use super::NamedIds;

    pub(super) fn publishers<S: Serializer>(of: &[NamedIds], to: S) -> Result<S::Ok, S::Error> {
        write(of, "publisherIds", to)
    }

    pub(super) fn subscribers<S: Serializer>(of: &[NamedIds], to: S) -> Result<S::Ok, S::Error> {
        write(of, "subscriberIds", to)
    }

    pub(super) fn providers<S: Serializer>(of: &[NamedIds], to: S) -> Result<S::Ok, S::Error> {
        write(of, "providerIds", to)
    }

    fn write<S: Serializer>(of: &[NamedIds], key: &str, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(Some(of.len()))?;
        for NamedIds { name, ids } in of {
            list.serialize_element(&json!({ "name": name, key: ids }))?;
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;

    fn json(op: &ServerOp<'_>) -> Value {
        serde_json::from_str(&op.to_text()).unwrap()
    }

    #[test]
    fn operations_are_those_of_the_specification() {
        let metadata = [("ROS_DISTRO".to_owned(), "kilted".to_owned())].into();
        let info = ServerOp::ServerInfo {
            name: "feros",
            capabilities: &["time"],
            supported_encodings: &["cdr"],
            metadata: &metadata,
            session_id: "1",
        };
        assert_eq!(
            json(&info),
            json!({"op": "serverInfo", "name": "feros", "capabilities": ["time"],
                   "supportedEncodings": ["cdr"], "metadata": {"ROS_DISTRO": "kilted"},
                   "sessionId": "1"})
        );
        let channels = [Channel {
            id: 1,
            topic: "/a".into(),
            encoding: "cdr",
            schema_name: "std_msgs/msg/String".into(),
            schema: "string data\n".into(),
            schema_encoding: "ros2msg".into(),
        }];
        assert_eq!(
            json(&ServerOp::Advertise { channels: &channels }),
            json!({"op": "advertise", "channels": [{"id": 1, "topic": "/a", "encoding": "cdr",
                   "schemaName": "std_msgs/msg/String", "schema": "string data\n",
                   "schemaEncoding": "ros2msg"}]})
        );
        let status = ServerOp::Status { level: 1, message: "m", id: None };
        assert_eq!(json(&status), json!({"op": "status", "level": 1, "message": "m"}));
        let value = ParameterJson { value: Some(json!(5.0)), value_type: Some("float64".into()) };
        let parameters = [NamedParameter { name: "/a.b".into(), value }];
        assert_eq!(
            json(&ServerOp::ParameterValues { parameters: &parameters, id: Some("7") }),
            json!({"op": "parameterValues", "id": "7",
                   "parameters": [{"name": "/a.b", "value": 5.0, "type": "float64"}]})
        );
        let named = |name: &str| vec![NamedIds { name: name.into(), ids: vec!["/n".into()] }];
        let update = ConnectionGraphUpdate {
            published_topics: named("/a"),
            subscribed_topics: named("/b"),
            advertised_services: named("/c"),
            ..ConnectionGraphUpdate::default()
        };
        assert_eq!(
            json(&ServerOp::ConnectionGraphUpdate(&update)),
            json!({"op": "connectionGraphUpdate",
                   "publishedTopics": [{"name": "/a", "publisherIds": ["/n"]}],
                   "subscribedTopics": [{"name": "/b", "subscriberIds": ["/n"]}],
                   "advertisedServices": [{"name": "/c", "providerIds": ["/n"]}],
                   "removedTopics": [], "removedServices": []})
        );
        let failure = ServerOp::ServiceCallFailure { service_id: 1, call_id: 2, message: "m" };
        assert_eq!(
            json(&failure),
            json!({"op": "serviceCallFailure", "serviceId": 1, "callId": 2, "message": "m"})
        );
    }
}
