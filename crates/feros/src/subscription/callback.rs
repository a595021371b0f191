//! The closures that a subscription accepts: a message as owned struct, `Arc`, view or raw bytes, with or without
//! information about it.

use std::sync::Arc;

use feros_message::{DecodeError, Message};
use feros_rmw::{MessageInfo, Sample};

use crate::message_forms::{SerializedMessage, View};

/// A closure that takes the messages of a subscription.
///
/// Implemented for closures with one of the parameters `M`, `Arc<M>`, `View<M>` or `SerializedMessage`, alone or
/// followed by a [`MessageInfo`]. `Form` tells the compiler which one it is; it is always inferred.
pub trait SubscriptionCallback<M, Form>: Send + 'static {
    /// Brings the sample into the form that the closure takes, and calls it.
    ///
    /// # Errors
    /// When the bytes are no `M`; the closure was not called then.
    fn call(&mut self, sample: Sample) -> Result<(), DecodeError>;
}

/// Markers that keep the forms of callbacks apart.
#[doc(hidden)]
pub(crate) mod form {
    pub enum Owned {}
    pub enum Shared {}
    pub enum Viewed {}
    pub enum Serialized {}
    pub struct WithInfo<F>(F);
}

macro_rules! callback_form {
    ($form:ty, $argument:ty, $make:expr) => {
        impl<M: Message, F: FnMut($argument) + Send + 'static> SubscriptionCallback<M, $form> for F {
            fn call(&mut self, sample: Sample) -> Result<(), DecodeError> {
                let make: fn(Sample) -> Result<$argument, DecodeError> = $make;
                self(make(sample)?);
                Ok(())
            }
        }

        impl<M: Message, F> SubscriptionCallback<M, form::WithInfo<$form>> for F
        where
            F: FnMut($argument, MessageInfo) + Send + 'static,
        {
            fn call(&mut self, sample: Sample) -> Result<(), DecodeError> {
                let make: fn(Sample) -> Result<$argument, DecodeError> = $make;
                let info = sample.info;
                self(make(sample)?, info);
                Ok(())
            }
        }
    };
}

callback_form!(form::Owned, M, |sample| feros_message::from_bytes(&sample.payload));
callback_form!(form::Shared, Arc<M>, |sample| feros_message::from_bytes(&sample.payload).map(Arc::new));
callback_form!(form::Viewed, View<M>, |sample| View::new(sample.payload));
callback_form!(form::Serialized, SerializedMessage, |sample| Ok(SerializedMessage::new(sample.payload)));
