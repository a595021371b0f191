//! The storage of one parameter's value, which is cheap to read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_sync::RwLock;

use crate::value::ParameterValue;

/// The value of one parameter. A number or boolean is read with one atomic load; other values are
/// shared, not copied.
pub(crate) struct Slot {
    /// The bits of a boolean, integer or floating point number.
    scalar: AtomicU64,
    value: RwLock<Arc<ParameterValue>>,
}

impl Slot {
    pub(crate) fn new(value: ParameterValue) -> Self {
        Self { scalar: AtomicU64::new(bits(&value)), value: RwLock::new(Arc::new(value)) }
    }

    pub(crate) fn set(&self, value: ParameterValue) {
        let value = Arc::new(value);
        let mut place = self.value.write();
        self.scalar.store(bits(&value), Ordering::Release);
        *place = value;
    }

    pub(crate) fn value(&self) -> Arc<ParameterValue> {
        self.value.read().clone()
    }

    /// Returns the bits of a boolean or number; the bits are meaningless if the value is of another
    /// type.
    pub(crate) fn scalar(&self) -> u64 {
        self.scalar.load(Ordering::Acquire)
    }
}

fn bits(value: &ParameterValue) -> u64 {
    match value {
        ParameterValue::Bool(value) => u64::from(*value),
        ParameterValue::Integer(value) => value.cast_unsigned(),
        ParameterValue::Double(value) => value.to_bits(),
        _ => 0,
    }
}
