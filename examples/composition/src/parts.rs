//! The parts of a component with many endpoints: they keep its entities, so that its code describes
//! only its behaviour.

use feros_sync::Mutex;
use std::any::Any;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use feros::lifecycle::LifecyclePublisher;
use feros::message::{Message, Service};
use feros::msgs::builtin_interfaces::msg::Time;
use feros::msgs::std_msgs::msg::Header;
use feros::{
    Clock, Error, Node, NodeTimer, PublishError, Publishable, Publisher, ServiceCallback,
    SubscriptionCallback, SubscriptionOptions,
};

/// A node with all its entities, which end when this value is dropped.
pub struct Parts {
    node: Node,
    timers: Vec<NodeTimer>,
    kept: Vec<Box<dyn Any + Send>>,
}

impl Parts {
    /// Makes the parts of a node, which are empty at first.
    pub fn of(node: Node) -> Self {
        Self { node, timers: Vec::new(), kept: Vec::new() }
    }

    /// The node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Keeps a value until the node ends.
    pub fn keep(&mut self, part: impl Any + Send) {
        self.kept.push(Box::new(part));
    }

    /// Subscribes to a topic.
    ///
    /// # Errors
    /// See [`Node::create_subscription`].
    pub fn hear<M: Message, Form: 'static>(
        &mut self,
        topic: &str,
        options: impl Into<SubscriptionOptions>,
        callback: impl SubscriptionCallback<M, Form>,
    ) -> Result<(), Error> {
        let subscription = self.node.create_subscription::<M, Form>(topic, options, callback)?;
        self.keep(subscription);
        Ok(())
    }

    /// Keeps the newest message of a topic.
    ///
    /// # Errors
    /// See [`Node::create_subscription`].
    pub fn newest<M: Message>(
        &mut self,
        topic: &str,
        options: impl Into<SubscriptionOptions>,
    ) -> Result<Latest<Arc<M>>, Error> {
        let latest = Latest::default();
        let inside = latest.clone();
        self.hear(topic, options, move |message: Arc<M>| inside.set(message))?;
        Ok(latest)
    }

    /// Answers the requests of a service.
    ///
    /// # Errors
    /// See [`Node::create_service`].
    pub fn serve<S: Service, Form: 'static>(
        &mut self,
        name: &str,
        callback: impl ServiceCallback<S, Form>,
    ) -> Result<(), Error> {
        let service = self.node.create_service::<S, Form>(name, callback)?;
        self.keep(service);
        Ok(())
    }

    /// Adds a function that runs at a steady rate.
    ///
    /// # Errors
    /// See [`Node::create_timer`].
    pub fn at_rate(
        &mut self,
        rate_hz: f64,
        callback: impl FnMut() + Send + 'static,
    ) -> Result<(), Error> {
        let timer = self.node.create_timer(Duration::from_secs_f64(1.0 / rate_hz), callback)?;
        self.timers.push(timer);
        Ok(())
    }

    /// Pauses all functions that run at a steady rate.
    pub(crate) fn pause(&self) {
        self.timers.iter().for_each(|timer| timer.cancel());
    }

    /// Resumes all functions that run at a steady rate.
    pub(crate) fn resume(&self) {
        self.timers.iter().for_each(|timer| timer.reset());
    }
}

/// The newest value from one source, which the callbacks of a node share. Clones share the same
/// slot.
pub struct Latest<T>(Arc<Mutex<Option<T>>>);

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for Latest<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Latest<T> {
    /// Replaces the value with a newer one.
    pub fn set(&self, value: T) {
        *self.0.lock() = Some(value);
    }

    /// Takes the value, which leaves the slot empty.
    pub fn take(&self) -> Option<T> {
        self.0.lock().take()
    }

    /// Returns a copy of the value.
    pub fn read(&self) -> Option<T>
    where
        T: Clone,
    {
        self.0.lock().clone()
    }
}

/// A publisher of a managed node or of any other node.
pub trait Publishes<M> {
    /// Publishes a message.
    ///
    /// # Errors
    /// See [`Publisher::publish`].
    fn publish(&self, message: impl Publishable<M>) -> Result<(), PublishError>;
}

impl<M: Message> Publishes<M> for Publisher<M> {
    fn publish(&self, message: impl Publishable<M>) -> Result<(), PublishError> {
        Self::publish(self, message)
    }
}

impl<M: Message> Publishes<M> for LifecyclePublisher<M> {
    fn publish(&self, message: impl Publishable<M>) -> Result<(), PublishError> {
        Self::publish(self, message)
    }
}

/// Publishes a message, and logs a failure.
pub fn send<M: Message>(publisher: &impl Publishes<M>, message: impl Publishable<M>) {
    log_failure(publisher.publish(message));
}

/// Logs the error of a result.
pub fn log_failure<E: Display>(done: Result<(), E>) {
    if let Err(error) = done {
        tracing::error!("{error}");
    }
}

/// Makes the header of a message, with the current time.
pub fn header(clock: &Clock, frame: &str) -> Header {
    Header { stamp: Time::from_nanos(clock.now().as_nanos()), frame_id: frame.to_owned() }
}

/// Makes a component from a function that fills in the [`Parts`] of a new node:
/// `component!(/** Documentation. */ Camera, "camera", "my_package::Camera", camera);`
#[macro_export]
macro_rules! component {
    ($(#[$attribute:meta])* $type:ident, $name:literal, $plugin:literal, $fill:path) => {
        $(#[$attribute])*
        pub struct $type($crate::Parts);

        impl $crate::feros_component::Component for $type {
            fn new(
                context: &$crate::feros::Context,
                options: $crate::feros::NodeOptions,
            ) -> ::std::result::Result<Self, $crate::feros::Error> {
                let mut parts = $crate::Parts::of(context.create_node_with(options.name($name))?);
                $fill(&mut parts)?;
                Ok(Self(parts))
            }

            fn node(&self) -> &$crate::feros::Node {
                self.0.node()
            }
        }

        $crate::feros_component::register!($type, $plugin);
    };
}
