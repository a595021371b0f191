//! Messages to publish, in the forms in which the caller passes them: by value, by reference, or in
//! an `Arc`.

use std::sync::Arc;

use feros_engine::{FillAborted, TypeHash};
use feros_message::{EncodeError, Message};
use feros_sync::Mutex;

use feros_transport::{Delivery, IntraProcessRoute, ObjectRoute, Outgoing};

use crate::messages::content::{Content, Want};
use crate::topics::publisher::pool::SharedPool;

/// The types that [`Publisher::publish`](crate::Publisher::publish) accepts: `M`, `&M` or `Arc<M>`.
///
/// A message that is passed by value reaches subscriptions of this process without a copy. A
/// message that is passed by reference is cloned once for them. A message in an `Arc` is shared
/// with the subscriptions that take an `Arc`.
pub trait Publishable<M> {
    #[doc(hidden)]
    fn into_form<'a>(self) -> Form<'a, M>
    where
        Self: 'a;
}

/// The form in which a message is passed.
#[doc(hidden)]
#[derive(Debug)]
pub enum Form<'a, M> {
    Given(M),
    Lent(&'a M),
    Shared(Arc<M>),
}

impl<M: Message> Publishable<M> for M {
    fn into_form<'a>(self) -> Form<'a, M> {
        Form::Given(self)
    }
}

impl<M: Message> Publishable<M> for &M {
    fn into_form<'a>(self) -> Form<'a, M>
    where
        Self: 'a,
    {
        Form::Lent(self)
    }
}

impl<M: Message> Publishable<M> for Arc<M> {
    fn into_form<'a>(self) -> Form<'a, M> {
        Form::Shared(self)
    }
}

/// A message that is being published.
pub(crate) struct OutgoingMessage<'a, M> {
    /// The message, until it is moved into the queues of subscriptions. If any subscription needs
    /// bytes, the message has been serialized before that.
    form: Option<Form<'a, M>>,
    pool: &'a Mutex<SharedPool<M>>,
    /// The reason why the message could not be serialized.
    pub(crate) failure: Option<EncodeError>,
}

impl<'a, M: Message> OutgoingMessage<'a, M> {
    pub(crate) fn new(form: Form<'a, M>, pool: &'a Mutex<SharedPool<M>>) -> Self {
        Self { form: Some(form), pool, failure: None }
    }

    fn message(&self) -> Option<&M> {
        self.form.as_ref().map(|form| match form {
            Form::Given(message) => message,
            Form::Lent(message) => message,
            Form::Shared(message) => message,
        })
    }

    /// Refuses a message that exceeds a bound of its type, even if no subscription needs serialized
    /// bytes.
    pub(crate) fn check_bounds(&self) -> Result<(), EncodeError> {
        if !M::IS_BOUNDED {
            return Ok(());
        }
        self.message().map_or(Ok(()), M::check_bounds)
    }

    /// Moves or clones the message into an `Arc`. If a subscription wants to own the message, the
    /// `Arc` does not come from the pool, because the pool's own reference would force the
    /// subscription to clone.
    fn into_shared(form: Form<'a, M>, pool: &Mutex<SharedPool<M>>, owners: usize) -> Arc<M> {
        let message = match form {
            Form::Shared(message) => return message,
            Form::Given(message) => message,
            Form::Lent(message) => message.clone(),
        };
        if owners > 0 {
            return Arc::new(message);
        }
        pool.lock().share(message)
    }
}

/// Returns the route to a subscription that takes structs of exactly this type; `None` if the
/// subscription needs bytes, for example because it has another type of the same name.
fn typed<M: Message>(route: &IntraProcessRoute) -> Option<ObjectRoute<'_, Content<M>>> {
    route
        .objects::<Content<M>>(TypeHash(M::TYPE_HASH.0))
        .filter(|objects| objects.wish() != Want::Bytes)
}

impl<M: Message> Outgoing for OutgoingMessage<'_, M> {
    fn size_bytes(&self) -> usize {
        self.message().map_or(0, feros_message::encoded_size)
    }

    fn fill(&mut self, memory: &mut [u8]) -> Result<(), FillAborted> {
        let message = self.message().ok_or(FillAborted)?;
        let filled = feros_message::encode_into(message, memory);
        filled.map(drop).map_err(|error| {
            self.failure = Some(error);
            FillAborted
        })
    }

    fn wants_bytes(&self, routes: &[IntraProcessRoute]) -> bool {
        routes.iter().any(|route| typed::<M>(route).is_none())
    }

    fn deliver(&mut self, delivery: &Delivery<'_>) {
        let (mut owners, mut takers) = (0, 0);
        for route in delivery.routes() {
            match typed::<M>(route) {
                Some(objects) => {
                    takers += 1;
                    owners += usize::from(objects.wish() == Want::Owned);
                }
                None => delivery.put_bytes(route),
            }
        }
        if takers == 0 {
            return;
        }
        let Some(form) = self.form.take() else { return };
        let mut routes = delivery.routes().iter().filter_map(typed::<M>);
        if takers == 1 && owners == 1 {
            let content = match form {
                Form::Given(message) => Content::Owned(message),
                Form::Lent(message) => Content::Owned(message.clone()),
                Form::Shared(message) => Content::Shared(message),
            };
            if let Some(route) = routes.next() {
                delivery.put(&route, content);
            }
            return;
        }
        let mut shared = Some(Self::into_shared(form, self.pool, owners));
        for (position, route) in routes.enumerate() {
            // The last subscription gets this `Arc` itself instead of a clone, so that the last
            // owner need not clone the message.
            let pointer = if position + 1 == takers { shared.take() } else { shared.clone() };
            if let Some(pointer) = pointer {
                delivery.put(&route, Content::Shared(pointer));
            }
        }
    }
}
