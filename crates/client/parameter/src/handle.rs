//! The typed handle of a declared parameter.

use std::marker::PhantomData;
use std::sync::{Arc, Weak};

use crate::error::SetParameterError;
use crate::slot::Slot;
use crate::store::Store;
use crate::value::NamedValue;
use crate::variant::{ParameterForm, ParameterVariant};

/// A handle that reads and sets a declared parameter as a `T`. Clones refer to the same parameter.
///
/// Reading returns the latest value, no matter whether the node itself, `ros2 param set` or another
/// node has set it.
///
/// ```
/// use feros_parameter::{Parameter, SetParameterError};
/// fn double(speed: &Parameter<f64>) -> Result<(), SetParameterError> {
///     speed.set(2.0 * speed.get())
/// }
/// ```
pub struct Parameter<T> {
    name: Arc<str>,
    slot: Arc<Slot>,
    store: Weak<Store>,
    form: PhantomData<fn() -> T>,
}

impl<T> Clone for Parameter<T> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            slot: self.slot.clone(),
            store: self.store.clone(),
            form: PhantomData,
        }
    }
}

impl<T: ParameterForm> Parameter<T> {
    pub(crate) fn new(name: &str, slot: Arc<Slot>, store: &Arc<Store>) -> Self {
        Self { name: name.into(), slot, store: Arc::downgrade(store), form: PhantomData }
    }

    /// Returns the present value. Reading a number or boolean costs one load; a string or list is
    /// cloned, which [`Parameter::with`] avoids.
    ///
    /// # Panics
    /// Never: a declared parameter keeps its type.
    pub fn get(&self) -> T {
        T::read(&self.slot).expect("a declared parameter keeps its type")
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the value, like the node's `set_parameter`.
    ///
    /// # Errors
    /// When the descriptor or an on-set callback refuses the value, or the node no longer exists.
    pub fn set(&self, value: impl Into<T>) -> Result<(), SetParameterError> {
        let name = self.name.to_string();
        let Some(store) = self.store.upgrade() else {
            return Err(SetParameterError::NodeGone { name });
        };
        let parameter: NamedValue = (name, value.into().into());
        store.set(vec![parameter])
    }
}

impl<T: ParameterVariant + ParameterForm> Parameter<T> {
    /// Calls `look` with the value, which is not cloned. No lock is held during the call.
    ///
    /// # Panics
    /// When `look` panics.
    pub fn with<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        look(T::of(&self.slot.value()).expect("a declared parameter keeps its type"))
    }
}

impl<T: ParameterForm + std::fmt::Debug> std::fmt::Debug for Parameter<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parameter").field("name", &self.name).field("value", &self.get()).finish()
    }
}
