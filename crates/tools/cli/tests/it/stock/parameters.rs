//! Parameters of a stock node, from the command line.

use serde_json::json;

use super::Stock;
use crate::process::{Running, eventually};

const NODE: &str = "/theirs/stock_node";

#[test]
fn parameters_of_stock_are_listed_read_set_and_dumped() {
    let Some(mut stock) = Stock::start() else { return };
    stock
        .peer
        .ask("declare", json!({"name": "rate", "value": 30, "descriptor": {"description": "Hz"}}));
    stock.peer.ask("declare", json!({"name": "lens.gains", "value": [0.5, 1.0]}));
    stock
        .peer
        .ask("declare", json!({"name": "any", "value": 1, "descriptor": {"dynamic_typing": true}}));
    let param = |line: &[&str]| stock.feros(&[&["param"], line, &["--timeout", "50"]].concat());
    let names = param(&["list", NODE]).success();
    assert!(names.contains("  any\n  lens.gains\n  rate\n"), "{names}");
    assert_eq!(param(&["list", NODE, "--filter", "r.te"]).success(), "  rate\n");
    let offered = {
        let line = ["--", "feros", "param", "get", NODE, "ra"];
        let set = |command: &mut std::process::Command| {
            command.env("FEROS_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "4");
        };
        let complete = || Running::start_with_in(&stock.domain, &line, set).finish();
        eventually(complete, |finished| !finished.out.is_empty())
    };
    assert_eq!(offered.success(), "rate");
    assert_eq!(
        param(&["get", NODE, "lens.gains"]).success(),
        "Double values are: array('d', [0.5, 1.0])\n"
    );
    let described = param(&["describe", NODE, "rate"]).success();
    assert_eq!(
        described,
        "Parameter name: rate\n  Type: integer\n  Description: Hz\n  Constraints:\n"
    );
    assert_eq!(param(&["set", NODE, "rate", "0x14"]).success(), "Set parameter successful\n");
    assert_eq!(param(&["get", NODE, "rate"]).success(), "Integer value is: 20\n");
    let error = param(&["set", NODE, "rate", "fast"]).failure(1);
    assert!(error.contains("Setting parameter failed: "), "{error}");
    let error = param(&["get", NODE, "nowhere"]).failure(1);
    assert!(error.contains("has no parameter nowhere"), "{error}");
    assert_eq!(param(&["delete", NODE, "any"]).success(), "Deleted parameter successfully\n");
    let dumped = param(&["dump", NODE]).success();
    let expected = "/theirs/stock_node:\n  ros__parameters:\n    lens:\n      gains:\n      - 0.5\n      - 1.0\n    rate: 20\n";
    assert!(dumped.starts_with(expected), "{dumped}");
}
