//! Values that are made on first use, and kept for further use. Only a few idle values are kept.

use std::ops::Deref;
use std::sync::Arc;

use feros_sync::Mutex;

/// Values by key. Values in use stay, as well as the `most_idle` idle values that were used last.
pub(crate) struct Kept<K, V> {
    most_idle: usize,
    /// The entry that was used last is at the end.
    entries: Mutex<Vec<(K, Arc<V>)>>,
}

/// A value in use.
pub(crate) struct Used<'a, K: PartialEq, V> {
    // This field is dropped first, so that the value is idle when `_end` is dropped.
    value: Arc<V>,
    _end: EndOfUse<'a, K, V>,
}

struct EndOfUse<'a, K: PartialEq, V>(&'a Kept<K, V>);

impl<K: PartialEq, V> Kept<K, V> {
    pub(crate) fn new(most_idle: usize) -> Self {
        Self { most_idle, entries: Mutex::default() }
    }

    /// Returns the value of a key, which is made if it does not exist.
    pub(crate) fn get<E>(
        &self,
        key: K,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<Used<'_, K, V>, E> {
        let mut entries = self.entries.lock();
        let entry = match entries.iter().position(|(known, _)| *known == key) {
            Some(at) => entries.remove(at),
            None => (key, Arc::new(make()?)),
        };
        let value = entry.1.clone();
        entries.push(entry);
        drop(entries);
        Ok(Used { value, _end: EndOfUse(self) })
    }

    /// Forgets the values of other keys; values in use live until the end of their use.
    pub(crate) fn retain(&self, is_kept: impl Fn(&K) -> bool) {
        let gone: Vec<_> = self.entries.lock().extract_if(.., |(key, _)| !is_kept(key)).collect();
        // The values are dropped without the lock, since that takes a while.
        drop(gone);
    }

    fn trim(&self) {
        let mut entries = self.entries.lock();
        let is_idle = |value: &Arc<V>| Arc::strong_count(value) == 1;
        let idle = entries.iter().filter(|(_, value)| is_idle(value)).count();
        let mut surplus = idle.saturating_sub(self.most_idle);
        let mut is_surplus = |value: &Arc<V>| {
            let is_surplus = surplus > 0 && is_idle(value);
            surplus -= usize::from(is_surplus);
            is_surplus
        };
        let gone: Vec<_> = entries.extract_if(.., |(_, value)| is_surplus(value)).collect();
        drop(entries);
        drop(gone);
    }
}

impl<K: PartialEq, V> Deref for Used<'_, K, V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.value
    }
}

impl<K: PartialEq, V> Drop for EndOfUse<'_, K, V> {
    fn drop(&mut self) {
        self.0.trim();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn keys(kept: &Kept<u32, u32>) -> Vec<u32> {
        kept.entries.lock().iter().map(|(key, _)| *key).collect()
    }

    #[test]
    fn recently_used_values_and_values_in_use_are_kept() {
        let kept = Kept::new(2);
        let get = |key: u32| kept.get(key, || Ok::<_, ()>(key)).unwrap();
        let used = get(1);
        for key in 2..6 {
            assert_eq!(*get(key), key);
        }
        assert_eq!(keys(&kept), [1, 4, 5]);
        let again = kept.get(4, || Err("made twice")).unwrap();
        assert_eq!(*again, 4);
        drop((used, again));
        assert_eq!(keys(&kept), [5, 4]);
        assert!(kept.get(6, || Err("not made")).is_err());
        kept.retain(|key| *key == 5);
        assert_eq!(keys(&kept), [5]);
    }
}
