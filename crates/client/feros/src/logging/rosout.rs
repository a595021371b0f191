//! Publishes a node's log messages on `/rosout`, as `rcl_interfaces/msg/Log`.

use std::sync::{Arc, Weak};

use feros_engine::{CreateEndpointError, NodeId, Publisher, PublisherOptions, QosProfile, Session};
use feros_msgs::rcl_interfaces::msg::Log;

use crate::logging::{self, LogRecord, LogSink};
use crate::messages::identity::TypeIdentity;
use crate::messages::serialize::serialize_into;

const TOPIC: &str = "/rosout";

/// Publishes the log messages of one node.
pub(crate) struct Rosout {
    engine: Arc<dyn Publisher>,
}

impl Rosout {
    pub(crate) fn new(
        session: &Arc<dyn Session>,
        node: NodeId,
        qos: QosProfile,
    ) -> Result<Arc<Self>, CreateEndpointError> {
        let identity = TypeIdentity::of::<Log>();
        let engine = session.create_publisher(PublisherOptions {
            type_hash: identity.hash,
            qos,
            ..PublisherOptions::new(node, TOPIC, &identity.name)
        })?;
        Ok(Arc::new(Self { engine }))
    }

    /// Publishes the messages of this logger from now on.
    pub(crate) fn listen_to(self: &Arc<Self>, logger: &str) {
        logging::register_sink(logger, self.sink());
    }

    /// Returns this publisher as a destination of log messages; it lives as long as the node.
    pub(crate) fn sink(self: &Arc<Self>) -> Weak<dyn LogSink> {
        let sink: Arc<dyn LogSink> = self.clone();
        Arc::downgrade(&sink)
    }
}

impl LogSink for Rosout {
    fn write(&self, record: &LogRecord) {
        let without_nul = |text: &str| text.replace('\0', "\u{fffd}");
        let message = Log {
            stamp: record.stamp.into(),
            level: record.level as u8,
            name: record.logger.clone(),
            msg: without_nul(&record.message),
            file: record.file.clone().into_owned(),
            function: record.function.clone().into_owned(),
            line: record.line,
        };
        // A log message that cannot be published has already been printed. Logging the error would
        // only cause more errors.
        let _ =
            serialize_into(&message, TOPIC, |size, fill| self.engine.publish(size, fill).map(drop));
    }
}
