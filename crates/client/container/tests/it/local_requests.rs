//! `--local-requests-only` in two network namespaces. A container distinguishes hosts by address,
//! so they count as two hosts; the host names in announcements are the same in both.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros::msgs::rcl_interfaces::msg::Parameter;
use feros::{Context, ParameterValue};
use feros_component::remote::ContainerClient;
use feros_test_support::{eventually, skip};

use crate::support::{SINGLE, WATCHDOG, prefix, request};

/// The task of the child: `load`, `load in vain` or `list`.
const TASK: &str = "FEROS_TEST_LOCAL_REQUESTS_TASK";

/// A network namespace, which ends when this value is dropped.
struct Host(Child);

impl Host {
    fn new() -> Result<Self, String> {
        let mut holder = Command::new("unshare")
            .args(["--net", "--", "sh", "-c", "ip link set lo up && echo ready && exec cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("unshare: {error}"))?;
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let host = Self(holder);
        if line == "ready\n" { Ok(host) } else { Err("namespaces are not permitted".to_owned()) }
    }

    /// A command that runs a program in the namespace.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.0.id())).arg("--").arg(program.as_ref());
        command.env("ROS_DOMAIN_ID", "1").env("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET");
        command.env_remove("CYCLONEDDS_URI").env_remove("FEROS_TRANSPORTS");
        command
    }

    /// Runs `ip` in the namespace.
    fn ip(&self, arguments: &str) -> Result<(), String> {
        let output = self.command("ip").args(arguments.split(' ')).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(format!("ip {arguments}: {said}")) }
    }

    /// Runs `task` in the namespace, in a process of this test program.
    fn run(&self, task: &str) -> String {
        let mut child = self.command(std::env::current_exe().unwrap());
        child.args(["local_requests::child", "--exact", "--ignored", "--nocapture"]);
        // Unlike two machines, both hosts share one /dev/shm.
        child.env("FEROS_TRANSPORTS", "network");
        let output = child.env(TASK, task).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{task}: {text}\n{errors}");
        text
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Two hosts, connected by a cable.
fn two_hosts() -> Result<(Host, Host), String> {
    let (first, second) = (Host::new()?, Host::new()?);
    first.ip(&format!("link add near type veth peer name far netns {}", second.0.id()))?;
    for (host, device, address) in
        [(&first, "near", "10.78.0.1/24"), (&second, "far", "10.78.0.2/24")]
    {
        host.ip(&format!("addr add {address} dev {device}"))?;
        host.ip(&format!("link set {device} up"))?;
    }
    Ok((first, second))
}

/// A container, which ends when it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn requests_of_other_hosts_are_ignored() {
    let (here, there) = match two_hosts() {
        Ok(hosts) => hosts,
        Err(why) => {
            return skip(format!("two hosts are network namespaces, run it as root: {why}"));
        }
    };
    let prefix = prefix();
    let log = prefix.path().join("log");
    let start = |arguments: &[&str]| {
        let mut container = here.command(SINGLE);
        container.args(arguments).env("FEROS_PREFIX_PATH", prefix.path());
        container.env_remove("AMENT_PREFIX_PATH").stderr(File::create(&log).unwrap());
        Running(container.spawn().unwrap())
    };

    let open = start(&[]);
    there.run("load");
    assert!(there.run("list").contains("1 loaded"), "without the option, every host is served");
    drop(open);

    let closed = start(&["--local-requests-only"]);
    there.run("load in vain");
    eventually(|| {
        let said = fs::read_to_string(&log).unwrap();
        let is_told = said.contains("/load_node: a request from 10.78.0.2 was ignored");
        if is_told { Ok(()) } else { Err(said) }
    });
    assert!(here.run("list").contains("0 loaded"), "nothing was loaded for the other host");
    here.run("load");
    assert!(here.run("list").contains("1 loaded"), "its own host is served");
    drop(closed);
}

/// One client of the container; not a test of its own.
#[test]
#[ignore = "the other test runs this in its namespaces"]
fn child() {
    let Ok(task) = std::env::var(TASK) else { return };
    let context = Context::from_env().unwrap();
    let node = context.create_node("client").unwrap();
    let client = ContainerClient::new(&node, "/ComponentManager").unwrap();
    client.wait(WATCHDOG).unwrap();
    // The request is larger than a datagram: a request in several datagrams must be recognized as
    // local too.
    let filler = ParameterValue::String("x".repeat(5000));
    let filler = Parameter { name: "filler".to_owned(), value: filler.into() };
    let talker =
        LoadNode_Request { parameters: vec![filler], ..request("demo", "demo_components::Talker") };
    match task.as_str() {
        "load" => println!("{:?}", client.load(&talker, WATCHDOG).unwrap()),
        // The container's log shows whether the request arrived.
        "load in vain" => println!("{:?}", client.load(&talker, Duration::from_secs(3))),
        _ => println!("{} loaded", client.list(WATCHDOG).unwrap().len()),
    }
}
