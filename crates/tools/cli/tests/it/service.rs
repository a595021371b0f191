//! Calling services.

use std::sync::Arc;

use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{Context, Executor, QosProfile, Responder, ServiceIntrospectionState};

use crate::process::{Running, WATCHDOG, context, feros, spawn};

/// A server that is spun until it is dropped.
struct Server {
    context: Context,
    spinning: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    fn start(service: &str) -> Self {
        Self::that_responds(service, |request, responder| {
            responder
                .send(&SetBool_Response { success: request.data, message: "done".into() })
                .unwrap();
        })
    }

    fn that_responds(
        service: &str,
        respond: impl FnMut(SetBool_Request, Responder<SetBool>) + Send + 'static,
    ) -> Self {
        let context = context();
        let node = context.create_node("s_server").unwrap();
        let service = node.create_service::<SetBool, _>(service, respond).unwrap();
        let contents = ServiceIntrospectionState::Contents;
        let qos = QosProfile::system_default();
        service.configure_introspection(node.clock(), qos, contents).unwrap();
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
        error.contains("no server of /s_enabel appeared within") && error.contains("/s_enable"),
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

#[test]
fn an_interrupt_during_a_repeated_call_is_a_normal_end() {
    let (unanswered, waiting) = std::sync::mpsc::sync_channel(100);
    let _server = Server::that_responds("/s_silent", move |request: SetBool_Request, responder| {
        if request.data {
            unanswered.send(responder).unwrap();
        }
    });
    let line = ["service", "call", "/s_silent", "std_srvs/srv/SetBool", "{data: true}"];
    for (more, code) in [(&["-r", "20"][..], 0), (&[], 130)] {
        let call = Running::start(&[&line[..], more].concat());
        let responder = waiting.recv_timeout(WATCHDOG).unwrap();
        call.interrupt();
        assert_eq!(call.finish().code, Some(code), "{more:?}");
        drop(responder);
    }
}

#[test]
fn calls_of_a_service_are_echoed() {
    let _server = Server::start("/s_echo");
    let line = ["service", "echo", "/s_echo", "--timeout", "50", "--times", "2"];
    // Calls until the echo has printed a whole call: it is matched some time after its start.
    let echoed = |more: &[&str]| {
        let echo = Running::start(&[&line[..], more].concat());
        std::thread::scope(|scope| {
            let finished = scope.spawn(|| echo.finish());
            while !finished.is_finished() {
                let call = ["service", "call", "/s_echo", "std_srvs/srv/SetBool", "{data: true}"];
                feros(&call).success();
            }
            finished.join().unwrap().success()
        })
    };
    let text = echoed(&[]);
    assert!(text.starts_with("info:\n  event_type: "), "{text}");
    assert!(text.contains("event_type: REQUEST_RECEIVED\n"), "{text}");
    assert!(text.contains("request:\n- data: true\nresponse: []\n---\n"), "{text}");
    assert!(text.contains("event_type: RESPONSE_SENT\n"), "{text}");
    assert!(text.contains("- success: true\n  message: done\n---\n"), "{text}");
    let flow = echoed(&["--flow-style"]);
    assert!(flow.contains("{info: {event_type: REQUEST_RECEIVED, stamp: "), "{flow}");
    let json = echoed(&["--json"]);
    assert!(json.contains("\"request\":[{\"data\":true}]"), "{json}");

    let error = feros(&["service", "echo", "/s_ech", "--timeout", "5"]).failure(1);
    assert!(error.contains("there is no service /s_ech") && error.contains("/s_echo"), "{error}");
    let error = feros(&["service", "echo", "/s_echo", "std_msgs/msg/String"]).failure(2);
    assert!(error.contains("is not a service type"), "{error}");
    let line = ["service", "echo", "/s_silent", "std_srvs/srv/SetBool", "--timeout", "0.2"];
    assert!(feros(&line).failure(1).contains("/s_silent/_service_event has no publishers"));
}

/// An installed workspace has its definitions beside its programs.
#[test]
fn interfaces_are_found_below_prefixes_by_every_verb() {
    let prefixes = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = prefixes.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("own/share/my_msgs/msg/Mine.msg", "int32 from_feros_prefix_path\n");
    write("own/share/my_msgs/srv/Ask.srv", "int32 x\n---\nint32 y\n");
    write("own/share/my_msgs/action/Go.action", "int32 x\n---\nint32 y\n---\nint32 z\n");
    write("ros/share/my_msgs/msg/Mine.msg", "int32 shadowed\n");
    write("ros/share/other_msgs/msg/Theirs.msg", "my_msgs/Mine mine\n");
    write("data/feros/share/third_msgs/msg/Third.msg", "int32 installed\n");
    let with_prefixes = |line: &[&str]| {
        let place = |name: &str| prefixes.path().join(name);
        let set = |command: &mut std::process::Command| {
            command.env("FEROS_PREFIX_PATH", place("own"));
            command.env("AMENT_PREFIX_PATH", place("ros"));
            command.env("XDG_DATA_HOME", place("data"));
        };
        Running::start_with(line, set).finish()
    };
    let theirs = with_prefixes(&["interface", "show", "other_msgs/msg/Theirs"]).success();
    assert!(theirs.contains("from_feros_prefix_path"), "{theirs}");
    let third = with_prefixes(&["interface", "show", "third_msgs/msg/Third"]).success();
    assert!(third.contains("int32 installed"), "{third}");
    for line in [
        ["service", "call", "/nobody", "my_msgs/srv/Ask", "{x: 1}", "--timeout", "0.1"],
        ["action", "send_goal", "/nobody", "my_msgs/action/Go", "{x: 1}", "--timeout", "0.1"],
    ] {
        let missing = with_prefixes(&line).failure(1);
        assert!(missing.contains("/nobody") && !missing.contains("unknown type"), "{missing}");
    }
    let unknown = with_prefixes(&["interface", "show", "my_msgs/msg/Min"]).failure(1);
    for part in ["my_msgs/msg/Mine", "FEROS_PREFIX_PATH", "AMENT_PREFIX_PATH", "FEROS_INTERFACES"] {
        assert!(unknown.contains(part), "{unknown}");
    }
}
