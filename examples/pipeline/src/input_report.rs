//! Reports once a second how many messages came on each transport.

use std::sync::Arc;
use std::time::Duration;

use feros::message::Message;
use feros::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use feros::{Error, Node, NodeTimer, Subscription};

use crate::now;

/// A subscription; the counts of its messages by transport are published on `/diagnostics`.
pub(crate) struct ReportedInput<M> {
    _subscription: Arc<Subscription<M>>,
    _reports: NodeTimer,
}

impl<M: Message> ReportedInput<M> {
    pub(crate) fn new(node: &Node, subscription: Subscription<M>) -> Result<Self, Error> {
        let reports = node.create_publisher::<DiagnosticArray>("/diagnostics", 10)?;
        let (clock, name) = (node.clock().clone(), node.name().fully_qualified());
        let subscription = Arc::new(subscription);
        let counted = subscription.clone();
        let timer = node.create_wall_timer(Duration::from_secs(1), move || {
            let counts = counted.counts();
            let value = |path: &str, messages: u64| KeyValue {
                key: path.to_owned(),
                value: messages.to_string(),
            };
            let status = DiagnosticStatus {
                name: format!("{name}: {}", counted.topic_name()),
                message: "messages by path".to_owned(),
                values: vec![
                    value("process", counts.intra_process.messages),
                    value("host", counts.shared_memory.messages),
                    value("network", counts.network.messages),
                ],
                ..DiagnosticStatus::default()
            };
            let mut report = DiagnosticArray { status: vec![status], ..DiagnosticArray::default() };
            report.header.stamp = now(&clock);
            if let Err(error) = reports.publish(report) {
                tracing::error!("{error}");
            }
        })?;
        Ok(Self { _subscription: subscription, _reports: timer })
    }
}
