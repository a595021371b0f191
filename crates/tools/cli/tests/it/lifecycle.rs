//! Managed nodes of Feros, from the command line.

use feros::lifecycle::{CallbackReturn, LifecycleCallbacks, State};
use feros::{Error, Executor, LifecycleNode, NodeOptions};
use feros_test_support::Background;

use crate::process::{Finished, context, eventually, feros};

/// A node whose cleanup fails.
struct Messy;

impl LifecycleCallbacks for Messy {
    fn on_cleanup(&mut self, _: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
        Ok(CallbackReturn::Failure)
    }
}

/// A managed node that is spun until this is dropped.
struct Managed(#[allow(dead_code, reason = "held until it is dropped")] Background);

impl Managed {
    fn start(name: &str) -> Self {
        let node = context().create_lifecycle_node_with(NodeOptions::new(name), Messy).unwrap();
        let executor = Executor::new();
        executor.add_node(&node).unwrap();
        let stopper = executor.stopper();
        let spin = move || {
            executor.spin().unwrap();
            drop(node);
        };
        Self(Background::start("managed", spin, move || stopper.stop()))
    }
}

fn lifecycle(line: &[&str]) -> Finished {
    feros(&[&["lifecycle"], line, &["--timeout", "50"]].concat())
}

#[test]
fn a_managed_node_is_seen_asked_and_changed() {
    let _managed = Managed::start("l_driver");
    let get = || lifecycle(&["get", "/l_driver"]).success();
    assert_eq!(get(), "unconfigured [1]\n");
    let available = "- configure [1]\n\tStart: unconfigured\n\tGoal: configuring\n\
                     - shutdown [5]\n\tStart: unconfigured\n\tGoal: shuttingdown\n";
    assert_eq!(lifecycle(&["list", "l_driver"]).success(), available);
    let all = lifecycle(&["list", "/l_driver", "-a"]).success();
    assert_eq!(all.lines().filter(|line| line.starts_with("- ")).count(), 25);
    assert!(
        all.ends_with("- transition_error [62]\n\tStart: errorprocessing\n\tGoal: finalized\n")
    );
    let wrong = lifecycle(&["set", "/l_driver", "activate"]).failure(1);
    let expected = "error: Unknown transition requested, available ones are:\n\
                    \x20 - configure [1]\n  - shutdown [5]\n";
    assert_eq!(wrong, expected);
    assert!(lifecycle(&["set", "/l_driver", "77"]).failure(1).contains("Unknown transition"));
    let done = "Transitioning successful\n";
    assert_eq!(lifecycle(&["set", "/l_driver", "configure"]).success(), done);
    assert_eq!(get(), "inactive [2]\n");
    let failed = lifecycle(&["set", "/l_driver", "cleanup"]).failure(1);
    assert!(failed.contains("Transitioning failed: see the log of node /l_driver"), "{failed}");
    assert_eq!(lifecycle(&["set", "l_driver", "3"]).success(), done);
    let json = lifecycle(&["get", "/l_driver", "--json"]).json();
    assert_eq!(json["/l_driver"], serde_json::json!({"id": 3, "label": "active"}));
    let json = lifecycle(&["list", "/l_driver", "--json"]).json();
    let labels = [&json[0]["label"], &json[1]["label"]];
    assert_eq!(labels, ["deactivate", "shutdown"]);
    // This call sets no time limit.
    assert_eq!(feros(&["lifecycle", "set", "/l_driver", "shutdown"]).success(), done);
    assert_eq!(get(), "finalized [4]\n");
    let none = lifecycle(&["set", "/l_driver", "configure"]).failure(1);
    assert!(none.contains("node /l_driver has no transition in its state"), "{none}");
}

#[test]
fn managed_nodes_are_listed_beside_others() {
    let context = context();
    let _plain = context.create_node("l_plain").unwrap();
    let (_shown, _hidden) = (Managed::start("l_shown"), Managed::start("_l_hidden"));
    let has = |text: &str, line: &str| text.lines().any(|each| each == line);
    let nodes = |more: &[&str]| {
        let line = [&["lifecycle", "nodes"], more].concat();
        eventually(|| feros(&line).success(), |text| has(text, "/l_shown"))
    };
    let shown = nodes(&[]);
    assert!(!has(&shown, "/_l_hidden") && !has(&shown, "/l_plain"), "{shown}");
    let all = eventually(
        || feros(&["lifecycle", "nodes", "--all"]).success(),
        |text| has(text, "/_l_hidden"),
    );
    assert!(has(&all, "/l_shown") && !has(&all, "/l_plain"), "{all}");
    let count = feros(&["lifecycle", "nodes", "-a", "-c"]).success();
    assert!(count.trim().parse::<usize>().unwrap() >= 2, "{count}");
    let states = eventually(
        || feros(&["lifecycle", "get", "--timeout", "10"]).success(),
        |text| has(text, "/l_shown: unconfigured [1]"),
    );
    assert!(!states.contains("_l_hidden"), "{states}");
    eventually(
        || feros(&["lifecycle", "get", "--include-hidden-nodes", "--timeout", "10"]).success(),
        |text| has(text, "/_l_hidden: unconfigured [1]"),
    );
    let error = feros(&["lifecycle", "get", "/l_plain", "--timeout", "2"]).failure(1);
    assert!(error.contains("node /l_plain is not managed"), "{error}");
    let error = feros(&["lifecycle", "set", "/l_shwon", "1", "--timeout", "2"]).failure(1);
    assert!(
        error.contains("no node /l_shwon appeared within") && error.contains("/l_shown"),
        "{error}"
    );
}
