//! Calling services.

use std::sync::Arc;

use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{Context, Executor};

use crate::process::{Running, context, feros, spawn};

/// A server that is spun as long as it lives.
struct Server {
    context: Context,
    spinning: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    fn start(service: &str) -> Self {
        let context = context();
        let node = context.create_node("s_server").unwrap();
        let service =
            node.create_service::<SetBool, _>(service, |request: SetBool_Request| {
                SetBool_Response { success: request.data, message: "done".into() }
            })
            .unwrap();
        let executor = Arc::new(Executor::new());
        executor.add_node(&node).unwrap();
        let spinning = spawn("test-server", move || {
            executor.spin().unwrap();
            drop(service);
        });
        Self { context, spinning: Some(spinning) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.context.shutdown();
        self.spinning.take().unwrap().join().unwrap();
    }
}

#[test]
fn a_service_is_called() {
    let _server = Server::start("/s_enable");
    let line =
        ["service", "call", "/s_enable", "std_srvs/srv/SetBool", "{data: true}", "--timeout", "50"];
    let out = feros(&line).success();
    assert_eq!(
        out,
        "requester: making request: {data: true}\n\nresponse:\nsuccess: true\nmessage: done\n\n"
    );
    let answer = feros(&[&line[..], &["--json"]].concat()).json();
    assert_eq!(answer, serde_json::json!({ "success": true, "message": "done" }));

    let error = feros(&["service", "call", "/s_enable", "std_srvs/srv/Trigger"]).failure(1);
    assert!(error.contains("has type std_srvs/srv/SetBool, not std_srvs/srv/Trigger"), "{error}");
    let error = feros(&["service", "call", "/s_enabel", "std_srvs/srv/SetBool", "--timeout", "10"])
        .failure(1);
    assert!(
        error.contains("there is no server of /s_enabel") && error.contains("/s_enable"),
        "{error}"
    );
    let error =
        feros(&["service", "call", "/s_enable", "std_srvs/srv/SetBool", "{dta: true}"]).failure(2);
    assert!(error.contains("`data`"), "{error}");
    let error = feros(&["service", "call", "/s_enable", "std_msgs/msg/String"]).failure(2);
    assert!(error.contains("is not a service type"), "{error}");
}

#[test]
fn calls_are_repeated_until_the_user_interrupts() {
    let _server = Server::start("/s_repeat");
    let mut calls = Running::start(&[
        "service",
        "call",
        "/s_repeat",
        "std_srvs/srv/SetBool",
        "--json",
        "-r",
        "20",
    ]);
    for _ in 0..3 {
        assert_eq!(calls.line().as_deref(), Some("{\"success\":false,\"message\":\"done\"}"));
    }
    calls.interrupt();
    assert_eq!(calls.finish().code, Some(0));
}
