//! The closures that a subscription accepts. They take a message as an owned struct, an `Arc`, a
//! view or raw bytes, with or without a `MessageInfo`.

use std::sync::Arc;

use feros_engine::MessageInfo;
use feros_message::{DecodeError, Message};
use feros_trace::Point;
use feros_transport::Received;

use crate::messages::content::{Content, Want};
use crate::messages::forms::{SerializedMessage, View};

/// A closure that takes the messages of a subscription.
///
/// The trait is implemented for closures that take an `M`, `Arc<M>`, `View<M>` or
/// `SerializedMessage`, alone or followed by a [`MessageInfo`]. `Form` distinguishes these
/// implementations for the compiler and is always inferred.
///
/// The cost of each form depends on the transport of the message:
///
/// | form | intra-process | shared memory | network |
/// |---|---|---|---|
/// | `M` | nothing if only one subscription gets the message; otherwise a clone, except for the last subscription that uses the message | decoding | decoding |
/// | `Arc<M>` | nothing | decoding | decoding |
/// | `View<M>`, `SerializedMessage` | the publisher serializes the message once for all subscriptions | nothing | nothing |
pub trait SubscriptionCallback<M, Form>: Send + 'static {
    #[doc(hidden)]
    const WANT: Want;

    /// Converts the message into the form that the closure takes, and calls the closure.
    ///
    /// # Errors
    /// When the message arrived as bytes that are not a valid `M`. The closure is then not called.
    fn call(&mut self, message: Received<Content<M>>) -> Result<(), DecodeError>;
}

/// Marker types that distinguish the implementations of the trait.
#[doc(hidden)]
pub(crate) mod form {
    pub enum Owned {}
    pub enum Shared {}
    pub enum Viewed {}
    pub enum Serialized {}
    pub struct WithInfo<F>(F);
}

/// Makes the argument of a callback, and records the trace points before and after that. The caller
/// must call the callback next.
pub(crate) fn traced<T>(make: impl FnOnce() -> Result<T, DecodeError>) -> Result<T, DecodeError> {
    feros_trace::delivery(Point::DeserializeBegin);
    let made = make()?;
    feros_trace::delivery(Point::Callback);
    Ok(made)
}

macro_rules! callback_form {
    ($form:ty, $want:expr, $argument:ty, $make:expr) => {
        impl<M: Message, F: FnMut($argument) + Send + 'static> SubscriptionCallback<M, $form>
            for F
        {
            const WANT: Want = $want;

            fn call(&mut self, message: Received<Content<M>>) -> Result<(), DecodeError> {
                let make: fn(Content<M>) -> Result<$argument, DecodeError> = $make;
                let argument = traced(|| make(message.into_object()))?;
                self(argument);
                feros_trace::delivery(Point::CallbackEnd);
                Ok(())
            }
        }

        impl<M: Message, F> SubscriptionCallback<M, form::WithInfo<$form>> for F
        where
            F: FnMut($argument, MessageInfo) + Send + 'static,
        {
            const WANT: Want = $want;

            fn call(&mut self, message: Received<Content<M>>) -> Result<(), DecodeError> {
                let make: fn(Content<M>) -> Result<$argument, DecodeError> = $make;
                let info = message.info();
                let argument = traced(|| make(message.into_object()))?;
                self(argument, info);
                feros_trace::delivery(Point::CallbackEnd);
                Ok(())
            }
        }
    };
}

callback_form!(form::Owned, Want::Owned, M, Content::into_owned);
callback_form!(form::Shared, Want::Shared, Arc<M>, Content::into_shared);
callback_form!(form::Viewed, Want::Bytes, View<M>, Content::into_view);
callback_form!(form::Serialized, Want::Bytes, SerializedMessage, |message| Ok(
    message.into_serialized()
));
