//! Runs the server and the client as two processes, as a user would.
#![allow(clippy::unwrap_used)]

use std::process::{Child, Command, Stdio};

use feros_interop::Domain;

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_goal_is_followed_to_its_end() {
    let domain = Domain::reserve_without_ros2();
    let command = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments);
        domain.confine(&mut command);
        command
    };
    let mut server =
        command(env!("CARGO_BIN_EXE_fibonacci_server"), &["--ros-args", "-p", "step:=0.01"]);
    let _server = Server(server.stdout(Stdio::null()).spawn().unwrap());
    let client = env!("CARGO_BIN_EXE_fibonacci_client");
    let out = command(client, &["5"]).output().unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stderr));
    assert!(said.contains("feedback: [0, 1, 1]\n"), "{said}");
    assert!(said.ends_with("SUCCEEDED: [0, 1, 1, 2, 3, 5]\n"), "{said}");

    let out = command(client, &["47"]).output().unwrap();
    let error = String::from_utf8(out.stderr).unwrap();
    assert!(!out.status.success() && error.contains("was rejected by the server"), "{error}");
}
