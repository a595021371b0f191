//! Delivers messages from a publisher into the queues of subscriptions of the same process. If
//! direct dispatch is on, also runs callbacks on the publishing thread.

use std::sync::Arc;

use feros_engine::{Gid, Payload, TypeHash};
use feros_trace::{Endpoint, Point, Transport};

use crate::bytes::{Buffer, lend};
use crate::intra_process::queue::{AnyQueue, Envelope, Object, Queue};

/// A publisher's route to a matching subscription of the same process.
pub struct IntraProcessRoute {
    pub(crate) queue: Arc<dyn AnyQueue>,
    pub(crate) subscription: Gid,
    /// The number of the first message that the subscription gets over this transport.
    pub(crate) since: u64,
    pub(crate) traced: Endpoint,
}

impl IntraProcessRoute {
    /// This route in a form that accepts objects, if the subscription's queue holds this kind of
    /// object and this message type. Otherwise, returns `None`; then the subscription takes the
    /// message only as bytes.
    ///
    /// The hash is compared in addition to the Rust type, because two component libraries may
    /// contain two versions of the same crate. If only the definitions of the types differ, Rust
    /// cannot distinguish them.
    pub fn objects<O: Object>(&self, type_hash: TypeHash) -> Option<ObjectRoute<'_, O>> {
        if self.queue.type_hash() != Some(type_hash) {
            return None;
        }
        let queue = self.queue.as_any().downcast_ref::<Queue<O>>()?;
        Some(ObjectRoute { route: self, queue })
    }

    /// The envelope of a message, completed for this subscription.
    fn address(&self, envelope: Envelope) -> Envelope {
        Envelope { since: self.since, ..envelope }
    }

    /// Wakes the thread that takes from the queue. Call this after the message was put into the
    /// queue.
    fn wake(&self, message: &Envelope) {
        feros_trace::pass(Point::Announced, Transport::IntraProcess, &self.traced, || message.id());
        self.queue.wake();
    }
}

/// A route to a subscription that takes objects of one kind.
pub struct ObjectRoute<'a, O: Object> {
    route: &'a IntraProcessRoute,
    queue: &'a Queue<O>,
}

impl<O: Object> ObjectRoute<'_, O> {
    /// The subscription's requirements for the objects that it gets ([`Object::Wish`]).
    pub fn wish(&self) -> O::Wish {
        self.queue.wish()
    }
}

/// One message that is being delivered into the queues of subscriptions of the process.
pub struct Delivery<'a> {
    pub(crate) routes: &'a [IntraProcessRoute],
    pub(crate) envelope: Envelope,
    pub(crate) bytes: Option<&'a Arc<Buffer>>,
}

impl<'a> Delivery<'a> {
    /// The routes to the subscriptions. Each of these subscriptions must get the message exactly
    /// once.
    pub fn routes(&self) -> &'a [IntraProcessRoute] {
        self.routes
    }

    /// Gives an object to one subscription.
    pub fn put<O: Object>(&self, to: &ObjectRoute<'_, O>, object: O) {
        to.queue.put(to.route.address(self.envelope), object);
        to.route.wake(&self.envelope);
    }

    /// Gives the serialized bytes to one subscription. Does nothing if the message has reported
    /// that no subscription wants bytes ([`Outgoing::wants_bytes`](crate::Outgoing::wants_bytes)).
    pub fn put_bytes(&self, to: &IntraProcessRoute) {
        if let Some(bytes) = self.bytes {
            let bytes: Payload = lend(bytes);
            to.queue.put_bytes(to.address(self.envelope), bytes);
            to.wake(&self.envelope);
        }
    }
}

/// Direct dispatch for one subscription: its callbacks run on the publishing thread. Dropping this
/// value ends direct dispatch.
pub struct DirectDispatch(Arc<dyn AnyQueue>);

impl DirectDispatch {
    /// Makes publishers of this process call `run` after they have put a message into the queue.
    pub(crate) fn new(queue: &Arc<dyn AnyQueue>, run: impl Fn() + Send + Sync + 'static) -> Self {
        queue.set_direct_run(Some(Arc::new(run)));
        Self(Arc::clone(queue))
    }
}

impl Drop for DirectDispatch {
    fn drop(&mut self) {
        self.0.set_direct_run(None);
    }
}
