//! The samples of iceoryx2 that a subscription holds. They stay where they were put: a message
//! moves through many hands on its way to a callback, and what moves is small.

use feros_sync::Mutex;
use iceoryx2::sample::Sample;

use crate::ipc::Ipc;
use crate::service::WireHeader;

pub(crate) type IceoryxSample = Sample<Ipc, [u8], WireHeader>;

pub(crate) struct HeldSamples(Box<[Mutex<Option<IceoryxSample>>]>);

impl HeldSamples {
    pub(crate) fn new(most: usize) -> Self {
        Self((0..most).map(|_| Mutex::new(None)).collect())
    }

    /// Puts a sample down and says where; gives it back where all places are taken.
    pub(crate) fn put(&self, sample: IceoryxSample) -> Result<usize, IceoryxSample> {
        for (index, place) in self.0.iter().enumerate() {
            let mut place = place.lock();
            if place.is_none() {
                *place = Some(sample);
                return Ok(index);
            }
        }
        Err(sample)
    }

    pub(crate) fn release(&self, index: usize) {
        let sample = self.0[index].lock().take();
        drop(sample); // without the lock
    }
}
