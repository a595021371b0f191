//! Tests that the hashes in the generated code are the same as the hashes that stock ROS 2 ships,
//! and the same as the hashes that are computed from the generated descriptions.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use feros_message::{Action, Message, Service, TypeDescription, TypeHash};

/// The hashes that stock ROS 2 installs, or fixed hashes for types that no Python wheel contains.
static GOLDEN: LazyLock<String> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../interfaces/type_hashes.tsv");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
});

struct Identity {
    name: &'static str,
    hash: TypeHash,
    description: &'static TypeDescription,
}

mod message {
    use super::*;
    pub(super) fn all() -> impl Iterator<Item = Identity> {
        include!(concat!(env!("OUT_DIR"), "/every_message.rs")).into_iter()
    }
    fn probe<T: Message>() -> Identity {
        Identity { name: T::TYPE_NAME, hash: T::TYPE_HASH, description: T::TYPE_DESCRIPTION }
    }
}

mod service {
    use super::*;
    pub(super) fn all() -> impl Iterator<Item = Identity> {
        include!(concat!(env!("OUT_DIR"), "/every_service.rs")).into_iter()
    }
    fn probe<T: Service>() -> Identity {
        assert_eq!(T::Request::TYPE_NAME, format!("{}_Request", T::TYPE_NAME));
        assert_eq!(T::Response::TYPE_NAME, format!("{}_Response", T::TYPE_NAME));
        assert_eq!(T::Event::TYPE_NAME, format!("{}_Event", T::TYPE_NAME));
        Identity { name: T::TYPE_NAME, hash: T::TYPE_HASH, description: T::TYPE_DESCRIPTION }
    }
}

mod action {
    use super::*;
    pub(super) fn all() -> impl Iterator<Item = Identity> {
        include!(concat!(env!("OUT_DIR"), "/every_action.rs")).into_iter()
    }
    fn probe<T: Action>() -> Identity {
        assert_eq!(T::SendGoal::TYPE_NAME, format!("{}_SendGoal", T::TYPE_NAME));
        assert_eq!(T::GetResult::TYPE_NAME, format!("{}_GetResult", T::TYPE_NAME));
        Identity { name: T::TYPE_NAME, hash: T::TYPE_HASH, description: T::TYPE_DESCRIPTION }
    }
}

#[test]
fn hashes_are_those_of_stock_ros_2() {
    let golden: BTreeMap<&str, &str> = GOLDEN
        .lines()
        .filter_map(|line| {
            let mut columns = line.split('\t');
            columns.next().zip(columns.next())
        })
        .collect();
    let mut unseen: std::collections::BTreeSet<_> = golden.keys().copied().collect();
    for identity in message::all().chain(service::all()).chain(action::all()) {
        let name = identity.name;
        let expected = golden.get(name).unwrap_or_else(|| panic!("{name} has no golden hash"));
        assert_eq!(identity.hash.to_string(), **expected, "{name}");
        unseen.remove(name);
    }
    assert!(golden.len() > 300, "the golden file has only {} hashes", golden.len());
    assert!(unseen.is_empty(), "not generated: {unseen:?}");
}

#[test]
fn descriptions_are_what_the_hashes_say() {
    for identity in message::all().chain(service::all()).chain(action::all()) {
        let name = identity.name;
        let description = identity.description.to_interface();
        assert_eq!(description.type_hash(), identity.hash, "{name}");
        let parsed = feros_interface::shipped().type_description(&name.parse().unwrap()).unwrap();
        assert_eq!(description, parsed, "{name}");
    }
}
