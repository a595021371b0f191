//! The operations of clients, in JSON.

use serde::Deserialize;

use super::parameter::ParameterJson;

/// The limit on bytes of an operation in JSON, which becomes several times larger in memory.
pub const MAX_OP_BYTES: usize = 1 << 20;

/// An operation of a client, in JSON.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ClientOp {
    /// Subscribes to channels.
    Subscribe {
        /// The subscriptions.
        subscriptions: Vec<TopicSubscription>,
    },
    /// Ends subscriptions.
    Unsubscribe {
        /// The numbers that the client gave.
        subscription_ids: Vec<u32>,
    },
    /// Announces channels that the client will publish.
    Advertise {
        /// The channels.
        channels: Vec<ClientChannel>,
    },
    /// Ends channels of the client.
    Unadvertise {
        /// The numbers that the client gave.
        channel_ids: Vec<u32>,
    },
    /// Asks for values of parameters.
    GetParameters {
        /// The names of the parameters; empty for all parameters.
        parameter_names: Vec<String>,
        /// The id that the answer repeats.
        #[serde(default)]
        id: Option<String>,
    },
    /// Sets parameters.
    SetParameters {
        /// The parameters with their new values.
        parameters: Vec<ParameterToSet>,
        /// The id of the answer; without it, the server does not answer.
        #[serde(default)]
        id: Option<String>,
    },
    /// Asks for reports of changes of parameters.
    SubscribeParameterUpdates {
        /// The names of the parameters.
        parameter_names: Vec<String>,
    },
    /// Ends the reports of changes of parameters.
    UnsubscribeParameterUpdates {
        /// The names of the parameters.
        parameter_names: Vec<String>,
    },
    /// Asks for the connection graph, and for its changes.
    SubscribeConnectionGraph,
    /// Ends the reports of the connection graph.
    UnsubscribeConnectionGraph,
    /// Asks for a file.
    FetchAsset {
        /// The file's address, such as `package://robot/meshes/arm.stl`.
        uri: String,
        /// The id that the answer repeats.
        request_id: u32,
    },
    /// Asks for figures once per second.
    SubscribeFigures,
    /// Ends the figures.
    UnsubscribeFigures,
    /// Names the topics whose rates, sizes and ages this client wants in the figures.
    MeasureTopics {
        /// The topics, which replace those of earlier operations.
        topics: Vec<String>,
    },
    /// Asks for the checks of `feros doctor`.
    Doctor,
}

/// A subscription of a client to one channel.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TopicSubscription {
    /// The number that the client gave the subscription; the subscription's messages carry it.
    pub id: u32,
    /// The channel that the server advertised.
    pub channel_id: u32,
    /// The limit on messages per second: the server sends the newest messages. Without a limit, it
    /// sends all messages.
    #[serde(default)]
    pub max_rate_hz: Option<f64>,
}

/// A channel that a client publishes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientChannel {
    /// The number of the channel, which its messages carry.
    pub id: u32,
    /// The topic.
    pub topic: String,
    /// The encoding of the messages.
    pub encoding: String,
    /// The type of the messages.
    pub schema_name: String,
}

/// A parameter to set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ParameterToSet {
    /// The node, a dot, and the parameter.
    pub name: String,
    /// Its new value.
    #[serde(flatten)]
    pub value: ParameterJson,
}

/// The reason why an operation cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// The text is longer than an operation may be.
    #[error("an operation in JSON may have at most {MAX_OP_BYTES} bytes, but this one has {size}")]
    Long {
        /// The number of bytes in the text.
        size: usize,
    },
    /// The text is not an operation of the protocol.
    #[error("the text is not an operation of the protocol: {reason}")]
    Json {
        /// The problem and its position in the text.
        reason: String,
    },
}

