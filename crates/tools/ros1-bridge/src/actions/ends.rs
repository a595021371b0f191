//! The ROS 1 topics of one action, which are all withdrawn when this is dropped.

use std::sync::Arc;

use feros_ros1::{
    ConnectionHeader, Node, Publication, PublicationOptions, Ros1Type, Subscription,
    SubscriptionOptions, type_text,
};

use crate::error::BridgeError;

/// The limit on messages that wait for a subscriber.
const QUEUE: usize = 100;

/// The publications and subscriptions of one action.
pub(super) struct Ends {
    ros1: Node,
    action: String,
    publications: Vec<Arc<Publication>>,
    subscriptions: Vec<Arc<Subscription>>,
}

impl Ends {
    pub(super) fn new(ros1: &Node, action: &str) -> Self {
        Self {
            ros1: ros1.clone(),
            action: action.to_owned(),
            publications: Vec::new(),
            subscriptions: Vec::new(),
        }
    }

    pub(super) fn advertise(
        &mut self,
        topic: &str,
        ty: &Ros1Type,
    ) -> Result<Arc<Publication>, BridgeError> {
        let publication = self.ros1.advertise(PublicationOptions {
            topic: format!("{}/{topic}", self.action),
            type_name: type_text(&ty.name),
            md5sum: ty.md5sum.clone(),
            definition: ty.full_text(),
            is_latching: false,
            queue_len: QUEUE,
            on_connection: None,
            on_disconnection: None,
            is_of_bridge: true,
        })?;
        self.publications.push(publication.clone());
        Ok(publication)
    }

    pub(super) fn subscribe(
        &mut self,
        topic: &str,
        ty: &Ros1Type,
        sink: impl Fn(&[u8]) + Send + Sync + 'static,
    ) -> Result<(), BridgeError> {
        let topic = format!("{}/{topic}", self.action);
        let (ty, name, sink) = (ty.clone(), topic.clone(), Arc::new(sink));
        let subscription = self.ros1.subscribe(SubscriptionOptions {
            topic,
            type_name: type_text(&ty.name),
            md5sum: ty.md5sum.clone(),
            accept: Arc::new(move |header: &ConnectionHeader| {
                let who = header.get("callerid");
                let refuse = |reason: &str| format!("{name} of {who} is not bridged: {reason}");
                if header.has("feros_bridge") {
                    return Err(refuse("it comes from another bridge"));
                }
                let checked = ty.clone().checked(who, header.get("md5sum"));
                checked.map_err(|error| refuse(&error.to_string()))?;
                let sink = sink.clone();
                Ok(Box::new(move |body| sink(body)))
            }),
        })?;
        self.subscriptions.push(subscription);
        Ok(())
    }

    /// Whether each topic is connected to another node.
    pub(super) fn are_connected(&self) -> bool {
        self.publications.iter().all(|one| one.connections() > 0)
            && self.subscriptions.iter().all(|one| one.publishers() > 0)
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        for publication in &self.publications {
            self.ros1.unadvertise(publication);
        }
        for subscription in &self.subscriptions {
            self.ros1.unsubscribe(subscription);
        }
    }
}

/// Sends a message whose body `write` writes. Sends nothing if `write` fails.
pub(super) fn send<E>(
    publication: &Publication,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let mut framed = vec![0; 4];
    write(&mut framed)?;
    let len = u32::try_from(framed.len() - 4).unwrap_or(u32::MAX);
    framed[..4].copy_from_slice(&len.to_le_bytes());
    publication.publish(0, Arc::new(framed));
    Ok(())
}
