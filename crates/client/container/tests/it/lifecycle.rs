//! Managed nodes as components, in every kind of container.

use feros::msgs::std_msgs::msg::String as Text;
use feros::{LifecycleClient, Node};
use feros_test_support::until;

use crate::support::{ALL, Container, WATCHDOG, named, request};

fn is_there(node: &Node, name: &str) -> bool {
    node.node_names().iter().any(|known| known.fully_qualified() == name)
}

#[test]
fn managed_components_are_loaded_managed_and_unloaded_in_every_container() {
    for binary in ALL {
        let container = Container::start(binary, &[]);
        let id = container.load(&request("faulty", "faulty::Managed"));
        container.load(&named("faulty", "faulty::OnDemand", "witness"));
        let client = LifecycleClient::new(&container.node, "/managed").unwrap();
        let state = || client.get_state(WATCHDOG).unwrap().label;
        assert_eq!(state(), "unconfigured", "{binary}");
        assert!(!client.change_state("activate", WATCHDOG).unwrap());
        assert!(client.change_state("configure", WATCHDOG).unwrap());
        assert!(client.change_state("activate", WATCHDOG).unwrap());
        let said: Text = container.hear("/managed/state");
        assert_eq!(said.data, "active");
        assert!(client.change_state("deactivate", WATCHDOG).unwrap());
        // A panic in a transition is an error of the node, not the end of the component.
        assert!(!client.change_state("cleanup", WATCHDOG).unwrap());
        assert_eq!(state(), "unconfigured");
        assert_eq!(container.state(id).state, "running");
        assert!(client.change_state("configure", WATCHDOG).unwrap());
        assert!(client.change_state("activate", WATCHDOG).unwrap());
        // Unloading an active node leaves nothing of the node behind.
        container.client.unload(id, WATCHDOG).unwrap();
        until("the end of the node", || !is_there(&container.node, "/managed"));
        assert_eq!(container.list(), [(2, "/witness".into())]);
        assert!(container.trigger("/witness/ping", WATCHDOG).is_some());
        let again = container.load(&request("faulty", "faulty::Managed"));
        assert_eq!(again, 3);
        assert_eq!(state(), "unconfigured");
    }
}
