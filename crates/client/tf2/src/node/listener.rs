//! Receives transforms.

use std::collections::HashMap;
use std::mem::Discriminant;
use std::sync::Arc;
use std::thread::JoinHandle;

use feros::engine::{EndpointKind, FailureCounter};
use feros::msgs::tf2_msgs::msg::TFMessage;
use feros::{
    CallbackGroup, CallbackGroupKind, Context, CreateError, Error, Executor, Gid, JumpGuard,
    JumpThreshold, MessageInfo, Node, QosProfile, ShutdownGuard, Stopper, Subscription,
    SubscriptionOptions, TimeJump,
};

use crate::buffer::Buffer;
use crate::insert_error::InsertError;
use crate::node::topics::{STATIC_TOPIC, TOPIC, dynamic_listener_qos, static_qos};

/// The options of a listener.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ListenerOptions {
    /// Whether a separate thread fills the buffer, so that callbacks may wait for transforms.
    /// Without this thread, the executor of the node fills the buffer. By default there is a
    /// thread, as in `tf2_ros`.
    pub dedicated_thread: bool,
    /// Whether to listen to `/tf` in addition to `/tf_static`.
    pub dynamic: bool,
    /// The policies for `/tf`.
    pub qos: QosProfile,
    /// The policies for `/tf_static`.
    pub static_qos: QosProfile,
}

impl Default for ListenerOptions {
    fn default() -> Self {
        Self {
            dedicated_thread: true,
            dynamic: true,
            qos: dynamic_listener_qos(),
            static_qos: static_qos(100),
        }
    }
}

impl ListenerOptions {
    /// Sets whether a separate thread fills the buffer.
    #[must_use]
    pub fn dedicated_thread(self, dedicated_thread: bool) -> Self {
        Self { dedicated_thread, ..self }
    }

    /// Sets whether to listen to `/tf`. Without `/tf`, the listener is like
    /// `StaticTransformListener` of `tf2_ros`.
    #[must_use]
    pub fn dynamic(self, dynamic: bool) -> Self {
        Self { dynamic, ..self }
    }

    /// Sets the policies for `/tf`.
    #[must_use]
    pub fn qos(self, qos: QosProfile) -> Self {
        Self { qos, ..self }
    }

    /// Sets the policies for `/tf_static`.
    #[must_use]
    pub fn static_qos(self, static_qos: QosProfile) -> Self {
        Self { static_qos, ..self }
    }
}

/// Fills a buffer from `/tf` and `/tf_static` until the listener is dropped.
///
/// A refused transform is logged whenever the number of transforms refused for the same reason has
/// doubled; [`Buffer::counts`] has the numbers. When simulated time jumps back, the buffer is
/// cleared, as in `tf2_ros` (`tf2_ros/src/buffer.cpp`). When the context is shut down, all waits
/// for transforms of the buffer end.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// use feros_tf2::{Buffer, TransformListener};
/// use std::time::Duration;
/// let buffer = Buffer::new();
/// let _listener = TransformListener::new(&node, &buffer)?;
/// let transform = buffer.wait_for_transform("map", "base_link", node.clock().now());
/// println!("{:?}", transform.wait(Duration::from_secs(1)).map_err(feros::Error::other)?);
/// # Ok::<(), feros::Error>(())
/// ```
#[must_use = "a listener hears nothing after it is dropped"]
pub struct TransformListener {
    /// The thread is joined before the subscriptions end, since it may be in one of their
    /// callbacks.
    thread: Option<Thread>,
    subscriptions: Vec<Subscription<TFMessage>>,
    _jump_guard: JumpGuard,
    _shutdown_guard: ShutdownGuard,
}

struct Thread {
    stopper: Stopper,
    handle: JoinHandle<()>,
}

impl TransformListener {
    /// Creates a listener of a node, with a separate thread and the policies of `tf2_ros`.
    ///
    /// # Errors
    /// When an endpoint cannot be made, or the thread cannot be started.
    pub fn new(node: &Node, buffer: &Buffer) -> Result<Self, Error> {
        Self::with(node, buffer, ListenerOptions::default())
    }

    /// Creates a listener of a node, with these options.
    ///
    /// # Errors
    /// When an endpoint cannot be made, or the thread cannot be started.
    pub fn with(node: &Node, buffer: &Buffer, options: ListenerOptions) -> Result<Self, Error> {
        let group = options
            .dedicated_thread
            .then(|| node.create_separate_callback_group(CallbackGroupKind::MutuallyExclusive));
        let mut subscriptions =
            vec![subscribe(node, buffer, STATIC_TOPIC, options.static_qos, group.as_ref())?];
        if options.dynamic {
            subscriptions.push(subscribe(node, buffer, TOPIC, options.qos, group.as_ref())?);
        }
        let thread = group.map(|group| Thread::start(&group)).transpose()?;
        let (jumped, closed) = (buffer.clone(), buffer.clone());
        let (logger, jumps) = (node.logger_name().to_owned(), FailureCounter::new());
        let after = move |jump: &TimeJump| {
            // The log is limited, because time jumps with each message if /clock has two
            // publishers.
            if let Some(so_far) = jumps.so_far() {
                tracing::warn!(
                    ros_logger = &*logger,
                    "Detected jump back in time or a change of its source, from {} to {} ns. \
                     Clearing TF buffer{so_far}",
                    jump.before.as_nanos(),
                    jump.after.as_nanos()
                );
            }
            jumped.clear();
        };
        let threshold = JumpThreshold::any_discontinuity();
        let jump_guard = node.clock().create_jump_callback(threshold, |_| (), after);
        let shutdown_guard = node.context().on_shutdown(move || closed.close());
        Ok(Self { thread, subscriptions, _jump_guard: jump_guard, _shutdown_guard: shutdown_guard })
    }

