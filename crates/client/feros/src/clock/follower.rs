//! Reads `/clock`, with one subscription and one thread for all nodes of a context that follow the
//! same topic.
//!
//! Because of the separate thread, simulated time advances even while the nodes' executors are busy
//! or do not spin.

use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use feros_engine::{
    CreateEndpointError, NodeId, QosProfile, Session, Subscription, SubscriptionOptions,
};
use feros_executor::{Entity, Executor, Progress, Ringer, RosClock, Stopper, Time};
use feros_msgs::rosgraph_msgs::msg::Clock as ClockMessage;
use feros_sync::Mutex;

use crate::messages::identity::TypeIdentity;

/// Sets clocks to the time of `/clock` as long as it lives.
pub(crate) struct ClockFollower {
    clocks: Arc<Mutex<Vec<Weak<RosClock>>>>,
    _subscription: Arc<dyn Subscription>,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl ClockFollower {
    pub(crate) fn new(
        session: &Arc<dyn Session>,
        node: NodeId,
        topic: &str,
    ) -> Result<Self, CreateEndpointError> {
        let identity = TypeIdentity::of::<ClockMessage>();
        let ringer = Ringer::new();
        let on_data = {
            let ringer = ringer.clone();
            Arc::new(move || ringer.ring())
        };
        let subscription = session.create_subscription(SubscriptionOptions {
            type_hash: identity.hash,
            qos: QosProfile::clock(),
            on_data,
            ..SubscriptionOptions::new(node, topic, &identity.name)
        })?;
        let clocks: Arc<Mutex<Vec<Weak<RosClock>>>> = Arc::default();
        let executor = Executor::new();
        let stopper = executor.stopper();
        let entity = {
            let (clocks, subscription) = (clocks.clone(), subscription.clone());
            Entity::new(&ringer, move || read_one(&clocks, &*subscription))
        };
        let thread = std::thread::Builder::new().name("feros-clock".into()).spawn(move || {
            // Neither call can fail: the executor is new, and no other thread spins it.
            if let Ok(_entity) = executor.add(entity) {
                let _ = executor.spin();
            }
        });
        let thread = thread.map_err(|error| CreateEndpointError::Engine {
            name: topic.to_owned(),
            operation: "starting the thread that reads the topic",
            code: format!("{error}; end other threads, or raise `ulimit -u`"),
        })?;
        Ok(Self { clocks, _subscription: subscription, stopper, thread: Some(thread) })
    }

    /// Makes a clock follow the topic.
    pub(crate) fn add(&self, clock: &Arc<RosClock>) {
        let mut clocks = self.clocks.lock();
        clocks.retain(|known| {
            known.strong_count() > 0 && !std::ptr::eq(known.as_ptr(), Arc::as_ptr(clock))
        });
        clocks.push(Arc::downgrade(clock));
    }

    /// Makes a clock no longer follow the topic.
    pub(crate) fn remove(&self, clock: &Arc<RosClock>) {
        let mut clocks = self.clocks.lock();
        clocks.retain(|known| !std::ptr::eq(known.as_ptr(), Arc::as_ptr(clock)));
    }
}

impl Drop for ClockFollower {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take()
            // The last node may be dropped on the follower's own thread, by a callback that a new
            // time has triggered. A thread cannot join itself.
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

/// Sets all clocks to the time of the next message; a malformed message is ignored.
fn read_one(clocks: &Mutex<Vec<Weak<RosClock>>>, subscription: &dyn Subscription) -> Progress {
    let Ok(Some(sample)) = subscription.take() else { return Progress::Done };
    if let Ok(message) = feros_message::from_bytes::<ClockMessage>(&sample.payload) {
        // A time before the epoch counts as zero.
        let time = Time::from(&message.clock).max(Time::ZERO);
        let clocks: Vec<_> = {
            let clocks = clocks.lock();
            clocks.iter().filter_map(Weak::upgrade).collect()
        };
        clocks.iter().for_each(|clock| clock.set_time(time));
    }
    Progress::More
}
