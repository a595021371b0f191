//! Reads any text as an interface definition: it is refused, or the definition is printed as a text
//! with the same meaning.

use std::sync::LazyLock;

use feros_interface::{InterfaceSet, Namespace, TypeName, parse_interface, shipped};

/// The types to which services and actions refer, and another type to which the input can refer.
static BASE: LazyLock<InterfaceSet> = LazyLock::new(|| {
    let mut set = InterfaceSet::new();
    let packages = ["builtin_interfaces", "service_msgs", "unique_identifier_msgs"];
    for interface in
        shipped().interfaces().filter(|i| packages.contains(&i.name().package.as_str()))
    {
        set.insert(interface.as_ref().clone()).expect("the shipped names are unique");
    }
    set
});

/// Runs one input: the text of a message, a service and an action.
pub(crate) fn run(text: &str) {
    for namespace in Namespace::ALL {
        let name = TypeName::new("pkg", namespace, "Probe");
        let Ok(interface) = parse_interface(&name, text) else { continue };
        let printed = interface.to_string();
        let again =
            parse_interface(&name, &printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert_eq!(again.to_string(), printed);
        let hash = |interface| {
            let mut set = BASE.clone();
            set.insert(interface).expect("no other package is called that");
            set.type_hash(&name)
        };
        assert_eq!(hash(interface), hash(again));
    }
}
