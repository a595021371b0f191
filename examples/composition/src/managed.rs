//! Components that are managed nodes. Their entities are made when they are configured, and work
//! while they are active.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use feros::lifecycle::{CallbackReturn, LifecyclePublisher, State, WeakLifecycleNode};
use feros::message::Message;
use feros::{Error, LifecycleCallbacks, LifecycleNode, PublisherOptions};

use crate::parts::Parts;

/// A function that adds the entities of a managed node.
pub type Fill = fn(&mut ManagedParts) -> Result<(), Error>;

/// A managed node with all its entities. Its timers run while it is active.
pub struct ManagedParts {
    parts: Parts,
    node: WeakLifecycleNode,
    activity: Activity,
    beginnings: Vec<Box<dyn FnMut() + Send>>,
    ends: Vec<Box<dyn FnMut() + Send>>,
}

/// Shows callbacks whether their managed node is active.
#[derive(Clone, Default)]
pub struct Activity(Arc<AtomicBool>);

impl Activity {
    /// Whether the node is active.
    pub fn is_active(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl ManagedParts {
    fn of(node: &LifecycleNode) -> Self {
        let parts = Parts::of((**node).clone());
        let (activity, node) = (Activity::default(), node.downgrade());
        Self { parts, node, activity, beginnings: Vec::new(), ends: Vec::new() }
    }

    /// Makes a publisher that sends while the node is active.
    ///
    /// # Errors
    /// See [`LifecycleNode::create_lifecycle_publisher`].
    pub fn publisher<M: Message>(
        &self,
        topic: &str,
        options: impl Into<PublisherOptions>,
    ) -> Result<LifecyclePublisher<M>, Error> {
        let node = self.node.upgrade().ok_or_else(|| Error::other("the node is gone"))?;
        Ok(node.create_lifecycle_publisher(topic, options)?)
    }

    /// Returns a value that shows whether the node is active.
    pub fn activity(&self) -> Activity {
        self.activity.clone()
    }

    /// Adds a function that runs each time the node becomes active.
    pub fn at_activation(&mut self, act: impl FnMut() + Send + 'static) {
        self.beginnings.push(Box::new(act));
    }

    /// Adds a function that runs each time the node stops being active.
    pub fn at_deactivation(&mut self, act: impl FnMut() + Send + 'static) {
        self.ends.push(Box::new(act));
    }

    fn begin(&mut self) {
        self.activity.0.store(true, Ordering::Relaxed);
        self.beginnings.iter_mut().for_each(|act| act());
        self.parts.resume();
    }

    fn end(&mut self) {
        self.activity.0.store(false, Ordering::Relaxed);
        self.parts.pause();
        self.ends.iter_mut().for_each(|act| act());
    }
}

impl Deref for ManagedParts {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

impl DerefMut for ManagedParts {
    fn deref_mut(&mut self) -> &mut Parts {
        &mut self.parts
    }
}

/// The callbacks of a managed node for its transitions.
pub struct Managed {
    fill: Fill,
    made: Option<ManagedParts>,
}

impl Managed {
    /// Makes the callbacks of a node; when the node is configured, `fill` adds its entities.
    pub fn new(fill: Fill) -> Self {
        Self { fill, made: None }
    }
}

impl LifecycleCallbacks for Managed {
    fn on_configure(&mut self, node: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
        // The parts are kept when the node is cleaned up, because its parameters are declared only
        // once.
        if self.made.is_none() {
            let mut parts = ManagedParts::of(node);
            (self.fill)(&mut parts)?;
            parts.pause();
            self.made = Some(parts);
        }
        Ok(CallbackReturn::Success)
    }

    fn on_activate(&mut self, _: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
        self.made.iter_mut().for_each(ManagedParts::begin);
        Ok(CallbackReturn::Success)
    }

    fn on_deactivate(&mut self, _: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
        self.made.iter_mut().for_each(ManagedParts::end);
        Ok(CallbackReturn::Success)
    }

    fn on_shutdown(&mut self, _: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
        self.made = None;
        Ok(CallbackReturn::Success)
    }
}

/// Makes a component from a function that fills in the [`ManagedParts`] of a new managed node, like
/// [`component!`](crate::component) for [`Parts`].
#[macro_export]
macro_rules! managed_component {
    ($(#[$attribute:meta])* $type:ident, $name:literal, $plugin:literal, $fill:path) => {
        $(#[$attribute])*
        pub struct $type($crate::feros::LifecycleNode);

        impl $crate::feros_component::Component for $type {
            fn new(
                context: &$crate::feros::Context,
                options: $crate::feros::NodeOptions,
            ) -> ::std::result::Result<Self, $crate::feros::Error> {
                let callbacks = $crate::Managed::new($fill);
                let options = options.name($name);
                Ok(Self(context.create_lifecycle_node_with(options, callbacks)?))
            }

            fn node(&self) -> &$crate::feros::Node {
                &self.0
            }
        }

        $crate::feros_component::register!($type, $plugin);
    };
}