    /// Returns the subscriptions of the listener: `/tf_static`, then `/tf`.
    pub fn subscriptions(&self) -> &[Subscription<TFMessage>] {
        &self.subscriptions
    }
}

impl Thread {
    fn start(group: &CallbackGroup) -> Result<Self, Error> {
        let executor = Executor::new();
        executor.add_callback_group(group)?;
        let stopper = executor.stopper();
        let spin = move || {
            if let Err(error) = executor.spin() {
                tracing::error!("the TF buffer gets no further transforms: {error}");
            }
        };
        let handle = std::thread::Builder::new().name("feros-tf2".into()).spawn(spin);
        let handle = handle.map_err(|error| {
            Error::other(format!(
                "the thread that fills the TF buffer cannot be started: {error}; end other \
                 threads, raise `ulimit -u`, or listen without `dedicated_thread`"
            ))
        })?;
        Ok(Self { stopper, handle })
    }
}

impl Drop for TransformListener {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        thread.stopper.stop();
        // A task that a transform woke may drop the listener on the listener's own thread.
        if thread.handle.thread().id() != std::thread::current().id() {
            let _ = thread.handle.join(); // a panic was logged when it happened
        }
    }
}

fn subscribe(
    node: &Node,
    buffer: &Buffer,
    topic: &str,
    qos: QosProfile,
    group: Option<&CallbackGroup>,
) -> Result<Subscription<TFMessage>, CreateError> {
    let mut options = SubscriptionOptions::from(qos);
    if let Some(group) = group {
        options = options.callback_group(group);
    }
    let mut hearing = Hearing {
        buffer: buffer.clone(),
        is_static: topic == STATIC_TOPIC,
        authorities: Authorities {
            context: node.context().clone(),
            topic: node.resolve_topic_name(topic, false)?,
            known: HashMap::new(),
        },
        refused: HashMap::new(),
    };
    node.create_subscription(topic, options, move |message: Arc<TFMessage>, info: MessageInfo| {
        hearing.hear(&message, &info);
    })
}

/// Handles the messages of a subscription.
struct Hearing {
    buffer: Buffer,
    is_static: bool,
    authorities: Authorities,
    /// The number of refused transforms, by kind.
    refused: HashMap<Discriminant<InsertError>, u64>,
}

impl Hearing {
    fn hear(&mut self, message: &TFMessage, info: &MessageInfo) {
        let authority = self.authorities.name(info.publisher_gid);
        let refused = &mut self.refused;
        self.buffer.set_transforms(&message.transforms, &authority, self.is_static, |error| {
            let count = refused.entry(std::mem::discriminant(&error)).or_default();
            *count += 1;
            if count.is_power_of_two() {
                tracing::warn!(
                    "{error} ({count} transforms have been refused for this kind of reason so far)"
                );
            }
        });
    }
}

/// The names of publishers. Stock tf2 calls them authorities, but does not know them.
struct Authorities {
    context: Context,
    topic: String,
    known: HashMap<Gid, Authority>,
}

struct Authority {
    name: Arc<str>,
    /// The number of further attempts to look up the name of the node, which may be announced after
    /// the endpoints of the node.
    attempts_left: u8,
}

impl Authorities {
    /// The limit on publishers that are remembered.
    const MOST: usize = 1000;
    const ATTEMPTS: u8 = 100;

    fn name(&mut self, gid: Gid) -> Arc<str> {
        if let Some(known) = self.known.get(&gid)
            && known.attempts_left == 0
        {
            return known.name.clone();
        }
        if self.known.len() >= Self::MOST {
            self.known.clear();
        }
        let found = self.look_up(gid);
        let entry = self.known.entry(gid).or_insert_with(|| Authority {
            name: format!("publisher {gid}").into(),
            attempts_left: Self::ATTEMPTS,
        });
        entry.attempts_left = entry.attempts_left.saturating_sub(1);
        if let Some(name) = found {
            *entry = Authority { name, attempts_left: 0 };
        }
        entry.name.clone()
    }

    fn look_up(&self, gid: Gid) -> Option<Arc<str>> {
        let graph = self.context.graph();
        let mut publishers = graph.endpoints_of(EndpointKind::Publisher, &self.topic);
        let publisher = publishers.find(|publisher| publisher.gid == gid)?;
        publisher.node.name().map(|name| name.to_string().into())
    }
}