impl ClientOp {
    /// Reads an operation.
    ///
    /// # Errors
    /// See [`OpError`].
    ///
    /// ```
    /// use feros_view::protocol::ClientOp;
    /// let op = ClientOp::parse(r#"{"op":"unsubscribe","subscriptionIds":[3]}"#)?;
    /// assert_eq!(op, ClientOp::Unsubscribe { subscription_ids: vec![3] });
    /// # Ok::<(), feros_view::protocol::OpError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, OpError> {
        if text.len() > MAX_OP_BYTES {
            return Err(OpError::Long { size: text.len() });
        }
        serde_json::from_str(text).map_err(|error| {
            // The reason may repeat the client's text, so only the beginning of the reason is kept.
            let reason: String = error.to_string().chars().take(300).collect();
            OpError::Json { reason }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parse(op: serde_json::Value) -> ClientOp {
        ClientOp::parse(&op.to_string()).unwrap()
    }

    #[test]
    fn operations_are_those_of_the_specification() {
        let subscribe = json!({"op": "subscribe", "subscriptions": [
            {"id": 0, "channelId": 3}, {"id": 1, "channelId": 5, "maxRateHz": 10}]});
        assert_eq!(
            parse(subscribe),
            ClientOp::Subscribe {
                subscriptions: vec![
                    TopicSubscription { id: 0, channel_id: 3, max_rate_hz: None },
                    TopicSubscription { id: 1, channel_id: 5, max_rate_hz: Some(10.0) },
                ]
            }
        );
        let advertise = json!({"op": "advertise", "channels": [{"id": 1, "topic": "/a",
            "encoding": "cdr", "schemaName": "std_msgs/msg/String", "schema": "string data",
            "schemaEncoding": "ros2msg"}]});
        let ClientOp::Advertise { channels } = parse(advertise) else { panic!("advertise") };
        assert_eq!((channels[0].id, &*channels[0].schema_name), (1, "std_msgs/msg/String"));
        let get = json!({"op": "getParameters", "parameterNames": ["/a.b"]});
        assert_eq!(
            parse(get),
            ClientOp::GetParameters { parameter_names: vec!["/a.b".into()], id: None }
        );
        let set = json!({"op": "setParameters", "id": "7", "parameters": [
            {"name": "/a.b", "value": 5, "type": "float64"}, {"name": "/a.c"}]});
        let ClientOp::SetParameters { parameters, id } = parse(set) else { panic!("set") };
        assert_eq!(id.as_deref(), Some("7"));
        assert_eq!(parameters[0].value.value, Some(json!(5)));
        assert_eq!(parameters[1].value.value, None);
        let fetch = json!({"op": "fetchAsset", "uri": "package://a/b.stl", "requestId": 2});
        assert!(matches!(parse(fetch), ClientOp::FetchAsset { request_id: 2, .. }));
        for (op, expected) in [
            ("subscribeConnectionGraph", ClientOp::SubscribeConnectionGraph),
            ("unsubscribeConnectionGraph", ClientOp::UnsubscribeConnectionGraph),
            ("subscribeFigures", ClientOp::SubscribeFigures),
            ("unsubscribeFigures", ClientOp::UnsubscribeFigures),
            ("doctor", ClientOp::Doctor),
        ] {
            assert_eq!(parse(json!({"op": op})), expected);
        }
    }

    #[test]
    fn invalid_operations_are_refused_with_the_reason() {
        let reason = |text: &str| ClientOp::parse(text).unwrap_err().to_string();
        assert!(reason("{\"op\":\"reboot\"}").contains("unknown variant `reboot`"));
        assert!(reason("[]").contains("not an operation"));
        assert!(reason(&"[".repeat(100_000)).contains("not an operation"));
        let deep = format!("{{\"op\":\"doctor\",\"a\":{}", "[".repeat(100_000));
        assert!(reason(&deep).contains("recursion limit"));
        assert!(reason("{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":-1}]}").contains("-1"));
        let long = format!("{{\"op\":\"{}\"}}", "a".repeat(MAX_OP_BYTES));
        assert!(matches!(ClientOp::parse(&long), Err(OpError::Long { .. })));
        let long = format!("{{\"op\":\"{}\"}}", "a".repeat(MAX_OP_BYTES - 20));
        assert!(reason(&long).len() < 500);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
            let _ = ClientOp::parse(&text);
        }

        #[test]
        fn any_json_with_an_op_is_read_or_refused(
            op in "subscribe|advertise|getParameters|setParameters|fetchAsset|doctor",
            key in "subscriptions|channels|parameterNames|parameters|uri|id",
            value in "[0-9]{1,30}|\"[a-z]{0,9}\"|\\[\\{\"id\":[0-9]{1,12}\\}\\]|null|\\[\\[\\]\\]",
        ) {
            let _ = ClientOp::parse(&format!("{{\"op\":\"{op}\",\"{key}\":{value}}}"));
        }
    }
}
