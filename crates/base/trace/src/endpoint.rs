//! The endpoints in the events of this process. An event contains the number of an endpoint. This
//! module stores the gid and the topic for each number.

use feros_sync::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::switch::is_on;

/// The limit on stored names. This includes the names of dropped endpoints to which recorded events
/// refer.
const MOST_KEPT: usize = 10_000;

/// The kind of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A publisher.
    Publisher = 1,
    /// A subscription.
    Subscription = 2,
}

/// An endpoint with its name, in the form that is written to files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointName {
    /// The endpoint's number in events of this process.
    pub number: u32,
    /// Whether the endpoint is a publisher or a subscription.
    pub kind: Kind,
    /// The gid of the endpoint, which is the same in all processes.
    pub gid: [u8; 16],
    /// The fully qualified name of the topic.
    pub topic: String,
}

/// An endpoint of this process, or the other side of a match, with a number that is used in events.
///
/// This value is made together with the endpoint, even while the trace is off, so that the trace
/// can be turned on at any time.
#[derive(Debug, Clone)]
pub struct Endpoint(Arc<Numbered>);

#[derive(Debug)]
struct Numbered {
    number: u32,
    gid: [u8; 16],
}

#[derive(Debug)]
struct Registry {
    numbers: Option<HashMap<[u8; 16], (u32, usize)>>,
    names: BTreeMap<u32, EndpointName>,
    last_number: u32,
}

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { numbers: None, names: BTreeMap::new(), last_number: 0 });

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock()
}

impl Endpoint {
    /// Makes or finds the endpoint with this gid. All values that exist at the same time for the
    /// same gid have the same number.
    pub fn new(kind: Kind, gid: [u8; 16], topic: &str) -> Self {
        let mut registry = registry();
        let Registry { numbers, names, last_number } = &mut *registry;
        let (number, holders) = numbers.get_or_insert_default().entry(gid).or_insert_with(|| {
            // After four billion endpoints, further endpoints have no name.
            *last_number = last_number.saturating_add(1);
            names.insert(
                *last_number,
                EndpointName { number: *last_number, kind, gid, topic: topic.to_owned() },
            );
            (*last_number, 0)
        });
        *holders += 1;
        Self(Arc::new(Numbered { number: *number, gid }))
    }

    /// The endpoint's number in events of this process.
    pub fn number(&self) -> u32 {
        self.0.number
    }
}

impl Drop for Numbered {
    fn drop(&mut self) {
        let mut registry = registry();
        let Registry { numbers, names, .. } = &mut *registry;
        let Some(numbers) = numbers else { return };
        let Some((_, holders)) = numbers.get_mut(&self.gid) else { return };
        *holders -= 1;
        if *holders > 0 {
            return;
        }
        numbers.remove(&self.gid);
        if !is_on() || names.len() > MOST_KEPT {
            names.remove(&self.number);
        }
    }
}

/// All existing endpoints, and the endpoints that were dropped while the trace was on.
pub fn endpoints() -> Vec<EndpointName> {
    registry().names.values().cloned().collect()
}

/// Those of these endpoints that have a name.
pub(crate) fn endpoints_of(numbers: &BTreeSet<u32>) -> Vec<EndpointName> {
    let registry = registry();
    numbers.iter().filter_map(|number| registry.names.get(number).cloned()).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_gid_has_one_number_while_somebody_has_it() {
        let named = |gid: [u8; 16]| endpoints().into_iter().find(|name| name.gid == gid);
        let gid = [201; 16];
        let first = Endpoint::new(Kind::Publisher, gid, "/chatter");
        let second = Endpoint::new(Kind::Publisher, gid, "/chatter");
        assert_eq!(first.number(), second.number());
        assert_ne!(
            first.number(),
            Endpoint::new(Kind::Subscription, [202; 16], "/chatter").number()
        );
        drop(first);
        let name = named(gid).expect("one still has it");
        assert_eq!((name.number, name.topic.as_str()), (second.number(), "/chatter"));
        let _on = crate::alone(); // until this is dropped, no other test turns the trace on
        drop(second);
        assert_eq!(named(gid), None);
    }
}
