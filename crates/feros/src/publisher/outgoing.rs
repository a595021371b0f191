//! What is published, in the forms in which it is handed over: a message that is given away, lent
//! or shared, or bytes.

use std::sync::{Arc, Mutex, PoisonError};

use feros_message::{EncodeError, Message};
use feros_rmw::{FillAborted, TypeHash};

use crate::transports::{
    AnyInbox, Buffer, Content, Envelope, Inbox, Outgoing, ProcessRoute, SharedPool, Want, lend,
};

/// What [`Publisher::publish`](crate::Publisher::publish) takes: `M`, `&M` or `Arc<M>`.
///
/// A message that is given away reaches subscriptions of this process without a copy; one that is
/// lent is cloned for them once; one that is shared is shared with those that take an `Arc`.
pub trait Publishable<M> {
    #[doc(hidden)]
    fn into_form<'a>(self) -> Form<'a, M>
    where
        Self: 'a;
}

/// How a message is handed over.
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

/// A message on its way out.
pub(crate) struct OutgoingMessage<'a, M> {
    /// Taken when it is given to inboxes; then it is in bytes already, if anybody needs those.
    form: Option<Form<'a, M>>,
    pool: &'a Mutex<SharedPool<M>>,
    /// Why it could not be serialized.
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

    /// The message behind a pointer. From the pool where nobody wants to own it, since what the
    /// pool keeps cannot be owned.
    fn into_shared(form: Form<'a, M>, pool: &Mutex<SharedPool<M>>, owners: usize) -> Arc<M> {
        let message = match form {
            Form::Shared(message) => return message,
            Form::Given(message) => message,
            Form::Lent(message) => message.clone(),
        };
        if owners > 0 {
            return Arc::new(message);
        }
        pool.lock().unwrap_or_else(PoisonError::into_inner).share(message)
    }
}

/// The inbox, if it holds messages of this very type; another type of the same name gets bytes.
///
/// The hash counts besides Rust's own idea of the type: two component libraries may hold two
/// versions of one crate, which Rust cannot tell apart when all but the definition is the same.
fn typed<M: Message>(inbox: &Arc<dyn AnyInbox>) -> Option<&Inbox<M>> {
    if inbox.type_hash() != Some(TypeHash(M::TYPE_HASH.0)) {
        return None;
    }
    inbox.as_any().downcast_ref::<Inbox<M>>().filter(|inbox| inbox.want() != Want::Bytes)
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

    fn wants_bytes(&self, process: &[ProcessRoute]) -> bool {
        process.iter().any(|route| typed::<M>(&route.inbox).is_none())
    }

    fn put(&mut self, process: &[ProcessRoute], envelope: Envelope, bytes: Option<&Arc<Buffer>>) {
        let (mut owners, mut takers) = (0, 0);
        for route in process {
            match (typed::<M>(&route.inbox), bytes) {
                (Some(inbox), _) => {
                    takers += 1;
                    owners += usize::from(inbox.want() == Want::Owned);
                }
                (None, Some(bytes)) => {
                    route.inbox.put_bytes(route.address(envelope), lend(bytes));
                    route.wake(&envelope);
                }
                (None, None) => {}
            }
        }
        if takers == 0 {
            return;
        }
        let Some(form) = self.form.take() else { return };
        let mut inboxes =
            process.iter().filter_map(|route| Some((route, typed::<M>(&route.inbox)?)));
        if takers == 1 && owners == 1 {
            let content = match form {
                Form::Given(message) => Content::Owned(message),
                Form::Lent(message) => Content::Owned(message.clone()),
                Form::Shared(message) => Content::Shared(message),
            };
            if let Some((route, inbox)) = inboxes.next() {
                inbox.put(route.address(envelope), content);
                route.wake(&envelope);
            }
            return;
        }
        let mut shared = Some(Self::into_shared(form, self.pool, owners));
        for (position, (route, inbox)) in inboxes.enumerate() {
            // The last one gets the pointer itself: whoever owns it last need not clone.
            let pointer = if position + 1 == takers { shared.take() } else { shared.clone() };
            if let Some(pointer) = pointer {
                inbox.put(route.address(envelope), Content::Shared(pointer));
            }
            route.wake(&envelope);
        }
    }
}
