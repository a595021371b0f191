//! `feros view`: the page and the socket that it serves, its refusals, and its end.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use feros::msgs::std_msgs::msg::String as Text;
use feros_test_support::until;
use rustix::process::Signal;
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

use crate::process::{Running, WATCHDOG, context, feros, has_line};

/// The parts of a link of the command, such as `http://127.0.0.1:8765/?token=…`: host and path.
fn parts(link: &str) -> (&str, &str) {
    let rest = link.strip_prefix("http://").unwrap();
    rest.split_at(rest.find('/').unwrap())
}

/// A client of the server at a link of the command, as the page is.
pub(crate) fn connect(link: &str) -> WebSocket<TcpStream> {
    let (host, path) = parts(link);
    let mut request = format!("ws://{host}{path}").into_client_request().unwrap();
    let protocol = "feros.view.v1".parse().unwrap();
    request.headers_mut().insert("Sec-WebSocket-Protocol", protocol);
    let stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(WATCHDOG)).unwrap();
    tungstenite::client(request, stream).unwrap().0
}

fn get(host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(WATCHDOG)).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn a_robot_is_shown_until_ctrl_c() {
    let robot = context().create_node("viewed_robot").unwrap();
    let _publisher = robot.create_publisher::<Text>("/t_view/chatter", 1).unwrap();
    let options = ["view", "--port", "0", "--no-open", "--token", "0123456789"];
    let mut view = Running::start(&options);
    let link = view.line().unwrap();
    let (host, path) = parts(&link);
    assert_eq!(path, "/?token=0123456789");
    assert!(get(host, path).starts_with("HTTP/1.1 200 "));
    assert!(get(host, "/").starts_with("HTTP/1.1 401 "));
    let mut socket = connect(&link);
    let mut op = |fits: &dyn Fn(&Value) -> bool| loop {
        if let Message::Text(text) = socket.read().unwrap() {
            let op = serde_json::from_str::<Value>(&text).unwrap();
            if fits(&op) {
                break op;
            }
        }
    };
    let info = op(&|op| op["op"] == "serverInfo");
    assert!(!info["capabilities"].as_array().unwrap().contains(&json!("clientPublish")));
    op(&|op| {
        let channels = op["channels"].as_array().into_iter().flatten();
        channels.into_iter().any(|channel| channel["topic"] == "/t_view/chatter")
    });
    socket.send(Message::text(json!({"op": "doctor"}).to_string())).unwrap();
    let report = loop {
        if let Message::Text(text) = socket.read().unwrap()
            && text.contains("doctorReport")
        {
            break serde_json::from_str::<Value>(&text).unwrap();
        }
    };
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["area"] == "engine"), "{report}");
    let discovery = findings.iter().find(|finding| finding["area"] == "discovery").unwrap();
    // The view receives messages, so what arrives is not the cost of discovery.
    assert!(!discovery["text"].as_str().unwrap().contains("joining"), "{report}");
    view.interrupt();
    let finished = view.finish();
    assert!(has_line(
        &finished.err,
        "the page is at this address; it is read-only without --allow-changes. Ctrl-C ends the \
         server"
    ));
    finished.success();
}

/// Starts `view` with an `xdg-open` that records its arguments; returns them.
fn opened(folder: &Path, options: &[&str]) -> (Running, String) {
    let program = folder.join("xdg-open");
    let noted = folder.join("noted");
    let script = format!("#!/bin/sh\necho \"$@\" > {0}.new\nmv {0}.new {0}\n", noted.display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = std::ffi::OsString::from(folder);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let arguments: Vec<_> = ["view", "--port", "0"].iter().chain(options).copied().collect();
    let view = Running::start_with(&arguments, |command| {
        command.env("PATH", path).env("DISPLAY", ":none").env("XDG_RUNTIME_DIR", folder);
    });
    until("the browser is opened", || noted.exists());
    (view, std::fs::read_to_string(&noted).unwrap().trim().to_owned())
}

#[test]
fn other_users_cannot_read_the_token_that_the_browser_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let (mut view, argument) = opened(folder.path(), &["--token", "0123456789"]);
    let link = view.line().unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let page = Path::new(&argument);
    assert!(page.starts_with(folder.path()), "{argument}");
    assert_eq!((mode(page), mode(page.parent().unwrap())), (0o600, 0o700));
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains(&format!("content=\"0; url={link}\"")), "{link}: {text}");
    // A second signal does not keep the command from removing the file.
    view.signal(Signal::HUP);
    view.signal(Signal::TERM);
    view.finish().success();
    assert!(!page.exists() && !page.parent().unwrap().exists(), "it is gone with the command");
    // A link without a secret needs no file.
    let folder = tempfile::tempdir().unwrap();
    let (mut view, argument) = opened(folder.path(), &[]);
    assert_eq!(argument, view.line().unwrap());
    view.interrupt();
    view.finish().success();
}

#[test]
fn addresses_and_tokens_that_cannot_be_used_are_refused() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let text = feros(&["view", "--no-open", "--port", &port]).failure(1);
    assert!(text.contains("cannot listen at") && text.contains("--port"), "{text}");
    let text = feros(&["view", "--no-open", "--token", "a b"]).failure(2);
    assert!(text.contains("8 to 128 characters"), "{text}");
    feros(&["view", "--no-open", "--listen", "nowhere"]).failure(2);
    let text = feros(&["view", "--no-open", "--port", "0", "--allow-origin", "null"]).failure(1);
    assert!(text.contains("every sandboxed frame"), "{text}");
}

#[test]
fn an_empty_token_in_the_environment_counts_as_unset() {
    let start = |token: &str| {
        Running::start_with(&["view", "--port", "0", "--no-open"], |command| {
            command.env("FEROS_VIEW_TOKEN", token);
        })
    };
    for (token, path) in [("", "/"), ("0123456789", "/?token=0123456789")] {
        let mut view = start(token);
        let link = view.line().unwrap();
        assert_eq!(parts(&link).1, path);
        view.interrupt();
        view.finish().success();
    }
    let text = start("short").finish().failure(2);
    assert!(text.contains("FEROS_VIEW_TOKEN: a token has 8 to 128 characters"), "{text}");
}

#[test]
fn the_component_has_a_launch_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../view/component/launch/view.launch.xml");
    let shown = feros(&["launch", file, "--show-args"]).success();
    for argument in ["address", "port", "allow_changes"] {
        assert!(shown.contains(argument), "{shown}");
    }
}
